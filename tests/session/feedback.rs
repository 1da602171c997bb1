//! What changes outside the editor shows inside it.

use std::time::Duration;

use serde_json::json;

use super::client::Session;
use super::editor::stretched;
use super::fixture::Fixture;
use super::{BILL, PROFILES, TEST, codes, drifted, options};

const TWO_SECONDS: Duration = Duration::from_secs(2);

#[test]
fn an_artefact_written_from_outside_shows_within_two_seconds_in_every_editor() {
    for (name, prompts) in PROFILES {
        let fixture = Fixture::committed(BILL);
        fixture.write("//- tests/actual/bill.txt\ntotal 10\n");
        let mut session = Session::open(name, fixture.path(), options(prompts));
        session.open_document(TEST);
        session.idle(Duration::from_millis(700));
        assert_eq!(codes(&session, TEST), [""; 0], "{name}");
        // As a test run does it: the file is written anew.
        fixture.write("//- tests/actual/bill.txt\ntotal 12\n");
        assert!(session.within(stretched(TWO_SECONDS), |session| drifted(session, TEST)), "{name}: the drift");
        std::fs::remove_file(fixture.at("tests/actual/bill.txt")).expect("removed");
        assert!(session.within(stretched(TWO_SECONDS), |session| !drifted(session, TEST)), "{name}: its end");
    }
}

#[test]
fn a_folder_of_artefacts_that_a_first_run_makes_is_seen() {
    let fixture = Fixture::new(BILL);
    std::fs::remove_dir_all(fixture.at("tests/actual")).expect("removed");
    fixture.git(&["init", "-q", "-b", "main"]);
    fixture.commit("first");
    let mut session = Session::open("neovim-0.12", fixture.path(), options(true));
    session.open_document(TEST);
    session.idle(Duration::from_millis(700));
    assert!(!drifted(&session, TEST));
    fixture.write("//- tests/actual/bill.txt\ntotal 12\n");
    assert!(session.within(stretched(TWO_SECONDS), |session| drifted(session, TEST)));
}

#[test]
fn a_drift_shows_at_a_test_that_is_not_open_and_goes_with_it() {
    let fixture = Fixture::committed(BILL);
    let mut session = Session::open("helix-25.07", fixture.path(), options(false));
    session.until("the drift of a closed file", |session| drifted(session, TEST));
    fixture.write("//- tests/actual/bill.txt\ntotal 10\n");
    session.until("its end", |session| !drifted(session, TEST));
}

#[test]
fn an_open_baseline_shows_its_changed_lines() {
    let fixture = Fixture::committed(BILL);
    let mut session = Session::open("vscode-languageclient-10.1", fixture.path(), options(true));
    session.until("the scan", |session| drifted(session, TEST));
    session.open_document("tests/golden/bill.txt");
    session.until("the changed line", |session| drifted(session, "tests/golden/bill.txt"));
    let hover = session.hover("tests/golden/bill.txt", "total 10").expect("a hover on the baseline");
    assert!(hover.contains("total 11"), "{hover}");
    let uri = session.uri("tests/golden/bill.txt");
    let back = session.execute("pindrift.open", json!({ "uri": uri, "line": 0 }));
    assert_eq!(back["result"]["uri"], session.uri(TEST), "{back}");
    session.until("the test to be shown", |session| !session.opened.is_empty());
}

#[test]
fn a_scan_shows_progress_where_it_is_declared() {
    let fixture = Fixture::committed(BILL);
    let mut session = Session::open("eglot-1.17", fixture.path(), options(false));
    session.until("the end of the scan", |session| {
        session.progress.iter().any(|progress| progress["value"]["kind"] == "end")
    });
    let kinds: Vec<&str> = session.progress.iter().filter_map(|progress| progress["value"]["kind"].as_str()).collect();
    assert_eq!(kinds.first(), Some(&"begin"), "{kinds:?}");
    assert_eq!(kinds.last(), Some(&"end"), "{kinds:?}");
}

#[test]
fn lenses_and_links_stand_where_they_are_declared_and_mean_something() {
    let fixture = Fixture::committed(BILL);
    let mut session = Session::open("vscode-languageclient-11.0", fixture.path(), options(true));
    session.open_document(TEST);
    session.until("the drift", |session| drifted(session, TEST));
    let document = json!({ "textDocument": { "uri": session.uri(TEST) } });
    let lenses = session.ask("textDocument/codeLens", document.clone());
    let titles: Vec<&str> = lenses["result"]
        .as_array()
        .expect("lenses")
        .iter()
        .filter_map(|lens| lens["command"]["title"].as_str())
        .collect();
    assert_eq!(titles, ["1 drift · accept…", "run", "why"], "only the drifted test has some");
    let links = session.ask("textDocument/documentLink", document);
    let targets: Vec<&str> =
        links["result"].as_array().expect("links").iter().filter_map(|link| link["target"].as_str()).collect();
    assert_eq!(targets, [session.uri("tests/golden/bill.txt"), session.uri("tests/golden/other.txt")]);
}

