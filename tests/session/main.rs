//! The server as nine editors see it: real processes, real capabilities, whole stories.

#[path = "../editor/mod.rs"]
mod editor;
#[path = "../fixture/mod.rs"]
mod fixture;

mod client;
mod feedback;
mod judging;
mod refusals;
mod story;
mod undo;

use std::time::Duration;

use fixture::Fixture;
use serde_json::{Value, json};

use client::Session;

/// Every profile, and whether its plugin asks for the reason.
pub const PROFILES: [(&str, bool); 9] = [
    ("eglot-1.17", false),
    ("helix-25.01", false),
    ("helix-25.07", false),
    ("neovim-0.10", false),
    ("neovim-0.11", true),
    ("neovim-0.12", true),
    ("vscode-languageclient-9.0", true),
    ("vscode-languageclient-10.1", true),
    ("vscode-languageclient-11.0", true),
];

pub const TEST: &str = "tests/test_bill.py";

/// A golden file and its observed twin; the columns are shifted by characters of several widths.
pub const BILL: &str = r#"//- bill.py
def render(n):
    return f"total {n}\n"
//- tests/test_bill.py
from pathlib import Path

from bill import render

GOLDEN = Path(__file__).parent / "golden"


def test_bill():
    assert "ü😀"[2:] + render(11) == (GOLDEN / "bill.txt").read_text()


def test_other():
    assert render(3) == (GOLDEN / "other.txt").read_text()
//- tests/golden/bill.txt
total 10
//- tests/golden/other.txt
total 3
//- tests/actual/bill.txt
total 11
//- tests/actual/other.txt
total 3
"#;

pub fn options(prompts: bool) -> Value {
    if prompts { json!({ "pindrift": { "reasonPrompt": true } }) } else { json!({}) }
}

/// A drift is shown at the test.
pub fn drifted(session: &Session, path: &str) -> bool {
    codes(session, path).iter().any(|code| code == "drift")
}

pub fn codes(session: &Session, path: &str) -> Vec<String> {
    let shown = session.diagnostics.get(&session.uri(path));
    shown.into_iter().flatten().filter_map(|one| one["code"].as_str().map(str::to_string)).collect()
}

/// The only drift of the file, by the rows that the server gives.
pub fn drift_id(session: &mut Session, path: &str) -> String {
    let uri = session.uri(path);
    let answer = session.execute("pindrift.drifts", json!({ "uri": uri }));
    let rows = answer["result"].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
    let drifts: Vec<&str> =
        rows.iter().filter(|row| row["state"] == "drift").filter_map(|row| row["drift"].as_str()).collect();
    assert_eq!(drifts.len(), 1, "{rows:#?}");
    drifts[0].to_string()
}

/// Texts of the amendments, with what may differ between clients left out.
pub fn amendments(fixture: &Fixture) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![fixture.at(".pindrift/amendments")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = std::fs::read_to_string(&path).expect("an amendment");
                // `withdraws` holds the name of another one's file.
                let own = ["at = ", "author = ", "via = ", "withdraws = "];
                let kept = text.lines().filter(|line| !own.iter().any(|own| line.starts_with(own)));
                found.push(kept.collect::<Vec<_>>().join("\n"));
            }
        }
    }
    found.sort();
    found
}

/// Accepts the only drift by the command line.
pub fn accept_on_disk(fixture: &Fixture, reason: &str) {
    let call = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_pindrift"));
        command.current_dir(fixture.path()).args(args).output().expect("it starts")
    };
    let report: Value = serde_json::from_slice(&call(&["check", "--format", "json"]).stdout).expect("a report");
    let rows = report["assertions"].as_array().expect("rows").iter().filter(|row| row["state"] == "drift");
    let drifts: Vec<&str> = rows.filter_map(|row| row["drift"].as_str()).collect();
    let [drift] = drifts.as_slice() else { panic!("{report:#}") };
    let out = call(&["accept", drift, "--reason", reason]);
    assert!(out.status.success(), "{out:?}");
}

/// The files of the ledger stay as they are for a while.
pub fn nothing_accepted(session: &mut Session, fixture: &Fixture) {
    session.idle(Duration::from_millis(300));
    assert!(amendments(fixture).is_empty(), "{:?}", amendments(fixture));
    assert_eq!(fixture.read("tests/golden/bill.txt"), "total 10\n");
}
