use expect_test::expect;

use super::*;
use crate::oracles::pytest::listing::{accepted, listing};

const TESTS: &str = r#"//- tests/test_a.py
import pytest, snapshottest
def test_steps(snapshot):
    snapshot.assert_match(run(), "nickel")
    snapshot.assert_match(run())
    snapshot.assert_match(run())
@pytest.mark.parametrize("band", ["std", "a b"])
def test_tax(band, snapshot):
    snapshot.assert_match(run())
class TestX:
    def test_page(self, snapshot):
        snapshot.assert_match(run())
class TestY(snapshottest.TestCase):
    def test_page(self):
        self.assertMatchSnapshot(run())
def test_perhaps(snapshot):
    if run():
        snapshot.assert_match(run())
//- tests/snapshots/snap_test_a.py
from snapshottest import Snapshot, GenericRepr
snapshots = Snapshot()

snapshots['test_steps nickel'] = '0.05'

snapshots['test_steps 1'] = {
    'a': [
        1
    ]
}

snapshots['test_steps 2'] = GenericRepr("<x>")

snapshots['test_gone 1'] = 1

snapshots['test_tax[std] 1'] = 2.5

snapshots['TestX.test_page 1'] = 1

snapshots['TestY::test_page 1'] = 1
"#;

#[test]
fn entries_are_named_by_class_test_and_count() {
    expect![[r#"
        3 test_steps tests/snapshots/snap_test_a.py # test_steps nickel = "0.05" at 4
        4 test_steps tests/snapshots/snap_test_a.py # test_steps 1 = {
            'a': [
                1
            ]
        } at 6
        5 test_steps tests/snapshots/snap_test_a.py # test_steps 2 = GenericRepr("<x>") at 12
        8 test_tax[std] tests/snapshots/snap_test_a.py # test_tax[std] 1 = 2.5 at 16
        8 test_tax[a b] tests/snapshots/snap_test_a.py # test_tax[a b] 1 missing
        11 TestX::test_page tests/snapshots/snap_test_a.py # TestX.test_page 1 = 1 at 18
        14 TestY::test_page tests/snapshots/snap_test_a.py # TestY::test_page 1 = 1 at 20
        17 test_perhaps ? ["tests/snapshots/snap_test_a.py"]
    "#]]
    .assert_eq(&listing(&Snapshottest, TESTS));
    let known = TESTS.replace("    if run():\n        snapshot.assert_match(run())\n", "    pass\n");
    assert!(listing(&Snapshottest, &known).ends_with("orphan tests/snapshots/snap_test_a.py # test_gone 1\n"));
}

#[test]
fn values_are_written_as_the_formatter_does() {
    // Each second text was written by snapshottest 0.6.0.
    for (source, want) in [
        (
            "{'b': (1,), 'a': [None, True]}",
            Some("{\n    'a': [\n        None,\n        True\n    ],\n    'b': (\n        1\n    ,)\n}"),
        ),
        ("'x\\n\\'\\'\\'\\n\"\"\"'", Some("'''x\n\\'\\'\\'\n\"\"\"'''")),
        ("[]", Some("[\n]")),
        ("{'k': {}}", Some("{\n    'k': {\n    }\n}")),
        ("\"it's\"", Some("\"it's\"")),
        ("{1, 2}", None),
    ] {
        let value = python::expression(source).and_then(|expr| literal_python::value(&expr, Names::Repr)).unwrap();
        assert_eq!(spelled(&value, 0).as_deref(), want, "{source}");
    }
    let value = |source: &str| Some(Content::Value(source.to_string()));
    assert!(accepted(&Snapshottest, TESTS, "test_tax[std]", value("3")).contains("is not certain"));
    assert!(
        accepted(&Snapshottest, TESTS, "test_tax[std]", value("3.5")).contains("snapshots['test_tax[std] 1'] = 3.5\n")
    );
    assert!(accepted(&Snapshottest, TESTS, "test_tax[a b]", value("3")).contains("any run of the test writes"));
}
