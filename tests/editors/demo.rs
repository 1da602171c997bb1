//! The workspace of the story: what `pindrift demo` writes, in a home of its own, and what has to stand in it
//! at the end, whichever editor was used.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const ROUNDING: &str = "the price list rounds half up";
pub const SORTED: &str = "the export is sorted by net since ticket 12";

/// The files that the story changes.
const CHANGED: [&str; 4] =
    ["tests/test_discount.py", "tests/test_export.py", "tests/golden/month.csv", "rates/tests/pinned.rs"];

pub struct Demo {
    folder: tempfile::TempDir,
}

/// What stays: the files, and of each decision its kind, oracle and reason.
#[derive(Debug, PartialEq)]
pub struct End {
    files: BTreeMap<&'static str, String>,
    decisions: Vec<(String, String, String)>,
}

impl Demo {
    pub fn new() -> Demo {
        let demo = Demo { folder: tempfile::tempdir().expect("a folder") };
        std::fs::create_dir(demo.home()).expect("a home");
        demo.pindrift(&["demo", &demo.path().display().to_string()]);
        demo
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("demo")
    }

    /// Home of the editor: empty settings.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap_or_else(|err| panic!("{path}: {err}"))
    }

    fn pindrift(&self, args: &[&str]) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pindrift"));
        let folder = if self.path().exists() { self.path() } else { self.home() };
        let out = command.args(args).current_dir(folder).output().expect("it starts");
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    }

    /// All amendments, as they stand in the ledger.
    pub fn records(&self) -> Vec<toml::Table> {
        let mut records = Vec::new();
        let mut folders = vec![self.path().join(".pindrift/amendments")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("the ledger").flatten() {
                match entry.path() {
                    path if path.is_dir() => folders.push(path),
                    path => records.push(std::fs::read_to_string(path).expect("it").parse().expect("TOML")),
                }
            }
        }
        records
    }

    /// What runs recorded, beside what the demo came with.
    pub fn observed(&self) -> String {
        let entries = std::fs::read_dir(self.path().join(".pindrift/observed")).expect("the observations").flatten();
        let runs = entries.map(|entry| entry.path()).filter(|path| {
            path.extension().is_some_and(|it| it == "jsonl") && path.file_name().is_some_and(|it| it != "demo.jsonl")
        });
        runs.filter_map(|path| std::fs::read_to_string(path).ok()).collect()
    }

    /// The amendments of one editor; each has to say through what it came.
    pub fn via(&self, via: &str) -> usize {
        self.records().iter().filter(|record| record["via"].as_str() == Some(via)).count()
    }

    pub fn end(&self) -> End {
        let word = |record: &toml::Table, key: &str| record[key].as_str().unwrap_or_default().to_string();
        let mut decisions: Vec<_> = self
            .records()
            .iter()
            .inspect(|record| assert!(!record.contains_key("pending"), "unfinished: {record}"))
            .map(|record| (word(record, "kind"), word(record, "oracle"), word(record, "reason")))
            .collect();
        decisions.sort();
        End { files: CHANGED.iter().map(|path| (*path, self.read(path))).collect(), decisions }
    }

    /// What the command line leaves when the same decisions are taken there.
    pub fn by_command_line() -> End {
        let demo = Demo::new();
        let accept = |test: &str, reason: &str| demo.pindrift(&["accept", "--test", test, "--reason", reason]);
        accept("tests/test_discount.py::test_apply_discount_pins_legacy_output", ROUNDING);
        accept("tests/test_export.py::test_export_of_a_month", SORTED);
        demo.pindrift(&["reclassify", "--to", "specification", "pinned::mean_rate_pins_current_output"]);
        demo.end()
    }
}

/// PATH with the program that was just built first.
pub fn path() -> std::ffi::OsString {
    let built = Path::new(env!("CARGO_BIN_EXE_pindrift")).parent().expect("a folder").to_path_buf();
    let rest = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths([built, tools().join("bin")].into_iter().chain(std::env::split_paths(&rest))).expect("a PATH")
}

/// Where ./tests/run installs programs.
pub fn tools() -> PathBuf {
    let tools = std::env::var_os("PINDRIFT_TOOLS").map(PathBuf::from);
    tools.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools"))
}

/// The environment whose Python has pytest, as a person activates it.
pub fn python() -> (&'static str, PathBuf) {
    ("VIRTUAL_ENV", tools().join("venv"))
}

pub fn editors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("editors")
}
