//! The program itself, killed at each call with which its accept changes a file or makes a change last: an
//! inline snapshot whose neighbour's pending entry moves with the lines, and a golden file with a comment in
//! its test.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::fixture::Fixture;
use super::{has_strace, tree};
use pindrift::ledger::FINISH;

const PROJECT: &str = "//- pindrift.toml\n//- Cargo.toml\n[package]\nname = \"t\"\nversion = \"0.1.0\"\n//- src/lib.rs\n\
    //- tests/s.rs\n#[test]\nfn a() {\n    insta::assert_snapshot!(f(1), @\"old 1\");\n    \
    insta::assert_snapshot!(f(2), @\"old 2\");\n}\n\
    //- tests/test_g.py\n\"\"\"Characterization tests.\"\"\"\nfrom pathlib import Path\n\nfrom code import render\n\n\
    HERE = Path(__file__).parent\n\n\ndef check(name):\n    text = render(name)\n    (HERE / \"actual\" / \
    name).write_text(text)\n    assert text == (HERE / \"golden\" / name).read_text()\n\n\ndef test_a():\n    \
    check(\"a.txt\")\n//- tests/golden/a.txt\nold\n";

/// Calls that change a file or a folder, or make a change last.
const CALLS: [&str; 13] = [
    "openat",
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "rename",
    "renameat2",
    "unlink",
    "unlinkat",
    "rmdir",
    "mkdir",
    "fchmod",
    "flock",
];

fn project() -> Fixture {
    let fixture = Fixture::committed(PROJECT);
    let entry = |line: usize, name: &str, n: usize| {
        format!(
            "{{\"run_id\":\"1-1\",\"line\":{line},\"new\":{{\"module_name\":\"s\",\"snapshot_name\":\"{name}\",\"metadata\":{{\
             \"source\":\"tests/s.rs\",\"assertion_line\":{line},\"expression\":\"f({n})\"}},\"snapshot\":\"new {n}\"}},\"old\":{{\
             \"module_name\":\"s\",\"metadata\":{{}},\"snapshot\":\"old {n}\"}}}}\n"
        )
    };
    let pending = entry(3, "a", 1) + &entry(4, "a-2", 2);
    fixture.write(&format!("//- tests/actual/a.txt\nnew\n//- tests/.s.rs.pending-snap\n{pending}"));
    fixture
}

fn program(folder: &Path, strace: &[String], args: &[&str]) -> (Option<i32>, String, String) {
    let log = tempfile::NamedTempFile::new().expect("a file");
    let mut command = if strace.is_empty() {
        Command::new(env!("CARGO_BIN_EXE_pindrift"))
    } else {
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-o"]).arg(log.path()).args(strace).arg(env!("CARGO_BIN_EXE_pindrift"));
        command
    };
    let out = command
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env_remove("DRIFT_REASON")
        .stdin(Stdio::null())
        .output()
        .expect("the program runs");
    let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    (out.status.code(), said, std::fs::read_to_string(log.path()).unwrap_or_default())
}

/// The tree with the moment of the decision taken out.
fn still(folder: &Path) -> BTreeMap<String, String> {
    let timeless = |(name, bytes): (String, Vec<u8>)| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match name.starts_with(".pindrift/amendments/") {
            true => {
                let kept: Vec<&str> = text.lines().filter(|line| !line.starts_with("at = ")).collect();
                ("an amendment".to_string(), kept.join("\n"))
            }
            false => (name, text),
        }
    };
    tree(folder).into_iter().map(timeless).collect()
}

const INLINE: &str = "s::a";
const GOLDEN: &str = "tests/test_g.py::test_a";

