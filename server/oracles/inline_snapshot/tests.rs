use super::*;
use crate::fixture::Fixture;
use crate::pins::Extent;
use crate::places::Root;
use crate::shelf::Shelf;
use crate::survey;
use crate::vocabulary::Vocabulary;
use expect_test::{Expect, expect};

fn project(fixture: &Fixture) -> Project {
    let root = Root::of(fixture.path(), fixture.path()).unwrap();
    let shelf = Shelf::new(root.clone());
    Project::read(root, Default::default(), shelf, &Vocabulary::built_in(), &|_, _| {}, &|| false).unwrap()
}

/// Line and test of every pin, what it is held against, then the orphans.
fn check(notation: &str, expected: Expect) {
    let fixture = Fixture::new(notation);
    let project = project(&fixture);
    let pins = survey::pins(&project, &Extent::All);
    let mut out = String::new();
    for pin in pins.iter().filter(|pin| pin.framework == ID) {
        let line = project.unit(&pin.file).unwrap().line(pin.span.start);
        let test = pin.test.split_once("::").map_or(pin.test.as_str(), |(_, test)| test);
        let held = match (&pin.oracle.path, pin.oracle.span) {
            (Some(path), Some(span)) => {
                let unit = project.unit(path).unwrap();
                format!("{}:{} `{}`", path, unit.line(span.start), unit.text.slice(span))
            }
            (Some(path), None) => path.to_string(),
            (None, _) => "?".to_string(),
        };
        let missing = match InlineSnapshot.baseline(pin, &project) {
            Baseline::Missing if pin.oracle.path.is_some() => " missing",
            _ => "",
        };
        out.push_str(&format!("{line} {test}: {held}{missing}"));
        if let Some(why) = &pin.oracle.shown_only {
            out.push_str(&format!(" ({why})"));
        }
        out.push('\n');
    }
    for orphan in InlineSnapshot.orphans(&pins, &project) {
        out.push_str(&format!("orphan {}\n", orphan.path));
    }
    expected.assert_eq(&out);
}

