//! Each weakening of a comparison and its harmless twin, in both languages where it exists: the files at the
//! base, what the change puts in place of what, and what the gate says. Nothing said: it passes.

use super::*;

struct Case {
    name: &'static str,
    base: &'static str,
    /// File, text there, text in its place.
    change: &'static [(&'static str, &'static str, &'static str)],
    /// `file:line what` of each failure.
    says: &'static [&'static str],
}

const T: &str = "tests/test_a.py";
const R: &str = "tests/a.rs";

const PYTHON: &str = r#"
//- app.py
def render(n):
    return ""
//- tests/support.py
import re


def check(text, recorded):
    text = tidy(text)
    assert text == recorded


def tidy(text):
    return re.sub(r"\d{4}-\d\d-\d\d", "DATE", text)
//- tests/test_a.py
"""Characterization tests: they pin current behaviour."""
import pytest

from app import render
from support import check


def test_one():
    got = render(1)
    assert got == "one"


def test_two():
    assert render(2) == "two"
    check(render(3), "three")


@pytest.mark.skipif("sys.platform == 'win32'")
def test_where():
    assert render(4) == "four"


def test_near():
    assert render(5) == pytest.approx(2.5, abs=1e-6)
"#;

const RUST: &str = r#"
//- Cargo.toml
[package]
name = "a"
version = "0.1.0"
edition = "2021"
//- src/lib.rs
pub fn render(n: u32) -> String {
    n.to_string()
}
//- tests/a.rs
//! Characterization tests: they pin current behaviour.

use a::render;

fn tidy(text: String) -> String {
    text.replace("secret", "***")
}

#[test]
fn one() {
    let got = render(1);
    assert_eq!(got, "one");
}

#[test]
fn two() {
    assert_eq!(render(2), "two");
    assert_eq!(tidy(render(3)), "three");
}
"#;

const INSTA: &str = r#"
//- Cargo.toml
[package]
name = "a"
version = "0.1.0"
edition = "2021"
//- tests/s.rs
use a::f;

fn settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d+ms", "[time]");
    settings
}

#[test]
fn file() {
    settings().bind(|| {
        insta::assert_snapshot!(f(1));
    });
}

#[test]
fn json() {
    insta::assert_json_snapshot!(f(2), { ".id" => "[id]" });
}

#[test]
fn with() {
    insta::with_settings!({filters => vec![(r"\d+", "[n]")]}, {
        insta::assert_snapshot!(f(3));
    });
}
//- tests/snapshots/s__file.snap
---
source: tests/s.rs
expression: f(1)
---
one
//- tests/snapshots/s__json.snap
---
source: tests/s.rs
expression: f(2)
---
{}
//- tests/snapshots/s__with.snap
---
source: tests/s.rs
expression: f(3)
---
three
"#;

const SYRUPY: &str = r#"
//- tests/conftest.py
import pytest


@pytest.fixture
def json_snapshot(snapshot):
    return snapshot.with_defaults()
//- tests/test_a.py
from app import rows


def test_rows(snapshot):
    assert rows() == snapshot


def test_json(json_snapshot):
    assert rows() == json_snapshot
//- tests/__snapshots__/test_a.ambr
# serializer version: 1
# name: test_json
  'b'
# ---
# name: test_rows
  'a'
# ---
"#;

const GOLDEN: &str = r#"
//- tests/test_a.py
from pathlib import Path

from app import render

GOLDEN = Path(__file__).parent / "golden"


def test_first():
    assert render(1) == (GOLDEN / "one.txt").read_text()


def test_again():
    assert render(11) == (GOLDEN / "one.txt").read_text()


def test_rows():
    rows = [row for row in render(2)]
    assert "\n".join(rows) == (GOLDEN / "two.txt").read_text()
//- tests/golden/one.txt
one
//- tests/golden/two.txt
two
"#;

const UNITTEST: &str = r#"
//- app.py
def f(n):
    return 2.5
//- tests/test_a.py
"""Characterization tests: they pin current behaviour."""
import unittest

from app import f


class TestNear(unittest.TestCase):
    def test_near(self):
        self.assertAlmostEqual(f(1), 2.5)
"#;

const REPLACED: &str = r#"
//- app.py
def render(n):
    return ""
//- tests/test_a.py
"""Characterization tests: they pin current behaviour."""
import re

