//! Whole projects in a temporary folder, the real program, what it prints and what is on disk then.

#[path = "../fixture/mod.rs"]
mod fixture;

mod bad_input;
mod calls;
#[cfg(feature = "full")]
mod demo;
mod first;
mod formats;
mod gate;
mod judging;
mod literals;
mod past;
mod places;
mod proposals;
mod record;
mod snapshots;
mod storage;
mod story;
#[cfg(feature = "full")]
mod trust;
mod withdraw;

use std::process::Command;

use fixture::Fixture;

/// How a call ended.
#[derive(Debug)]
pub struct Said {
    pub out: String,
    pub err: String,
    pub status: i32,
}

impl Said {
    /// Standard output of a call that ended with `status`.
    #[track_caller]
    pub fn with(self, status: i32) -> String {
        assert_eq!(self.status, status, "stdout: {}\nstderr: {}", self.out, self.err);
        self.out
    }

    /// The one line that a refused call says.
    #[track_caller]
    pub fn refusal(self, status: i32) -> String {
        assert_eq!(self.status, status, "stdout: {}\nstderr: {}", self.out, self.err);
        assert!(self.err.starts_with("pindrift: "), "no refusal: {:?}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self.err
    }
}

pub fn program(fixture: &Fixture) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pindrift"));
    command.current_dir(fixture.path()).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for name in ["DRIFT_REASON", "NO_COLOR", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_DIR"] {
        command.env_remove(name);
    }
    command
}

/// Calls the program in the fixture's folder.
pub fn pindrift(fixture: &Fixture, args: &[&str]) -> Said {
    said(program(fixture).args(args))
}

pub fn said(command: &mut Command) -> Said {
    let out = command.output().expect("the program starts");
    Said {
        out: String::from_utf8(out.stdout).expect("UTF-8"),
        err: String::from_utf8(out.stderr).expect("UTF-8"),
        status: out.status.code().unwrap_or(-1),
    }
}

/// `check --format json`.
#[track_caller]
pub fn report(fixture: &Fixture) -> serde_json::Value {
    let said = pindrift(fixture, &["check", "--format", "json"]);
    assert!(said.status < 2, "stdout: {}\nstderr: {}", said.out, said.err);
    serde_json::from_str(&said.out).expect("JSON")
}

/// One line for each row of `check`: `test:line state difference oracle:lines`.
#[track_caller]
pub fn rows(fixture: &Fixture) -> String {
    let report = report(fixture);
    let mut text = String::new();
    for row in report["assertions"].as_array().expect("rows") {
        let word = |value: &serde_json::Value| value.as_str().unwrap_or("-").to_string();
        let lines = |key: &str| {
            let lines = row[key].as_array().map(Vec::as_slice).unwrap_or_default();
            lines.iter().map(|line| line.to_string()).collect::<Vec<_>>().join(",")
        };
        let entry = row["oracle"]["entry"].as_str().map(|entry| format!("#{entry}")).unwrap_or_default();
        text.push_str(&format!(
            "{}:{} {} {} {}{entry}:{}\n",
            word(&row["test"]),
            row["line"],
            word(&row["state"]),
            word(&row["difference"]),
            word(&row["oracle"]["path"]),
            lines("changed_lines"),
        ));
    }
    text
}

/// The id of the one drift of a test.
#[track_caller]
pub fn drift(fixture: &Fixture, test: &str) -> String {
    let report = report(fixture);
    let found: Vec<String> = report["assertions"]
        .as_array()
        .expect("rows")
        .iter()
        .filter(|row| row["test"] == test)
        .filter_map(|row| row["drift"].as_str().map(str::to_string))
        .collect();
    match found.as_slice() {
        [id] => id.clone(),
        other => panic!("{test} has {} drifts: {report:#}", other.len()),
    }
}

/// Writes down that a run saw `value` (`{"literal": …}`, `{"text": …}`) at a test's first pin; `more` are
/// further fields of the record, each with a comma before it.
#[track_caller]
pub fn observe(fixture: &Fixture, test: &str, value: &str, more: &str) {
    use pindrift::{oracles::Baseline, pins::Extent, survey::Workspace};
    let workspace = Workspace::open(fixture.path()).expect("a workspace");
    let survey = workspace.survey(&Extent::All, &|| false).expect("a survey");
    let case = survey.cases.iter().find(|case| case.pin.test == test).unwrap_or_else(|| panic!("no pin of {test}"));
    let digest = match &case.baseline {
        Baseline::Present(recorded) => format!("\"{}\"", recorded.content.digest()),
        _ => "null".into(),
    };
    let (file, oracle, base, nth) = (&case.pin.file, &case.pin.oracle.key, case.pin.test_base(), case.pin.nth);
    let line = format!(
        "{{\"schema\": 1, \"pin\": {{\"file\": \"{file}\", \"test\": \"{base}\", \"nth\": {nth}}}, \"oracle\": \"{oracle}\", \
         \"oracle_digest\": {digest}, \"value\": {value}, \"at\": \"2026-08-28T10:00:00Z\"{more}}}\n"
    );
    let folder = fixture.at(".pindrift/observed");
    std::fs::create_dir_all(&folder).expect("made");
    let mut file =
        std::fs::OpenOptions::new().append(true).create(true).open(folder.join("run.jsonl")).expect("opened");
    std::io::Write::write_all(&mut file, line.as_bytes()).expect("written");
}

/// The amendments on disk, oldest first: path and text.
pub fn amendments(fixture: &Fixture) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    let mut folders = vec![fixture.at(".pindrift/amendments")];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "toml") {
                let name = path.strip_prefix(fixture.path()).expect("inside").display().to_string();
                files.push((name, std::fs::read_to_string(&path).expect("an amendment")));
            }
        }
    }
    files.sort();
    files
}

/// Everything in the folder that git and Pindrift do not keep for themselves, by path.
pub fn tree(fixture: &Fixture) -> std::collections::BTreeMap<String, Vec<u8>> {
    let mut tree = std::collections::BTreeMap::new();
    let mut folders = vec![fixture.path().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            let name = path.strip_prefix(fixture.path()).expect("inside").display().to_string();
            if name == ".git" {
                continue;
            }
            match entry.file_type().expect("a type") {
                kind if kind.is_dir() => folders.push(path),
                kind if kind.is_symlink() => drop(tree.insert(name, b"link".to_vec())),
                _ => drop(tree.insert(name, std::fs::read(&path).unwrap_or_default())),
            }
        }
    }
    tree
}
