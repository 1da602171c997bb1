//! A house-made golden helper, four drifts in one change: seen, decided one by one, remembered.

use expect_test::expect;

use super::{Fixture, amendments, drift, pindrift, program, report, rows, said, tree};

const PAYROLL: &str = r#"
//- pindrift.toml
//- tests/test_payroll.py
"""Characterization tests of the payroll run: they pin what it writes, right or wrong."""
from pathlib import Path

import pytest

from payroll import run

HERE = Path(__file__).parent
MONTHS = ["march", "april", "may", "june"]


def same_as_recorded(name):
    text = run(name)
    (HERE / "actual").mkdir(exist_ok=True)
    (HERE / "actual" / f"{name}.txt").write_text(text)
    assert text == (HERE / "golden" / f"{name}.txt").read_text()


@pytest.mark.parametrize("name", MONTHS)
def test_payroll(name):
    same_as_recorded(name)
//- tests/golden/march.txt
staff: Ito
net: 10.38
paid: 2026-03-31
//- tests/golden/april.txt
staff: Ito
net: 10.24
paid: 2026-04-30
//- tests/golden/may.txt
staff: Ito
staff: Vega
net: 20.00
//- tests/golden/june.txt
staff: Ito
net: 11.00
"#;

const AFTER: &str = r#"
//- tests/actual/march.txt
staff: Ito
net: 10.39
paid: 2026-03-31
//- tests/actual/april.txt
staff: Ito
net: 10.25
paid: 2026-04-30
//- tests/actual/may.txt
staff: Vega
staff: Ito
net: 20.00
//- tests/actual/june.txt
staff: Ito
net: 11.00
"#;

fn payroll() -> Fixture {
    let fixture = Fixture::committed(PAYROLL);
    fixture.write(AFTER);
    fixture
}

