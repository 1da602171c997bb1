//! Taking an acceptance back: before it is committed every byte is as it was, afterwards the reason stands
//! where the next reader looks. The record keeps both decisions.

use std::collections::BTreeMap;

use super::{Fixture, amendments, drift, pindrift, program, said, tree};

const PRICES: &str = r#"
//- pindrift.toml
//- tests/test_prices.py
"""Characterization tests of the prices."""
from pathlib import Path

from prices import net, table

HERE = Path(__file__).parent


def check(name):
    text = table(name)
    (HERE / "actual" / name).write_text(text)
    assert text == (HERE / "golden" / name).read_text()


def test_table():
    # The March table.
    check("march.txt")


def test_net():
    assert net(3) == 2.670
//- tests/golden/march.txt
net 10
//- tests/actual/march.txt
net 11
"#;

const TABLE: &str = "tests/test_prices.py::test_table";
const NET: &str = "tests/test_prices.py::test_net";

/// Everything but the record and what runs left.
fn kept(fixture: &Fixture) -> BTreeMap<String, Vec<u8>> {
    let mut kept = tree(fixture);
    kept.retain(|path, _| !path.starts_with(".pindrift/") && !path.starts_with("tests/actual/"));
    kept
}

fn prices() -> Fixture {
    let fixture = Fixture::committed(PRICES);
    fixture.write("//- tests/actual/march.txt\nnet 11\n");
    fixture
}

