//! Python projects of hard values, changed: one copy updated by the framework itself, the other by
//! `pindrift accept` one by one and without comments. The trees are equal but for what is refused here by name,
//! and the framework's own run is green then. Run by ./tests/run, which installs the frameworks.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pindrift::observations::records::{Outcome, Value};
use pindrift::observations::{Record, Records};
use pindrift::oracles::Baseline;
use pindrift::pins::Extent;
use pindrift::places::RelPath;
use pindrift::survey::Workspace;

/// Old and new value of each, as Python source that `repr` would write.
const HARD: &[(&str, &str)] = &[
    ("'plain'", "'changed'"),
    ("'a \"quoted\" word'", "'two \"quoted\" \"words\"'"),
    ("\"it's\"", "'it\\'s \"both\"'"),
    ("'back\\\\slash'", "'back\\\\\\\\slash \\\\n no line'"),
    ("'tab\\there'", "'tab\\t\\there'"),
    ("'one\\ntwo'", "'one\\n2\\nthree'"),
    ("'one\\r\\ntwo'", "'one\\r\\n2\\rthree'"),
    ("'bell \\x1b[31mred'", "'bell \\x1b[32mgreen'"),
    ("'something'", "''"),
    ("'x'", "'   '"),
    ("'lines\\n'", "'a \\n\\n  b\\n\\n'"),
    ("'smile'", "'smile 😀 ünï'"),
    ("'triple'", "'a \"\"\" b\\n\\'\\'\\' c\\n'"),
    ("'# ---'", "'# name: x\\n# ---\\n  # ---\\n'"),
    ("'nul'", "'nul \\x00 inside \\x7f'"),
    ("1", "-17"),
    ("0.5", "0.30000000000000004"),
    ("True", "None"),
    ("b'raw'", "b'\\x00\\xff\\'\"\\n'"),
    ("[1, 2, 3]", "[1, 3, 'four', (5,)]"),
];

const COUNT: usize = 100;

/// The value in a container of its own in each round.
fn value(i: usize, new: bool) -> String {
    let (old, changed) = HARD[i % HARD.len()];
    let value = if new { changed } else { old };
    match i / HARD.len() {
        0 => value.to_string(),
        1 => format!("[{i}, {value}, 'end']"),
        2 => format!("{{'key': {value}, 'list': [[{value}], {{}}]}}"),
        3 => format!("({value}, {{'a': [{value}, None]}})"),
        _ => {
            let long: Vec<String> = (0..40).map(|line| format!("{{'line': {line}, 'value': {value}}}")).collect();
            format!("[{}]", long.join(", "))
        }
    }
}

fn values(new: bool) -> String {
    let all: Vec<String> = (0..COUNT).map(|i| value(i, new)).collect();
    format!("VALUES = [\n    {},\n]\n", all.join(",\n    "))
}

fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    std::fs::write(path, text).expect("written");
}

fn run(folder: &Path, program: &Path, args: &[&str]) -> Output {
    run_in(folder, program, args, None)
}

fn run_in(folder: &Path, program: &Path, args: &[&str], venv: Option<&Path>) -> Output {
    Command::new(program)
        .current_dir(folder)
        .envs(venv.map(|venv| ("VIRTUAL_ENV", venv)))
        .args(args)
        .env_remove("CI")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap_or_else(|err| panic!("{}: {err}; ./tests/run installs it", program.display()))
}

/// Folder of the tools in which the frameworks are that cannot stand beside syrupy.
const PLUGINS: &str = "venv-plugins";

fn venv(name: &str) -> PathBuf {
    let tools = std::env::var_os("PINDRIFT_TOOLS").map(PathBuf::from);
    tools.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools")).join(name)
}

fn pytest(venv: &Path, folder: &Path, args: &[&str]) -> Output {
    let mut all = vec!["-m", "pytest", "-q", "-p", "no:cacheprovider"];
    all.extend(args);
    run(folder, &venv.join("bin/python"), &all)
}

fn git(folder: &Path, args: &[&str]) {
    let out = run(folder, Path::new("git"), args);
    assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
}

/// Every file but git's, the record and pytest's own cache.
fn tree(folder: &Path) -> BTreeMap<String, String> {
    let mut tree = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(&at).expect("a folder").flatten() {
            let name = entry.path().strip_prefix(folder).expect("inside").display().to_string();
            if matches!(name.as_str(), ".git" | ".pindrift" | ".inline-snapshot" | ".pytest_cache")
                || name.contains("__pycache__")
            {
                continue;
            }
            match entry.path().is_dir() {
                true => folders.push(entry.path()),
                false => {
                    let bytes = std::fs::read(entry.path()).expect("a file");
                    tree.insert(name, String::from_utf8_lossy(&bytes).into_owned());
                }
            }
        }
    }
    tree
}

