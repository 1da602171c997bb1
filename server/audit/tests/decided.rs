//! Decisions that a weakening may stand on, and those that are about something else.

use super::*;
use crate::roles::Role;

const TESTS: &str = "tests/test_a.py";
const BASE: &str = r#"
//- app.py
def f(n):
    return ""
//- tests/test_a.py
import pytest

from app import f


def test_two():
    """Characterization test: pins current behaviour."""
    assert f(1) == "value one"
    assert f(2) == "value two"
"#;

fn pin(workspace: &Workspace, nth: usize) -> (Pin, crate::oracles::Baseline) {
    let survey = workspace.survey(&Extent::All, &|| false).unwrap();
    let case = survey.cases.iter().find(|case| case.pin.oracle.key.ends_with(&format!("#literal:{nth}"))).unwrap();
    (case.pin.clone(), case.baseline.clone())
}

fn retire(fixture: &Fixture, nth: usize) {
    let workspace = Workspace::open(fixture.path()).unwrap();
    let (pin, baseline) = pin(&workspace, nth);
    let plan = amendment::plan_retire(&pin, &baseline, &workspace, &request("withdrawn in release 9")).unwrap();
    amendment::apply(&workspace.project.root, &plan, &|_| false).unwrap();
}

fn reclassify(fixture: &Fixture, to: Role, reason: &str) {
    let workspace = Workspace::open(fixture.path()).unwrap();
    let (pin, _) = pin(&workspace, 1);
    let plan = amendment::plan_reclassify(&pin, &workspace, to, &request(reason)).unwrap();
    amendment::apply(&workspace.project.root, &plan, &|_| false).unwrap();
}

fn said(fixture: &Fixture) -> Vec<String> {
    let report = report(fixture.path(), "base");
    report.failures().map(|item| format!("{}:{} {}", item.file, item.line, item.message)).collect()
}

fn starts(said: &[String], wanted: &[&str]) {
    let fits = said.len() == wanted.len() && said.iter().zip(wanted).all(|(said, wanted)| said.starts_with(wanted));
    assert!(fits, "{said:#?}");
}

#[test]
fn a_skip_wants_each_pin_that_it_keeps_from_holding_to_be_retired() {
    let fixture = Fixture::committed(BASE);
    retire(&fixture, 2);
    replace(&fixture, TESTS, "    assert f(2) == \"value two\"\n", "");
    fixture.commit("one pin is ended");
    fixture.git(&["branch", "base"]);
    replace(&fixture, TESTS, "def test_two", "@pytest.mark.skip\ndef test_two");
    let skipped = "tests/test_a.py:6 tests/test_a.py::test_two sees less than it did: `pytest.mark.skip` keeps it from";
    starts(&said(&fixture), &[skipped]);
    retire(&fixture, 1);
    starts(&said(&fixture), &[]);

    let fixture = Fixture::committed(BASE);
    fixture.git(&["branch", "base"]);
    replace(&fixture, TESTS, "def test_two", "@pytest.mark.skip\ndef test_two");
    retire(&fixture, 1);
    let both = "tests/test_a.py:6 tests/test_a.py::test_two sees less than it did (and of one more pin)";
    starts(&said(&fixture), &[both]);
    retire(&fixture, 2);
    starts(&said(&fixture), &[]);
}

#[test]
fn a_reclassification_that_was_taken_over_says_nothing_of_the_next() {
    let fixture = Fixture::committed(BASE);
    reclassify(&fixture, Role::Specification, "specification by rule 7");
    reclassify(&fixture, Role::Characterization, "rule 7 was repealed");
    fixture.commit("there and back");
    fixture.git(&["branch", "base"]);
    let text = fixture.read(TESTS);
    fixture.write(&BASE.replace("Characterization test: pins current behaviour.", "Specification test: rule 8."));
    let why = "it was a characterization and is specification now, and no amendment says why";
    let (one, two) = (format!("tests/test_a.py:8 {why}"), format!("tests/test_a.py:9 {why}"));
    starts(&said(&fixture), &[&one, &two]);
    std::fs::write(fixture.at(TESTS), text).unwrap();
    reclassify(&fixture, Role::Specification, "specification by rule 8");
    starts(&said(&fixture), &[]);
}
