//! Real test runners under `pindrift observe`. Run by ./tests/run, which installs them below ./.tools.

use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::{Expect, expect};

#[path = "../fixture/mod.rs"]
mod fixture;
mod proof;

use fixture::Fixture;

fn venv() -> PathBuf {
    let tools = std::env::var_os("PINDRIFT_TOOLS").map(PathBuf::from);
    tools.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools")).join("venv")
}

/// What a call printed and how it ended.
struct Said {
    out: String,
    err: String,
    status: i32,
}

fn pindrift(fixture: &Fixture, args: &[&str], variables: &[(&str, &str)]) -> Said {
    let home = fixture.at("../home-of-tests");
    let out = Command::new(env!("CARGO_BIN_EXE_pindrift"))
        .args(args)
        .current_dir(fixture.path())
        .env("VIRTUAL_ENV", venv())
        .env("XDG_CONFIG_HOME", fixture.at(".git/config-home"))
        .env("XDG_CACHE_HOME", fixture.at(".git/cache-home"))
        .env("HOME", home)
        .env_remove("PYTEST_ADDOPTS")
        .env_remove("PYTHONDONTWRITEBYTECODE")
        .env_remove("UPDATE_EXPECT")
        .envs(variables.iter().copied())
        .output()
        .expect("it starts");
    Said {
        out: String::from_utf8_lossy(&out.stdout).into_owned(),
        err: String::from_utf8_lossy(&out.stderr).into_owned(),
        status: out.status.code().unwrap_or(-1),
    }
}

/// Lines of the output without the one that names the interpreter.
fn lines(said: &Said) -> String {
    let own = |line: &&str| !line.starts_with("with ");
    said.out.lines().filter(own).map(|line| format!("{}\n", line.trim_end())).collect()
}

fn check(fixture: &Fixture, variables: &[(&str, &str)], expected: Expect) {
    let said = pindrift(fixture, &["observe"], variables);
    assert_eq!(said.err, "");
    expected.assert_eq(&hidden(&lines(&said)));
}

/// Without the ids of drifts.
fn hidden(text: &str) -> String {
    let words = text.split_inclusive([' ', ',', '\n']);
    words.map(|word| if is_id(word) { word.replace(&word[..12], "<id>") } else { word.to_string() }).collect()
}

