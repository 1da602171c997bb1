use expect_test::{Expect, expect};

use super::*;
use crate::fixture::Fixture;
use crate::pins::Extent;
use crate::places::Root;
use crate::shelf::Shelf;
use crate::survey;
use crate::vocabulary::Vocabulary;

fn project(fixture: &Fixture) -> Project {
    let root = Root::of(fixture.path(), fixture.path()).unwrap();
    let shelf = Shelf::new(root.clone());
    Project::read(root, Default::default(), shelf, &Vocabulary::built_in(), &|_, _| {}, &|| false).unwrap()
}

fn check(notation: &str, expect: Expect) {
    let fixture = Fixture::new(notation);
    let project = project(&fixture);
    let mut shown = String::new();
    for pin in survey::pins(&project, &Extent::All) {
        let unit = project.unit(&pin.file).unwrap();
        shown.push_str(&format!("{}:{} {} {}", pin.file.name(), unit.line(pin.span.start), pin.test, pin.framework));
        let held = pin.oracle.path.as_ref().zip(pin.oracle.span);
        match held {
            Some((path, span)) => {
                let text = &project.unit(path).unwrap().text;
                shown.push_str(&format!(" {}:{} {:?}", path.name(), text.line_of(span.start) + 1, text.slice(span)));
            }
            None => shown.push_str(" nowhere"),
        }
        if let Some(tolerance) = &pin.oracle.tolerance {
            shown.push_str(&format!(" ({tolerance})"));
        }
        if let Some((file, span)) = &pin.asserted_in {
            shown.push_str(&format!(" in {}:{}", file.name(), project.unit(file).unwrap().line(span.start)));
        }
        if pin.oracle.shown_only.is_some() {
            shown.push_str(" shown");
        }
        shown.push('\n');
    }
    expect.assert_eq(&shown);
}

