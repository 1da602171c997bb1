use expect_test::{Expect, expect};

use super::*;
use crate::fixture::Fixture;
use crate::observe::events::Seen;
use crate::pins::Extent;
use crate::survey::Workspace;

/// What a run that wrote these lines says about the pins of the fixture.
fn check(notation: &str, lines: &str, expected: Expect) {
    let fixture = Fixture::committed(notation);
    let workspace = Workspace::open(fixture.path()).unwrap();
    let survey = workspace.survey(&Extent::All, &|| false).unwrap();
    let mut seen = Seen::default();
    seen.add(&mut lines.as_bytes(), &mut (1 << 20));
    let found = attributed(&survey.cases, &seen.tests, Language::Python, &workspace.project);
    let mut shown: Vec<String> = found
        .said
        .iter()
        .map(|said| {
            let value = said.value.as_ref().map(|value| format!(" {value:?}")).unwrap_or_default();
            let behind = said.preimage.as_ref().map(|text| format!(" behind it {text:?}")).unwrap_or_default();
            format!("{} {}: {:?}{value}{behind}\n", said.pin.test, said.pin.oracle.key, said.outcome)
        })
        .collect();
    shown.extend(found.written.iter().map(|(test, path, _)| format!("{test} wrote {path}\n")));
    expected.assert_eq(&shown.concat());
}

const SETTINGS: &str = "//- pindrift.toml\n[roles]\ncharacterization = [\"**\"]\n";

const LITERALS: &str = "//- tests/test_a.py
import pytest

def helper(got, want):
    assert got == want

def test_two():
    assert f() == 1
    assert f() == 'a'
    helper(f(), 3)

@pytest.mark.parametrize('n, want', [(1, 10), (2, 20)])
def test_cases(n, want):
    assert f(n) == want
";

fn literals(lines: &str, expected: Expect) {
    check(&format!("{SETTINGS}{LITERALS}"), lines, expected);
}

