//! Accepted literals live in the text that the editor has open: saved, undone, or closed without saving.

use std::time::Duration;

use serde_json::json;

use super::client::Session;
use super::fixture::Fixture;
use super::{PROFILES, accept_on_disk, amendments, drift_id, drifted, options};

const REASON: &str = "the bill counts the fee since rule 7";

/// A literal in the test itself, observed by a recorded run.
const LITERAL: &str = r#"//- tests/test_price.py
from price import price


def test_price():
    """Characterization test: pins current behaviour."""
    assert price(2) == 10
"#;

const PRICE: &str = "tests/test_price.py";

fn literal_workspace() -> Fixture {
    let fixture = Fixture::committed(LITERAL);
    let digest = {
        use sha2::{Digest, Sha256};
        let bytes = Sha256::digest(b"value\x0010");
        bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    let record = json!({
        "schema": 1,
        "pin": { "file": PRICE, "test": format!("{PRICE}::test_price"), "nth": 1 },
        "oracle": format!("{PRICE}#literal:1"),
        "oracle_digest": format!("sha256:{digest}"),
        "outcome": "differs",
        "value": { "literal": "12" },
        "at": "2026-08-28T10:00:00Z",
    });
    fixture.write(&format!("//- .pindrift/observed/run.jsonl\n{record}\n"));
    fixture
}

#[test]
fn an_undo_of_an_accepted_literal_takes_its_amendment_with_it() {
    let by_hand = literal_workspace();
    accept_on_disk(&by_hand, REASON);
    std::thread::scope(|scope| {
        let by_hand = &by_hand;
        let undone = |(name, _)| scope.spawn(move || an_undo(name, by_hand));
        let running: Vec<_> = PROFILES.into_iter().map(undone).collect();
        running.into_iter().for_each(|undo| undo.join().expect("undone"));
    });
}

/// Accepts a literal, which leaves what the command line leaves, and undoes it.
fn an_undo(name: &str, by_hand: &Fixture) {
    let fixture = literal_workspace();
    let before = fixture.read(PRICE);
    let mut session = Session::open(name, fixture.path(), options(true));
    session.open_document(PRICE);
    session.until("the drift", |session| drifted(session, PRICE));
    let id = drift_id(&mut session, PRICE);
    let answer = session.execute("pindrift.accept", json!({ "drift": id, "reason": REASON }));
    assert_eq!(answer["result"]["pending"], true, "{name}: {answer}");
    session.until("the new literal", |session| session.text(PRICE).contains("== 12"));
    session.idle(Duration::from_millis(300));
    assert!(amendments(&fixture).is_empty(), "{name}: not before the text is saved");
    assert_eq!(fixture.read(PRICE), before, "{name}: the editor saves, nobody else");
    session.save(PRICE);
    session.until("the record", |_| amendments(&fixture).len() == 1);
    assert_eq!(fixture.read(PRICE), by_hand.read(PRICE), "{name}");
    assert_eq!(amendments(&fixture), amendments(by_hand), "{name}");

    session.set(PRICE, &before);
    session.save(PRICE);
    session.until("a word to the person", |session| !session.shown.is_empty());
    assert_eq!(session.take_shown().len(), 1, "{name}");
    assert!(amendments(&fixture).is_empty(), "{name}: {:?}", amendments(&fixture));
    session.until("the drift again", |session| drifted(session, PRICE));
}

#[test]
fn closing_without_saving_leaves_the_drift_and_no_record() {
    let fixture = literal_workspace();
    let before = fixture.read(PRICE);
    let mut session = Session::open("neovim-0.11", fixture.path(), options(true));
    session.open_document(PRICE);
    session.until("the drift", |session| drifted(session, PRICE));
    let id = drift_id(&mut session, PRICE);
    let answer = session.execute("pindrift.accept", json!({ "drift": id, "reason": REASON }));
    assert_eq!(answer["result"]["pending"], true, "{answer}");
    session.until("the new literal", |session| session.text(PRICE).contains("== 12"));
    session.idle(Duration::from_millis(200));
    session.close(PRICE);
    session.until("a word to the person", |session| !session.shown.is_empty());
    session.take_shown();
    assert!(amendments(&fixture).is_empty());
    assert_eq!(fixture.read(PRICE), before);
    session.open_document(PRICE);
    session.until("the drift again", |session| drifted(session, PRICE));
}