#[test]
fn the_literal_side_is_the_recorded_one() {
    check(
        r#"
//- tests/test_a.py
import pytest
from pytest import approx
from decimal import Decimal
from tests.data import FAR

PAGE = """\
one
two"""

class TestA:
    WANT = [1]

    def test_member(self):
        assert f() == self.WANT

def test_sides():
    assert f() == 1, "why"
    assert (2 == g())
    assert f() == (
        "a\n"
        "b\n"
    )
    assert f() == PAGE
    assert f() == FAR
    assert f() == Decimal("1.0")
    assert f() == pytest.approx(0.5, abs=0.1)
    assert f() == approx([1.0, 2.0])
    assert f() == 1 and g() == {"a": None}
    want = b"x"
    assert f() == want
    assert not f() != 3

def test_no_value():
    assert f() != 1
    assert "x" in f()
    assert f() is None
    assert f() < 3
    assert f() == g()
    assert f() == f"{x}"
    assert f()
    result = []
    fill(result)
    assert result == g()
    assert f() == Money(3)
//- tests/data.py
FAR = (1, 2)
"#,
        expect![[r#"
            test_a.py:14 tests/test_a.py::TestA::test_member plain test_a.py:11 "[1]"
            test_a.py:17 tests/test_a.py::test_sides plain test_a.py:17 "1"
            test_a.py:18 tests/test_a.py::test_sides plain test_a.py:18 "2"
            test_a.py:19 tests/test_a.py::test_sides plain test_a.py:20 "\"a\\n\"\n        \"b\\n\""
            test_a.py:23 tests/test_a.py::test_sides plain test_a.py:6 "\"\"\"\\\none\ntwo\"\"\""
            test_a.py:24 tests/test_a.py::test_sides plain data.py:1 "(1, 2)"
            test_a.py:25 tests/test_a.py::test_sides plain test_a.py:25 "Decimal(\"1.0\")"
            test_a.py:26 tests/test_a.py::test_sides plain test_a.py:26 "0.5" (abs=0.1)
            test_a.py:27 tests/test_a.py::test_sides plain test_a.py:27 "[1.0, 2.0]" (rel=1e-6)
            test_a.py:28 tests/test_a.py::test_sides plain test_a.py:28 "1"
            test_a.py:28 tests/test_a.py::test_sides plain test_a.py:28 "{\"a\": None}"
            test_a.py:30 tests/test_a.py::test_sides plain test_a.py:29 "b\"x\""
            test_a.py:31 tests/test_a.py::test_sides plain test_a.py:31 "3"
            test_a.py:34 tests/test_a.py::test_no_value plain test_a.py:34 "1" shown
            test_a.py:35 tests/test_a.py::test_no_value plain test_a.py:35 "\"x\"" shown
        "#]],
    );
}

#[test]
fn cases_have_a_pin_each_at_their_own_cell() {
    check(
        r#"
//- tests/__init__.py
//- tests/support.py
def assert_page(got, want):
    assert got == want
//- tests/test_a.py
import unittest
import pytest
from tests.support import assert_page

@pytest.mark.parametrize("n, want", [(1, "a"), pytest.param(2, "b", id="two")])
def test_table(n, want):
    assert f(n) == want

def test_helper():
    assert_page(f(), "x")

class LegacyCase(unittest.TestCase):
    def test_due(self):
        self.assertEqual(f(), 1)
        self.assertEqual("x", f())
        self.assertAlmostEqual(f(), 0.5, places=2)
        self.assertCountEqual(f(), [1, 2])
        self.assertNotEqual(f(), 3)

    def test_loop(self):
        for n, want in ((1, "p"), (2, "q")):
            with self.subTest(n=n):
                self.assertEqual(want, f(n))
"#,
        expect![[r#"
            test_a.py:7 tests/test_a.py::test_table[1-a] plain test_a.py:5 "\"a\""
            test_a.py:7 tests/test_a.py::test_table[two] plain test_a.py:5 "\"b\""
            test_a.py:10 tests/test_a.py::test_helper plain test_a.py:10 "\"x\"" in support.py:2
            test_a.py:14 tests/test_a.py::LegacyCase::test_due unittest test_a.py:14 "1"
            test_a.py:15 tests/test_a.py::LegacyCase::test_due unittest test_a.py:15 "\"x\""
            test_a.py:16 tests/test_a.py::LegacyCase::test_due unittest test_a.py:16 "0.5" (places=2)
            test_a.py:17 tests/test_a.py::LegacyCase::test_due unittest test_a.py:17 "[1, 2]" (in any order)
            test_a.py:18 tests/test_a.py::LegacyCase::test_due unittest test_a.py:18 "3" shown
            test_a.py:23 tests/test_a.py::LegacyCase::test_loop unittest test_a.py:21 "\"p\""
            test_a.py:23 tests/test_a.py::LegacyCase::test_loop unittest test_a.py:21 "\"q\""
        "#]],
    );
}

#[test]
fn an_accepted_value_changes_its_literal_and_nothing_else() {
    let source = "import pytest\n\n\n@pytest.mark.parametrize('n, want', [(1, 2.67), (2, 2.67)])\ndef test_a(n, want):\n    assert f(n) == want\n";
    let fixture = Fixture::new(&format!("//- tests/test_a.py\n{source}"));
    let project = project(&fixture);
    let pins = survey::pins(&project, &Extent::All);
    let amended = amend(&pins[1], &Content::Value("Decimal('2.6750')".into()), &project).unwrap();
    let after = String::from_utf8(amended.oracle[0].after.clone().unwrap()).unwrap();
    assert_eq!(
        after,
        source
            .replace("(2, 2.67)", "(2, Decimal('2.6750'))")
            .replace("import pytest\n", "from decimal import Decimal\n\nimport pytest\n")
    );
    assert_eq!(amended.oracle[0].before, Some(digest_of(&[source.as_bytes()])));
    let refused = amend(&pins[1], &Content::Value("<Money object at 0x7f>".into()), &project).unwrap_err();
    assert!(refused.0.contains("is not one that a literal can hold"), "{refused}");
}