/// A run saw this literal.
fn observe(fixture: &Fixture, literal: &str) {
    super::observe(fixture, NET, &format!(r#"{{"literal": {}}}"#, serde_json::Value::from(literal)), "");
}

fn accept(fixture: &Fixture, test: &str, reason: &str) -> String {
    let before = amendments(fixture);
    let id = drift(fixture, test);
    pindrift(fixture, &["accept", &id, "--reason", reason]).with(0);
    let fresh = amendments(fixture).into_iter().find(|one| !before.contains(one));
    fresh.expect("a record").0
}

fn withdraw(fixture: &Fixture, record: &str) {
    pindrift(fixture, &["withdraw", record, "--reason", "the rule was misread"]).with(0);
}

#[test]
fn before_a_commit_every_byte_is_as_it_was() {
    let fixture = prices();
    observe(&fixture, "2.68");
    let before = kept(&fixture);
    let table = accept(&fixture, TABLE, "rule 7 rounds the table up");
    let net = accept(&fixture, NET, "rule 7 rounds net prices up");
    assert!(fixture.read("tests/test_prices.py").contains("assert net(3) == 2.68\n"));
    withdraw(&fixture, &table);
    withdraw(&fixture, &net);
    assert_eq!(kept(&fixture), before, "{}", fixture.read("tests/test_prices.py"));
    let records = amendments(&fixture);
    assert_eq!(records.len(), 4);
    assert_eq!(records.iter().filter(|(_, text)| text.contains("kind = \"withdraw\"")).count(), 2);
    // What the next run shows is a drift again, and the next decision is free.
    fixture.write("//- tests/actual/march.txt\nnet 11\n");
    accept(&fixture, TABLE, "rule 8 rounds the table up");
    fixture.commit("decided");
    pindrift(&fixture, &["audit", "--base", "HEAD~1"]).with(0);
}

#[test]
fn the_comment_that_was_replaced_comes_back() {
    let fixture = prices();
    accept(&fixture, TABLE, "rule 7 rounds the table up");
    fixture.commit("decided");
    fixture.write("//- tests/actual/march.txt\nnet 12\n");
    let committed = kept(&fixture);
    let second = accept(&fixture, TABLE, "rule 8 rounds twice");
    assert_ne!(kept(&fixture), committed);
    withdraw(&fixture, &second);
    assert_eq!(kept(&fixture), committed, "the committed comment");

    // The same decision again, within the same second or not, is a record of its own.
    fixture.write("//- tests/actual/march.txt\nnet 12\n");
    let second = accept(&fixture, TABLE, "rule 8 rounds twice");
    let accepted = kept(&fixture);
    fixture.write("//- tests/actual/march.txt\nnet 13\n");
    let third = accept(&fixture, TABLE, "rule 9 rounds three times");
    withdraw(&fixture, &third);
    assert_eq!(kept(&fixture), accepted, "the comment of a decision that is not committed");
    withdraw(&fixture, &second);
    assert_eq!(kept(&fixture), committed);
}

#[test]
fn a_comment_that_somebody_rewrote_is_theirs() {
    let fixture = prices();
    let record = accept(&fixture, TABLE, "rule 7 rounds the table up");
    let source =
        fixture.read("tests/test_prices.py").replace("rounds the table up", "rounds the table up, see the wiki");
    std::fs::write(fixture.at("tests/test_prices.py"), &source).expect("written");
    withdraw(&fixture, &record);
    assert_eq!(fixture.read("tests/golden/march.txt"), "net 10\n");
    assert_eq!(fixture.read("tests/test_prices.py"), source);
}

#[test]
fn after_a_commit_the_reason_takes_the_place_of_the_other() {
    let fixture = prices();
    let record = accept(&fixture, TABLE, "rule 7 rounds the table up");
    fixture.commit("decided");
    withdraw(&fixture, &record);
    assert_eq!(fixture.read("tests/golden/march.txt"), "net 10\n");
    let source = fixture.read("tests/test_prices.py");
    assert_eq!(source.matches("Reason: ").count(), 1, "{source}");
    assert!(source.contains("Old: net 11. New: net 10.\n    # Reason: the rule was misread\n"), "{source}");
    assert_eq!(amendments(&fixture).len(), 2);
    fixture.commit("taken back");
    pindrift(&fixture, &["audit", "--base", "HEAD~2"]).with(0);
    assert!(pindrift(&fixture, &["log"]).with(0).contains("withdraws"));
}

#[test]
fn a_new_baseline_that_is_taken_back_goes() {
    let fixture = prices();
    fixture.write("//- tests/golden/april.txt\nnet 10\n");
    std::fs::remove_file(fixture.at("tests/golden/march.txt")).expect("removed");
    fixture.commit("no baseline");
    fixture.write("//- tests/actual/march.txt\nnet 11\n");
    let before = kept(&fixture);
    pindrift(&fixture, &["record", "--reason", "first record of the March table"]).with(0);
    let record = amendments(&fixture).remove(0).0;
    withdraw(&fixture, &record);
    assert_eq!(kept(&fixture), before);
}

#[test]
fn line_ends_of_a_checkout_stay() {
    let fixture = prices();
    let source = fixture.read("tests/test_prices.py");
    fixture.git(&["config", "core.autocrlf", "true"]);
    std::fs::write(fixture.at("tests/test_prices.py"), source.replace('\n', "\r\n")).expect("written");
    observe(&fixture, "2.68");
    let before = kept(&fixture);
    for (test, reason) in [(TABLE, "rule 7 rounds the table up"), (NET, "rule 7 rounds net prices up")] {
        let record = accept(&fixture, test, reason);
        let now = fixture.read("tests/test_prices.py");
        assert_eq!(now.matches('\n').count(), now.matches("\r\n").count(), "{now:?}");
        withdraw(&fixture, &record);
        assert_eq!(kept(&fixture), before, "{test}");
    }
}

#[test]
fn an_inline_snapshot_gets_its_spelling_back_and_its_neighbours_their_lines() {
    let fixture = Fixture::committed(
        "//- pindrift.toml\n//- Cargo.toml\n[package]\nname = \"t\"\nversion = \"0.1.0\"\n//- src/lib.rs\n//- tests/s.rs\n\
         #[test]\nfn a() {\n    insta::assert_snapshot!(f(1), @r\"old 1\");\n    insta::assert_snapshot!(f(2), @\"old 2\");\n}\n",
    );
    let entry = |line: usize, n: usize| {
        let name = if n == 1 { "a".to_string() } else { format!("a-{n}") };
        format!(
            "{{\"run_id\":\"1-1\",\"line\":{line},\"new\":{{\"module_name\":\"s\",\"snapshot_name\":\"{name}\",\"metadata\":\
             {{\"source\":\"tests/s.rs\",\"assertion_line\":{line},\"expression\":\"f({n})\"}},\"snapshot\":\"new {n}\\nmore\"}},\
             \"old\":{{\"module_name\":\"s\",\"metadata\":{{}},\"snapshot\":\"old {n}\"}}}}\n"
        )
    };
    fixture.write(&format!("//- tests/.s.rs.pending-snap\n{}{}", entry(3, 1), entry(4, 2)));
    let before = fixture.read("tests/s.rs");
    let report = super::report(&fixture);
    let rows = report["assertions"].as_array().expect("rows");
    let id = rows.iter().find(|row| row["line"] == 3).and_then(|row| row["drift"].as_str()).expect("a drift");
    pindrift(&fixture, &["accept", id, "--reason", "f tells more since rule 7"]).with(0);
    let record = amendments(&fixture).remove(0).0;
    withdraw(&fixture, &record);
    assert_eq!(fixture.read("tests/s.rs"), before);
    assert_eq!(fixture.read("tests/.s.rs.pending-snap"), entry(4, 2));
}

#[test]
fn nothing_is_taken_back_without_a_reason_or_twice() {
    let fixture = prices();
    let record = accept(&fixture, TABLE, "rule 7 rounds the table up");
    let before = tree(&fixture);
    said(program(&fixture).args(["withdraw", &record, "--reason", "wip"])).refusal(1);
    assert_eq!(tree(&fixture), before);
    withdraw(&fixture, &record);
    let before = tree(&fixture);
    pindrift(&fixture, &["withdraw", &record, "--reason", "the rule was misread"]).refusal(1);
    assert_eq!(tree(&fixture), before);
}