#[test]
fn check_shows_each_drift_at_the_call_and_in_the_baseline() {
    let fixture = payroll();
    expect![[r#"
        tests/test_payroll.py::test_payroll[march]:21 drift behaviour tests/golden/march.txt:2
        tests/test_payroll.py::test_payroll[april]:21 drift behaviour tests/golden/april.txt:2
        tests/test_payroll.py::test_payroll[may]:21 drift ordering tests/golden/may.txt:1,2
        tests/test_payroll.py::test_payroll[june]:21 match - tests/golden/june.txt:
    "#]]
    .assert_eq(&by_test(&rows(&fixture)));
    let out = pindrift(&fixture, &["check"]).with(1);
    assert_eq!(out.lines().last(), Some("3 drifts (2 distinct changes), 0 missing, 1 match, 0 unobserved"));
    assert!(!out.contains('\u{1b}'), "no colour into a pipe: {out}");
    for path in ["tests/golden/march.txt:2", "tests/test_payroll.py:21"] {
        assert!(out.contains(path), "{path} in {out}");
    }
}

/// The rows in the order of the parameter list.
fn by_test(rows: &str) -> String {
    let order = ["march", "april", "may", "june"];
    let mut lines: Vec<&str> = rows.lines().collect();
    lines.sort_by_key(|line| order.iter().position(|name| line.contains(&format!("[{name}]"))));
    lines.iter().map(|line| line.to_string() + "\n").collect()
}

#[test]
fn equal_changes_are_one_change() {
    let report = report(&payroll());
    let change = |case: &str| {
        let rows = report["assertions"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["test"].as_str().is_some_and(|test| test.ends_with(case)));
        row.expect("a row")["change"].clone()
    };
    assert_eq!(change("[march]"), change("[april]"));
    assert_ne!(change("[march]"), change("[may]"));
    assert_eq!(report["summary"]["drifts"], 3);
    assert_eq!(report["summary"]["distinct"], 2);
}

#[test]
fn the_reason_of_one_is_offered_for_the_next_and_confirmed_one_by_one() {
    let fixture = payroll();
    let march = drift(&fixture, "tests/test_payroll.py::test_payroll[march]");
    let april = drift(&fixture, "tests/test_payroll.py::test_payroll[april]");
    let out = pindrift(&fixture, &["check"]).with(1);
    let together = out.find("the same change in 1 more:").expect("one change told once");
    assert_eq!(out.matches("behaviour").count(), 1, "{out}");
    assert!(out[together..].contains(&march) || out[together..].contains(&april), "{out}");
    let nothing = pindrift(&fixture, &["accept", &march, "--same-reason"]).refusal(1);
    assert!(nothing.contains("no drift of the same change was accepted yet"), "{nothing}");

    let said =
        pindrift(&fixture, &["accept", &march, "--reason", "net is rounded half up now", "--authority", "rule 7"]);
    let said = said.with(0);
    assert!(
        said.contains("1 more drift is the same change") && said.contains(&format!("accept {april} --same")),
        "{said}"
    );
    assert_eq!(fixture.read("tests/golden/april.txt"), "staff: Ito\nnet: 10.24\npaid: 2026-04-30\n");
    assert_eq!(report(&fixture)["changes"].as_array().map(Vec::len), Some(2));
    assert_eq!(report(&fixture)["changes"][0]["reason"], "net is rounded half up now");
    let refusal = pindrift(&fixture, &["accept", &april]).refusal(1);
    assert!(refusal.contains("net is rounded half up now") && refusal.contains("--same-reason"), "{refusal}");

    let may = drift(&fixture, "tests/test_payroll.py::test_payroll[may]");
    pindrift(&fixture, &["accept", &may, "--same-reason"]).refusal(1);
    pindrift(&fixture, &["accept", &april, "--same-reason"]).with(0);
    let records = amendments(&fixture);
    assert_eq!(records.len(), 2, "two drifts, two decisions");
    for (path, record) in &records {
        assert!(record.contains("reason = \"net is rounded half up now\""), "{path}: {record}");
        assert!(record.contains("authority = \"rule 7\""), "{path}: {record}");
    }
    // A reason that was taken back is not offered.
    fixture.write("//- tests/actual/june.txt\nstaff: Ito\nnet: 11.01\n");
    let june = drift(&fixture, "tests/test_payroll.py::test_payroll[june]");
    for (path, _) in &records {
        pindrift(&fixture, &["withdraw", path, "--reason", "rule 7 is not in force"]).with(0);
    }
    pindrift(&fixture, &["accept", &june, "--same-reason"]).refusal(1);
}

#[test]
fn no_honest_reason_no_accept() {
    let fixture = payroll();
    let id = drift(&fixture, "tests/test_payroll.py::test_payroll[march]");
    let before = tree(&fixture);
    for reason in ["", "   ", "update snapshot", "fix tests", "wip", "WIP."] {
        pindrift(&fixture, &["accept", &id, "--reason", reason]).refusal(1);
    }
    pindrift(&fixture, &["accept", &id]).refusal(1);
    assert_eq!(tree(&fixture), before, "a refusal leaves everything as it was");
}

#[test]
fn an_accept_changes_one_oracle_and_remembers_why() {
    let fixture = payroll();
    let id = drift(&fixture, "tests/test_payroll.py::test_payroll[march]");
    let dry = pindrift(&fixture, &["accept", &id, "--reason", "net is rounded half up now", "--dry-run"]).with(0);
    assert!(dry.contains("-net: 10.38\n+net: 10.39\n"), "{dry}");
    assert!(amendments(&fixture).is_empty());
    assert_eq!(fixture.read("tests/golden/march.txt"), "staff: Ito\nnet: 10.38\npaid: 2026-03-31\n");

    pindrift(&fixture, &["accept", &id, "--reason", "net is rounded half up now", "--authority", "rule 7"]).with(0);
    assert_eq!(fixture.read("tests/golden/march.txt"), "staff: Ito\nnet: 10.39\npaid: 2026-03-31\n");
    assert_eq!(fixture.read("tests/golden/april.txt"), "staff: Ito\nnet: 10.24\npaid: 2026-04-30\n");
    let record = amendments(&fixture);
    assert_eq!(record.len(), 1);
    let record = &record[0].1;
    for line in [
        "reason = \"net is rounded half up now\"",
        "authority = \"rule 7\"",
        "via = \"cli\"",
        "kind = \"drift\"",
        "oracle = \"tests/golden/march.txt\"",
    ] {
        assert!(record.contains(line), "{line} in {record}");
    }
    let log = pindrift(&fixture, &["log", "tests/golden/march.txt"]).with(0);
    assert!(log.contains("net is rounded half up now") && log.contains("+net: 10.39"), "{log}");
    let april = pindrift(&fixture, &["log", "tests/golden/april.txt"]).with(0);
    assert!(april.contains("commit\n    first\n") && !april.contains("rounded"), "{april}");

    let stale = pindrift(&fixture, &["accept", &id, "--reason", "net is rounded half up now"]).refusal(1);
    assert!(stale.contains("pindrift check"), "{stale}");
    assert_eq!(amendments(&fixture).len(), 1);
}

#[test]
fn the_reason_may_come_by_the_environment_and_the_test_by_name() {
    let fixture = payroll();
    let accept = ["accept", "--test", "tests/test_payroll.py::test_payroll[april]"];
    said(program(&fixture).args(accept).env("DRIFT_REASON", "net is rounded half up now")).with(0);
    assert!(amendments(&fixture)[0].1.contains("net is rounded half up now"));
    let several = ["accept", "--test", "tests/test_payroll.py::test_payroll", "--reason", "net is rounded half up"];
    let refusal = pindrift(&fixture, &several).refusal(1);
    assert!(refusal.contains("[march]") && refusal.contains("[may]"), "it lists the ids: {refusal}");
}

#[test]
fn what_was_accepted_can_be_withdrawn() {
    let fixture = payroll();
    let id = drift(&fixture, "tests/test_payroll.py::test_payroll[march]");
    pindrift(&fixture, &["accept", &id, "--reason", "net is rounded half up now"]).with(0);
    fixture.commit("accept march");
    let (path, _) = amendments(&fixture).remove(0);
    pindrift(&fixture, &["withdraw", &path]).refusal(1);
    pindrift(&fixture, &["withdraw", &path, "--reason", "rule 7 does not hold for March"]).with(0);
    assert_eq!(fixture.read("tests/golden/march.txt"), "staff: Ito\nnet: 10.38\npaid: 2026-03-31\n");
    assert_eq!(amendments(&fixture).len(), 2);
}

#[test]
fn the_gate_wants_a_reason_for_every_changed_baseline() {
    let fixture = payroll();
    fixture.git(&["checkout", "-q", "-b", "change"]);
    let id = drift(&fixture, "tests/test_payroll.py::test_payroll[march]");
    pindrift(&fixture, &["accept", &id, "--reason", "net is rounded half up now"]).with(0);
    fixture.commit("accept march");
    pindrift(&fixture, &["audit", "--base", "main"]).with(0);

    fixture.write("//- tests/golden/april.txt\nstaff: Ito\nnet: 10.25\npaid: 2026-04-30\n");
    fixture.commit("regenerate april");
    let said = pindrift(&fixture, &["audit", "--base", "main"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.out.contains("tests/golden/april.txt"), "{said:?}");
    assert!(!said.out.contains("golden/march.txt: "), "{said:?}");

    let explain = ["explain", "tests/golden/april.txt", "--base", "main", "--reason", "the same rounding as in March"];
    pindrift(&fixture, &explain).with(0);
    fixture.commit("say why april changed");
    pindrift(&fixture, &["audit", "--base", "main"]).with(0);
    assert!(pindrift(&fixture, &["log", "tests/golden/april.txt"]).with(0).contains("after the fact"));
}

#[test]
fn without_opting_in_only_drifts_count() {
    let fixture = Fixture::committed(&PAYROLL.replace("//- pindrift.toml\n", ""));
    pindrift(&fixture, &["check"]).with(0);
    std::fs::remove_file(fixture.at("tests/golden/june.txt")).expect("removed");
    pindrift(&fixture, &["check"]).with(0);
    pindrift(&fixture, &["check", "--require-observed"]).with(1);
    fixture.write(AFTER);
    pindrift(&fixture, &["check"]).with(1);
}
