mod comparison;
mod decided;

use expect_test::{Expect, expect};

use super::*;
use crate::amendment::{self, Request};
use crate::fixture::Fixture;

const SUITE: &str = r#"
//- app.py
def render(n):
    return ""
//- tests/test_golden.py
from pathlib import Path

from app import render

GOLDEN = Path(__file__).parent / "golden"


def check_golden(name, text):
    assert text == (GOLDEN / f"{name}.txt").read_text()


def test_one():
    check_golden("one", render(1))


def test_two():
    check_golden("two", render(2))
//- tests/test_literal.py
from app import render


def test_pins_current_output():
    assert render(3) == "three"
    assert render(4) == "four"
//- tests/golden/one.txt
1
2
3
4
5
6
7
8
9
//- tests/golden/two.txt
two
"#;

const ONE: &str = "tests/golden/one.txt";
const LITERAL: &str = "tests/test_literal.py";

fn suite() -> Fixture {
    let fixture = Fixture::committed(SUITE);
    fixture.git(&["branch", "base"]);
    fixture
}

fn replace(fixture: &Fixture, file: &str, old: &str, new: &str) {
    let text = fixture.read(file);
    assert!(text.contains(old), "{file} has no {old:?}");
    std::fs::write(fixture.at(file), text.replacen(old, new, 1)).unwrap();
}

/// Writes the reason for what is recorded now; gives the amendment's path.
fn explain(fixture: &Fixture, oracle: &str, reason: &str) -> String {
    let workspace = Workspace::open(fixture.path()).unwrap();
    let survey = workspace.survey(&Extent::All, &|| false).unwrap();
    let case = survey.cases.iter().find(|case| case.pin.oracle.key == oracle).unwrap_or_else(|| panic!("no {oracle}"));
    let plan = amendment::plan_explain(case, &workspace, None, &request(reason)).unwrap();
    amendment::apply(&workspace.project.root, &plan, &|_| false).unwrap().record.to_string()
}

fn request(reason: &str) -> Request {
    Request {
        drift: None,
        reason: reason.into(),
        authority: None,
        proof: None,
        verdict: None,
        via: "cli".into(),
        author: "Ada <ada@example.org>".into(),
        proposed_by: None,
        confirmed_by: None,
        at: "2026-08-28T21:30:05Z".parse().unwrap(),
    }
}

/// Changes a golden file on the record and commits; gives the amendment's path.
fn amend(fixture: &Fixture, file: &str, old: &str, new: &str, reason: &str) -> String {
    replace(fixture, file, old, new);
    let record = explain(fixture, file, reason);
    fixture.commit(reason);
    record
}

fn report(folder: &std::path::Path, base: &str) -> Report {
    audit(&Workspace::open(folder).unwrap(), base).unwrap()
}

fn shown(report: &Report) -> String {
    let line = |item: &Item| {
        let names: Vec<&str> = item.amendments.iter().map(|path| path.rsplit('/').next().unwrap()).collect();
        // The ten digits at the end are a hash.
        let names: Vec<&str> = names.iter().map(|name| name.rsplit_once('-').unwrap().0).collect();
        format!(
            "{} {}:{} {} [{}] {}\n",
            item.outcome.word(),
            item.file,
            item.line,
            item.oracle,
            names.join(" "),
            item.message
        )
    };
    let passes = if report.passes() { "passes\n" } else { "fails\n" };
    let mut text: String = report.items.iter().map(line).chain([passes.to_string()]).collect();
    for digits in regex::Regex::new(r"-[0-9a-f]{10}\.toml|checkout [0-9a-f]{12}|\b[0-9a-f]{12}\b")
        .unwrap()
        .find_iter(&text.clone())
    {
        text = text.replace(digits.as_str(), "…");
    }
    text
}

fn check(fixture: &Fixture, expect: Expect) {
    expect.assert_eq(&shown(&report(fixture.path(), "base")));
}