/// Hands over what a run of the tests would have recorded.
fn hand_over(ours: &Path, theirs: &Path, value: &dyn Fn(usize, &Path) -> Value) {
    let workspace = Workspace::open(ours).expect("the workspace opens");
    let survey = workspace.states(&Extent::All, &|| false).expect("not cancelled");
    let mut lines = String::new();
    let at: jiff::Timestamp = "2030-01-01T00:00:00Z".parse().expect("a time");
    for case in &survey.cases {
        let number: usize = case.pin.test.rsplit('_').next().and_then(|n| n.parse().ok()).expect("a number");
        let Baseline::Present(recorded) = &case.baseline else { panic!("{}: {:?}", case.pin.test, case.baseline) };
        let record = Record {
            path: RelPath::default(),
            file: case.pin.file.clone(),
            test: case.pin.test_base().to_string(),
            nth: case.pin.nth,
            oracle: case.pin.oracle.key.clone(),
            oracle_digest: Some(recorded.content.digest()),
            assertion: None,
            outcome: Outcome::Differs,
            value: Some(value(number, theirs)),
            preimage: None,
            lossy: false,
            aged: false,
            at: Some(at),
            run: None,
            command: None,
            revision: None,
            dirty: Vec::new(),
            environment: Default::default(),
        };
        let _ = writeln!(lines, "{}", record.to_line());
    }
    assert_eq!(survey.cases.len(), COUNT);
    put(ours, ".pindrift/observed/run.jsonl", &lines);
    assert!(Records::read(&Workspace::open(ours).expect("opens").project.shelf).troubles.is_empty());
}

/// Where the values come from that are accepted.
enum Seen<'a> {
    /// The value of a test's number, as a run would have recorded it.
    Given(&'a dyn Fn(usize, &Path) -> Value),
    /// `pindrift observe` runs the tests.
    Observed,
}

