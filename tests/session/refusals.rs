//! Edits that the editor does not take, texts that never reach the disk, drifts that are gone.

use std::time::Duration;

use serde_json::json;

use super::client::{Edits, Session};
use super::fixture::Fixture;
use super::{BILL, TEST, amendments, drift_id, drifted, nothing_accepted, options};

const REASON: &str = "the bill counts the fee since rule 7";

fn opened(fixture: &Fixture, name: &str) -> Session {
    let mut session = Session::open(name, fixture.path(), options(true));
    session.open_document(TEST);
    session.until("the drift", |session| drifted(session, TEST));
    session
}

#[test]
fn an_edit_that_is_refused_leaves_no_record_and_the_next_try_works() {
    for name in ["vscode-languageclient-10.1", "neovim-0.11"] {
        let fixture = Fixture::committed(BILL);
        let mut session = opened(&fixture, name);
        let id = drift_id(&mut session, TEST);
        session.edits = Edits::Refuse;
        let answer = session.execute("pindrift.accept", json!({ "drift": id, "reason": REASON }));
        assert_eq!(answer["result"]["pending"], true, "{answer}");
        session.until("a word to the person", |session| !session.shown.is_empty());
        session.take_shown();
        nothing_accepted(&mut session, &fixture);
        assert!(drifted(&session, TEST), "the drift stays");
        session.edits = Edits::Apply;
        let answer = session.execute("pindrift.accept", json!({ "drift": id, "reason": REASON }));
        assert_eq!(answer["result"]["accepted"], true, "{answer}");
        session.until("the comment", |session| session.text(TEST).contains(REASON));
        session.save(TEST);
        session.until("the drift to go", |session| !drifted(session, TEST));
        session.until("the record", |_| amendments(&fixture).len() == 1);
    }
}

#[test]
fn an_edit_that_is_never_answered_stops_nothing() {
    let fixture = Fixture::committed(BILL);
    let mut session = opened(&fixture, "neovim-0.12");
    let id = drift_id(&mut session, TEST);
    session.edits = Edits::Ignore;
    let answer = session.execute("pindrift.accept", json!({ "drift": id, "reason": REASON }));
    assert_eq!(answer["result"]["pending"], true, "{answer}");
    session.until("the edit", |session| session.unanswered == 1);
    assert!(session.hover(TEST, "render(11)").is_some());
    nothing_accepted(&mut session, &fixture);
}

#[test]
fn a_document_closed_before_the_edit_is_answered_leaves_the_drift_and_no_record() {
    let fixture = Fixture::committed(BILL);
    let mut session = opened(&fixture, "neovim-0.12");
    let id = drift_id(&mut session, TEST);
    session.edits = Edits::Ignore;
    let answer = session.execute("pindrift.accept", json!({ "drift": id, "reason": REASON }));
    assert_eq!(answer["result"]["pending"], true, "{answer}");
    session.until("the edit", |session| session.unanswered == 1);
    session.close(TEST);
    session.until("a word to the person", |session| !session.shown.is_empty());
    session.take_shown();
    nothing_accepted(&mut session, &fixture);
    session.edits = Edits::Apply;
    session.open_document(TEST);
    session.until("the drift again", |session| drifted(session, TEST));
    let answer = session.execute("pindrift.accept", json!({ "drift": id, "reason": REASON }));
    assert_eq!(answer["result"]["accepted"], true, "{answer}");
    session.until("the comment", |session| session.text(TEST).contains(REASON));
    session.save(TEST);
    session.until("the record", |_| amendments(&fixture).len() == 1);
}

