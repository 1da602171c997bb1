//! Cases that code makes, and files that functions of the project read.

use super::check;
use expect_test::expect;

#[test]
fn cases_from_folders_and_functions() {
    check(
        r#"
//- pyproject.toml
[tool.pytest.ini_options]
//- tests/cases/a.in
//- tests/cases/a.expected
//- tests/cases/b.in
//- tests/cases/b.expected
//- tests/cases/notes.md
//- tests/cases/lonely.in
//- tests/deep/x/one.expected
//- tests/deep/y/two.expected
//- tests/test_a.py
import os
from glob import glob
from pathlib import Path
import pytest
CASES = Path(__file__).parent / "cases"
FOUND = []
for name in os.listdir(CASES):
    if name.endswith(".in"):
        FOUND.append(name[:-3])

def pairs():
    names = os.listdir(CASES)
    for name in names:
        stem, end = os.path.splitext(name)
        if end != ".in":
            continue
        if stem + ".expected" in names:
            yield name, stem + ".expected"

def both(folder):
    inputs, expected = [], []
    for path in sorted(folder.iterdir()):
        if path.suffix == ".in":
            inputs.append(path)
        elif path.suffix == ".expected":
            expected.append(path)
    return inputs, expected

INPUTS, EXPECTED = both(CASES)

@pytest.mark.parametrize("source, expected", pairs())
def test_yields(source, expected):
    assert run(source) == (CASES / expected).read_text()

@pytest.mark.parametrize("path", EXPECTED)
def test_two_lists(path):
    assert run(path.stem) == path.read_text()

@pytest.mark.parametrize("path", [p for p in CASES.glob("*.expected") if not p.stem.startswith("b")], ids=lambda p: p.stem)
def test_comprehension(path):
    assert run(path.stem) == path.read_text()

@pytest.mark.parametrize("path", glob("tests/deep/*/*.expected"))
def test_glob(path):
    with open(path) as fh:
        assert run(os.path.basename(path)) == fh.read()

def test_loop():
    for folder, _, files in os.walk(CASES.parent / "deep"):
        for name in files:
            assert run(name) == open(os.path.join(folder, name)).read()

@pytest.mark.parametrize("name", FOUND)
def test_filled_by_a_loop(name):
    path = CASES / f"{name}.expected"
    assert run(name) == path.read_text()

@pytest.mark.parametrize("path", find_elsewhere(CASES))
def test_not_known(path):
    assert run(path) == path.read_text()
"#,
        expect![[r#"
            tests/test_a.py::test_yields[a.in-a.expected]:33 golden-file tests/cases/a.expected [UniversalNewlines]
            tests/test_a.py::test_yields[b.in-b.expected]:33 golden-file tests/cases/b.expected [UniversalNewlines]
            tests/test_a.py::test_two_lists[path0]:37 golden-file tests/cases/a.expected [UniversalNewlines]
            tests/test_a.py::test_two_lists[path1]:37 golden-file tests/cases/b.expected [UniversalNewlines]
            tests/test_a.py::test_comprehension:41 golden-file tests/cases/a.expected [UniversalNewlines]
            tests/test_a.py::test_glob[tests/deep/x/one.expected]:46 golden-file tests/deep/x/one.expected [UniversalNewlines]
            tests/test_a.py::test_glob[tests/deep/y/two.expected]:46 golden-file tests/deep/y/two.expected [UniversalNewlines]
            tests/test_a.py::test_loop:51 golden-file tests/deep/y/two.expected [UniversalNewlines]
            tests/test_a.py::test_loop:51 golden-file tests/deep/x/one.expected [UniversalNewlines]
            tests/test_a.py::test_filled_by_a_loop[a]:56 golden-file tests/cases/a.expected [UniversalNewlines]
            tests/test_a.py::test_filled_by_a_loop[b]:56 golden-file tests/cases/b.expected [UniversalNewlines]
        "#]],
    );
}

#[test]
fn what_a_function_makes_of_a_file() {
    check(
        r#"
//- pyproject.toml
[tool.pytest.ini_options]
//- tests/conftest.py
import pytest, yaml

def load(path):
    with open(path) as fh:
        raw = yaml.load(fh.read(), Loader)
    mark = None
    if raw:
        mark = raw.pop("_hash", None)
        return mark, simple(raw)
    else:
        return None, None

@pytest.fixture()
def loader():
    return load
//- tests/data/a.yml
//- tests/data/a.txt
//- tests/data/b.txt
//- tests/data/b.expected.txt
//- tests/base.py
import os
import unittest

class Base(unittest.TestCase):
    @staticmethod
    def path(*parts):
        here, _ = os.path.split(__file__)
        return os.path.join(here, "data", *parts)

    def lines(self, path):
        lines = []
        with open(path) as fh:
            for line in fh.readlines():
                if line.startswith("%"):
                    lines.append("\n")
                else:
                    lines.append(line.rstrip())
        return lines

    def check(self, value, path):
        out = self.temp()
        value.save(out)
        actual = self.lines(out)
        wanted = self.lines(path)
        if actual != wanted:
            self.fail("different")
        self.assertEqual(actual, wanted)
//- tests/test_a.py
from .base import Base
import unittest

def parse(path):
    with open(path) as fh:
        return tree(fh.read())

def test_fixture_that_is_a_function(loader):
    expected_hash, rest = loader("tests/data/a.yml")
    assert rest == run()
    assert expected_hash == hash_of(run())

def test_input_is_no_golden():
    assert parse("tests/data/a.txt") == run()

def test_by_the_name_of_the_file():
    assert parse("tests/data/b.expected.txt") == run()

class TestA(Base):
    def setUp(self):
        self.folder = "sub"
        self.target = self.path("b.txt")

    def test_checked(self):
        self.check(run(), self.path("a.txt"))

    def test_attribute(self):
        self.check(run(), self.target)
"#,
        expect![[r#"
            tests/test_a.py::test_fixture_that_is_a_function:11 golden-file tests/data/a.yml [Made("load")]
            tests/test_a.py::test_by_the_name_of_the_file:17 golden-file tests/data/b.expected.txt [Made("parse")]
            tests/test_a.py::TestA::test_checked:25 in tests/base.py:25 golden-file tests/data/a.txt [Made("lines")]
            tests/test_a.py::TestA::test_attribute:28 in tests/base.py:25 golden-file tests/data/b.txt [Made("lines")]
        "#]],
    );
}

#[test]
fn members_texts_and_modules_under_other_names() {
    check(
        r#"
//- pyproject.toml
[tool.pytest.ini_options]
//- tests/golden/a.txt
//- tests/golden/b.txt
//- tests/golden/c.txt
//- tests/reading.py
import os.path as osp
def text(name):
    return open(osp.join(osp.dirname(__file__), "golden", name)).read()
//- tests/test_a.py
import io as stream
import pathlib as pl
import textwrap as tw
import reading as r
import unittest

class TestA(unittest.TestCase):
    def setUp(self):
        self.golden = pl.Path(__file__).parent / "golden"

    def test_member(self):
        self.assertEqual(run(), (self.golden / "a.txt").read_text())

    def test_bound_here(self):
        self.name = "b.txt"
        self.assertEqual(run(), (self.golden / self.name).read_text())

def test_module():
    assert r.text("c.txt") == run()

def test_opened():
    with stream.open("tests/golden/a.txt") as fh:
        assert fh.read() == run()

def test_dedented():
    assert run() == tw.dedent((pl.Path(__file__).parent / "golden" / "a.txt").read_text())
"#,
        expect![[r#"
            tests/test_a.py::TestA::test_member:12 golden-file tests/golden/a.txt [UniversalNewlines]
            tests/test_a.py::TestA::test_bound_here:16 golden-file tests/golden/b.txt [UniversalNewlines]
            tests/test_a.py::test_module:19 golden-file tests/golden/c.txt [UniversalNewlines]
            tests/test_a.py::test_opened:23 golden-file tests/golden/a.txt [UniversalNewlines]
            tests/test_a.py::test_dedented:26 golden-file tests/golden/a.txt [UniversalNewlines, Unknown("dedent")]
        "#]],
    );
}

const PAIRS: &str = r#"
//- pyproject.toml
[tool.pytest.ini_options]
//- tests/cases/a.sql
//- tests/cases/a.yml
//- tests/cases/b.sql
//- tests/cases/b.yml
//- tests/cases/c.sql
//- tests/cases/c.yml
//- tests/cases/gone.yml
//- tests/cases/named.yml
//- tests/cases/notes.md
//- tests/test_a.py
import os
import pytest
CASES = os.path.join("tests", "cases")

def found():
    names = os.listdir(CASES)
    for name in names:
        if name.endswith(".sql"):
            other = name[:-4] + ".yml"
            if other in names:
                yield name, other

@pytest.mark.parametrize("source, other", found())
def test_case(source, other):
    assert run(source) == open(os.path.join(CASES, other)).read()

def test_named():
    load("tests/cases/named.yml")
"#;

#[test]
fn a_recorded_file_without_the_input_that_all_others_have_is_an_orphan() {
    check(
        PAIRS,
        expect![[r#"
        tests/test_a.py::test_case[a.sql-a.yml]:15 golden-file tests/cases/a.yml [UniversalNewlines]
        tests/test_a.py::test_case[b.sql-b.yml]:15 golden-file tests/cases/b.yml [UniversalNewlines]
        tests/test_a.py::test_case[c.sql-c.yml]:15 golden-file tests/cases/c.yml [UniversalNewlines]
        orphan tests/cases/gone.yml
    "#]],
    );
}

#[test]
fn where_the_recorded_files_are_listed_themselves_nothing_is_said() {
    let other = "\n//- tests/test_b.py\nfrom pathlib import Path\ndef test_all():\n    for path in Path(\"tests\").glob(\"**/*.yml\"):\n        check(path)\n";
    check(
        &format!("{PAIRS}{other}"),
        expect![[r#"
        tests/test_a.py::test_case[a.sql-a.yml]:15 golden-file tests/cases/a.yml [UniversalNewlines]
        tests/test_a.py::test_case[b.sql-b.yml]:15 golden-file tests/cases/b.yml [UniversalNewlines]
        tests/test_a.py::test_case[c.sql-c.yml]:15 golden-file tests/cases/c.yml [UniversalNewlines]
    "#]],
    );
}