/// Records the old values with `record`, changes them, updates one copy with `update` and the other by accepts
/// of what is `seen`.
fn equal(tools: &str, test: &str, record: &[&str], update: &[&str], seen: &Seen, refusals: &[usize]) {
    let tools = venv(tools);
    let pytest = |folder: &Path, args: &[&str]| pytest(&tools, folder, args);
    let base = tempfile::tempdir().expect("a folder");
    let theirs = base.path().join("theirs");
    put(&theirs, "pindrift.toml", "comment = \"never\"\n");
    put(&theirs, "values.py", &values(false));
    put(&theirs, "test_hard.py", test);
    pytest(&theirs, record);
    let out = pytest(&theirs, &[]);
    assert!(out.status.success(), "the recorded state is not green: {}", String::from_utf8_lossy(&out.stdout));
    git(&theirs, &["init", "-q", "-b", "main"]);
    git(&theirs, &["config", "user.name", "Test Person"]);
    git(&theirs, &["config", "user.email", "test@example.org"]);
    git(&theirs, &["add", "-A"]);
    git(&theirs, &["commit", "-q", "-m", "recorded"]);
    put(&theirs, "values.py", &values(true));
    let ours = base.path().join("ours");
    assert!(Command::new("cp").arg("-a").arg(&theirs).arg(&ours).status().expect("cp").success());
    pytest(&theirs, update);

    let pindrift = PathBuf::from(env!("CARGO_BIN_EXE_pindrift"));
    match seen {
        Seen::Given(value) => hand_over(&ours, &theirs, value),
        Seen::Observed => {
            let out = run_in(&ours, &pindrift, &["observe"], Some(&tools));
            assert_eq!(out.status.code(), Some(1), "{}", String::from_utf8_lossy(&out.stderr));
        }
    }

    let out = run(&ours, &pindrift, &["check", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let rows = report["assertions"].as_array().expect("rows");
    assert_eq!(rows.len(), COUNT);
    let mut refused = Vec::new();
    for row in rows {
        let test = row["test"].as_str().unwrap_or_default();
        let number: usize = test.rsplit('_').next().and_then(|n| n.parse().ok()).expect("a number");
        let Some(id) = row["drift"].as_str() else {
            refused.push((number, format!("no drift, {}", row["state"])));
            continue;
        };
        let out = run(&ours, &pindrift, &["accept", id, "--reason", "the values are harder now, on purpose"]);
        if !out.status.success() {
            refused.push((number, String::from_utf8_lossy(&out.stderr).trim().to_string()));
        }
    }
    let unexpected: Vec<_> = refused.iter().filter(|(number, _)| !refusals.contains(number)).collect();
    assert!(unexpected.is_empty(), "{} refused: {:#?}", unexpected.len(), &unexpected[..unexpected.len().min(10)]);
    assert_eq!(refused.len(), refusals.len(), "{refused:?}");
    let (theirs_now, ours_now) = (tree(&theirs), tree(&ours));
    for (name, text) in &theirs_now {
        let own = ours_now.get(name).unwrap_or_else(|| panic!("{name} is missing"));
        let differing: Vec<_> =
            text.lines().zip(own.lines()).enumerate().filter(|(_, (a, b))| a != b).take(3).collect();
        if refusals.is_empty() {
            assert!(text == own, "{name}: {differing:#?}");
        }
    }
    assert_eq!(theirs_now.keys().collect::<Vec<_>>(), ours_now.keys().collect::<Vec<_>>());
    if refusals.is_empty() {
        let out = pytest(&ours, &[]);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
    }
}

/// Values as sources of literals: what syrupy writes for them is worked out.
#[test]
fn amber_entries_are_what_syrupy_updates() {
    let mut test = "from values import VALUES\n".to_string();
    for i in 0..COUNT {
        let _ = write!(test, "\n\ndef test_{i}(snapshot):\n    assert VALUES[{i}] == snapshot\n");
    }
    let literal = |i: usize, _: &Path| Value::Literal(value(i, true));
    equal("venv", &test, &["--snapshot-update"], &["--snapshot-update"], &Seen::Given(&literal), &[]);
}

/// Values as the texts of files of their own.
#[test]
fn files_of_their_own_are_what_syrupy_updates() {
    let mut test = "import pytest\nfrom syrupy.extensions.single_file import SingleFileSnapshotExtension\n\
         from values import VALUES\n\n\n@pytest.fixture\ndef raw(snapshot):\n    \
         return snapshot.use_extension(SingleFileSnapshotExtension)\n"
        .to_string();
    for i in 0..COUNT {
        let _ = write!(test, "\n\ndef test_{i}(raw):\n    assert repr(VALUES[{i}]).encode() == raw\n");
    }
    let text = |i: usize, theirs: &Path| {
        let file = theirs.join(format!("__snapshots__/test_hard/test_{i}.raw"));
        Value::Text(std::fs::read_to_string(file).expect("syrupy's file"))
    };
    equal("venv", &test, &["--snapshot-update"], &["--snapshot-update"], &Seen::Given(&text), &[]);
}

#[test]
fn inline_snapshots_are_what_inline_snapshot_fixes() {
    let mut test = "from inline_snapshot import snapshot\nfrom values import VALUES\n".to_string();
    for i in 0..COUNT {
        let _ = write!(test, "\n\ndef test_{i}():\n    assert VALUES[{i}] == snapshot()\n");
    }
    let literal = |i: usize, _: &Path| Value::Literal(value(i, true));
    equal("venv", &test, &["--inline-snapshot=create"], &["--inline-snapshot=fix"], &Seen::Given(&literal), &[]);
}

/// In the module of each test: a value as one text, what is in it as it is, and that as bytes where it has carriage
/// returns, which a `str` of pytest-snapshot cannot have.
const TEXTS: &str = r#"from values import VALUES


def text(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return "|".join(map(text, value))
    return value if isinstance(value, str) else repr(value)


def data(value):
    if isinstance(value, bytes):
        return value
    return text(value).encode() if "\r" in text(value) else text(value)
"#;

#[test]
fn files_are_what_pytest_snapshot_updates() {
    let mut test = TEXTS.to_string();
    for i in 0..COUNT {
        let returns = value(i, true).contains("\\r");
        let value = match i % 3 {
            0 if !returns => format!("str(text(VALUES[{i}]))"),
            1 => format!("text(VALUES[{i}]).encode()"),
            _ if returns => format!("text(VALUES[{i}]).encode()"),
            _ => format!("data(VALUES[{i}])"),
        };
        let _ = write!(test, "\n\ndef test_{i}(snapshot):\n    snapshot.assert_match({value}, 'value.txt')\n");
    }
    equal(PLUGINS, &test, &["--snapshot-update"], &["--snapshot-update"], &Seen::Observed, &[]);
}

#[test]
fn files_are_what_pytest_regressions_regenerates() {
    let mut test = TEXTS.to_string();
    for i in 0..COUNT {
        let (fixture, call) = match i % 4 {
            0 => ("data_regression", format!("{{'value': text(VALUES[{i}]), 'list': [1, text(VALUES[{i}])]}}")),
            1 => ("file_regression", format!("text(VALUES[{i}]).encode(), binary=True, extension='.bin'")),
            _ if value(i, true).contains("\\r") => ("data_regression", format!("[text(VALUES[{i}])]")),
            _ => ("file_regression", format!("text(VALUES[{i}]), encoding='utf-8'")),
        };
        let _ = write!(test, "\n\ndef test_{i}({fixture}):\n    {fixture}.check({call})\n");
    }
    equal(PLUGINS, &test, &["--regen-all"], &["--force-regen"], &Seen::Observed, &[]);
}
