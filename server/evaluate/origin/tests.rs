use super::*;
use crate::evaluate::worlds;
use crate::fixture::Fixture;
use crate::pins::{Extent, sites};
use crate::places::Root as Workspace;
use crate::shelf::Shelf;
use crate::vocabulary::Vocabulary;
use expect_test::{Expect, expect};

/// Of every `assert … == right`: the line a reader sees, where `right` comes from and what was applied.
fn check(notation: &str, expected: Expect) {
    let fixture = Fixture::new(notation);
    let root = Workspace::of(fixture.path(), fixture.path()).unwrap();
    let shelf = Shelf::new(root.clone());
    let project =
        Project::read(root, Default::default(), shelf, &Vocabulary::built_in(), &|_, _| {}, &|| false).unwrap();
    let mut out = String::new();
    let sites = sites::sites(&project, &Extent::All);
    for site in sites.into_iter().filter(|site| site.found.framework == sites::COMPARISON) {
        let (file, at) = site.seen();
        out.push_str(&format!("{file}:{}", project.unit(file).unwrap().line(at.start)));
        let last = site.comparing();
        let unit = project.unit(&last.file).unwrap();
        let function = &unit.functions[last.function.unwrap()];
        let span = site.found.capture("expected").unwrap();
        let mut compared = None;
        function.body.iter().for_each(|stmt| {
            stmt.walk(&mut |expr| {
                if expr.span == span && compared.is_none() {
                    compared = Some(expr);
                }
            })
        });
        let worlds = worlds(&project, &site);
        let origin = worlds[0].origin(&project, &site, site.frames.len() - 1, compared.unwrap());
        match &origin.root {
            Root::Value(expr) => out.push_str(&format!(" Value({:?})", expr.kind)),
            root => out.push_str(&format!(" {root:?}")),
        }
        for step in &origin.applied {
            match step.what {
                Application::Attr(name) => out.push_str(&format!(" .{name}")),
                Application::Call(args) => {
                    let args: Vec<&str> = args.iter().map(|arg| step.place.unit.text.slice(arg.value.span)).collect();
                    out.push_str(&format!(" ({})@{}", args.join(", "), step.place.unit.path.name()));
                }
                Application::Index(key) => out.push_str(&format!(" [{}]", step.place.unit.text.slice(key.span))),
            }
        }
        out.push('\n');
    }
    expected.assert_eq(&out);
}