#[test]
fn the_side_that_is_not_recorded_was_observed() {
    literals(
        r#"
{"k":"start","id":"tests/test_a.py::test_two"}
{"k":"cmp","op":"==","ok":true,"l":{"r":"1"},"r":{"r":"1"},"at":[["tests/test_a.py",7]]}
{"k":"cmp","op":"==","ok":false,"l":{"s":"a"},"r":{"s":"b"},"at":[["tests/test_a.py",8]]}
{"k":"report","when":"call","outcome":"failed","at":[["tests/test_a.py",8]]}
{"k":"end"}
"#,
        expect![[r#"
            tests/test_a.py::test_two tests/test_a.py#literal:3: NotReached
            tests/test_a.py::test_two tests/test_a.py#literal:1: Match
            tests/test_a.py::test_two tests/test_a.py#literal:2: Differs Text("b")
        "#]],
    );
}

#[test]
fn a_helper_belongs_to_the_line_that_calls_it() {
    literals(
        r#"
{"k":"start","id":"tests/test_a.py::test_two"}
{"k":"cmp","op":"==","ok":false,"l":{"r":"4"},"r":{"r":"3"},"at":[["tests/test_a.py",4],["tests/test_a.py",9]]}
{"k":"report","when":"call","outcome":"failed","at":[["tests/test_a.py",9],["tests/test_a.py",4]]}
{"k":"end"}
"#,
        expect![[r#"
            tests/test_a.py::test_two tests/test_a.py#literal:3: Differs Literal("4")
        "#]],
    );
}

#[test]
fn parameters_belong_to_their_own_case() {
    literals(
        r#"
{"k":"start","id":"tests/test_a.py::test_cases[2-20]"}
{"k":"cmp","op":"==","ok":false,"l":{"r":"21"},"r":{"r":"20"},"at":[["tests/test_a.py",13]]}
{"k":"report","when":"call","outcome":"failed","at":[["tests/test_a.py",13]]}
{"k":"end"}
{"k":"start","id":"tests/test_a.py::test_cases[1-10]"}
{"k":"report","when":"setup","outcome":"failed","at":[]}
{"k":"end"}
"#,
        expect![[r#"
            tests/test_a.py::test_cases[2-20] tests/test_a.py#literal:2: Differs Literal("21")
            tests/test_a.py::test_cases[1-10] tests/test_a.py#literal:1: NotReached
        "#]],
    );
}

#[test]
fn what_is_not_certain_is_left_out() {
    // Neither side is the recorded value, another place, an expected failure, a skipped test.
    literals(
        r#"
{"k":"start","id":"tests/test_a.py::test_two"}
{"k":"cmp","op":"==","ok":false,"l":{"r":"7"},"r":{"r":"8"},"at":[["tests/test_a.py",7]]}
{"k":"cmp","op":"==","ok":false,"l":{"r":"7"},"r":{"r":"1"},"at":[["tests/other.py",7]]}
{"k":"report","when":"call","outcome":"passed","at":[]}
{"k":"end"}
{"k":"start","id":"tests/test_a.py::test_cases[1-10]"}
{"k":"cmp","op":"==","ok":false,"l":{"r":"11"},"r":{"r":"10"},"at":[["tests/test_a.py",13]]}
{"k":"report","when":"call","outcome":"xfailed","at":[["tests/test_a.py",13]]}
{"k":"end"}
{"k":"start","id":"tests/test_a.py::test_cases[2-20]"}
{"k":"report","when":"setup","outcome":"skipped","at":[]}
{"k":"end"}
"#,
        expect![""],
    );
}

#[test]
fn a_process_that_dies_has_not_reached_the_rest() {
    literals(
        r#"
{"k":"start","id":"tests/test_a.py::test_two"}
{"k":"cmp","op":"==","ok":true,"l":{"r":"1"},"r":{"r":"1"},"at":[["tests/test_a.py",7]]}
"#,
        expect![[r#"
            tests/test_a.py::test_two tests/test_a.py#literal:2: NotReached
            tests/test_a.py::test_two tests/test_a.py#literal:3: NotReached
            tests/test_a.py::test_two tests/test_a.py#literal:1: Match
        "#]],
    );
}

const FILES: &str = "//- tests/test_g.py
import filecmp
import hashlib
from pathlib import Path

GOLDEN = Path(__file__).parent / 'golden'

def test_loop():
    for name in ('a', 'b'):
        assert f(name) == (GOLDEN / f'{name}.txt').read_text()

def test_digest():
    assert hashlib.sha256(f()).hexdigest() == (GOLDEN / 'x.sha256').read_text().strip()

def test_file(tmp_path):
    assert filecmp.cmp(tmp_path / 'out', GOLDEN / 'a.txt', shallow=False)
//- tests/golden/a.txt
same
//- tests/golden/b.txt
same
//- tests/golden/x.sha256
2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae
";

#[test]
fn of_files_with_the_same_text_the_one_that_was_opened_counts() {
    check(
        &format!("{SETTINGS}{FILES}"),
        r#"
{"k":"start","id":"tests/test_g.py::test_loop"}
{"k":"cmp","op":"==","ok":true,"l":{"s":"same\n"},"r":{"s":"same\n"},"at":[["tests/test_g.py",9]],"o":["tests/golden/a.txt"]}
{"k":"cmp","op":"==","ok":false,"l":{"s":"new\n"},"r":{"s":"same\n"},"at":[["tests/test_g.py",9]],"o":["tests/golden/a.txt","tests/golden/b.txt"]}
{"k":"report","when":"call","outcome":"failed","at":[["tests/test_g.py",9]]}
{"k":"end"}
"#,
        expect![[r#"
            tests/test_g.py::test_loop tests/golden/a.txt: Match
            tests/test_g.py::test_loop tests/golden/b.txt: Differs Text("new\n")
        "#]],
    );
}

#[test]
fn a_loop_that_stops_has_not_reached_its_other_files() {
    check(
        &format!("{SETTINGS}{FILES}"),
        r#"
{"k":"start","id":"tests/test_g.py::test_loop"}
{"k":"cmp","op":"==","ok":false,"l":{"s":"new\n"},"r":{"s":"same\n"},"at":[["tests/test_g.py",9]],"o":["tests/golden/a.txt"]}
{"k":"report","when":"call","outcome":"failed","at":[["tests/test_g.py",9]]}
{"k":"end"}
"#,
        expect![[r#"
            tests/test_g.py::test_loop tests/golden/b.txt: NotReached
            tests/test_g.py::test_loop tests/golden/a.txt: Differs Text("new\n")
        "#]],
    );
}

#[test]
fn files_and_the_texts_behind_digests() {
    check(
        &format!("{SETTINGS}{FILES}"),
        r#"
{"k":"start","id":"tests/test_g.py::test_digest"}
{"k":"cmp","op":"==","ok":true,"l":{"s":"2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae","p":"Zm9v"},"r":{"s":"2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"},"at":[["tests/test_g.py",12]]}
{"k":"report","when":"call","outcome":"passed","at":[]}
{"k":"end"}
{"k":"start","id":"tests/test_g.py::test_file"}
{"k":"file","path":"tests/golden/a.txt","ok":false,"b":"bmV3DQo=","at":[["tests/test_g.py",15]]}
{"k":"end"}
"#,
        expect![[r#"
            tests/test_g.py::test_digest tests/golden/x.sha256: Match behind it "foo"
            tests/test_g.py::test_file tests/golden/a.txt: Differs Text("new\r\n")
        "#]],
    );
}

#[test]
fn a_test_that_writes_its_own_baseline_does_not_match_it() {
    check(
        &format!("{SETTINGS}{FILES}"),
        r#"
{"k":"start","id":"tests/test_g.py::test_digest"}
{"k":"write","path":"tests/golden/x.sha256","at":[["tests/test_g.py",12]]}
{"k":"cmp","op":"==","ok":true,"l":{"s":"00"},"r":{"s":"00"},"at":[["tests/test_g.py",12]]}
{"k":"report","when":"call","outcome":"passed","at":[]}
{"k":"end"}
"#,
        expect![[r#"
            tests/test_g.py::test_digest tests/golden/x.sha256: Differs Text("00")
            tests/test_g.py::test_digest wrote tests/golden/x.sha256
        "#]],
    );
}

#[test]
fn a_value_that_holds_in_one_round_only_does_not_hold() {
    check(
        &format!(
            "{SETTINGS}//- tests/test_b.py
from inline_snapshot import snapshot

def test_bound():
    for cents in (100, 12708):
        assert tax(cents) <= snapshot(2541)
"
        ),
        r#"
{"k":"start","id":"tests/test_b.py::test_bound"}
{"k":"cmp","op":"<=","ok":true,"l":{"r":"20"},"r":{"r":"2541"},"at":[["tests/test_b.py",5]]}
{"k":"cmp","op":"<=","ok":false,"l":{"r":"2542"},"r":{"r":"2541"},"at":[["tests/test_b.py",5]]}
{"k":"report","when":"call","outcome":"failed","at":[["tests/test_b.py",5]]}
{"k":"end"}
"#,
        expect![[r#"
            tests/test_b.py::test_bound tests/test_b.py#literal:1: Differs Literal("2542")
        "#]],
    );
}