fn is_id(word: &str) -> bool {
    word.len() == 13 && word[..12].bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// What git sees beside what is committed.
fn status(fixture: &Fixture) -> String {
    fixture.git(&["status", "--porcelain", "--ignored"])
}

const SETTINGS: &str = "//- pindrift.toml
[roles]
characterization = [\"**\"]
//- .gitignore
__pycache__/
.pytest_cache/
";

#[test]
fn values_of_both_sides_are_whole_and_the_project_stays_as_it_is() {
    let fixture = Fixture::committed(&format!(
        "{SETTINGS}//- tests/test_a.py
import unittest
from pathlib import Path

from pytest import approx

GOLDEN = Path(__file__).parent / 'golden'

def test_literals():
    assert 1 + 1 == 2
    assert 0.1 + 0.2 == approx(0.3)
    assert [1] * 3 == [1, 1]
    assert 'never' == 'reached'

def test_text():
    assert 'line\\n' * 2000 + 'end' == (GOLDEN / 'text.txt').read_text()

class Case(unittest.TestCase):
    def test_method(self):
        self.assertEqual('a', 'b')
        self.assertEqual(1, 1)
//- tests/golden/text.txt
line
"
    ));
    check(
        &fixture,
        &[],
        expect![[r#"
        3 tests ran, 5 pins observed, 2 not reached
        tests/test_a.py:11  tests/test_a.py::test_literals
            drift <id>, behaviour, tests/test_a.py:11 (literal)
            [1, 1] → [1, 1, 1]
        tests/test_a.py:15  tests/test_a.py::test_text
            drift <id>, behaviour, tests/golden/text.txt:1
            added line\nline\nline\nline\nline\nline\nline\nline\n…, and 1999 more
        tests/test_a.py:19  tests/test_a.py::Case::test_method
            drift <id>, behaviour, tests/test_a.py:19 (literal)
            b → a
        3 drifts (3 distinct changes), 0 missing, 2 match, 2 unobserved
    "#]],
    );
    let said = pindrift(&fixture, &["diff", "tests/test_a.py::test_text"], &[]);
    assert_eq!(said.out.matches("+line").count(), 1999, "{}", said.out);
    expect![[r#"
        !! .pindrift/
        !! .pytest_cache/
    "#]]
    .assert_eq(&status(&fixture));
}

#[test]
fn switches_that_rewrite_baselines_are_turned_off_and_named() {
    let fixture = Fixture::committed(&format!(
        "{SETTINGS}//- a/pytest.ini
[pytest]
addopts = -q --snapshot-update
//- a/test_a.py
def test_a(snapshot):
    assert 'new' == snapshot
//- a/__snapshots__/test_a.ambr
# serializer version: 1
# name: test_a
  'old'
# ---
//- b/pyproject.toml
[tool.pytest.ini_options]
[tool.inline-snapshot]
default-flags = [\"fix\"]
default-flags-tui = [\"fix\"]
//- b/test_b.py
from inline_snapshot import snapshot

def test_b():
    assert 5 == snapshot(4)
//- c/pytest.ini
[pytest]
//- c/test_c.py
import os
from pathlib import Path

def test_c():
    path = Path(__file__).parent / 'golden' / 'c.txt'
    if os.environ.get('UPDATE_GOLDEN') is not None:
        path.write_text('new')
    assert 'new' == path.read_text()
//- c/golden/c.txt
old
"
    ));
    let said = pindrift(&fixture, &["observe"], &[("UPDATE_GOLDEN", "0")]);
    let named: String =
        said.out.lines().filter(|line| line.contains("updating-switch")).map(|it| format!("{it}\n")).collect();
    expect![[r#"
        c/test_c.py:6  updating-switch: UPDATE_GOLDEN is set in the environment; a run with it rewrites what is recorded, so it was taken out
        a/pytest.ini:2  warning[updating-switch] `--snapshot-update` in addopts rewrites what is recorded on every run, unread; `pindrift observe` runs without it
        b/pyproject.toml:3  warning[updating-switch] `default-flags` of inline-snapshot rewrites tests on every run, unread; `pindrift observe` runs without it
        b/pyproject.toml:4  warning[updating-switch] `default-flags-tui` of inline-snapshot rewrites tests on every run, unread; `pindrift observe` runs without it
    "#]].assert_eq(&named);
    assert_eq!(fixture.read("b/test_b.py").matches("snapshot(4)").count(), 1);
    // What was set for that run alone is not told again.
    let told = pindrift(&fixture, &["check", "--format", "github"], &[]).out;
    let told: String =
        told.lines().filter(|line| line.contains("updating-switch")).map(|it| format!("{it}\n")).collect();
    expect![[r#"
        ::warning file=a/pytest.ini,line=2,title=pindrift updating-switch::`--snapshot-update` in addopts rewrites what is recorded on every run, unread; `pindrift observe` runs without it
        ::warning file=b/pyproject.toml,line=3,title=pindrift updating-switch::`default-flags` of inline-snapshot rewrites tests on every run, unread; `pindrift observe` runs without it
        ::warning file=b/pyproject.toml,line=4,title=pindrift updating-switch::`default-flags-tui` of inline-snapshot rewrites tests on every run, unread; `pindrift observe` runs without it
    "#]].assert_eq(&told);
    let changed = fixture.git(&["status", "--porcelain"]);
    assert_eq!(changed, "");
}

#[test]
fn a_test_that_writes_its_own_baseline_is_undone_and_named() {
    let fixture = Fixture::committed(&format!(
        "{SETTINGS}//- tests/test_w.py
from pathlib import Path

from report import save

GOLDEN = Path(__file__).parent / 'golden'

def test_w():
    assert save(GOLDEN) == (GOLDEN / 'w.txt').read_text()
//- pytest.ini
[pytest]
pythonpath = .
//- report.py
def save(folder):
    (folder / 'w.txt').write_text('new\\n')
    return 'new\\n'
//- tests/golden/w.txt
old
"
    ));
    check(
        &fixture,
        &[],
        expect![[r#"
            1 test ran, 1 pin observed, 0 not reached
            tests/test_w.py:8  tests/test_w.py::test_w
                drift <id>, behaviour, tests/golden/w.txt:1
                old → new
            report.py:2  warning[rewrites-own-oracle] tests/test_w.py::test_w changed tests/golden/w.txt, the baseline that it is held against; it was put back
            1 drift (1 distinct change), 0 missing, 0 match, 0 unobserved
        "#]],
    );
    assert_eq!(fixture.read("tests/golden/w.txt"), "old\n");
    let told = || pindrift(&fixture, &["check", "--format", "github"], &[]).out;
    expect![[r#"
        ::warning file=report.py,line=2,title=pindrift rewrites-own-oracle::tests/test_w.py::test_w changed tests/golden/w.txt, the baseline that it is held against; it was put back
        ::warning file=tests/test_w.py,line=8,title=pindrift drift::old → new (behaviour). Accept with a reason if this is the intended fix and nothing else; otherwise fix the code
        1 drift (1 distinct change), 0 missing, 0 match, 0 unobserved
    "#]].assert_eq(&hidden(&told()));
    fixture.write("//- report.py\nimport os\n\ndef save(folder):\n    return 'new\\n'\n");
    expect![[r#"
        ::notice file=tests/test_w.py,line=8,title=pindrift unconfirmed::What was observed belongs to an older recorded value: observe again
        0 drifts, 0 missing, 0 match, 1 unobserved
    "#]].assert_eq(&hidden(&told()));
}

#[test]
fn snapshots_that_cargo_forces_to_be_rewritten_stay_as_they_are() {
    let fixture = Fixture::committed(&format!(
        "{SETTINGS}//- Cargo.toml
[package]
name = \"billing\"
version = \"0.1.0\"
edition = \"2021\"
[dev-dependencies]
insta = {{ version = \"=1.43.2\", default-features = false }}
[workspace]
//- .cargo/config.toml
[env]
INSTA_UPDATE = {{ value = \"always\", force = true }}
INSTA_FORCE_UPDATE = \"1\"
//- .gitignore
target/
Cargo.lock
//- src/lib.rs
#[cfg(test)]
mod tests {{
    #[test]
    fn file() {{
        insta::assert_snapshot!((1 + 1).to_string());
    }}

    #[test]
    fn inline() {{
        insta::assert_snapshot!((1 + 2).to_string(), @\"4\");
    }}
}}
//- src/snapshots/billing__tests__file.snap
---
source: src/lib.rs
expression: (1 + 1).to_string()
---
3
"
    ));
    check(
        &fixture,
        &[],
        expect![[r#"
        2 tests ran, 2 pins observed, 0 not reached
        src/lib.rs:5  lib::tests::file
            drift <id>, behaviour, src/snapshots/billing__tests__file.snap:5
            3 → 2
            the same change in 1 more:
              <id>, src/lib.rs#inline:10 (inline)
                src/lib.rs:10  lib::tests::inline
        .cargo/config.toml:2  warning[updating-switch] `INSTA_UPDATE` in cargo's [env] rewrites what is recorded on every run, unread; `pindrift observe` runs without it
        .cargo/config.toml:3  warning[updating-switch] `INSTA_FORCE_UPDATE` in cargo's [env] rewrites what is recorded on every run, unread; `pindrift observe` runs without it
        2 drifts (1 distinct change), 0 missing, 0 match, 0 unobserved
    "#]],
    );
    assert_eq!(fixture.git(&["status", "--porcelain"]), "");
}

#[test]
fn files_and_rows_that_hold_are_seen_and_missing_ones_are_not_made() {
    let fixture = Fixture::committed(&format!(
        "{SETTINGS}//- tests/test_f.py
import pytest
from inline_snapshot import snapshot

def test_same(file_regression):
    file_regression.check('12.01')

def test_other(file_regression):
    file_regression.check('12.02')

def test_new(data_regression):
    data_regression.check({{'a': 1}})

@pytest.mark.parametrize('cents, tax', [(100, snapshot(20)), (200, snapshot(39))])
def test_rows(cents, tax):
    assert cents // 5 == tax
//- tests/test_f/test_same.txt
12.01
//- tests/test_f/test_other.txt
12.01
"
    ));
    std::fs::write(fixture.at("tests/test_f/test_same.txt"), "12.01").expect("it is written");
    fixture.commit("recorded");
    check(
        &fixture,
        &[],
        expect![[r#"
            5 tests ran, 5 pins observed, 0 not reached
            tests/test_f.py:8  tests/test_f.py::test_other
                drift <id>, behaviour, tests/test_f/test_other.txt:1
                12.01 → 12.02
            tests/test_f.py:11  tests/test_f.py::test_new
                missing <id>, behaviour, tests/test_f/test_new.yml
                nothing → a: 1
            tests/test_f.py:15  tests/test_f.py::test_rows[200-39]
                drift <id>, behaviour, tests/test_f.py:13 (inline)
                39 → 40
            2 drifts (2 distinct changes), 1 missing, 2 match, 0 unobserved
        "#]],
    );
    assert_eq!(fixture.git(&["status", "--porcelain"]), "");
}

#[test]
fn repeated_runs_name_what_moves_and_with_what() {
    let fixture = Fixture::committed(&format!(
        "{SETTINGS}//- tests/test_m.py
import locale
import time
import uuid
from pathlib import Path

GOLDEN = Path(__file__).parent / 'golden'
SEEN = []

def held(name):
    return (GOLDEN / name).read_text()

def test_three():
    locale.setlocale(locale.LC_ALL, '')
    words = ' '.join(set('red std zero half'.split()))
    amount = locale.format_string('%.2f', 1234567.5, grouping=True)
    assert f'bands {{words}}\\nzone {{time.strftime(\"%Z\")}}\\nnet {{amount}}\\ndue 3\\n' == held('three.txt')

def test_id():
    assert f'{{uuid.uuid4()}} of 3\\n' == held('id.txt')

def test_first():
    SEEN.append(1)

def test_count():
    assert len(SEEN) == 1

def test_same():
    assert 1 + 1 == 2
//- tests/golden/three.txt
bands red std zero half
zone UTC
net 1234567.50
due 3
//- tests/golden/id.txt
54a25706-524c-4e43-85b5-806c72d12659 of 3
"
    ));
    let variables = [("TZ", "UTC"), ("LC_ALL", "C")];
    let said = pindrift(&fixture, &["observe", "--repeat", "4"], &variables);
    assert_eq!(said.err, "");
    expect![[r#"
        20 tests ran, 4 pins observed, 0 not reached
        tests/test_m.py:16  tests/test_m.py::test_three
            unstable -, tests/golden/three.txt
            line 1 moves with the hash seed (order); line 2 moves with the time zone (clock); line 3 moves with the locale (locale)
        tests/test_m.py:19  tests/test_m.py::test_id
            unstable -, tests/golden/id.txt
            line 1 moves from run to run (identifiers)
        tests/test_m.py:25  tests/test_m.py::test_count
            unstable -, tests/test_m.py:25 (literal)
            line 1 moves with the order of the tests (value)
        0 drifts, 0 missing, 1 match, 0 unobserved
    "#]].assert_eq(&hidden(&lines(&said)));
    let said = pindrift(&fixture, &["check", "--format", "github"], &variables);
    expect![[r#"
        ::warning file=tests/test_m.py,line=16,title=pindrift unstable::unstable: line 1 moves with the hash seed (order); line 2 moves with the time zone (clock); line 3 moves with the locale (locale). There is no one value to record; make the test repeatable, then run it again
        ::warning file=tests/test_m.py,line=19,title=pindrift unstable::unstable: line 1 moves from run to run (identifiers). There is no one value to record; make the test repeatable, then run it again
        ::warning file=tests/test_m.py,line=25,title=pindrift unstable::unstable: line 1 moves with the order of the tests (value). There is no one value to record; make the test repeatable, then run it again
        0 drifts, 0 missing, 1 match, 0 unobserved
    "#]].assert_eq(&said.out);
    let said = pindrift(&fixture, &["observe", "--repeat", "3", "tests/test_m.py::test_three"], &variables);
    assert_eq!(said.err, "");
    let said = pindrift(&fixture, &["check", "--format", "github"], &variables);
    let three = said.out.lines().find(|line| line.contains("line=16")).unwrap_or_default();
    for variable in
        ["line 1 moves with the hash seed", "line 2 moves with the time zone", "line 3 moves with the locale"]
    {
        assert!(three.contains(variable), "{}", said.out);
    }
    let test = "tests/test_m.py::test_three";
    let said =
        pindrift(&fixture, &["accept", "--test", test, "--reason", "amounts as the bank writes them"], &variables);
    assert_eq!(said.status, 1);
    expect![[r#"
        pindrift: tests/test_m.py::test_three has no drift: it is unstable: line 1 moves with the hash seed (order); line 2 moves with the time zone (clock); line 3 moves with the locale (locale). There is no one value to record; make the test repeatable, then run it again
    "#]].assert_eq(&said.err);
    assert_eq!(fixture.git(&["status", "--porcelain"]), "");
}

#[test]
fn an_accepted_value_waits_for_a_run_that_matches_it() {
    let fixture = Fixture::committed(&format!(
        "{SETTINGS}//- pytest.ini
[pytest]
pythonpath = .
//- price.py
def price():
    return 12
//- tests/test_p.py
from price import price

def test_price():
    assert price() == 11
"
    ));
    let observe = || pindrift(&fixture, &["observe"], &[]);
    let check = || pindrift(&fixture, &["check", "--format", "github"], &[]).out;
    let accept = ["accept", "--test", "tests/test_p.py::test_price", "--reason", "the new tariff of March"];
    assert_eq!(observe().status, 1);
    let said = pindrift(&fixture, &accept, &[]);
    assert_eq!((said.status, said.err.as_str()), (0, ""), "{}", said.out);
    expect![[r#"
        ::notice file=tests/test_p.py,line=6,title=pindrift unconfirmed::Accepted on <today>, and no run has matched it yet: run the test
        0 drifts, 0 missing, 0 match, 1 unobserved
    "#]].assert_eq(&dated(&check()));
    assert_eq!(observe().status, 0);
    expect![[r#"
        0 drifts, 0 missing, 1 match, 0 unobserved
    "#]]
    .assert_eq(&dated(&check()));
    fixture.write("//- price.py\ndef price():\n    return 13\n");
    assert_eq!(observe().status, 1);
    expect![[r#"
        ::error file=tests/test_p.py,line=6,title=pindrift unconfirmed::The accepted value does not hold: 12 → 13. It was accepted on <today>, and a run gave another value since; make the test repeatable, or look at the code again
        1 drift (1 distinct change), 0 missing, 0 match, 0 unobserved
    "#]].assert_eq(&hidden(&dated(&check())));
    fixture.commit("the tariff");
    expect![[r#"
        ::warning file=tests/test_p.py,line=6,title=pindrift drift::12 → 13 (behaviour). Accept with a reason if this is the intended fix and nothing else; otherwise fix the code
        1 drift (1 distinct change), 0 missing, 0 match, 0 unobserved
    "#]].assert_eq(&hidden(&dated(&check())));
}

/// Without the days of today.
fn dated(text: &str) -> String {
    let today = jiff::Timestamp::now().to_string();
    text.replace(&today[..10], "<today>")
}

#[test]
fn the_text_behind_a_digest_is_kept_for_the_next_time() {
    let fixture = Fixture::committed(&format!(
        "{SETTINGS}//- report.py
def report():
    return 'total 10\\n'
//- tests/test_d.py
import hashlib
from pathlib import Path

from report import report

def test_d():
    digest = hashlib.sha256(report().encode()).hexdigest()
    assert digest == (Path(__file__).parent / 'golden' / 'd.sha256').read_text().strip()
//- tests/golden/d.sha256
9cb0bd3c0bb5d5ba8ba56c8b9d14b6bbd0e3cb3d6a8f2b1eb4d0e6d5c8c2f2aa
//- pytest.ini
[pytest]
pythonpath = .
"
    ));
    let old = digest_of("total 10\n");
    fixture.write(&format!("//- tests/golden/d.sha256\n{old}\n"));
    fixture.commit("recorded");
    assert_eq!(pindrift(&fixture, &["observe"], &[]).status, 0);
    fixture.write("//- report.py\ndef report():\n    return 'total 11\\n'\n");
    assert_eq!(pindrift(&fixture, &["observe"], &[]).status, 1);
    let said = pindrift(&fixture, &["diff", "tests/test_d.py::test_d"], &[]);
    assert!(said.out.contains("-total 10") && said.out.contains("+total 11"), "{}", said.out);
}

fn digest_of(text: &str) -> String {
    let out = Command::new("python3")
        .args(["-c", "import hashlib,sys; print(hashlib.sha256(sys.argv[1].encode()).hexdigest())", text])
        .output()
        .expect("python3 starts");
    String::from_utf8_lossy(&out.stdout).trim().to_string()
}

#[test]
fn a_run_that_goes_wrong_says_why_and_keeps_what_it_saw() {
    let one = "def test_one():\n    assert 1 == 2\n";
    for (files, settings, word, seen) in [
        (
            "//- tests/test_a.py\nimport nothing_here\n\ndef test_a():\n    assert 1 == 2\n",
            "",
            "cannot be collected",
            0,
        ),
        (
            &format!("//- tests/test_a.py\n{one}\ndef test_two():\n    import os\n    os.abort()\n    assert 1 == 2\n"),
            "",
            "killed by signal 6",
            1,
        ),
        (
            &format!(
                "//- tests/test_a.py\n{one}\ndef test_two():\n    import time\n    time.sleep(1000)\n    assert 1 == 2\n"
            ),
            "time-limit = 8\n",
            "stopped in tests/test_a.py::test_two after 8 s, the time limit; 2 tests were observed",
            1,
        ),
        (
            &format!(
                "//- tests/test_a.py\n{one}\ndef test_two():\n    import sys\n    sys.__stdout__.write('x' * 300_000_000)\n"
            ),
            "",
            "",
            1,
        ),
    ] {
        let fixture = Fixture::committed(&format!("{SETTINGS}{files}"));
        fixture.write(&format!("//- .git/config-home/pindrift/config.toml\n{settings}"));
        let said = pindrift(&fixture, &["observe"], &[]);
        assert!(said.err.contains(word), "{word}: {} {}", said.err, said.out);
        assert_eq!(
            said.out.matches("1 → 2").count() + said.out.matches("2 → 1").count(),
            seen,
            "{} {}",
            said.err,
            said.out
        );
        let log = std::fs::metadata(fixture.at(".pindrift/observed/last-run.log")).expect("a log").len();
        assert!(log < 5 << 20, "{log}");
    }
}

#[test]
fn without_pytest_it_says_which_python_was_asked() {
    let fixture = Fixture::committed(&format!("{SETTINGS}//- tests/test_a.py\ndef test_a():\n    assert 1 == 2\n"));
    fixture.write("//- .git/env/bin/python\n#!/bin/sh\nexec python3 -S -I \"$@\"\n");
    let script = fixture.at(".git/env/bin/python");
    Command::new("chmod").arg("+x").arg(&script).status().expect("chmod starts");
    let env = fixture.at(".git/env").display().to_string();
    let said = pindrift(&fixture, &["observe"], &[("VIRTUAL_ENV", &env)]);
    assert_eq!(said.status, 2, "{} {}", said.out, said.err);
    assert!(said.err.contains("(the active environment, VIRTUAL_ENV) has no pytest"), "{}", said.err);
}

#[test]
fn rust_assertions_are_read_from_their_own_output() {
    let fixture = Fixture::committed(&format!(
        "{SETTINGS}//- Cargo.toml
[package]
name = \"billing\"
version = \"0.1.0\"
edition = \"2021\"
[workspace]
//- .gitignore
target/
Cargo.lock
//- src/lib.rs
#[cfg(test)]
mod tests {{
    fn held(want: i32) {{
        assert_eq!(1 + 1, want);
    }}

    #[test]
    fn holds() {{
        assert_eq!(\"a\", \"a\");
    }}

    #[test]
    fn drifts() {{
        held(2);
        assert_eq!(\"b\\r\\n\", \"b\\n\", \"  left: \\\"x\\\"\");
        assert_eq!(1, 2);
    }}
}}
"
    ));
    check(
        &fixture,
        &[],
        expect![[r#"
        2 tests ran, 3 pins observed, 1 not reached
        src/lib.rs:15  lib::tests::drifts
            drift <id>, line-endings, src/lib.rs:15 (literal)
            line endings LF → CRLF in 1 line
        1 drift (1 distinct change), 0 missing, 2 match, 1 unobserved
    "#]],
    );
}
