//! Verdicts, judgements and the end of a pin, through the command line.

use super::{amendments, drift, observe, pindrift, report};
use crate::fixture::Fixture;

const REPORT: &str = r#"
//- tests/test_report.py
from pathlib import Path
from reports import report

GOLDEN = Path(__file__).parent / "golden"


def test_march():
    assert report("march") == (GOLDEN / "march.txt").read_text()
//- tests/golden/march.txt
made 2024-01-01T10:00:00Z
net 10
gross 12
"#;

const MARCH: &str = "tests/test_report.py::test_march";
const PROFIT: &str = r#"
//- pindrift.toml
//- tests/test_legacy.py
def profit(x):
    return 0


def test_profit_pins_legacy_output():
    assert profit(3) == -1
"#;
const PROFIT_TEST: &str = "tests/test_legacy.py::test_profit_pins_legacy_output";

fn march(stamp: &str, net: &str) -> Fixture {
    let fixture = Fixture::committed(REPORT);
    run(&fixture, stamp, net);
    fixture
}

fn run(fixture: &Fixture, stamp: &str, net: &str) {
    fixture.write(&format!("//- tests/actual/march.txt\nmade {stamp}\nnet {net}\ngross 12\n"));
}

fn finding(fixture: &Fixture, code: &str) -> Option<(String, String)> {
    let report = report(fixture);
    let found =
        report["findings"].as_array().expect("findings").iter().find(|finding| finding["code"] == code)?.clone();
    Some((found["severity"].to_string(), found["message"].as_str().unwrap_or("").to_string()))
}

#[test]
fn noise_stays_noise_on_the_next_run() {
    let fixture = march("2024-05-05T11:11:11Z", "10");
    let id = drift(&fixture, MARCH);
    pindrift(&fixture, &["check"]).with(1);
    let said = pindrift(&fixture, &["verdict", &id, "noise", "--reason", "the clock is not frozen yet"]).with(0);
    assert!(
        said.starts_with(&format!("{MARCH} is judged noise: fix the harness, the recorded value stays;")),
        "{said}"
    );
    let (severity, message) = finding(&fixture, "drift-noise").expect("told as noise");
    assert_eq!(severity, "\"information\"");
    assert!(message.contains("judged noise of the harness") && message.contains("freeze the clock"), "{message}");
    pindrift(&fixture, &["check"]).with(0);

    run(&fixture, "2025-09-09T09:09:09Z", "10");
    assert_ne!(drift(&fixture, MARCH), id, "another observation");
    pindrift(&fixture, &["check"]).with(0);
    assert_eq!(report(&fixture)["assertions"][0]["verdict"], "noise");

    // Something beside the noise is not covered by it.
    run(&fixture, "2025-09-09T09:09:09Z", "11");
    pindrift(&fixture, &["check"]).with(1);
    assert!(finding(&fixture, "drift").is_some());
}

#[test]
fn a_verdict_is_replaced_by_none_that_does_not_take_it_back() {
    let fixture = march("2024-05-05T11:11:11Z", "10");
    let id = drift(&fixture, MARCH);
    pindrift(&fixture, &["verdict", &id, "unintended", "--reason", "the stamp is part of the contract"]).with(0);
    let refusal = pindrift(&fixture, &["verdict", &id, "noise", "--reason", "the clock is not frozen yet"]).refusal(1);
    assert!(refusal.contains("judged this unintended already (the stamp is part of the contract)"), "{refusal}");
    let name = refusal.trim().trim_end_matches('`').rsplit(' ').next().expect("the amendment").to_string();
    pindrift(&fixture, &["withdraw", &name, "--reason", "rule 7 says that the stamp is free"]).with(0);
    pindrift(&fixture, &["verdict", &id, "noise", "--reason", "the clock is not frozen yet"]).with(0);
}