#[test]
fn snapshots_are_found_wherever_their_value_goes() {
    check(
        r#"
//- shared.py
from inline_snapshot import snapshot
TOTAL = snapshot(7)
def check(value, expected):
    assert value == expected
//- test_a.py
import pytest
import inline_snapshot as isn
from inline_snapshot import snapshot as S, external, external_file, outsource, Is
from inline_snapshot import snapshot
from inline_snapshot.extra import raises
from shared import TOTAL, check

def test_sides():
    assert 1 == snapshot(1)
    assert S([1]) == [1]
    assert 1 <= isn.snapshot(5) and 2 in snapshot([2])

@pytest.mark.parametrize("x, expected", [(1, snapshot(1)), (2, snapshot(2))])
def test_rows(x, expected):
    assert x == expected

def test_parts():
    s = snapshot({"a": 1, "b": [2]})
    for key in ("a", "b"):
        assert 1 == s[key]
    assert 3 == s["c"]

def test_elsewhere():
    assert 7 == TOTAL
    check(1, snapshot(1))
    check(2, expected=snapshot())

@pytest.fixture
def given():
    return snapshot("given")

def test_fixture(given):
    assert "x" == given

def test_nested():
    with raises(snapshot("ValueError: x")):
        pass
    assert {"a": 1} == {"a": snapshot(1)}
    assert [1] == snapshot([Is(1)])
    assert 1 == snapshot(...)
    with pytest.raises(AssertionError):
        assert 1 == snapshot()

def test_files():
    assert "a" == external("uuid:11111111-1111-1111-1111-111111111111.txt")
    assert "a" == external_file("data/x.csv", format=".txt")
    assert outsource("a") == snapshot(external("hash:2cf24*.txt"))
    assert "a" == external("uuid:")

class TestC:
    def test_method(self):
        assert 1 == snapshot(1)
//- __inline_snapshot__/test_a/test_files/11111111-1111-1111-1111-111111111111.txt
a
//- __inline_snapshot__/test_a/test_gone/22222222-2222-2222-2222-222222222222.txt
a
//- .inline-snapshot/external/2cf24dba5fb0.txt
a
"#,
        expect![[r#"
            9 test_sides: test_a.py:9 `1`
            10 test_sides: test_a.py:10 `[1]`
            11 test_sides: test_a.py:11 `5`
            11 test_sides: test_a.py:11 `[2]` (the comparison is none of equality: there is no one value to accept)
            15 test_rows[1-1]: test_a.py:13 `1`
            15 test_rows[2-2]: test_a.py:13 `2`
            20 test_parts: test_a.py:18 `1`
            20 test_parts: test_a.py:18 `[2]`
            21 test_parts: test_a.py:18 `{"a": 1, "b": [2]}` (the snapshot has no part of that key yet; let inline-snapshot create it)
            24 test_elsewhere: shared.py:2 `7`
            25 test_elsewhere: test_a.py:25 `1`
            26 test_elsewhere: test_a.py:26 `` missing
            33 test_fixture: test_a.py:30 `"given"`
            36 test_nested: test_a.py:36 `"ValueError: x"`
            38 test_nested: test_a.py:38 `1`
            39 test_nested: test_a.py:39 `[Is(1)]` (parts of the recorded value are computed; let inline-snapshot write the new one)
            40 test_nested: test_a.py:40 `...` (the snapshot is not filled in; let inline-snapshot create it)
            42 test_nested: ?
            45 test_files: __inline_snapshot__/test_a/test_files/11111111-1111-1111-1111-111111111111.txt
            46 test_files: data/x.csv missing
            47 test_files: .inline-snapshot/external/2cf24dba5fb0.txt (the file is named by its content: the name in the test would change with it; let inline-snapshot write it)
            48 test_files: ? (nothing is recorded yet; let inline-snapshot create it)
            52 TestC::test_method: test_a.py:52 `1`
            orphan __inline_snapshot__/test_a/test_gone/22222222-2222-2222-2222-222222222222.txt
        "#]],
    );
}

fn fix(old: &str, observed: Content) -> Result<String, String> {
    fix_with("", old, observed)
}

fn fix_with(settings: &str, statement: &str, observed: Content) -> Result<String, String> {
    let fixture = Fixture::new(&format!(
        "//- pyproject.toml\n{settings}\n//- test_a.py\nfrom inline_snapshot import snapshot\n\ndef test_a():\n{statement}\n"
    ));
    let project = project(&fixture);
    let pins = survey::pins(&project, &Extent::All);
    let pin = pins.iter().find(|pin| pin.framework == ID).expect("a pin");
    let amended = InlineSnapshot.amend(pin, &observed, None, &project).map_err(|refusal| refusal.0)?;
    let after = String::from_utf8(amended.oracle[0].after.clone().unwrap()).unwrap();
    Ok(after.split_once("def test_a():\n").unwrap().1.trim_end().to_string())
}

fn value(source: &str) -> Content {
    literal_python::read(source).unwrap()
}

/// Held against inline-snapshot 0.36.1 without a formatter.
#[test]
fn only_what_differs_is_written_again() {
    let fix = |old: &str, new: &str| fix(&format!("    assert f() == snapshot({old})"), value(new)).unwrap();
    expect![[r#"
            assert f() == snapshot({"a": 1, "b": [1, 3, 4], "c": (5,)})
            assert f() == snapshot([1, 2])
            assert f() == snapshot([1, 2, 3])
            assert f() == snapshot((1, 'b', 3))
            assert f() == snapshot("""\
        a
        b\
        """)
            assert f() == snapshot('a\n')
            assert f() == snapshot({})
            assert f() == snapshot((1, ))
            assert f() == snapshot([ 1, 'x' ])"#]]
    .assert_eq(
        &[
            fix("{\"a\": 1, \"b\": [1, 2, 4], \"c\": (5,)}", "{'a': 1, 'b': [1, 3, 4], 'c': (5,)}"),
            fix("[0, 1, 2]", "[1, 2]"),
            fix("[1, 3]", "[1, 2, 3]"),
            fix("(1, 2)", "(1, 'b', 3)"),
            fix("'x'", "'a\\nb'"),
            fix("'x'", "'a\\n'"),
            fix("{'a': 1}", "{}"),
            fix("None", "(1,)"),
            fix("[ 1, 2 ]", "[1, 'x']"),
        ]
        .join("\n"),
    );
}

#[test]
fn an_empty_snapshot_is_filled_in() {
    assert_eq!(fix("    assert f() == snapshot()", value("[1, 'a']")).unwrap(), "    assert f() == snapshot([1, 'a'])");
}

#[test]
fn under_a_formatter_only_what_it_leaves_is_written() {
    let black = "[tool.black]\nline-length = 40";
    let fix = |statement: &str, new: &str| fix_with(black, statement, value(new));
    assert_eq!(fix("    assert f() == snapshot(\"a\")", "'b'").unwrap(), "    assert f() == snapshot(\"b\")");
    assert_eq!(fix("    assert f() == snapshot(\"a\")", "'\"'").unwrap(), "    assert f() == snapshot('\"')");
    assert!(fix("    assert f() == snapshot(\"a\")", "'a long text that needs a line'").unwrap_err().contains("black"));
    let listed = "    assert f() == snapshot(\n        [\n            1,\n            2,\n        ]\n    )";
    assert_eq!(fix(listed, "[1, 3]").unwrap(), listed.replace('2', "3"));
    let long = "    assert f() == snapshot(\n        \"a text that is long enough\"\n    )";
    assert!(fix(long, "'short'").is_err());
    assert!(fix("    assert f() == snapshot(\"a\")", "'a\\nb\\n'").is_err());
    let lines = "    assert f() == snapshot(\n        \"\"\"\\\na\nb\n\"\"\"\n    )";
    assert_eq!(fix(lines, "'a\\nc\\nd\\n'").unwrap(), lines.replace("\nb\n", "\nc\nd\n"));
    let single =
        "[tool.inline-snapshot]\nformat-command = \"ruff format -\"\n[tool.ruff.format]\nquote-style = \"single\"";
    assert_eq!(
        fix_with(single, "    assert f() == snapshot('a')", value("'b'")).unwrap(),
        "    assert f() == snapshot('b')"
    );
}