from app import render


def test_one():
    assert render(1).replace("\r\n", "\n") == "one"
"#;

const CASES: &[Case] = &[
    Case {
        name: "a deleted test",
        base: PYTHON,
        change: &[(T, "def test_one():\n    got = render(1)\n    assert got == \"one\"\n\n\n", "")],
        says: &["tests/test_a.py:10 tests/test_a.py::test_one is gone with what it pinned"],
    },
    Case {
        name: "twin: a renamed test",
        base: PYTHON,
        change: &[(T, "def test_one", "def test_the_first")],
        says: &[],
    },
    Case {
        name: "a deleted test, Rust",
        base: RUST,
        change: &[(R, "#[test]\nfn one() {\n    let got = render(1);\n    assert_eq!(got, \"one\");\n}\n\n", "")],
        says: &["tests/a.rs:12 a::one is gone with what it pinned"],
    },
    Case {
        name: "a test that is none any more, Rust",
        base: RUST,
        change: &[(R, "#[test]\nfn one", "#[allow(dead_code)]\nfn one")],
        says: &["tests/a.rs:10 a::one does not hold its value against tests/a.rs#literal:1 any more"],
    },
    Case {
        name: "twin: a renamed and moved test, Rust",
        base: RUST,
        change: &[
            (R, "#[test]\nfn one() {\n    let got = render(1);\n    assert_eq!(got, \"one\");\n}\n\n", ""),
            (
                R,
                "\"three\");\n}\n",
                "\"three\");\n}\n\n#[test]\nfn first() {\n    let out = render(1);\n    assert_eq!(out, \"one\");\n}\n",
            ),
        ],
        says: &[],
    },
    Case {
        name: "one of two tests of a golden deleted",
        base: GOLDEN,
        change: &[(T, "def test_again():\n    assert render(11) == (GOLDEN / \"one.txt\").read_text()\n\n\n", "")],
        says: &["tests/test_a.py:13 tests/test_a.py::test_again is gone with what it pinned"],
    },
    Case {
        name: "assert a == b becomes assert a",
        base: PYTHON,
        change: &[(T, "assert got == \"one\"", "assert got")],
        says: &[
            "tests/test_a.py:10 the value that was held against tests/test_a.py#literal:1 is only asserted by `assert got`",
        ],
    },
    Case {
        name: "assert a == b becomes assert a, beside others",
        base: PYTHON,
        change: &[(T, "assert render(2) == \"two\"", "assert render(2)")],
        says: &[
            "tests/test_a.py:14 the value that was held against tests/test_a.py#literal:1 is only asserted by `assert render(2)`",
        ],
    },
    Case {
        name: "assert a == b becomes assert a, of a golden",
        base: GOLDEN,
        change: &[(T, "assert \"\\n\".join(rows) == (GOLDEN / \"two.txt\").read_text()", "assert \"\\n\".join(rows)")],
        says: &["tests/test_a.py:18 the value that was held against tests/golden/two.txt is only asserted by"],
    },
    Case {
        name: "assert a == b becomes assert b in a",
        base: PYTHON,
        change: &[(T, "assert got == \"one\"", "assert \"one\" in got")],
        says: &[
            "tests/test_a.py:10 tests/test_a.py::test_one sees less than it did: what was held equal is held so no more",
        ],
    },
    Case {
        name: "assert_eq becomes assert, Rust",
        base: RUST,
        change: &[(R, "assert_eq!(got, \"one\");", "assert!(!got.is_empty());")],
        says: &["tests/a.rs:12 the value that was held against tests/a.rs#literal:1 is only asserted by"],
    },
    Case {
        name: "assert_eq becomes assert_ne, Rust",
        base: RUST,
        change: &[(R, "assert_eq!(got, \"one\");", "assert_ne!(got, \"one\");")],
        says: &["tests/a.rs:12 a::one sees less than it did: what was held equal is held so no more"],
    },
    Case {
        name: "twin: a formatter and a message",
        base: PYTHON,
        change: &[(T, "assert got == \"one\"", "assert (\n        got\n        == 'one'\n    ), \"the first\"")],
        says: &[],
    },
    Case {
        name: "twin: the sides turned around",
        base: PYTHON,
        change: &[(T, "assert got == \"one\"", "assert \"one\" == got")],
        says: &[],
    },
    Case {
        name: "twin: a formatter, Rust",
        base: RUST,
        change: &[(
            R,
            "assert_eq!(tidy(render(3)), \"three\");",
            "assert_eq!(\n        tidy(render(3)),\n        \"three\",\n        \"the third\"\n    );",
        )],
        says: &[],
    },
    Case {
        name: "a helper that compares no more",
        base: PYTHON,
        change: &[("tests/support.py", "assert text == recorded", "assert text")],
        says: &[
            "tests/test_a.py:13 tests/test_a.py::test_two is as it was, and what it calls, or a setting, does not hold this value against tests/test_a.py#literal:2",
        ],
    },
    Case {
        name: "twin: the literal goes into a helper that is not followed",
        base: PYTHON,
        change: &[
            (T, "assert got == \"one\"", "check_output(got, \"one\")"),
            (T, "from support import check\n", "from made import check_output\nfrom support import check\n"),
        ],
        says: &[],
    },
    Case {
        name: "twin: an empty set, and what a helper tries out",
        base: PYTHON,
        change: &[(
            T,
            "    got = render(1)\n",
            "    assert render(9) != set()\n    Try(\"a\".replace(\"a\", \"b\")).check(render(1))\n    got = render(1)\n",
        )],
        says: &[],
    },
    Case {
        name: "a skip",
        base: PYTHON,
        change: &[(T, "def test_one", "@pytest.mark.skip(reason=\"flaky\")\ndef test_one")],
        says: &[
            "tests/test_a.py:8 tests/test_a.py::test_one sees less than it did: `pytest.mark.skip(reason=\"flaky\")` keeps it from",
        ],
    },
    Case {
        name: "twin: another mark",
        base: PYTHON,
        change: &[(T, "def test_one", "@pytest.mark.slow\ndef test_one")],
        says: &[],
    },
    Case {
        name: "an xfail of the module",
        base: PYTHON,
        change: &[(T, "from app import render\n", "from app import render\n\npytestmark = pytest.mark.xfail\n")],
        says: &[
            "tests/test_a.py:6 tests/test_a.py::test_one sees less than it did (and of 4 more pins): `pytest.mark.xfail` keeps",
        ],
    },
    Case {
        name: "a condition that always holds",
        base: PYTHON,
        change: &[(T, "skipif(\"sys.platform == 'win32'\")", "skipif(True, reason=\"later\")")],
        says: &[
            "tests/test_a.py:18 tests/test_a.py::test_where sees less than it did: `pytest.mark.skipif(True, reason=\"later\")` keeps",
        ],
    },
    Case {
        name: "twin: the reason of a skip that was there",
        base: PYTHON,
        change: &[(T, "'win32'\")", "'win32'\", reason=\"paths\")")],
        says: &[],
    },
    Case {
        name: "a skip inside the test",
        base: PYTHON,
        change: &[(T, "    got = render(1)", "    pytest.skip(\"later\")\n    got = render(1)")],
        says: &[
            "tests/test_a.py:9 tests/test_a.py::test_one sees less than it did: `pytest.skip(\"later\")` can keep it from",
        ],
    },
    Case {
        name: "an early return",
        base: PYTHON,
        change: &[(T, "    assert got ==", "    return\n    assert got ==")],
        says: &[
            "tests/test_a.py:10 tests/test_a.py::test_one sees less than it did: the comparison is not always reached: `return`",
        ],
    },
    Case {
        name: "a condition around the comparison",
        base: PYTHON,
        change: &[(T, "    assert got == \"one\"", "    if got:\n        assert got == \"one\"")],
        says: &[
            "tests/test_a.py:10 tests/test_a.py::test_one sees less than it did: the comparison is not always reached: `if got:`",
        ],
    },
    Case {
        name: "a failure that is caught",
        base: PYTHON,
        change: &[(
            T,
            "    assert got == \"one\"",
            "    try:\n        assert got == \"one\"\n    except AssertionError:\n        pass",
        )],
        says: &["tests/test_a.py:10 tests/test_a.py::test_one sees less than it did: `try:` catches the failure"],
    },
    Case {
        name: "twin: try and finally",
        base: PYTHON,
        change: &[(
            T,
            "    assert got == \"one\"",
            "    try:\n        assert got == \"one\"\n    finally:\n        pass",
        )],
        says: &[],
    },
    Case {
        name: "or True",
        base: PYTHON,
        change: &[(T, "assert render(4) == \"four\"", "assert render(4) == \"four\" or True")],
        says: &["tests/test_a.py:20 the value that was held against tests/test_a.py#literal:1 is only asserted by"],
    },
    Case {
        name: "ignore, Rust",
        base: RUST,
        change: &[(R, "#[test]\nfn one", "#[test]\n#[ignore = \"later\"]\nfn one")],
        says: &["tests/a.rs:10 a::one sees less than it did: `ignore = \"later\"` keeps it from"],
    },
    Case {
        name: "should_panic, Rust",
        base: RUST,
        change: &[(R, "#[test]\nfn one", "#[test]\n#[should_panic]\nfn one")],
        says: &["tests/a.rs:10 a::one sees less than it did: `should_panic` keeps it from"],
    },
    Case {
        name: "a cfg, Rust",
        base: RUST,
        change: &[(R, "#[test]\nfn one", "#[cfg(windows)]\n#[test]\nfn one")],
        says: &["tests/a.rs:9 a::one sees less than it did: `cfg(windows)` can keep it from"],
    },
    Case {
        name: "twin: another attribute, Rust",
        base: RUST,
        change: &[(R, "#[test]\nfn one", "#[test]\n#[allow(unused)]\nfn one")],
        says: &[],
    },
    Case {
        name: "a larger tolerance",
        base: PYTHON,
        change: &[(T, "abs=1e-6", "abs=0.1")],
        says: &[
            "tests/test_a.py:24 tests/test_a.py::test_near sees less than it did: its tolerance grew from 0.000001 to 0.1",
        ],
    },
    Case {
        name: "a larger tolerance by a name",
        base: PYTHON,
        change: &[
            (T, "abs=1e-6", "abs=NEAR"),
            (T, "from app import render\n", "from app import render\n\nNEAR = 0.5\n"),
        ],
        says: &[
            "tests/test_a.py:26 tests/test_a.py::test_near sees less than it did: its tolerance grew from 0.000001 to 0.5",
        ],
    },
    Case {
        name: "twin: the same tolerance by a name, and a smaller one",
        base: PYTHON,
        change: &[
            (T, "abs=1e-6", "abs=NEAR"),
            (T, "from app import render\n", "from app import render\n\nNEAR = 1e-7\n"),
        ],
        says: &[],
    },
    Case {
        name: "a second tolerance beside one",
        base: PYTHON,
        change: &[(T, "abs=1e-6", "abs=1e-6, rel=0.2")],
        says: &[
            "tests/test_a.py:24 tests/test_a.py::test_near sees less than it did: its tolerance grew from 0.000001 to 0.2",
        ],
    },
    Case {
        name: "a bound, Rust",
        base: "//- Cargo.toml\n[package]\nname = \"a\"\n//- tests/a.rs\n//! Characterization tests: they pin current behaviour.\n\nfn assert_near(a: f64, b: f64) {\n    assert!((a - b).abs() < 1e-6 * 2.0 || a == b);\n}\n\n#[test]\nfn near() {\n    assert_near(a::f(1), 2.5);\n    assert_eq!(a::f(2), 3.5);\n}\n",
        change: &[(R, "1e-6", "0.5")],
        says: &["tests/a.rs:4 a::near sees less than it did: its tolerance grew from 0.000002 to 1"],
    },
    Case {
        name: "sorted",
        base: PYTHON,
        change: &[(T, "assert got == \"one\"", "assert sorted(got) == \"one\"")],
        says: &[
            "tests/test_a.py:10 tests/test_a.py::test_one sees less than it did: `sorted(got)` takes away the order",
        ],
    },
    Case {
        name: "sorted before",
        base: GOLDEN,
        change: &[(
            T,
            "    rows = [row for row in render(2)]",
            "    rows = [row for row in render(2)]\n    rows.sort()",
        )],
        says: &[
            "tests/test_a.py:18 tests/test_a.py::test_rows sees less than it did: `rows.sort()` takes away the order",
        ],
    },
    Case {
        name: "items left out",
        base: GOLDEN,
        change: &[(T, "for row in render(2)]", "for row in render(2) if row]")],
        says: &["tests/test_a.py:17 tests/test_a.py::test_rows sees less than it did: `row` takes away items"],
    },
    Case {
        name: "twin: what goes into the product is sorted",
        base: PYTHON,
        change: &[(T, "got = render(1)", "got = render(sorted([1])[0])")],
        says: &[],
    },
    Case {
        name: "twin: a renamed local variable and another loop",
        base: GOLDEN,
        change: &[(
            T,
            "    rows = [row for row in render(2)]\n    assert \"\\n\".join(rows)",
            "    lines = []\n    for line in render(2):\n        lines.append(line)\n    assert \"\\n\".join(lines)",
        )],
        says: &[],
    },
    Case {
        name: "sort, Rust",
        base: RUST,
        change: &[(R, "assert_eq!(got, \"one\");", "assert_eq!(got.trim(), \"one\");")],
        says: &["tests/a.rs:12 a::one sees less than it did: `got.trim()` takes away white space at the ends"],
    },
    Case {
        name: "twin: a renamed local variable, Rust",
        base: RUST,
        change: &[(
            R,
            "let got = render(1);\n    assert_eq!(got,",
            "let text = render(1);\n    assert_eq!(text.as_str(),",
        )],
        says: &[],
    },
    Case {
        name: "a loosened normaliser",
        base: PYTHON,
        change: &[(
            "tests/support.py",
            "return re.sub(r\"\\d{4}-\\d\\d-\\d\\d\", \"DATE\", text)",
            "return re.sub(r\"\\d{4}-\\d\\d-\\d\\d\", \"DATE\", text).lower()",
        )],
        says: &[
            "tests/support.py:10 tests/test_a.py::test_two sees less than it did: `re.sub(r\"\\d{4}-\\d\\d-\\d\\d\", \"DATE\", text).lower()` takes away upper and lower case",
        ],
    },
    Case {
        name: "a wider pattern of a normaliser",
        base: PYTHON,
        change: &[("tests/support.py", "\\d{4}-\\d\\d-\\d\\d", "[\\d-]+")],
        says: &[
            "tests/support.py:10 tests/test_a.py::test_two sees less than it did: its pattern takes away more than `\\d{4}-\\d\\d-\\d\\d` did, as in `42`",
        ],
    },
    Case {
        name: "twin: a narrower pattern of a normaliser",
        base: PYTHON,
        change: &[("tests/support.py", "\\d{4}-\\d\\d-\\d\\d", "20\\d\\d-\\d\\d-\\d\\d")],
        says: &[],
    },
    Case {
        name: "twin: a moved helper",
        base: PYTHON,
        change: &[
            (
                "tests/support.py",
                "\n\ndef tidy(text):\n    return re.sub(r\"\\d{4}-\\d\\d-\\d\\d\", \"DATE\", text)\n",
                "",
            ),
            ("tests/support.py", "import re\n", "from tests.cleaning import tidy\n"),
            (
                "tests/cleaning.py",
                "",
                "import re\n\n\ndef tidy(value):\n    return re.sub(\"[0-9]{4}-[0-9]{2}-[0-9]{2}\", \"DATE\", value)\n",
            ),
        ],
        says: &[],
    },
    Case {
        name: "a normaliser of the tests put in",
        base: PYTHON,
        change: &[(T, "assert render(2) ==", "assert tidy(render(2)) =="), (T, "import check", "import check, tidy")],
        says: &[
            "tests/support.py:10 tests/test_a.py::test_two sees less than it did: `re.sub(r\"\\d{4}-\\d\\d-\\d\\d\", \"DATE\", text)` takes away a part",
        ],
    },
    Case {
        name: "a loosened normaliser, Rust",
        base: RUST,
        change: &[(R, "text.replace(\"secret\", \"***\")", "text.replace(\"secret\", \"***\").to_lowercase()")],
        says: &[
            "tests/a.rs:6 a::two sees less than it did: `text.replace(\"secret\", \"***\").to_lowercase()` takes away upper and lower case",
        ],
    },
    Case {
        name: "twin: a moved helper, Rust",
        base: RUST,
        change: &[
            (
                R,
                "fn tidy(text: String) -> String {\n    text.replace(\"secret\", \"***\")\n}\n\n",
                "mod common;\nuse common::tidy;\n\n",
            ),
            (
                "tests/common/mod.rs",
                "",
                "pub fn tidy(value: String) -> String {\n    value.replace(\"secret\", \"***\")\n}\n",
            ),
        ],
        says: &[],
    },
    Case {
        name: "a filter more, insta",
        base: INSTA,
        change: &[(
            "tests/s.rs",
            "    settings\n}",
            "    settings.add_filter(r\"\\w+\", \"[word]\");\n    settings\n}",
        )],
        says: &[
            "tests/s.rs:6 s::file sees less than it did: `settings.add_filter(r\"\\w+\", \"[word]\")` takes away a part",
        ],
    },
    Case {
        name: "a redaction more, insta",
        base: INSTA,
        change: &[("tests/s.rs", "\".id\" => \"[id]\"", "\".id\" => \"[id]\", \".at\" => \"[at]\"")],
        says: &["tests/s.rs:18 s::json sees less than it did: `\".at\" => \"[at]\"` takes away a part"],
    },
    Case {
        name: "a filter more in with_settings, insta",
        base: INSTA,
        change: &[("tests/s.rs", "vec![(r\"\\d+\", \"[n]\")]", "vec![(r\"\\d+\", \"[n]\"), (r\"[a-z]+\", \"[w]\")]")],
        says: &["tests/s.rs:23 s::with sees less than it did: `(r\"[a-z]+\"` takes away a part"],
    },
    Case {
        name: "twin: the settings of insta moved into the test",
        base: INSTA,
        change: &[(
            "tests/s.rs",
            "    settings().bind(|| {",
            "    let mut with = insta::Settings::clone_current();\n    with.add_filter(r\"\\d+ms\", \"[time]\");\n    with.bind(|| {",
        )],
        says: &[],
    },
    Case {
        name: "a matcher, syrupy",
        base: SYRUPY,
        change: &[(
            T,
            "assert rows() == snapshot\n",
            "assert rows() == snapshot(matcher=path_type({\"id\": (int,)}))\n",
        )],
        says: &[
            "tests/test_a.py:5 tests/test_a.py::test_rows sees less than it did: `path_type({\"id\": (int,)})` takes away a part",
        ],
    },
    Case {
        name: "an exclude in a fixture, syrupy",
        base: SYRUPY,
        change: &[("tests/conftest.py", "with_defaults()", "with_defaults(exclude=lambda prop, path: True)")],
        says: &[
            "tests/conftest.py:6 tests/test_a.py::test_json sees less than it did: `lambda prop, path: True` takes away a part",
        ],
    },
    Case {
        name: "twin: a failure that is caught and raised again",
        base: PYTHON,
        change: &[(
            T,
            "    assert got == \"one\"",
            "    try:\n        assert got == \"one\"\n    except AssertionError:\n        print(got)\n        raise",
        )],
        says: &[],
    },
    Case {
        name: "a failure that is raised again now and then",
        base: PYTHON,
        change: &[(
            T,
            "    assert got == \"one\"",
            "    try:\n        assert got == \"one\"\n    except AssertionError:\n        if got:\n            raise",
        )],
        says: &["tests/test_a.py:10 tests/test_a.py::test_one sees less than it did: `try:` catches the failure"],
    },
    Case {
        name: "a failure that one of two handlers raises again",
        base: PYTHON,
        change: &[(
            T,
            "    assert got == \"one\"",
            "    try:\n        assert got == \"one\"\n    except ValueError:\n        raise\n    except AssertionError:\n        pass",
        )],
        says: &["tests/test_a.py:10 tests/test_a.py::test_one sees less than it did: `try:` catches the failure"],
    },
    Case {
        name: "twin: nearly equal, said by another call",
        base: PYTHON,
        change: &[
            (
                T,
                "assert render(5) == pytest.approx(2.5, abs=1e-6)",
                "assert math.isclose(render(5), 2.5, abs_tol=1e-6)",
            ),
            (T, "import pytest\n", "import math\nimport pytest\n"),
        ],
        says: &[],
    },
    Case {
        name: "the literal goes into a helper that is given nothing else",
        base: PYTHON,
        change: &[
            (T, "assert render(2) == \"two\"", "assert_nothing(\"two\")"),
            (T, "from support import check\n", "from made import assert_nothing\nfrom support import check\n"),
        ],
        says: &["tests/test_a.py:14 tests/test_a.py::test_two does not hold this value against"],
    },
    Case {
        name: "a wider pattern that takes a character less",
        base: PYTHON,
        change: &[("tests/support.py", "\\d{4}-\\d\\d-\\d\\d", "\\d+")],
        says: &[
            "tests/support.py:10 tests/test_a.py::test_two sees less than it did: its pattern takes away more than `\\d{4}-\\d\\d-\\d\\d` did, as in `42`",
        ],
    },
    Case {
        name: "twin: a pattern of something else",
        base: PYTHON,
        change: &[("tests/support.py", "\\d{4}-\\d\\d-\\d\\d", "/tmp/\\S+")],
        says: &[],
    },
    Case {
        name: "a tolerance that is a power",
        base: PYTHON,
        change: &[(T, "abs=1e-6", "abs=10**6")],
        says: &[
            "tests/test_a.py:24 tests/test_a.py::test_near sees less than it did: its tolerance grew from 0.000001 to 1000000",
        ],
    },
    Case {
        name: "twin: a smaller tolerance that is a power",
        base: PYTHON,
        change: &[(T, "abs=1e-6", "abs=10**-7")],
        says: &[],
    },
    Case {
        name: "a delta where places were",
        base: UNITTEST,
        change: &[(T, "2.5)", "2.5, delta=1000)")],
        says: &[
            "tests/test_a.py:9 tests/test_a.py::TestNear::test_near sees less than it did: its tolerance grew from 0.00000005 to 1000",
        ],
    },
    Case { name: "twin: a narrow delta", base: UNITTEST, change: &[(T, "2.5)", "2.5, delta=1e-9)")], says: &[] },
    Case {
        name: "an early return under a condition",
        base: PYTHON,
        change: &[(T, "    assert got ==", "    if not got:\n        return\n    assert got ==")],
        says: &[
            "tests/test_a.py:10 tests/test_a.py::test_one sees less than it did: the comparison is not always reached: `if not got:`",
        ],
    },
    Case {
        name: "twin: a return in a function of the test, and one after the comparison",
        base: PYTHON,
        change: &[(
            T,
            "    assert got == \"one\"",
            "\n    def again():\n        return render(1)\n\n    assert got == \"one\"\n    if got:\n        return",
        )],
        says: &[],
    },
    Case {
        name: "an early return under a condition, Rust",
        base: RUST,
        change: &[(
            R,
            "    assert_eq!(got, \"one\");",
            "    if got.is_empty() {\n        return;\n    }\n    assert_eq!(got, \"one\");",
        )],
        says: &[
            "tests/a.rs:12 a::one sees less than it did: the comparison is not always reached: `if got.is_empty() {`",
        ],
    },
    Case {
        name: "a loop that never runs",
        base: PYTHON,
        change: &[(T, "    assert got == \"one\"", "    while False:\n        assert got == \"one\"")],
        says: &["tests/test_a.py:10 tests/test_a.py::test_one sees less than it did: `while False:` never runs"],
    },
    Case {
        name: "a loop over nothing",
        base: PYTHON,
        change: &[(T, "    assert got == \"one\"", "    for _ in []:\n        assert got == \"one\"")],
        says: &["tests/test_a.py:10 tests/test_a.py::test_one sees less than it did: `for _ in []:` never runs"],
    },
    Case {
        name: "twin: a loop",
        base: PYTHON,
        change: &[(T, "    assert got == \"one\"", "    for _ in [1, 2]:\n        assert got == \"one\"")],
        says: &[],
    },
    Case {
        name: "a panic that is thrown away, Rust",
        base: RUST,
        change: &[(R, "assert_eq!(got, \"one\");", "let _ = std::panic::catch_unwind(|| assert_eq!(got, \"one\"));")],
        says: &["tests/a.rs:12 a::one sees less than it did: `let _ = std::panic::catch_unwind("],
    },
    Case {
        name: "a closure that nobody calls, Rust",
        base: RUST,
        change: &[(R, "assert_eq!(got, \"one\");", "let _ = || assert_eq!(got, \"one\");")],
        says: &["tests/a.rs:12 a::one sees less than it did: nothing calls the comparison in"],
    },
    Case {
        name: "twin: a closure that is called, Rust",
        base: RUST,
        change: &[(R, "assert_eq!(got, \"one\");", "let held = || assert_eq!(got, \"one\");\n    held();")],
        says: &[],
    },
    Case {
        name: "a debug assertion, Rust",
        base: RUST,
        change: &[(R, "assert_eq!(got, \"one\");", "debug_assert_eq!(got, \"one\");")],
        says: &["tests/a.rs:12 a::one sees less than it did: `debug_assert_eq!(got, \"one\")` is left out"],
    },
    Case {
        name: "a skip that is imported",
        base: PYTHON,
        change: &[
            (T, "def test_one", "@skip(\"later\")\ndef test_one"),
            (T, "import pytest\n", "from unittest import skip\nimport pytest\n"),
        ],
        says: &["tests/test_a.py:9 tests/test_a.py::test_one sees less than it did: `skip(\"later\")` keeps it from"],
    },
    Case {
        name: "twin: a decorator of one's own by that name",
        base: PYTHON,
        change: &[
            (T, "def test_one", "@skip(\"later\")\ndef test_one"),
            (T, "import pytest\n", "from app import skip\nimport pytest\n"),
        ],
        says: &[],
    },
    Case {
        name: "a module that may lack",
        base: PYTHON,
        change: &[(T, "    got = render(1)", "    pytest.importorskip(\"lxml\")\n    got = render(1)")],
        says: &[
            "tests/test_a.py:9 tests/test_a.py::test_one sees less than it did: `pytest.importorskip(\"lxml\")` can keep it from",
        ],
    },
    Case {
        name: "a part of the value",
        base: PYTHON,
        change: &[(T, "assert got == \"one\"", "assert got[:3] == \"one\"")],
        says: &["tests/test_a.py:10 tests/test_a.py::test_one sees less than it did: `got[:3]` takes away items"],
    },
    Case {
        name: "twin: all of the value",
        base: PYTHON,
        change: &[(T, "assert got == \"one\"", "assert got[:] == \"one\"")],
        says: &[],
    },
    Case {
        name: "a pattern where a text was",
        base: REPLACED,
        change: &[(T, "render(1).replace(\"\\r\\n\", \"\\n\")", "re.sub(r\"\\d+\", \"N\", render(1))")],
        says: &[
            "tests/test_a.py:8 tests/test_a.py::test_one sees less than it did: `re.sub(r\"\\d+\", \"N\", render(1))` takes away more than one text",
        ],
    },
    Case {
        name: "twin: a pattern of the text that was",
        base: REPLACED,
        change: &[(T, "render(1).replace(\"\\r\\n\", \"\\n\")", "re.sub(r\"\\r\\n?\", \"\\n\", render(1))")],
        says: &[],
    },
];