#[test]
fn an_authority_can_be_added_later() {
    let fixture = Fixture::committed(PROFIT);
    let specification = |more: &[&str]| {
        let call = ["reclassify", PROFIT_TEST, "--to", "specification", "--reason", "the ledger rule says so"];
        pindrift(&fixture, &[&call, more].concat())
    };
    specification(&[]).with(0);
    assert!(fixture.read("tests/test_legacy.py").contains("<which authority says so?>"));
    specification(&[]).refusal(1);
    let said = specification(&["--authority", "accounting rule 7"]).with(0);
    assert!(!said.contains("which authority"), "{said}");
    assert!(fixture.read("tests/test_legacy.py").contains("\"\"\"Specification test: accounting rule 7"));
}

#[test]
fn an_unintended_place_is_an_error_until_the_code_is_fixed() {
    let fixture = march("2024-01-01T10:00:00Z", "11");
    let id = drift(&fixture, MARCH);
    pindrift(&fixture, &["verdict", &id, "unintended", "--reason", "wip"]).refusal(1);
    assert!(amendments(&fixture).is_empty());
    pindrift(&fixture, &["verdict", &id, "unintended", "--reason", "net must not move with the tax table"]).with(0);
    let (severity, message) = finding(&fixture, "drift-unintended").expect("told as unintended");
    assert_eq!(severity, "\"error\"");
    assert!(message.contains("net must not move with the tax table"), "{message}");
    let text = pindrift(&fixture, &["check"]).with(1);
    assert!(text.contains(", judged unintended, "), "{text}");
    let text = pindrift(&fixture, &["diff", &id]).with(0);
    assert!(text.contains("Judged unintended by ") && !text.contains("Accept with a reason"), "{text}");
    let refused = pindrift(&fixture, &["accept", &id, "--reason", "rule 7 rounds net prices up"]).refusal(1);
    assert!(refused.contains("judged this change unintended") && refused.contains("withdraw"), "{refused}");

    // The verdict is taken back by a decision of its own, and the drift can be accepted.
    let (record, text) = amendments(&fixture).pop().expect("a record");
    assert!(text.contains("kind = \"verdict\"") && text.contains("verdict = \"unintended\""), "{text}");
    let withdraw = ["withdraw", &record, "--reason", "the tax office confirmed the new net"];
    pindrift(&fixture, &withdraw).with(0);
    let refused = pindrift(&fixture, &withdraw).refusal(1);
    assert!(refused.contains("was withdrawn already, by "), "{refused}");
    pindrift(&fixture, &["accept", &id, "--reason", "rule 7 rounds net prices up"]).with(0);
    fixture.commit("decided");
    pindrift(&fixture, &["audit", "--base", "HEAD~1"]).with(0);
}

#[test]
fn one_place_of_several_is_judged_by_its_number() {
    let fixture = march("2024-05-05T11:11:11Z", "11");
    fixture.write("//- tests/golden/march.txt\nmade 2024-01-01T10:00:00Z\nnet same\nnet 10\ngross 12\n");
    fixture.write("//- tests/actual/march.txt\nmade 2024-05-05T11:11:11Z\nnet same\nnet 11\ngross 12\n");
    let id = drift(&fixture, MARCH);
    let refused =
        pindrift(&fixture, &["verdict", &id, "noise", "--hunk", "3", "--reason", "the clock runs"]).refusal(1);
    assert!(refused.contains("in 2 places, and 3 is none of them"), "{refused}");
    pindrift(&fixture, &["verdict", &id, "noise", "--hunk", "1", "--reason", "the clock is not frozen"]).with(0);
    assert!(finding(&fixture, "drift").is_some(), "the other place waits");
    pindrift(&fixture, &["accept", &id, "--reason", "rule 7 rounds net prices up"]).with(0);
}

