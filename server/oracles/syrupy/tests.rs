use super::*;
use crate::fixture::Fixture;
use crate::oracles::Oracle;
use crate::pins::{Extent, Project};
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

fn shown(oracle: &Oracle) -> String {
    match (&oracle.path, &oracle.entry, oracle.kind) {
        (Some(path), Some(entry), OracleKind::Entry) => format!("{path} # {entry}"),
        (Some(path), ..) => path.to_string(),
        (None, ..) => format!("? {:?}", oracle.candidates.iter().map(RelPath::as_str).collect::<Vec<_>>()),
    }
}

/// Line and test of every pin of syrupy's and what it is held against, then the orphans.
fn check(notation: &str, expected: Expect) {
    let fixture = Fixture::new(notation);
    let project = project(&fixture);
    let pins = survey::pins(&project, &Extent::All);
    let mut out = String::new();
    for pin in pins.iter().filter(|pin| pin.framework == ID) {
        let line = project.unit(&pin.file).unwrap().line(pin.span.start);
        let test = pin.test.split_once("::").unwrap().1;
        let missing = match (&pin.oracle.path, Syrupy.baseline(pin, &project)) {
            (Some(_), Baseline::Missing) => " missing",
            (_, Baseline::Unreadable(_)) => " unreadable",
            _ => "",
        };
        out.push_str(&format!("{line} {test}: {}{missing}", shown(&pin.oracle)));
        if let Some(filters) = &pin.oracle.tolerance {
            out.push_str(&format!(" [{filters}]"));
        }
        if let Some(why) = &pin.oracle.shown_only {
            out.push_str(&format!(" ({why})"));
        }
        out.push('\n');
    }
    for orphan in Syrupy.orphans(&pins, &project) {
        out.push_str(&format!("orphan {}:{} {}\n", orphan.path, orphan.line, orphan.entry.unwrap_or_default()));
    }
    expected.assert_eq(&out);
}

