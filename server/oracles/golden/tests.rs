use std::sync::Arc;

use expect_test::{Expect, expect};

use super::*;
use crate::fixture::Fixture;
use crate::oracles::{self, Content};
use crate::pins::{Extent, sites};
use crate::places::Root;
use crate::settings::Settings;
use crate::shelf::Shelf;
use crate::vocabulary::Vocabulary;

mod house;
mod lists;

fn project(fixture: &Fixture) -> Project {
    let root = Root::of(fixture.path(), fixture.path()).unwrap();
    let shelf = Shelf::new(root.clone());
    let settings =
        std::fs::read_to_string(fixture.at("pindrift.toml")).map(|text| Settings::parse(&text)).unwrap_or_default();
    let (vocabulary, troubles) = Vocabulary::of(&shelf);
    assert_eq!(troubles, []);
    Project::read(root, Arc::new(settings), shelf, &vocabulary, &|_, _| {}, &|| false).unwrap()
}

fn pins(project: &Project) -> Vec<Pin> {
    let mut found = Vec::new();
    for site in sites::sites(project, &Extent::All) {
        let offered = oracles::offered(&site.found.framework);
        let first = offered.into_iter().map(|framework| framework.pins(project, &site)).find(|pins| !pins.is_empty());
        found.extend(first.unwrap_or_default());
    }
    found.retain(|pin| matches!(pin.oracle.kind, OracleKind::File | OracleKind::Digest));
    one_each(&mut found);
    found
}

fn check(notation: &str, wanted: Expect) {
    let fixture = Fixture::new(notation);
    let project = project(&fixture);
    let pins = pins(&project);
    let mut shown = String::new();
    for pin in &pins {
        let unit = project.unit(&pin.file).unwrap();
        let within = pin.asserted_in.as_ref().map_or(String::new(), |(file, span)| {
            format!(" in {file}:{}", project.unit(file).unwrap().line(span.start))
        });
        let path = match &pin.oracle.path {
            Some(path) => path.to_string(),
            None => format!("one of {:?}", pin.oracle.candidates),
        };
        shown += &format!(
            "{}:{}{within} {} {path} {:?}\n",
            pin.test,
            unit.line(pin.span.start),
            pin.framework,
            pin.oracle.steps
        );
    }
    for orphan in unread::orphans(&pins, &project) {
        shown += &format!("orphan {}\n", orphan.path);
    }
    wanted.assert_eq(&shown);
}

#[test]
fn a_file_that_the_test_wrote_or_made_from_itself_is_no_golden() {
    check(
        r#"
//- pyproject.toml
[tool.pytest.ini_options]
//- tests/data/in.txt
a
//- tests/golden/x.txt
a
//- tests/test_a.py
from pathlib import Path
HERE = Path(__file__).parent

def test_tmp(tmp_path):
    out = tmp_path / "x.txt"
    run(out)
    assert out.read_text() == render()

def test_reads_back():
    out = HERE / "golden" / "x.txt"
    out.write_text(render())
    assert render() == out.read_text()

def test_round_trip():
    text = (HERE / "data" / "in.txt").read_text()
    assert unparse(parse(text)) == text

def test_formatter_is_stable():
    path = HERE / "data" / "in.txt"
    assert fmt(path) == path.read_text()

def test_literal():
    assert (HERE / "golden" / "x.txt").read_text() == "a\n"

def test_not_whole():
    assert (HERE / "golden" / "x.txt").read_text().split(",")[0] == render()

def test_own_output():
    run()
    assert Path("out.txt").read_text() == render()

def test_unequal():
    assert (HERE / "golden" / "x.txt").read_text() != render()
"#,
        expect![[""]],
    );
}