#[test]
fn a_suspected_bug_is_expected_to_change() {
    let fixture = Fixture::committed(PROFIT);
    let judged = ["judge", PROFIT_TEST, "suspected-bug", "--reason", "a profit of three should not be negative"];
    let said = pindrift(&fixture, &judged).with(0);
    assert!(said.contains(" is a suspected bug now; recorded in .pindrift/amendments/"), "{said}");
    assert_eq!(report(&fixture)["assertions"][0]["judgement"], "suspected-bug");
    let log = pindrift(&fixture, &["log", "--suspected"]).with(0);
    assert!(log.contains("a profit of three should not be negative"), "{log}");

    observe(&fixture, PROFIT_TEST, r#"{"literal": "3"}"#, "");
    let (_, message) = finding(&fixture, "drift").expect("a drift");
    assert!(message.contains("judged a suspected bug, so it was expected to change"), "{message}");

    pindrift(&fixture, &["judge", PROFIT_TEST, "unjudged", "--reason", "it is what the contract says"]).with(0);
    assert_eq!(report(&fixture)["assertions"][0]["judgement"], "unjudged");
    assert!(!pindrift(&fixture, &["log", "--suspected"]).with(0).contains("negative"));
}

#[test]
fn a_pin_is_retired_before_or_after_it_goes() {
    let fixture = march("2024-01-01T10:00:00Z", "10");
    pindrift(&fixture, &["retire", MARCH, "--reason", "the monthly report is no longer printed"]).with(0);
    assert!(amendments(&fixture).pop().expect("a record").1.contains("kind = \"retire\""));
    let refused =
        pindrift(&fixture, &["retire", MARCH, "--reason", "the monthly report is no longer printed"]).refusal(1);
    assert!(refused.contains("is retired already, by "), "{refused}");

    let fixture = march("2024-01-01T10:00:00Z", "10");
    std::fs::remove_file(fixture.at("tests/test_report.py")).expect("removed");
    let nothing = pindrift(&fixture, &["retire", "tests/golden/none.txt", "--reason", "nobody reads it"]).refusal(2);
    assert!(nothing.contains("no pinned test and no baseline"), "{nothing}");
    let said = pindrift(
        &fixture,
        &["retire", "tests/golden/march.txt", "--reason", "the monthly report is no longer printed"],
    );
    assert!(said.with(0).contains("tests/golden/march.txt of tests/test_report.py::test_march is retired"));
}

#[test]
fn decisions_of_one_second_keep_their_order() {
    let fixture = Fixture::committed(PROFIT);
    for (judgement, reason) in [
        ("suspected-bug", "a profit of three should not be negative"),
        ("contract", "customers rely on the sign"),
        ("unjudged", "nobody knows any more"),
        ("deliberate", "the board decided it"),
    ] {
        pindrift(&fixture, &["judge", PROFIT_TEST, judgement, "--reason", reason]).with(0);
    }
    assert_eq!(report(&fixture)["assertions"][0]["judgement"], "deliberate");
    assert!(!pindrift(&fixture, &["log", "--suspected"]).with(0).contains("negative"));
}

#[test]
fn a_run_that_is_older_than_the_code_says_nothing_of_it() {
    let source = |text: &str| format!("//- legacy.py\n{text}\n");
    let fixture = Fixture::committed(&format!("{PROFIT}{}", source("RATE = 1")));
    // The records of tests are of 2026-08-28, the code of this run is newer.
    observe(&fixture, PROFIT_TEST, r#"{"literal": "3"}"#, r#", "revision": "5ac7c9c""#);
    assert_eq!(report(&fixture)["assertions"][0]["state"], "unobserved");
    let refused = pindrift(&fixture, &["accept", "--test", PROFIT_TEST, "--reason", "profits are counted anew"]);
    refused.refusal(1);

    // One that came after the last change of the code does; a comment in a test ages nothing.
    std::fs::File::options()
        .write(true)
        .open(fixture.at("legacy.py"))
        .and_then(|file| file.set_modified(std::time::UNIX_EPOCH))
        .expect("dated");
    assert_eq!(report(&fixture)["assertions"][0]["state"], "drift");
}