#[test]
fn a_line_that_is_none_names_nothing() {
    let fixture = Fixture::committed(BILL);
    let mut session = opened(&fixture, "neovim-0.12");
    drift_id(&mut session, TEST);
    let uri = session.uri(TEST);
    for (key, line) in [("line", json!("12")), ("line", json!(-1)), ("line", json!(1.5)), ("line1", json!(0))] {
        let answer = session.execute("pindrift.accept", json!({ "uri": uri, key: line, "reason": REASON }));
        let message = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{line}: {answer}"));
        assert!(message.contains("whole number"), "{message}");
    }
    let long = "x\u{1b}".repeat(50_000);
    let answer = session.execute("pindrift.accept", json!({ "drift": long, "reason": REASON }));
    let message = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(message.len() < 300 && !message.contains('\u{1b}'), "{message}");
    nothing_accepted(&mut session, &fixture);
}

#[test]
fn a_stale_drift_is_refused_and_says_so() {
    let fixture = Fixture::committed(BILL);
    let mut session = opened(&fixture, "neovim-0.12");
    let id = drift_id(&mut session, TEST);
    fixture.write("//- tests/actual/bill.txt\ntotal 12\n");
    let answer = session.execute("pindrift.accept", json!({ "drift": id, "reason": REASON }));
    let message = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(message.contains(&id), "{message}");
    nothing_accepted(&mut session, &fixture);
}

#[test]
fn what_comes_later_says_so() {
    let fixture = Fixture::committed(BILL);
    let mut session = opened(&fixture, "neovim-0.12");
    for command in ["pindrift.verdict", "pindrift.nothing"] {
        let answer = session.execute(command, json!({}));
        assert!(answer["error"]["message"].is_string(), "{answer}");
    }
    session.idle(Duration::from_millis(50));
}

#[test]
fn a_file_without_pins_gets_nothing() {
    let fixture =
        Fixture::committed(&format!("{BILL}//- tests/test_plain.py\ndef test_plain():\n    assert 1 + 1 == 2\n"));
    let mut session = opened(&fixture, "vscode-languageclient-9.0");
    session.open_document("tests/test_plain.py");
    assert_eq!(session.hover("tests/test_plain.py", "1 + 1"), None);
    let lenses =
        session.ask("textDocument/codeLens", json!({ "textDocument": { "uri": session.uri("tests/test_plain.py") } }));
    assert_eq!(lenses["result"].as_array().map(Vec::len), Some(0), "{lenses}");
    assert_eq!(session.diagnostics.get(&session.uri("tests/test_plain.py")).map_or(0, Vec::len), 0);
}

#[test]
fn a_value_that_moves_from_run_to_run_is_not_accepted_and_the_person_is_told_with_what_it_moves() {
    let fixture = Fixture::committed(BILL);
    let record = |value: &str, seed: &str, nth: usize| {
        let line = json!({
            "schema": 1,
            "pin": { "file": TEST, "test": format!("{TEST}::test_bill"), "nth": 1 },
            "oracle": "tests/golden/bill.txt",
            "oracle_digest": "sha256:444c00dd736286499ae2c026842f896c2128c301e73faeadb49f07d50a85cf45",
            "outcome": "differs",
            "value": { "text": value },
            "at": format!("2099-01-01T00:00:0{nth}Z"),
            "run": "r",
            "environment": { "PYTHONHASHSEED": seed },
        });
        format!("{line}\n")
    };
    let records = record("total {1, 2}\n", "1", 1) + &record("total {2, 1}\n", "2", 2);
    fixture.write(&format!("//- .pindrift/observed/r.jsonl\n{records}//- pindrift.toml\n\n"));
    let mut session = Session::open("neovim-0.12", fixture.path(), options(true));
    session.open_document(TEST);
    session.until("the warning", |session| super::codes(session, TEST).iter().any(|code| code == "unstable"));
    let hover = session.hover(TEST, "render(11)").unwrap_or_default().to_string();
    assert!(hover.contains("line 1 moves with the hash seed (order)"), "{hover}");
    let uri = session.uri(TEST);
    let answer = session.execute("pindrift.accept", json!({ "uri": uri, "line1": 9, "reason": REASON }));
    let told = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(told.contains("is unstable: line 1 moves with the hash seed (order)"), "{answer}");
    nothing_accepted(&mut session, &fixture);
}
