use expect_test::expect;

use super::*;
use crate::oracles::pytest::listing::{accepted, listing};

const TESTS: &str = "//- pyproject.toml
addopts = \"--insta=update\"
//- tests/test_bill.py
import pytest
def test_steps(snapshot):
    assert snapshot() == run()
    assert run() == snapshot('json')
    assert snapshot('march.txt') == run()
    assert snapshot() == run()
@pytest.mark.parametrize('band', ['red/2019'])
def test_tax(band, snapshot):
    assert snapshot('bin') == run()
class TestLedger:
    def test_page(self, snapshot):
        if run():
            assert snapshot() == run()
def test_syrupy(snapshot):
    assert snapshot(name='x') == run()
//- tests/snapshots/bill__steps__0.txt
a$CR
//- tests/snapshots/bill__steps__1.json
[1, 2]
//- tests/snapshots/bill__dunning__0.txt
a
//- .pytest_cache/d/insta/tests/bill__steps__0.txt
b
//- .pytest_cache/d/insta/tests/bill__steps__1.json
[2, 1]
//- .pytest_cache/d/insta/tests/bill__steps__2.txt
a$CR
";

#[test]
fn snapshots_are_named_by_module_class_test_and_count() {
    expect![[r#"
        3 test_steps tests/snapshots/bill__steps__0.txt = "a\n" at 1
            .pytest_cache/d/insta/tests/bill__steps__0.txt: "b\n"
        4 test_steps tests/snapshots/bill__steps__1.json = [
          1,
          2
        ] at 0
            .pytest_cache/d/insta/tests/bill__steps__1.json: [
          2,
          1
        ]
        5 test_steps tests/snapshots/bill__steps__march.txt missing
        6 test_steps tests/snapshots/bill__steps__2.txt missing
            .pytest_cache/d/insta/tests/bill__steps__2.txt: "a\r\n"
        9 test_tax[red/2019] tests/snapshots/bill__tax_red_2019__0.bin missing
        13 TestLedger::test_page ?
        orphan tests/snapshots/bill__dunning__0.txt
    "#]]
    .assert_eq(&listing(&PytestInsta, TESTS));
}

#[test]
fn a_recorded_value_is_moved_over_the_snapshot() {
    expect![[r#"
        tests/snapshots/bill__steps__0.txt
        b
        .pytest_cache/d/insta/tests/bill__steps__0.txt
        removed
    "#]]
    .assert_eq(&accepted(&PytestInsta, TESTS, "test_steps", None));
    let refused = accepted(&PytestInsta, TESTS, "test_steps", Some(Content::Text("a\r".into())));
    assert!(refused.contains("carriage return"), "{refused}");
    assert_eq!(normal("tests/test_in_test.py"), "in");
    assert_eq!(normal("test_par[x y/z]"), "par_x_y_z");
}