#[test]
fn executions_of_one_object_are_counted() {
    check(
        r#"
//- test_a.py
import pytest
from syrupy.extensions.json import JSONSnapshotExtension

@pytest.fixture
def snapshot_json(snapshot):
    return snapshot.use_extension(JSONSnapshotExtension)

def test_names(snapshot):
    assert 1 == snapshot(name="a")
    assert 2 == snapshot(name=1)
    assert 3 == snapshot
    assert snapshot == 4

def test_two_objects(snapshot, snapshot_json):
    assert 1 == snapshot
    assert 1 == snapshot_json
    assert 2 == snapshot_json
    assert 2 == snapshot
    assert 1 == snapshot.with_defaults()
    assert 1 == snapshot.with_defaults()

def test_itself(snapshot_json):
    assert snapshot_json == snapshot_json

def test_options_hold_once(snapshot):
    s = snapshot(name="first")
    assert 1 == s
    assert 2 == s

def test_loops(snapshot):
    for x in [1, 2]:
        assert x == snapshot
        assert -x == snapshot
    assert 3 == snapshot

def test_branches(snapshot, request):
    if request:
        assert 1 == snapshot
    else:
        assert 2 == snapshot
    assert 3 == snapshot

def test_kept(snapshot):
    same = 1 == snapshot
    assert same and 2 == snapshot and not 3 == snapshot

class TestIt:
    @pytest.mark.parametrize("x", ["a::b", "c d", "é"])
    def test_case(self, x, snapshot):
        assert x == snapshot(name=f"n{x}")
"#,
        expect![[r#"
            9 test_names: __snapshots__/test_a.ambr # test_names[a] missing
            10 test_names: __snapshots__/test_a.ambr # test_names.1 missing
            11 test_names: __snapshots__/test_a.ambr # test_names.2 missing
            12 test_names: __snapshots__/test_a.ambr # test_names.3 missing
            15 test_two_objects: __snapshots__/test_a.ambr # test_two_objects missing
            16 test_two_objects: __snapshots__/test_a/test_two_objects.json missing
            17 test_two_objects: __snapshots__/test_a/test_two_objects.1.json missing
            18 test_two_objects: __snapshots__/test_a.ambr # test_two_objects.1 missing
            19 test_two_objects: __snapshots__/test_a.ambr # test_two_objects missing
            20 test_two_objects: __snapshots__/test_a.ambr # test_two_objects missing
            23 test_itself: __snapshots__/test_a/test_itself.json missing
            27 test_options_hold_once: __snapshots__/test_a.ambr # test_options_hold_once[first] missing
            28 test_options_hold_once: __snapshots__/test_a.ambr # test_options_hold_once.1 missing
            32 test_loops: __snapshots__/test_a.ambr # test_loops missing
            32 test_loops: __snapshots__/test_a.ambr # test_loops.2 missing
            33 test_loops: __snapshots__/test_a.ambr # test_loops.1 missing
            33 test_loops: __snapshots__/test_a.ambr # test_loops.3 missing
            34 test_loops: __snapshots__/test_a.ambr # test_loops.4 missing
            38 test_branches: ? []
            40 test_branches: ? []
            41 test_branches: __snapshots__/test_a.ambr # test_branches.1 missing
            44 test_kept: __snapshots__/test_a.ambr # test_kept missing
            45 test_kept: __snapshots__/test_a.ambr # test_kept.1 missing
            45 test_kept: ? [] (the comparison is not meant to hold here)
            50 TestIt::test_case[a::b]: __snapshots__/test_a.ambr # TestIt.test_case[a.test_case[a::b][na::b] missing
            50 TestIt::test_case[c d]: __snapshots__/test_a.ambr # TestIt.test_case[c d][nc d] missing
            50 TestIt::test_case[\xe9]: __snapshots__/test_a.ambr # TestIt.test_case[\xe9][né] missing
        "#]],
    );
}

#[test]
fn where_classes_of_the_project_keep_snapshots() {
    check(
        r#"
//- pyproject.toml
[tool.pytest.ini_options]
addopts = "--snapshot-dirname=__snaps__"
//- test_a.py
import pytest
from pathlib import Path
from syrupy.extensions.amber import AmberSnapshotExtension
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.extensions.image import PNGImageSnapshotExtension as Png

class Csv(SingleFileSnapshotExtension):
    _write_mode = WriteMode.TEXT
    file_extension = "csv"

class Older(Csv):
    _file_extension = "tsv"
    def serialize(self, data, **kwargs):
        return str(data)

class Elsewhere(AmberSnapshotExtension):
    snapshot_dirname = "__other__"

class Below(Csv):
    @classmethod
    def dirname(cls, *, test_location):
        return str(Path(test_location.filepath).parent.joinpath("__data__", test_location.basename))

class Named(AmberSnapshotExtension):
    @classmethod
    def get_snapshot_name(cls, *, test_location, index):
        return "x"

def test_a(snapshot):
    assert 1 == snapshot
    assert "1" == snapshot(extension_class=Csv)
    assert "1" == snapshot(extension_class=Older, name="q?/é")
    assert 1 == snapshot(extension_class=Elsewhere)
    assert "1" == snapshot(extension_class=Below)
    assert "1" == snapshot(extension_class=Named)
    assert b"" == snapshot(extension_class=Png)
    assert 1 == snapshot(extension_class=unknown())
"#,
        expect![[r#"
            30 test_a: __snaps__/test_a.ambr # test_a missing
            31 test_a: __snaps__/test_a/test_a.1.csv missing
            32 test_a: __snaps__/test_a/test_a[qé].tsv missing
            33 test_a: __other__/test_a.ambr # test_a.3 missing
            34 test_a: __data__/test_a/test_a.4.csv missing
            35 test_a: ? [] (a class of the project names the snapshot in its own way)
            36 test_a: __snaps__/test_a/test_a.6.png missing
            37 test_a: ? []
        "#]],
    );
}

#[test]
fn entries_that_no_test_can_reach() {
    check(
        r#"
//- tests/conftest.py
import pytest
@pytest.fixture(params=[1, 2])
def backend(request):
    return request.param
//- tests/test_a.py
import pytest
from .base import helper

def test_a(snapshot):
    assert 1 == snapshot

def test_open(snapshot):
    assert 1 == snapshot
    helper(snapshot)

def test_backend(backend, snapshot):
    assert 1 == snapshot

def test_loop(snapshot, request):
    for x in request.param:
        assert x == snapshot

@pytest.mark.xfail
def test_fails(snapshot):
    assert 1 == snapshot

class TestBase:
    def test_inherited(self, snapshot):
        assert 1 == snapshot

class TestHeir(TestBase):
    pass
//- tests/__snapshots__/test_a.ambr
# serializer version: 1
# name: TestBase.test_inherited
  1
# ---
# name: TestHeir.test_inherited
  1
# ---
# name: TestHeir.test_old
  1
# ---
# name: test_a
  1
# ---
# name: test_a.1
  1
# ---
# name: test_backend[1]
  1
# ---
# name: test_gone[x]
  1
# ---
# name: test_loop
  1
# ---
# name: test_loop.1
  1
# ---
# name: test_open.1
  1
# ---
//- tests/__snapshots__/test_retired.ambr
# serializer version: 1
# name: test_z
  1
# ---
//- tests/__snapshots__/test_doc.ambr
# serializer version: 1
# name: fn
  1
# ---
//- tests/test_doc.py
def fn():
    """
    >>> fn() == getfixture("snapshot")
    """
//- tests/__snapshots__/component.test.js.snap
exports[`x`] = `1`;
//- tests/__snapshots__/test_old.ambr
# name: test_old
  1
# ---
//- tests/test_old.py
def test_old(snapshot):
    assert 1 == snapshot
"#,
        expect![[r#"
            5 test_a: tests/__snapshots__/test_a.ambr # test_a
            8 test_open: tests/__snapshots__/test_a.ambr # test_open missing
            12 test_backend[1]: tests/__snapshots__/test_a.ambr # test_backend[1]
            16 test_loop: tests/__snapshots__/test_a.ambr # test_loop
            16 test_loop: tests/__snapshots__/test_a.ambr # test_loop.1
            20 test_fails: ? [] (the comparison is not meant to hold here)
            24 TestBase::test_inherited: tests/__snapshots__/test_a.ambr # TestBase.test_inherited
            24 TestHeir::test_inherited: tests/__snapshots__/test_a.ambr # TestHeir.test_inherited
            2 test_old: tests/__snapshots__/test_old.ambr # test_old unreadable
            orphan tests/__snapshots__/test_a.ambr:14 test_a.1
            orphan tests/__snapshots__/test_a.ambr:20 test_gone[x]
            orphan tests/__snapshots__/test_retired.ambr:2 test_z
        "#]],
    );
}

#[test]
fn whose_fixture_it_is() {
    check(
        r#"
//- requirements.txt
pytest-insta
//- test_insta.py
def test_called(snapshot):
    assert snapshot() == 1
    assert snapshot("x.txt") == 1
def test_matched(snapshot):
    snapshot.assert_match(1, "name.txt")
    snapshot.assert_match(1)
def test_not_a_fixture():
    snapshot = take()
    assert 1 == snapshot
def test_defined(other):
    assert 1 == other
def test_plain(snapshot):
    assert 1 == snapshot
"#,
        expect![[r#"
            13 test_plain: __snapshots__/test_insta.ambr # test_plain missing
        "#]],
    );
}

fn amend(notation: &str, entry: &str, observed: &str) -> Result<String, String> {
    let fixture = Fixture::new(notation);
    let project = project(&fixture);
    let pins = survey::pins(&project, &Extent::All);
    let pin = pins.iter().find(|pin| pin.oracle.entry.as_deref() == Some(entry)).expect("a pin of that entry");
    let amended = Syrupy.amend(pin, &Content::Text(observed.into()), None, &project).map_err(|refusal| refusal.0)?;
    Ok(String::from_utf8(amended.oracle[0].after.clone().unwrap()).unwrap())
}

#[test]
fn an_amended_file_is_what_syrupy_writes() {
    let files = "//- test_a.py\nfrom syrupy.extensions.json import JSONSnapshotExtension\ndef test_a(snapshot):\n    \
         assert 1 == snapshot\n    assert 2 == snapshot\n    assert 3 == snapshot(extension_class=JSONSnapshotExtension)\n\
         //- __snapshots__/test_a.ambr\n# serializer version: 1\n# name: test_a\n  1\n# ---\n\
         //- __snapshots__/test_a/test_a.2.json\n1\n";
    expect![[r#"
        # serializer version: 1
        # name: test_a
          '''
          a
          
          '''
        # ---
    "#]]
    .assert_eq(&amend(files, "test_a", "'''\na\n\n'''").unwrap());
    assert!(amend(files, "test_a.1", "2").unwrap().ends_with("# name: test_a.1\n  2\n# ---\n"));
    assert_eq!(amend(files, "test_a.2", "{\n  \"a\": 1\n}\n").unwrap(), "{\n  \"a\": 1\n}\n");
    let why = amend(files, "test_a.2", "\"a\r\n\"\n").unwrap_err();
    assert!(why.contains("carriage returns"), "{why}");
    let old = files.replace("version: 1", "version: 0");
    assert!(amend(&old, "test_a", "2").unwrap_err().contains("serializer version 0"));
}