/// The drift of the test's first pin.
fn drift(folder: &Path, test: &str) -> String {
    let (_, said, _) = program(folder, &[], &["check", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    let rows = report["assertions"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["test"] == test && row["drift"].is_string()).expect("a drift");
    row["drift"].as_str().expect("an id").to_string()
}

fn killed_everywhere(test: &str, files: &[&str], at_least: usize) {
    if !has_strace() {
        return;
    }
    let plain = project();
    let id = drift(plain.path(), test);
    let accept = ["accept", id.as_str(), "--reason", "counted from one since rule 7"];
    let untouched = still(plain.path());
    let calls = format!("trace={}", CALLS.join(","));
    let (status, said, log) = program(plain.path(), &["-e".into(), calls], &accept);
    assert_eq!(status, Some(0), "{said}");
    let undisturbed = still(plain.path());
    // The nth of each call of the thread that writes, those that only read left out.
    let writer = log.lines().find(|line| line.contains(" rename(")).and_then(|line| line.split(' ').next());
    let writer = writer.expect("a rename");
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    let mut places: Vec<(&str, usize)> = Vec::new();
    for line in log.lines() {
        let Some(line) = line.strip_prefix(writer).map(str::trim_start) else { continue };
        let Some(call) = CALLS.iter().copied().find(|call| line.starts_with(&format!("{call}("))) else { continue };
        let nth = count.entry(call).or_default();
        *nth += 1;
        if call != "openat" || line.contains("O_CREAT") || line.contains(".pindrift") {
            places.push((call, *nth));
        }
    }
    let next = AtomicUsize::new(0);
    let hits = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some((call, nth)) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let fixture = project();
                    let folder = fixture.path();
                    let trace = ["-e".to_string(), format!("trace={call}")];
                    let inject = ["-e".to_string(), format!("inject={call}:signal=KILL:when={nth}")];
                    let (status, said, _) = program(folder, &[trace, inject].concat(), &accept);
                    let when = format!("killed at {call} {nth}: {status:?} {said}");
                    hits.fetch_add(usize::from(status.is_none()), Ordering::Relaxed);
                    after(folder, &untouched, &undisturbed, files, &accept, &when);
                }
            });
        }
    });
    let hits = hits.into_inner();
    assert!(hits >= at_least, "only {hits} of {} kills took effect", places.len());
    eprintln!("{test}: killed at {hits} calls");
}

fn after(
    folder: &Path,
    untouched: &BTreeMap<String, String>,
    undisturbed: &BTreeMap<String, String>,
    files: &[&str],
    accept: &[&str],
    when: &str,
) {
    let now = still(folder);
    for file in files {
        let is = now.get(*file);
        assert!(is == untouched.get(*file) || is == undisturbed.get(*file), "{when}: {file} is torn: {is:?}");
    }
    for (file, text) in &now {
        if let Some(language) = pindrift::syntax::Language::of(file) {
            let tree = pindrift::syntax::parse(text, language, None, pindrift::syntax::BUDGET).expect("parsed");
            assert!(!tree.root_node().has_error(), "{when}: {file} does not parse:\n{text}");
        }
    }
    let own = |name: &&String| !name.starts_with(".pindrift/unfinished/") && !name.ends_with(".tmp");
    let bare = |tree: &BTreeMap<String, String>| -> BTreeMap<String, String> {
        tree.iter().filter(|(name, _)| own(name)).map(|(name, text)| (name.clone(), text.clone())).collect()
    };
    let unfinished = now.keys().any(|name| name.starts_with(".pindrift/unfinished/") && name.ends_with(".toml"));
    let (_, told, _) = program(folder, &[], &["check"]);
    assert_eq!(told.contains(FINISH), unfinished, "{when}: {told}");
    if unfinished {
        let (status, said, _) = program(folder, &[], &["accept", "--finish"]);
        assert_eq!(status, Some(0), "{when}: {said}");
    } else if bare(&now) != *undisturbed {
        assert_eq!(bare(&now), *untouched, "{when}: half done and nobody says so");
        let (status, said, _) = program(folder, &[], accept);
        assert_eq!(status, Some(0), "{when}: the next try: {said}");
    } else {
        program(folder, &[], &["accept", "--finish"]);
    }
    assert_eq!(still(folder), *undisturbed, "{when}");
}

#[test]
fn an_inline_accept_killed_at_every_call() {
    killed_everywhere(INLINE, &["tests/s.rs", "tests/.s.rs.pending-snap"], 25);
}

#[test]
fn a_golden_accept_killed_at_every_call() {
    killed_everywhere(GOLDEN, &["tests/test_g.py", "tests/golden/a.txt"], 25);
}