#[test]
fn a_prompt_is_told_the_last_reasons_and_whether_this_one_will_do() {
    let fixture = Fixture::committed(BILL);
    let mut session = Session::open("neovim-0.11", fixture.path(), options(true));
    session.until("the drift", |session| drifted(session, TEST));
    let answer = session.execute("pindrift.reasons", json!({ "reason": "update snapshot" }));
    assert_eq!(answer["result"]["last"], json!([]), "{answer}");
    assert!(answer["result"]["refusal"].as_str().is_some_and(|why| why.contains("update snapshot")), "{answer}");

    let rows = session.execute("pindrift.drifts", json!({}))["result"].clone();
    assert_eq!(rows[0]["uri"], json!(session.uri(TEST)), "{rows}");
    assert!(rows[0]["brief"].is_string(), "{rows}");
    let reason = "the bill counts the fee since rule 7";
    session.execute("pindrift.accept", json!({ "drift": rows[0]["drift"], "reason": reason }));
    let answer = session.execute("pindrift.reasons", json!({ "reason": reason }));
    assert_eq!(answer["result"], json!({ "last": [reason], "same": null, "refusal": null }), "{answer}");
}

const TWICE: &str = "\
//- tests/test_twice.py
from pathlib import Path
HERE = Path(__file__).parent
def same(name):
    text = make(name)
    (HERE / 'actual' / name).write_text(text)
    assert text == (HERE / 'golden' / name).read_text()
def test_a():
    same('a.txt')
def test_b():
    same('b.txt')
def test_c():
    same('c.txt')
//- pindrift.toml
//- tests/golden/a.txt
tax 0.38
//- tests/golden/b.txt
tax 0.24
//- tests/golden/c.txt
due 2026-01-31
//- tests/actual/a.txt
tax 0.39
//- tests/actual/b.txt
tax 0.25
//- tests/actual/c.txt
due 2026-02-01
";

#[test]
fn the_reason_of_one_drift_is_offered_for_the_next_of_the_same_change() {
    let fixture = Fixture::committed(TWICE);
    let mut session = Session::open("vscode-languageclient-10.1", fixture.path(), options(true));
    let changes = session.execute("pindrift.changes", json!({}))["result"].clone();
    let shown: Vec<(&str, usize)> = changes
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| (row["brief"].as_str().unwrap_or("-"), row["drifts"].as_array().map_or(0, Vec::len)))
        .collect();
    assert_eq!(shown, [("tax 0.38 → tax 0.39", 2), ("due 2026-01-31 → due 2026-02-01", 1)]);
    let (first, second, other) = (&changes[0]["drifts"][0], &changes[0]["drifts"][1], &changes[1]["drifts"][0]);
    let before = session.execute("pindrift.reasons", json!({ "drift": first }));
    assert_eq!(before["result"]["same"], json!(null), "{before}");
    let reason = "tax rounds half up since rule 7";
    session.execute("pindrift.accept", json!({ "drift": first, "reason": reason }));
    let offered = session.execute("pindrift.reasons", json!({ "drift": second }));
    assert_eq!(offered["result"]["same"]["reason"], reason, "{offered}");
    assert_eq!(offered["result"]["same"]["test"], "tests/test_twice.py::test_a", "{offered}");
    assert_eq!(offered["result"]["last"], json!([reason]), "{offered}");
    let not = session.execute("pindrift.reasons", json!({ "drift": other }));
    assert_eq!(not["result"]["same"], json!(null), "{not}");
    let changes = session.execute("pindrift.changes", json!({}))["result"].clone();
    assert_eq!(changes[0]["reason"], reason, "{changes}");
}

#[test]
fn a_proposal_shows_in_the_hover_and_a_confirm_makes_the_decision() {
    let fixture = Fixture::committed(BILL);
    let mut session = Session::open("vscode-languageclient-10.1", fixture.path(), options(true));
    session.open_document(TEST);
    session.until("the drift", |session| drifted(session, TEST));
    let rows = session.execute("pindrift.drifts", json!({}))["result"].clone();
    let drift = rows[0]["drift"].clone();
    let proposal = json!({ "drift": drift, "verdict": "noise", "reason": "the clock of the harness", "by": "checker" });
    let left = session.execute("pindrift.propose", proposal);
    assert_eq!(left["result"]["proposal"]["verdict"], "noise", "{left}");
    session.until("the proposal in the diagnostic", |session| {
        let shown = session.diagnostics.get(&session.uri(TEST));
        shown.into_iter().flatten().any(|one| one["message"].to_string().contains("checker proposes noise"))
    });
    assert!(!fixture.at(".pindrift/amendments").exists(), "a proposal is no decision");
    let done = session.execute("pindrift.confirm", json!({ "drift": drift, "confirmed-by": "somebody else" }));
    let record = done["result"]["amendment"].as_str().expect("an amendment").to_string();
    let text = fixture.read(&record);
    assert!(text.contains("proposed-by = \"checker\"") && text.contains("confirmed-by = "), "{text}");
    assert!(!text.contains("somebody else"), "{text}");
}