#[test]
fn each_weakening_is_named_and_its_twin_passes() {
    let mut wrong = String::new();
    for case in CASES {
        let fixture = Fixture::committed(case.base);
        fixture.git(&["branch", "base"]);
        for (file, old, new) in case.change {
            if old.is_empty() {
                std::fs::create_dir_all(fixture.at(file).parent().unwrap()).unwrap();
                std::fs::write(fixture.at(file), new).unwrap();
            } else {
                replace(&fixture, file, old, new);
            }
        }
        let report = report(fixture.path(), "base");
        let said: Vec<String> =
            report.failures().map(|item| format!("{}:{} {}", item.file, item.line, item.message)).collect();
        let as_said =
            said.len() == case.says.len() && said.iter().zip(case.says).all(|(said, says)| said.starts_with(says));
        if !as_said {
            wrong.push_str(&format!("{}\n  wanted {:#?}\n  said {said:#?}\n", case.name, case.says));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_pin_whose_file_is_not_known_any_more_is_noted() {
    let fixture = Fixture::committed(GOLDEN);
    fixture.git(&["branch", "base"]);
    replace(&fixture, T, "(GOLDEN / \"two.txt\")", "(GOLDEN / render(0))");
    let report = report(fixture.path(), "base");
    let noted: Vec<String> = report
        .items
        .iter()
        .filter(|item| item.outcome == Outcome::Noted)
        .map(|item| format!("{}:{} {}", item.file, item.line, item.message))
        .collect();
    assert!(report.passes(), "{report:#?}");
    assert_eq!(
        noted,
        [
            "tests/test_a.py:16 tests/test_a.py::test_rows holds its values against a file that is not known now; see that tests/golden/two.txt is still one of them"
        ]
    );
}