#[test]
fn fixtures_lead_to_the_one_that_no_file_defines() {
    check(
        r#"
//- tests/conftest.py
import pytest
pytest_plugins = ["tests.plug"]
@pytest.fixture
def snapshot_json(snapshot):
    return snapshot.use_extension(JSON)
@pytest.fixture
def snapshot(snapshot):
    return snapshot.with_defaults(extension_class=Root)
@pytest.fixture(name="renamed")
def _impl(snapshot_json):
    yield snapshot_json(name="r")
//- tests/plug.py
import pytest
@pytest.fixture
def plugged(snapshot):
    return snapshot
@pytest.fixture
def snapshot(snapshot):
    return snapshot.of_plugin()
//- tests/unit/conftest.py
from pytest import fixture
from .more import *
@fixture
def snapshot(snapshot):
    s = snapshot(matcher=M)
    return s
//- tests/unit/more.py
from pytest import fixture
@fixture
def starred(snapshot):
    return snapshot.starred
//- tests/unit/test_a.py
import pytest
def test_plain(snapshot):
    assert 1 == snapshot
def test_json(snapshot_json):
    assert 1 == snapshot_json(name="x")
def test_renamed(renamed):
    assert 1 == renamed
def test_plugged(plugged):
    assert 1 == plugged
def test_starred(starred):
    assert 1 == starred
def test_local(snapshot):
    s = snapshot
    t = s(name="t")
    assert 1 == t["k"]
class TestOwn:
    @pytest.fixture
    def snapshot(self, snapshot):
        return snapshot.use_extension(Own)
    def test_own(self, snapshot):
        assert 1 == snapshot
class TestBased(TestOwn):
    def test_based(self, snapshot):
        assert 1 == snapshot
//- tests/test_b.py
def test_root(snapshot):
    assert 1 == snapshot
def test_other(regression):
    assert 1 == regression
def test_not_a_parameter():
    assert 1 == snapshot
def test_literal():
    assert 1 == 2
"#,
        expect![[r#"
            tests/test_b.py:2 Fixture("snapshot") .of_plugin ()@plug.py .with_defaults (Root)@conftest.py
            tests/test_b.py:4 Fixture("regression")
            tests/test_b.py:6 Free("snapshot")
            tests/test_b.py:8 Value(Int("2"))
            tests/unit/test_a.py:3 Fixture("snapshot") .of_plugin ()@plug.py .with_defaults (Root)@conftest.py (M)@conftest.py
            tests/unit/test_a.py:5 Fixture("snapshot") .of_plugin ()@plug.py .with_defaults (Root)@conftest.py (M)@conftest.py .use_extension (JSON)@conftest.py ("x")@test_a.py
            tests/unit/test_a.py:7 Fixture("snapshot") .of_plugin ()@plug.py .with_defaults (Root)@conftest.py (M)@conftest.py .use_extension (JSON)@conftest.py ("r")@conftest.py
            tests/unit/test_a.py:9 Fixture("snapshot") .of_plugin ()@plug.py .with_defaults (Root)@conftest.py (M)@conftest.py
            tests/unit/test_a.py:11 Fixture("snapshot") .of_plugin ()@plug.py .with_defaults (Root)@conftest.py (M)@conftest.py .starred
            tests/unit/test_a.py:15 Fixture("snapshot") .of_plugin ()@plug.py .with_defaults (Root)@conftest.py (M)@conftest.py ("t")@test_a.py ["k"]
            tests/unit/test_a.py:21 Fixture("snapshot") .of_plugin ()@plug.py .with_defaults (Root)@conftest.py (M)@conftest.py .use_extension (Own)@test_a.py
            tests/unit/test_a.py:24 Fixture("snapshot") .of_plugin ()@plug.py .with_defaults (Root)@conftest.py (M)@conftest.py .use_extension (Own)@test_a.py
        "#]],
    );
}

#[test]
fn helpers_and_what_fixtures_give_hand_on_to_their_callers() {
    check(
        r#"
//- tests/conftest.py
import pytest
from .support import Checker, compare
@pytest.fixture
def check(snapshot):
    def _check(value, name=None):
        assert value == snapshot(name=name)
    return _check
@pytest.fixture(name="other")
def make_other(check):
    return check
@pytest.fixture
def checker(snapshot):
    return Checker(snapshot)
@pytest.fixture
def comparing():
    return compare
//- tests/support.py
def compare(value, snapshot):
    assert value == snapshot
class Checker:
    def check(self, value, snap):
        assert value == snap
//- tests/test_a.py
from .support import compare
import inline_snapshot as isn
from inline_snapshot import snapshot as S
def test_check(check):
    check(1)
def test_other(other):
    other(1, "n")
def test_compare(snapshot):
    compare(1, snapshot(name="c"))
def test_comparing(comparing, snapshot):
    comparing(1, snapshot)
def test_method(checker, snapshot):
    checker.check(2, snapshot)
def test_import():
    s = S(5)
    assert 1 == s
def test_module():
    assert 1 == isn.snapshot(5)
"#,
        expect![[r#"
            tests/test_a.py:5 Fixture("snapshot") (name)@conftest.py
            tests/test_a.py:7 Fixture("snapshot") (name)@conftest.py
            tests/test_a.py:9 Fixture("snapshot") ("c")@test_a.py
            tests/test_a.py:11 Fixture("snapshot")
            tests/test_a.py:13 Fixture("snapshot")
            tests/test_a.py:16 Import("inline_snapshot.snapshot") (5)@test_a.py
            tests/test_a.py:18 Import("inline_snapshot") .snapshot (5)@test_a.py
        "#]],
    );
}
