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
    let pins = survey::pins(&project, &Extent::All);
    let mut shown = String::new();
    for pin in pins.iter().filter(|pin| pin.framework == ID) {
        let path = pin.oracle.path.as_ref().map_or("?".to_string(), RelPath::to_string);
        shown.push_str(&format!("{} {path}", pin.test));
        if !pin.oracle.candidates.is_empty() {
            let candidates: Vec<_> = pin.oracle.candidates.iter().map(RelPath::as_str).collect();
            shown.push_str(&format!(" {candidates:?}"));
        }
        match PytestSnapshot.baseline(pin, &project) {
            Baseline::Present(recorded) => shown.push_str(&format!(" = {:?}", recorded.content)),
            Baseline::Missing => shown.push_str(" missing"),
            Baseline::Unreadable(why) => shown.push_str(&format!(" unreadable: {why}")),
        }
        shown.push('\n');
    }
    for orphan in PytestSnapshot.orphans(&pins, &project) {
        shown.push_str(&format!("orphan {}\n", orphan.path));
    }
    expect.assert_eq(&shown);
}

#[test]
fn the_file_is_named_by_module_test_and_parameters() {
    check(
        "//- tests/test_bill.py
import pytest
def test_plain(snapshot):
    snapshot.assert_match(run(), 'out.txt')

class TestLedger:
    def test_page(self, snapshot):
        snapshot.assert_match(value=run(), snapshot_name='deep/page.txt')

@pytest.mark.parametrize('band', ['red/2019', 'zero rated', '..', 'é'])
def test_tax(band, snapshot):
    snapshot.assert_match(run(), f'{size_of(band)}.txt')
    snapshot.assert_match(run(), 'tax.txt')

def test_away(snapshot):
    snapshot.assert_match(run(), '../other/out.txt')
//- tests/snapshots/test_bill/test_plain/out.txt
a
//- tests/snapshots/test_bill/test_page/deep/page.txt
b
//- tests/snapshots/test_bill/test_tax/red2019/8.txt
c
",
        expect![[r#"
            tests/test_bill.py::test_plain tests/snapshots/test_bill/test_plain/out.txt = Text("a\n")
            tests/test_bill.py::TestLedger::test_page tests/snapshots/test_bill/test_page/deep/page.txt = Text("b\n")
            tests/test_bill.py::test_tax[red/2019] ? ["tests/snapshots/test_bill/test_tax/red2019/8.txt"] missing
            tests/test_bill.py::test_tax[zero rated] ? missing
            tests/test_bill.py::test_tax[..] ? missing
            tests/test_bill.py::test_tax[\xe9] ? missing
            tests/test_bill.py::test_tax[red/2019] tests/snapshots/test_bill/test_tax/red2019/tax.txt missing
            tests/test_bill.py::test_tax[zero rated] tests/snapshots/test_bill/test_tax/zero_rated/tax.txt missing
            tests/test_bill.py::test_tax[..] tests/snapshots/test_bill/test_tax/dotdot/tax.txt missing
            tests/test_bill.py::test_tax[\xe9] tests/snapshots/test_bill/test_tax/xe9/tax.txt missing
            tests/test_bill.py::test_away ? missing
        "#]],
    );
}

#[test]
fn the_fixture_is_told_by_where_it_comes_from() {
    check(
        "//- tests/conftest.py
import pytest
@pytest.fixture
def golden(snapshot):
    return snapshot

@pytest.fixture
def assert_sql(snapshot):
    def checker(value, name='out.sql'):
        snapshot.assert_match(value, name)
    return checker
//- tests/test_bill.py
def assert_equal(value, snap, out='out.txt'):
    snap.assert_match(value, out)

def test_renamed(golden):
    golden.assert_match(run(), 'a.txt')

def test_helper(snapshot):
    assert_equal(run(), snapshot)

def test_given(assert_sql):
    assert_sql(run())

class TestKept:
    def setup_it(self, snapshot):
        self.snap = snapshot
    def test_kept(self):
        self.snap.assert_match(run(), 'k.txt')

def test_other(matcher):
    matcher.assert_match('a+', 'aaa')

def test_one_argument(snapshot):
    snapshot.assert_match(run())
//- tests/test_own.py
import pytest
@pytest.fixture
def snapshot():
    return Mine()
def test_own(snapshot):
    snapshot.assert_match(run(), 'a.txt')
",
        expect![[r#"
            tests/test_bill.py::test_renamed tests/snapshots/test_bill/test_renamed/a.txt missing
            tests/test_bill.py::test_helper tests/snapshots/test_bill/test_helper/out.txt missing
            tests/test_bill.py::test_given tests/snapshots/test_bill/test_given/out.sql missing
            tests/test_bill.py::TestKept::test_kept tests/snapshots/test_bill/test_kept/k.txt missing
        "#]],
    );
}

#[test]
fn a_folder_that_the_test_assigns_counts() {
    check(
        "//- tests/test_bill.py
from pathlib import Path
def test_set(snapshot):
    snapshot.snapshot_dir = Path(__file__).parent / 'approved'
    snapshot.assert_match(run(), 'a.txt')

def test_relative(snapshot):
    snapshot.snapshot_dir = 'tests/other'
    snapshot.assert_match(run(), 'a.txt')

def test_perhaps(snapshot):
    if run():
        snapshot.snapshot_dir = 'tests/other'
    snapshot.assert_match(run(), 'a.txt')
",
        expect![[r#"
            tests/test_bill.py::test_set tests/approved/a.txt missing
            tests/test_bill.py::test_relative tests/other/a.txt missing
            tests/test_bill.py::test_perhaps ? missing
        "#]],
    );
}

#[test]
fn ids_from_elsewhere_are_told_by_the_folders_that_are_there() {
    check(
        "//- tests/conftest.py
import pytest
@pytest.fixture(params=all_backends())
def backend(request):
    return request.param
//- tests/test_sql.py
import pytest
def test_query(backend, snapshot):
    snapshot.assert_match(run(), 'out.sql')

@pytest.mark.parametrize('how', ['left'])
def test_join(how, backend, snapshot):
    snapshot.assert_match(run(), 'out.sql')

@pytest.mark.xfail
def test_soon(snapshot):
    snapshot.assert_match(run(), 'out.sql')

def test_raises(snapshot):
    with pytest.raises(AssertionError):
        snapshot.assert_match(run(), 'out.sql')
//- tests/snapshots/test_sql/test_query/duckdb/out.sql
a
//- tests/snapshots/test_sql/test_query/sqlite/out.sql
b
//- tests/snapshots/test_sql/test_query/sqlite/older.sql
c
//- tests/snapshots/test_sql/test_join/duckdb-left/out.sql
d
//- tests/snapshots/test_sql/test_raises/out.sql
e
//- tests/snapshots/test_sql/test_gone/out.sql
f
//- tests/snapshots/test_deleted/test_x/out.sql
g
//- tests/snapshots/snap_other.py
h
",
        expect![[r#"
            tests/test_sql.py::test_query tests/snapshots/test_sql/test_query/duckdb/out.sql = Text("a\n")
            tests/test_sql.py::test_query tests/snapshots/test_sql/test_query/sqlite/out.sql = Text("b\n")
            tests/test_sql.py::test_join tests/snapshots/test_sql/test_join/duckdb-left/out.sql = Text("d\n")
            tests/test_sql.py::test_soon ? missing
            tests/test_sql.py::test_raises ? ["tests/snapshots/test_sql/test_raises/out.sql"] missing
            orphan tests/snapshots/test_deleted/test_x/out.sql
            orphan tests/snapshots/test_sql/test_gone/out.sql
        "#]],
    );
}

const FOLDERS: &str = "//- tests/test_bill.py
def test_bundle(snapshot):
    snapshot.assert_match_dir({'sums': {'std.txt': run()}, 'foot.txt': 'tax'}, 'bundle')

def test_text(snapshot):
    snapshot.assert_match(str(run()), 'a.txt')

def test_bytes(snapshot):
    snapshot.assert_match(run().encode(), 'b.txt')

def test_open(snapshot):
    snapshot.assert_match(run(), 'c.txt')
//- tests/snapshots/test_bill/test_bundle/bundle/sums/std.txt
20
//- tests/snapshots/test_bill/test_text/a.txt
a$CR
//- tests/snapshots/test_bill/test_bytes/b.txt
b$CR
//- tests/snapshots/test_bill/test_open/c.txt
c$CR
";

fn amended(test: &str, observed: Content) -> String {
    let fixture = Fixture::new(FOLDERS);
    let project = project(&fixture);
    let pins = survey::pins(&project, &Extent::All);
    let pin = pins.iter().find(|pin| pin.test.ends_with(test)).unwrap();
    let observed = PytestSnapshot.observed(pin, observed);
    match PytestSnapshot.amend(pin, &observed, None, &project) {
        Err(refusal) => refusal.0,
        Ok(amended) => amended
            .oracle
            .iter()
            .map(|change| {
                let after = change.after.as_deref().map(String::from_utf8_lossy);
                format!("{} {:?}\n", change.path, after.unwrap_or_default())
            })
            .collect(),
    }
}

#[test]
fn texts_bytes_and_folders_read_as_they_compare() {
    check(
        FOLDERS,
        expect![[r#"
            tests/test_bill.py::test_bundle tests/snapshots/test_bill/test_bundle/bundle = Value("{'sums/std.txt': '20\\n'}")
            tests/test_bill.py::test_text tests/snapshots/test_bill/test_text/a.txt = Text("a\n")
            tests/test_bill.py::test_bytes tests/snapshots/test_bill/test_bytes/b.txt = Text("b\r\n")
            tests/test_bill.py::test_open tests/snapshots/test_bill/test_open/c.txt = Text("c\r\n")
        "#]],
    );
}

#[test]
fn an_accepted_value_is_written_as_it_is() {
    let text = |text: &str| Content::Text(text.to_string());
    let value = |source: &str| Content::Value(source.to_string());
    expect![[r#"
        tests/snapshots/test_bill/test_text/a.txt "x\r\ny"
    "#]]
    .assert_eq(&amended("test_text", text("x\ny")));
    expect!["tests/snapshots/test_bill/test_text/a.txt: the observed text holds a carriage return, which pytest-snapshot refuses to record in a `str`; pass `bytes` to `assert_match` in the test, or keep the recorded value"]
        .assert_eq(&amended("test_text", text("x\r\ny")));
    expect![[r#"
        tests/snapshots/test_bill/test_bytes/b.txt "x\n\r"
    "#]]
    .assert_eq(&amended("test_bytes", Content::Bytes(b"x\n\r".to_vec())));
    expect!["tests/snapshots/test_bill/test_open/c.txt: the observed text holds a carriage return, which pytest-snapshot refuses to record in a `str`; pass `bytes` to `assert_match` in the test, or keep the recorded value"]
        .assert_eq(&amended("test_open", text("x\r")));
    expect![[r#"
        tests/snapshots/test_bill/test_bundle/bundle/foot.txt "tax"
        tests/snapshots/test_bill/test_bundle/bundle/sums/std.txt "21"
    "#]]
    .assert_eq(&amended("test_bundle", value("{'sums': {'std.txt': '21'}, 'foot.txt': b'tax'}")));
    expect!["tests/snapshots/test_bill/test_bundle/bundle: sums/std.txt has no value any more, and an accept deletes nothing; delete the file if it is no longer wanted, then accept; nothing was written"]
        .assert_eq(&amended("test_bundle", value("{'foot.txt': 'tax'}")));
    expect!["tests/snapshots/test_bill/test_bundle/bundle: the observed value is not a dictionary of file names and texts (a `str` with a carriage return is none); nothing was written"]
        .assert_eq(&amended("test_bundle", value("{'../x': 'tax'}")));
}