#[test]
fn nothing_changed_passes_and_looked_at_everything() {
    let fixture = suite();
    assert_eq!(report(fixture.path(), "base").looked_at, 4);
    check(
        &fixture,
        expect![[r#"
        passes
    "#]],
    );
    fixture.write("//- app.py\ndef render(n):\n    return str(n)\n");
    fixture.commit("code alone");
    check(
        &fixture,
        expect![[r#"
        passes
    "#]],
    );
}

#[test]
fn a_change_without_a_decision_is_named() {
    let fixture = suite();
    replace(&fixture, ONE, "5", "five");
    replace(&fixture, LITERAL, "\"four\"", "\"vier\"");
    fixture.commit("regenerated");
    check(
        &fixture,
        expect![[r#"
        failed tests/test_golden.py:13 tests/golden/one.txt [] what is recorded changed and no amendment says why; write the reason with `pindrift explain`, or restore it
        failed tests/test_literal.py:6 tests/test_literal.py#literal:2 [] what is recorded changed and no amendment says why; write the reason with `pindrift explain`, or restore it
        fails
    "#]],
    );
}

#[test]
fn branches_that_amended_different_hunks_pass_after_a_merge() {
    let fixture = suite();
    fixture.git(&["checkout", "-q", "-b", "a"]);
    amend(&fixture, ONE, "1\n", "one\n", "first line is a word");
    fixture.git(&["checkout", "-q", "-b", "b", "base"]);
    amend(&fixture, ONE, "9\n", "nine\n", "last line is a word");
    fixture.git(&["merge", "-q", "a", "-m", "merge"]);
    check(
        &fixture,
        expect![[r#"
        explained tests/test_golden.py:13 tests/golden/one.txt [08-28-last-line-is-a-word 08-28-first-line-is-a-word] last line is a word; first line is a word
        passes
    "#]],
    );
    // The same as one commit, and on top of each other.
    fixture.git(&["checkout", "-q", "-b", "squashed", "base"]);
    fixture.git(&["merge", "-q", "--squash", "b"]);
    fixture.commit("squashed");
    assert!(report(fixture.path(), "base").passes());
    fixture.git(&["checkout", "-q", "-b", "picked", "base"]);
    fixture.git(&["cherry-pick", "b~0^1", "a"]);
    assert!(report(fixture.path(), "base").passes());
    // On the other branch's history.
    fixture.git(&["checkout", "-q", "picked"]);
    assert!(report(fixture.path(), "a").passes());
    // And one byte more.
    replace(&fixture, ONE, "5", "6");
    check(
        &fixture,
        expect![[r#"
        failed tests/test_golden.py:13 tests/golden/one.txt [] what is recorded is not what .pindrift/amendments/2026/08-28-first-line-is-a-word… accepted, and no later decision says why; restore it, or write the reason with `pindrift explain`
        fails
    "#]],
    );
}

#[test]
fn a_rebased_chain_of_decisions_passes() {
    let fixture = suite();
    amend(&fixture, ONE, "1\n", "one\n", "first line is a word");
    amend(&fixture, ONE, "one\n", "eins\n", "first line is German");
    fixture.git(&["checkout", "-q", "-b", "other", "base"]);
    fixture.write("//- other.txt\nx\n");
    fixture.commit("other");
    fixture.git(&["branch", "-f", "base"]);
    fixture.git(&["checkout", "-q", "main"]);
    fixture.git(&["rebase", "-q", "base"]);
    check(
        &fixture,
        expect![[r#"
        explained tests/test_golden.py:13 tests/golden/one.txt [08-28-first-line-is-german 08-28-first-line-is-a-word] first line is German; first line is a word
        passes
    "#]],
    );
}

#[test]
fn a_revert_takes_its_amendment_back() {
    let fixture = suite();
    amend(&fixture, ONE, "1\n", "one\n", "first line is a word");
    fixture.git(&["branch", "-f", "landed"]);
    fixture.git(&["revert", "--no-edit", "HEAD"]);
    check(
        &fixture,
        expect![[r#"
        passes
    "#]],
    );
    expect![[r#"
        reverted tests/test_golden.py:13 tests/golden/one.txt [08-28-first-line-is-a-word] back to what was recorded before, with its amendment
        passes
    "#]].assert_eq(&shown(&report(fixture.path(), "landed")));
}

#[test]
fn a_decision_is_immutable() {
    let fixture = suite();
    let record = amend(&fixture, ONE, "1\n", "one\n", "first line is a word");
    fixture.git(&["branch", "-f", "base"]);
    replace(&fixture, &record, "word", "lie");
    check(
        &fixture,
        expect![[r#"
        failed .pindrift/amendments/2026/08-28-first-line-is-a-word…:1 .pindrift/amendments/2026/08-28-first-line-is-a-word… [08-28-first-line-is-a-word] .pindrift/amendments/2026/08-28-first-line-is-a-word… was edited; an amendment is immutable. Restore it (`git … -- .pindrift/amendments/2026/08-28-first-line-is-a-word…`) and decide anew
        fails
    "#]],
    );
    std::fs::remove_file(fixture.at(&record)).unwrap();
    check(
        &fixture,
        expect![[r#"
        failed .pindrift/amendments/2026/08-28-first-line-is-a-word…:1 .pindrift/amendments/2026/08-28-first-line-is-a-word… [08-28-first-line-is-a-word] .pindrift/amendments/2026/08-28-first-line-is-a-word… was deleted, and what it accepted still stands; restore it, or take it back with `pindrift withdraw`
        fails
    "#]],
    );
    fixture.git(&["checkout", "-q", "--", "."]);
    replace(&fixture, ONE, "5", "6");
    check(
        &fixture,
        expect![[r#"
        failed tests/test_golden.py:13 tests/golden/one.txt [] what is recorded is not what .pindrift/amendments/2026/08-28-first-line-is-a-word… accepted, and no later decision says why; restore it, or write the reason with `pindrift explain`
        fails
    "#]],
    );
    fixture.git(&["checkout", "-q", "--", "."]);
    check(
        &fixture,
        expect![[r#"
        passes
    "#]],
    );
}

#[test]
fn an_accepted_baseline_that_changed_again_is_named() {
    let fixture = suite();
    let record = amend(&fixture, ONE, "1\n", "one\n", "first line is a word");
    replace(&fixture, ONE, "5", "6");
    check(
        &fixture,
        expect![[r#"
        failed tests/test_golden.py:13 tests/golden/one.txt [] what is recorded is not what .pindrift/amendments/2026/08-28-first-line-is-a-word… accepted, and no later decision says why; restore it, or write the reason with `pindrift explain`
        fails
    "#]],
    );
    // Back to the base by hand: the record would lie.
    replace(&fixture, ONE, "6", "5");
    replace(&fixture, ONE, "one\n", "1\n");
    check(
        &fixture,
        expect![[r#"
        failed tests/test_golden.py:13 tests/golden/one.txt [08-28-first-line-is-a-word] .pindrift/amendments/2026/08-28-first-line-is-a-word… accepted another value than the one that is recorded; withdraw it, or record what it says
        fails
    "#]],
    );
    std::fs::write(fixture.at(&record), "at = yesterday\n").unwrap();
    check(
        &fixture,
        expect![[r#"
        failed .pindrift/amendments/2026/08-28-first-line-is-a-word…:1 .pindrift/amendments/2026/08-28-first-line-is-a-word… [08-28-first-line-is-a-word] this amendment cannot be read: string values must be quoted, expected literal string; restore it with `git checkout -- .pindrift/amendments/2026/08-28-first-line-is-a-word…`
        fails
    "#]],
    );
}

#[test]
fn moved_renamed_and_reformatted_is_no_change() {
    let fixture = suite();
    fixture.git(&["mv", ONE, "tests/golden/uno.txt"]);
    replace(&fixture, "tests/test_golden.py", "\"one\"", "\"uno\"");
    replace(&fixture, LITERAL, "test_pins_current_output", "test_pins_current_names");
    replace(&fixture, LITERAL, "render(3) == \"three\"", "(\n        render(3)\n        == 'three'\n    )");
    fixture.commit("moved");
    check(
        &fixture,
        expect![[r#"
        moved tests/test_golden.py:13 tests/golden/uno.txt [] moved from tests/golden/one.txt
        passes
    "#]],
    );
    fixture.git(&["mv", "tests/test_golden.py", "tests/test_files.py"]);
    fixture.commit("moved more");
    check(
        &fixture,
        expect![[r#"
        moved tests/test_files.py:13 tests/golden/uno.txt [] moved from tests/golden/one.txt
        passes
    "#]],
    );
    // Moved and changed.
    replace(&fixture, "tests/golden/uno.txt", "5", "6");
    check(
        &fixture,
        expect![[r#"
        failed tests/test_files.py:13 tests/golden/uno.txt [] what is recorded changed and no amendment says why (it was tests/golden/one.txt); write the reason with `pindrift explain`, or restore it
        fails
    "#]],
    );
}

#[test]
fn an_assertion_put_in_before_is_new_and_two_swapped_values_are_two_changes() {
    let fixture = suite();
    replace(&fixture, LITERAL, "    assert render(3)", "    assert render(0) == \"zero\"\n    assert render(3)");
    check(
        &fixture,
        expect![[r#"
        new tests/test_literal.py:5 tests/test_literal.py#literal:1 [] a new oracle
        passes
    "#]],
    );
    fixture.git(&["checkout", "-q", "--", "."]);
    replace(&fixture, LITERAL, "\"three\"", "\"x\"");
    replace(&fixture, LITERAL, "\"four\"", "\"three\"");
    replace(&fixture, LITERAL, "\"x\"", "\"four\"");
    check(
        &fixture,
        expect![[r#"
        failed tests/test_literal.py:5 tests/test_literal.py#literal:1 [] what is recorded changed and no amendment says why; write the reason with `pindrift explain`, or restore it
        failed tests/test_literal.py:6 tests/test_literal.py#literal:2 [] what is recorded changed and no amendment says why; write the reason with `pindrift explain`, or restore it
        fails
    "#]],
    );
}

#[test]
fn what_is_gone_goes_with_its_pin_alone() {
    let fixture = suite();
    std::fs::remove_file(fixture.at("tests/golden/two.txt")).unwrap();
    check(
        &fixture,
        expect![[r#"
        failed tests/test_golden.py:17 tests/golden/two.txt [] tests/golden/two.txt is gone, and tests/test_golden.py::test_two still holds a value against it; bring it back, or take the pin out too
        fails
    "#]],
    );
    replace(&fixture, "tests/test_golden.py", "\n\ndef test_two():\n    check_golden(\"two\", render(2))\n", "");
    check(
        &fixture,
        expect![[r#"
            failed tests/test_golden.py:17 tests/golden/two.txt [] tests/test_golden.py::test_two is gone with what it pinned, and no amendment ends it; bring it back, or say why with `pindrift retire tests/test_golden.py::test_two --base base --reason …`
            fails
        "#]],
    );
    let workspace = Workspace::open(fixture.path()).unwrap();
    let past = past(&workspace.project.root, workspace.git.as_deref().unwrap(), "base").unwrap();
    let request = request("two is no case any more");
    for (pin, baseline) in ended(&past.workspace, &workspace) {
        let plan = amendment::plan_retire(&pin, &baseline, &workspace, &request).unwrap();
        amendment::apply(&workspace.project.root, &plan, &|_| false).unwrap();
    }
    check(
        &fixture,
        expect![[r#"
            removed tests/test_golden.py:17 tests/golden/two.txt [08-28-two-is-no-case-any-more] two is no case any more
            passes
        "#]],
    );
    // A label that is taken away takes the pin out of the audit, and that is a decision too.
    fixture.git(&["checkout", "-q", "--", "."]);
    replace(&fixture, LITERAL, "test_pins_current_output", "test_render");
    check(
        &fixture,
        expect![[r#"
            failed tests/test_literal.py:5 tests/test_literal.py#literal:1 [] it was a characterization and is unlabelled now, and no amendment says why; use `pindrift reclassify`, or put its label back
            failed tests/test_literal.py:6 tests/test_literal.py#literal:2 [] it was a characterization and is unlabelled now, and no amendment says why; use `pindrift reclassify`, or put its label back
            fails
        "#]],
    );
}

#[test]
fn a_decision_about_a_literal_follows_its_assertion() {
    let fixture = suite();
    replace(&fixture, LITERAL, "\"four\"", "\"vier\"");
    explain(&fixture, &format!("{LITERAL}#literal:2"), "four is German");
    fixture.commit("amended");
    check(
        &fixture,
        expect![[r#"
        explained tests/test_literal.py:6 tests/test_literal.py#literal:2 [08-28-four-is-german] four is German
        passes
    "#]],
    );
    replace(&fixture, LITERAL, "    assert render(3)", "    assert render(0) == \"zero\"\n    assert render(3)");
    replace(&fixture, LITERAL, "test_pins_current_output", "test_pins_current_names");
    check(
        &fixture,
        expect![[r#"
            explained tests/test_literal.py:7 tests/test_literal.py#literal:3 [08-28-four-is-german] four is German
            new tests/test_literal.py:5 tests/test_literal.py#literal:1 [] a new oracle
            passes
        "#]],
    );
    // Renamed, changed and nothing said.
    let fixture = suite();
    replace(&fixture, LITERAL, "\"four\"", "\"vier\"");
    replace(&fixture, LITERAL, "\"three\"", "\"drei\"");
    replace(&fixture, LITERAL, "test_pins_current_output", "test_pins_current_names");
    check(
        &fixture,
        expect![[r#"
        failed tests/test_literal.py:5 tests/test_literal.py#literal:1 [] what is recorded changed and no amendment says why; write the reason with `pindrift explain`, or restore it
        failed tests/test_literal.py:6 tests/test_literal.py#literal:2 [] what is recorded changed and no amendment says why; write the reason with `pindrift explain`, or restore it
        fails
    "#]],
    );
    // One decision is about one literal, however alike two changes are.
    let fixture = Fixture::committed(&SUITE.replace("\"three\"", "\"four\""));
    fixture.git(&["branch", "base"]);
    replace(&fixture, LITERAL, "\"four\"", "\"vier\"");
    explain(&fixture, &format!("{LITERAL}#literal:1"), "four is German");
    replace(&fixture, LITERAL, "\"four\"", "\"vier\"");
    check(
        &fixture,
        expect![[r#"
        failed tests/test_literal.py:6 tests/test_literal.py#literal:2 [] what is recorded changed and no amendment says why; write the reason with `pindrift explain`, or restore it
        explained tests/test_literal.py:5 tests/test_literal.py#literal:1 [08-28-four-is-german] four is German
        fails
    "#]],
    );
}

#[test]
fn a_clone_with_other_line_endings_passes() {
    let fixture = suite();
    amend(&fixture, ONE, "1\n", "one\n", "first line is a word");
    let clone = tempfile::tempdir().unwrap();
    let to = clone.path().join("c");
    let from = fixture.path().to_str().unwrap();
    fixture.git(&["clone", "-q", "-c", "core.autocrlf=true", from, to.to_str().unwrap()]);
    assert!(std::fs::read_to_string(to.join(ONE)).unwrap().contains("\r\n"));
    expect![[r#"
        explained tests/test_golden.py:13 tests/golden/one.txt [08-28-first-line-is-a-word] first line is a word
        passes
    "#]]
    .assert_eq(&shown(&report(&to, "origin/base")));
}

#[test]
fn the_policy_is_that_of_the_base() {
    let fixture = suite();
    fixture.write("//- pindrift.toml\n[policy]\nconfirm = [\"grace@example.org\"]\n");
    fixture.commit("policy");
    fixture.git(&["branch", "-f", "base"]);
    fixture.write("//- pindrift.toml\n[policy]\nconfirm = [\"ada@example.org\"]\n");
    amend(&fixture, ONE, "1\n", "one\n", "first line is a word");
    check(
        &fixture,
        expect![[r#"
        failed .pindrift/amendments/2026/08-28-first-line-is-a-word…:1 .pindrift/amendments/2026/08-28-first-line-is-a-word… [08-28-first-line-is-a-word] .pindrift/amendments/2026/08-28-first-line-is-a-word… was confirmed by Ada <ada@example.org>; the policy at the base wants one of grace@example.org
        explained tests/test_golden.py:13 tests/golden/one.txt [08-28-first-line-is-a-word] first line is a word
        noted pindrift.toml:1 pindrift.toml [] [policy] is changed here; the one of … counts until this is merged
        fails
    "#]],
    );
}

#[test]
fn without_a_base_it_says_what_to_do() {
    let fixture = suite();
    let workspace = Workspace::open(fixture.path()).unwrap();
    assert!(audit(&workspace, "nowhere").unwrap_err().0.contains("fetch-depth"));
    let bare = Fixture::new(SUITE);
    assert!(audit(&Workspace::open(bare.path()).unwrap(), "base").unwrap_err().0.contains("git"));
}

#[test]
fn what_a_clone_does_not_have_of_the_base_is_no_new_oracle() {
    let fixture = suite();
    amend(&fixture, ONE, "1\n", "one\n", "first line is a word");
    replace(&fixture, "tests/golden/two.txt", "two", "2");
    fixture.commit("without a word");
    let blob = fixture.git(&["rev-parse", "base:tests/golden/two.txt"]);
    let (folder, file) = blob.trim().split_at(2);
    std::fs::remove_file(fixture.at(&format!(".git/objects/{folder}/{file}"))).unwrap();
    let workspace = Workspace::open(fixture.path()).unwrap();
    let refusal = audit(&workspace, "base").unwrap_err().0;
    assert!(refusal.contains("1 of the files") && refusal.contains("tests/golden/two.txt"), "{refusal}");
    assert!(refusal.contains("git fetch --refetch --no-filter"), "{refusal}");
}

#[test]
fn an_oracle_that_could_not_be_read_at_the_base_is_no_new_one() {
    let fixture = suite();
    std::fs::write(fixture.at("tests/golden/two.txt"), b"caf\xe9\n").unwrap();
    fixture.commit("Latin-1");
    fixture.git(&["branch", "-f", "base"]);
    fixture.write("//- tests/golden/two.txt\ntwo\n");
    check(
        &fixture,
        expect![[r#"
        failed tests/test_golden.py:17 tests/golden/two.txt [] what is recorded changed and no amendment says why; write the reason with `pindrift explain`, or restore it
        fails
    "#]],
    );
}