#[test]
fn python_ways_to_name_and_read_a_file() {
    check(
        r#"
//- pyproject.toml
[tool.pytest.ini_options]
//- tests/__init__.py
//- tests/golden/a.txt
//- tests/golden/b.json
//- tests/golden/c-1.txt
//- tests/golden/c-2.txt
//- tests/golden/d.txt
//- tests/golden/e.txt
//- tests/golden/unused.txt
//- tests/paths.py
import os
GOLDEN = os.path.join(os.path.dirname(__file__), "golden")
NAMES = ("d", "e")
//- tests/support.py
from .paths import GOLDEN
import pathlib

def read(name):
    with open(pathlib.Path(GOLDEN) / name, encoding="utf-8") as fh:
        return fh.read()

class Base:
    def check(self, name, value, ext="txt"):
        self.assertEqual(value, read(f"{name}.{ext}").rstrip("\n"))
//- tests/test_a.py
import json
import unittest
from pathlib import Path
from tests.support import read, Base
from tests import paths

def test_helper_reads():
    assert run() == read("a.txt")

def test_json():
    want = json.loads(Path("tests/golden/b.json").read_bytes())
    got = run()
    assert got == want

def test_loop():
    for i in range(1, 3):
        assert run(i) == (Path(paths.GOLDEN) / ("c-%d.txt" % i)).read_text(encoding="utf-8-sig").strip()

class TestAll(Base, unittest.TestCase):
    def test_names(self):
        for name in paths.NAMES:
            self.check(name, run(name))
"#,
        expect![[r#"
            tests/test_a.py::test_helper_reads:8 golden-file tests/golden/a.txt [UniversalNewlines]
            tests/test_a.py::test_json:13 golden-file tests/golden/b.json [Bytes, Json]
            tests/test_a.py::test_loop:17 golden-file tests/golden/c-1.txt [DropBom, UniversalNewlines, Trim]
            tests/test_a.py::test_loop:17 golden-file tests/golden/c-2.txt [DropBom, UniversalNewlines, Trim]
            tests/test_a.py::TestAll::test_names:22 in tests/support.py:10 golden-file tests/golden/d.txt [UniversalNewlines, TrimEndOf("\n")]
            tests/test_a.py::TestAll::test_names:22 in tests/support.py:10 golden-file tests/golden/e.txt [UniversalNewlines, TrimEndOf("\n")]
            orphan tests/golden/unused.txt
        "#]],
    );
}

#[test]
fn differences_and_failures_of_ones_own() {
    check(
        r#"
//- tests/golden/a.txt
//- tests/golden/b.txt
//- tests/golden/c.txt
//- tests/test_a.py
import difflib, filecmp, pytest
from pathlib import Path
GOLDEN = Path(__file__).parent / "golden"

def test_diff():
    want = (GOLDEN / "a.txt").read_text()
    lines = list(difflib.unified_diff(want.splitlines(), run().splitlines(), lineterm=""))
    assert not lines, lines

def test_fail():
    if run() != (GOLDEN / "b.txt").read_bytes():
        pytest.fail("differs")

def test_branch():
    if run() != (GOLDEN / "b.txt").read_bytes():
        again()

def test_files(self, tmp_path):
    self.assertTrue(filecmp.cmp(tmp_path / "out", GOLDEN / "c.txt"))
    assert not run()
"#,
        expect![[r#"
            tests/test_a.py::test_diff:8 golden-file tests/golden/a.txt [UniversalNewlines, Lines]
            tests/test_a.py::test_fail:11 golden-file tests/golden/b.txt [Bytes]
            tests/test_a.py::test_files:19 golden-file tests/golden/c.txt [Bytes]
        "#]],
    );
}

#[test]
fn a_helper_with_a_switch_may_name_files_that_are_not_there() {
    check(
        r#"
//- setup.cfg
//- tests/recorded/a.txt
x
//- tests/test_a.py
import os, pathlib
DIR = pathlib.Path(__file__).with_name("recorded")

def check(name, value):
    path = DIR / name
    if os.environ.get("UPDATE"):
        path.write_text(value)
    elif not path.exists():
        raise AssertionError(name)
    assert path.read_text() == value

def outer(case, value):
    check(case + ".txt", value)

def test_new():
    outer("new", run())

def test_unknown(kind):
    check(kind, run())
"#,
        expect![[r#"
            tests/test_a.py::test_new:16 in tests/test_a.py:10 golden-file tests/recorded/new.txt [UniversalNewlines]
            tests/test_a.py::test_unknown:19 in tests/test_a.py:10 golden-file one of ["tests/recorded/a.txt"] [UniversalNewlines]
        "#]],
    );
}

#[test]
fn rust_ways_to_name_and_read_a_file() {
    check(
        r##"
//- Cargo.toml
[package]
name = "thing"
version = "0.1.0"
edition = "2021"
//- src/lib.rs
pub fn run() -> String { String::new() }
//- tests/golden/a.txt
//- tests/golden/b.bin
//- tests/golden/c.txt
//- tests/golden/d.txt
//- tests/golden/e.txt
//- tests/golden/unused.txt
//- tests/support/mod.rs
use std::path::PathBuf;
pub const EXT: &str = "txt";
fn dir() -> PathBuf {
    let mut path = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    path.push("tests");
    path.push("golden");
    path
}
pub fn check(name: &str, actual: &str) {
    let path = dir().join(name).with_extension(EXT);
    let expected = std::fs::read_to_string(&path).expect("golden").replace("\r\n", "\n");
    pretty_assertions::assert_eq!(expected, actual);
}
pub fn check_or_die(name: &str, actual: &str) {
    let expected = std::fs::read_to_string(dir().join(name)).unwrap();
    if expected != actual {
        panic!("{name} differs");
    }
}
//- tests/it.rs
mod support;
use thing::run;
static BIN: &[u8] = include_bytes!("golden/b.bin");

#[test]
fn included() {
    assert_eq!(include_str!("golden/a.txt").trim(), run());
}

#[test]
fn bytes() {
    assert!(run().as_bytes() == BIN);
}

#[test]
fn helper() {
    for (name, n) in [("c", 1), ("d", 2)] {
        support::check(name, &format!("{n}{}", run()));
    }
    support::check_or_die("e.txt", &run());
}
"##,
        expect![[r#"
            it::included:7 golden-file tests/golden/a.txt [Trim]
            it::bytes:12 golden-file tests/golden/b.bin [Bytes]
            it::helper:18 in tests/support/mod.rs:12 golden-file tests/golden/c.txt [CrlfToLf]
            it::helper:18 in tests/support/mod.rs:12 golden-file tests/golden/d.txt [CrlfToLf]
            it::helper:20 in tests/support/mod.rs:16 golden-file tests/golden/e.txt []
            orphan tests/golden/unused.txt
        "#]],
    );
}

#[test]
fn helpers_of_the_settings_and_queries_of_the_workspace() {
    check(
        r#"
//- pindrift.toml
[[helper]]
call = "verify_case"
name = 1
root = "recorded"
suffix = ".out"
id = "house"
//- .pindrift/queries/python/own.scm
((call function: (identifier) @_call arguments: (argument_list . (string) @pin.baseline)) @pin
 (#eq? @_call "hold")
 (#set! pin.root "recorded")
 (#set! pin.id "acme.hold"))
//- recorded/a.out
//- recorded/b
//- tests/test_a.py
from house import verify_case, hold

def test_a():
    verify_case(run(), "a")

def test_b():
    hold("b", run())
"#,
        expect![[r#"
            tests/test_a.py::test_a:4 house recorded/a.out []
            tests/test_a.py::test_b:7 acme.hold recorded/b []
        "#]],
    );
}

#[test]
fn a_folder_that_is_listed_or_a_name_that_is_mentioned_has_no_orphans() {
    check(
        r#"
//- tests/golden/a.txt
//- tests/golden/b.txt
//- tests/test_a.py
from pathlib import Path
GOLDEN = Path(__file__).parent / "golden"

def test_a():
    assert run() == (GOLDEN / "a.txt").read_text()

def test_count():
    assert len(list(GOLDEN.iterdir())) == 2
//- other/golden/a.txt
//- other/golden/spare.txt
//- other/test_b.py
from pathlib import Path

def test_a():
    assert run() == (Path(__file__).parent / "golden" / "a.txt").read_text()

def other():
    return "spare"
"#,
        expect![[r#"
            other/test_b.py::test_a:4 golden-file other/golden/a.txt [UniversalNewlines]
            tests/test_a.py::test_a:5 golden-file tests/golden/a.txt [UniversalNewlines]
        "#]],
    );
}

#[test]
fn digests_and_the_text_behind_them() {
    let fixture = Fixture::new(
        r#"
//- tests/golden/a.sha256
ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb
//- tests/golden/b.sha256
0000000000000000000000000000000000000000000000000000000000000000
//- tests/golden/b.txt
other
//- tests/test_a.py
import hashlib
import pathlib
import pytest
GOLDEN = pathlib.Path(__file__).parent / "golden"

@pytest.mark.parametrize("name", ["a", "b"])
def test_digest(name):
    digest = hashlib.sha256(run(name).encode()).hexdigest()
    assert digest == (GOLDEN / f"{name}.sha256").read_text().strip()
"#,
    );
    std::fs::write(fixture.at("tests/golden/a.txt"), "a").unwrap();
    let project = project(&fixture);
    let pins = pins(&project);
    assert_eq!(
        pins.iter().map(|pin| pin.test.as_str()).collect::<Vec<_>>(),
        ["tests/test_a.py::test_digest[a]", "tests/test_a.py::test_digest[b]"]
    );
    let behind = |pin: &Pin| match oracles::framework("digest").unwrap().baseline(pin, &project) {
        Baseline::Present(recorded) => recorded.preimage,
        other => panic!("{other:?}"),
    };
    assert_eq!(behind(&pins[0]).as_deref(), Some("a"));
    assert_eq!(behind(&pins[1]), None);
    let new = Content::Text("1".repeat(64));
    let digest = oracles::framework("digest").unwrap();
    let amended = digest.amend(&pins[0], &new, None, &project).unwrap();
    assert_eq!(amended.oracle[0].after.as_deref(), Some(format!("{}\n", "1".repeat(64)).as_bytes()));
    let refused = digest.amend(&pins[1], &new, None, &project).unwrap_err();
    assert!(refused.0.contains("b.txt"), "{refused}");
    assert_eq!(unread::orphans(&pins, &project), []);
}

#[test]
fn baselines_in_every_bad_state_are_told() {
    let fixture = Fixture::new(
        r#"
//- tests/golden/conflict.txt
<<<<<<< HEAD
a
=======
b
>>>>>>> other
//- tests/golden/folder.txt/x
//- tests/test_a.py
from pathlib import Path
GOLDEN = Path(__file__).parent / "golden"

def test_a():
    for name in ["conflict", "folder", "missing", "latin", "empty"]:
        assert run(name) == (GOLDEN / f"{name}.txt").read_text()
"#,
    );
    std::fs::write(fixture.at("tests/golden/latin.txt"), b"M\xfcller\n").unwrap();
    std::fs::write(fixture.at("tests/golden/empty.txt"), b"").unwrap();
    let project = project(&fixture);
    let shown: String = pins(&project)
        .iter()
        .map(|pin| match baseline(pin, &project) {
            Baseline::Present(recorded) => format!("{:?}\n", recorded.content),
            Baseline::Missing => "missing\n".to_string(),
            Baseline::Unreadable(why) => format!("{why}\n"),
        })
        .collect();
    expect![[r#"
        tests/golden/conflict.txt has conflict markers from line 1; finish the merge, then the pin can be compared
        tests/golden/folder.txt is a folder, not a file
        missing
        tests/golden/latin.txt: it is not UTF-8 text (byte 0xfc in line 1); save it as UTF-8
        Text("")
    "#]]
    .assert_eq(&shown);
}

#[test]
fn twins_are_found_and_amended_from() {
    let fixture = Fixture::new(
        "//- pindrift.toml\n[pairs]\n\"tests/golden/*\" = \"out/*\"\n\
         //- tests/golden/a.txt\nold$CR\n\
         //- tests/golden/b.json\n{\"a\": 1}\n\
         //- tests/actual/a.txt\nnew\n\
         //- tests/golden/a.txt.actual\nnewest\n\
         //- out/b.json\n{ \"a\": 2 }\n\
         //- tests/test_a.py\nimport json\nfrom pathlib import Path\nGOLDEN = Path(__file__).parent / \"golden\"\n\
         def test_a():\n    assert run() == (GOLDEN / \"a.txt\").read_text()\n\
         def test_b():\n    assert run() == json.loads((GOLDEN / \"b.json\").read_text())\n",
    );
    let project = project(&fixture);
    let pins = pins(&project);
    let found = artefacts(&pins[0], &project);
    let paths: Vec<&str> = found.iter().map(|artefact| artefact.path.as_str()).collect();
    assert_eq!(paths, ["tests/actual/a.txt", "tests/golden/a.txt.actual"]);
    let observed = found[0].content.clone().unwrap();
    let amended = amend(&pins[0], &observed, Some(&found[0]), &project).unwrap();
    assert_eq!(amended.oracle[0].after.as_deref(), Some(&b"new\r\n"[..]), "line endings that are not seen stay");
    let found = artefacts(&pins[1], &project);
    assert_eq!(found[0].path.as_str(), "out/b.json");
    let observed = found[0].content.clone().unwrap();
    let amended = amend(&pins[1], &observed, Some(&found[0]), &project).unwrap();
    assert_eq!(amended.oracle[0].after.as_deref(), Some(&b"{ \"a\": 2 }\n"[..]), "JSON as the test laid it out");
    assert!(amend(&pins[1], &observed, None, &project).is_err());
}

#[test]
fn a_file_of_which_only_the_length_is_compared_is_no_golden() {
    let test = |name: &str| {
        format!(
            r#"
//- tests/test_a.py
from pathlib import Path

from app import render

GOLDEN = Path(__file__).parent / "golden" / "a.txt"


def test_a():
    assert {name}(render()) == {name}(GOLDEN.read_text())
//- tests/golden/a.txt
a
"#
        )
    };
    for reduces in ["len", "bool", "type"] {
        check(&test(reduces), expect![[""]]);
    }
    check(
        &test("tidy"),
        expect![[r#"
            tests/test_a.py::test_a:9 golden-file tests/golden/a.txt [UniversalNewlines, Unknown("tidy")]
        "#]],
    );
}

#[test]
fn a_golden_that_is_gone_is_still_pinned_where_a_run_left_its_twin() {
    check(
        r#"
//- tests/actual/rate.txt
2.68
//- tests/test_rate.py
from pathlib import Path
from legacy import rate
GOLDEN = Path(__file__).parent / "golden"

def test_rate():
    assert rate() == (GOLDEN / "rate.txt").read_text()

def test_other():
    assert rate() == (GOLDEN / "other.txt").read_text()
"#,
        expect![[r#"
            tests/test_rate.py::test_rate:6 golden-file tests/golden/rate.txt [UniversalNewlines]
        "#]],
    );
}

/// A value that is written out in the test is what the helper holds the file against: the file is the recorded
/// one, and no plain literal is claimed beside it.
#[test]
fn a_literal_that_a_golden_helper_is_handed_is_not_the_recorded_value() {
    let notation = r#"
//- tests/golden/n.csv
x
//- tests/data/in.txt
x
//- tests/test_a.py
from pathlib import Path
from product import render
HERE = Path(__file__).parent

def check_golden(name, actual):
    path = HERE / "golden" / name
    if UPDATE:
        path.write_text(actual)
    assert actual == path.read_text()

def compare(name, text):
    assert (HERE / "data" / name).read_text() == text

def check_read(name, want):
    assert (HERE / "data" / name).read_text() == want

def test_golden():
    check_golden("n.csv", "x")

def test_direction_unknown():
    compare("in.txt", "x")

def test_wanted():
    check_read("in.txt", "x")

def test_written(tmp_path):
    render(tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == "x"

def test_own_file():
    text = "x"
    expected = (HERE / "data" / "in.txt").read_text()
    assert text == expected
"#;
    check(
        notation,
        expect![[r#"
            tests/test_a.py::test_golden:18 in tests/test_a.py:9 golden-file tests/golden/n.csv [UniversalNewlines]
        "#]],
    );
    let fixture = Fixture::new(notation);
    let project = project(&fixture);
    let plain: Vec<String> = crate::survey::pins(&project, &Extent::All)
        .into_iter()
        .filter(|pin| pin.framework == "plain")
        .map(|pin| pin.test)
        .collect();
    assert_eq!(plain, ["tests/test_a.py::test_wanted", "tests/test_a.py::test_written"]);
}

#[test]
fn a_literal_that_a_rust_helper_is_handed_is_not_the_recorded_value() {
    let notation = r#"
//- Cargo.toml
[package]
name = "a"
version = "0.1.0"
//- src/lib.rs
//- tests/golden/n.csv
x
//- tests/it.rs
fn check(name: &str, actual: &str) {
    let path = format!("tests/golden/{name}");
    let expected = std::fs::read_to_string(path).unwrap();
    assert_eq!(actual, expected);
}
fn small(n: u8, want: &str) {
    assert_eq!(a::name(n), want);
}
#[test]
fn golden() {
    check("n.csv", "x");
}
#[test]
fn literal() {
    small(1, "one");
}
"#;
    check(
        notation,
        expect![[r#"
            it::golden:11 in tests/it.rs:4 golden-file tests/golden/n.csv []
        "#]],
    );
    let fixture = Fixture::new(notation);
    let project = project(&fixture);
    let plain: Vec<String> = crate::survey::pins(&project, &Extent::All)
        .into_iter()
        .filter(|pin| pin.framework == "plain")
        .map(|pin| pin.test)
        .collect();
    assert_eq!(plain, ["it::literal"]);
}
