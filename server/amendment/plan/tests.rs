use expect_test::{Expect, expect};

use super::*;
use crate::amendment::{apply, plan_record};
use crate::fixture::Fixture;
use crate::ledger::Ledger;

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
//- tests/golden/one.txt
1
2
//- tests/golden/two.txt
two
"#;

fn request(drift: Option<&str>, reason: &str) -> Request {
    Request {
        drift: drift.map(str::to_string),
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

struct At {
    workspace: Workspace,
    case: Arc<Case>,
}

fn at(fixture: &Fixture, oracle: &str) -> At {
    let workspace = Workspace::open(fixture.path()).unwrap();
    let survey = workspace.survey(&Extent::All, &|| false).unwrap();
    let case = survey.cases.iter().find(|case| case.pin.oracle.key == oracle).unwrap_or_else(|| panic!("no {oracle}"));
    At { workspace, case: case.clone() }
}

const ONE: &str = "tests/golden/one.txt";

/// What a run left beside the first golden file.
fn drifted(notation: &str) -> Fixture {
    let fixture = Fixture::committed(notation);
    fixture.write("//- tests/actual/one.txt\n1\n2.5\n");
    fixture
}

fn accept(fixture: &Fixture, oracle: &str, reason: &str) -> Result<RelPath, Refusal> {
    let At { workspace, case } = at(fixture, oracle);
    let plan = plan_accept(&case, &workspace, &request(case.drift_id.as_deref(), reason))?;
    Ok(apply(&workspace.project.root, &plan, &|_| false)?.record)
}

fn refused(got: Result<RelPath, Refusal>, expect: Expect) {
    expect.assert_eq(&format!("{}\n", got.expect_err("a refusal")));
}

#[test]
fn an_accept_changes_the_oracle_its_comment_and_the_ledger() {
    let fixture = drifted(SUITE);
    let record = accept(&fixture, ONE, "rounds to halves since rule 7").unwrap();
    assert_eq!(fixture.read(ONE), "1\n2.5\n");
    let source = fixture.read("tests/test_golden.py");
    expect![[r#"
        def test_one():
            # 2026-08-28: intentional drift. Old: 2. New: 2.5.
            # Reason: rounds to halves since rule 7
            check_golden("one", render(1))


        def test_two():
            check_golden("two", render(2))
    "#]]
    .assert_eq(&source[source.find("def test_one").unwrap()..]);
    expect![[r#"
        at = 2026-08-28T21:30:05Z
        author = "Ada <ada@example.org>"
        via = "cli"
        kind = "drift"
        pin = { file = "tests/test_golden.py", test = "tests/test_golden.py::test_one", nth = 1 }
        oracle = "tests/golden/one.txt"
        verdict = "intended"
        change = "64fbe3b303ad"
        reason = "rounds to halves since rule 7"
        before = "sha256:55a3d329dea8b91190ac5fec05c88cc6e756ae64653f9f6f960dad81b9910594"
        after = "sha256:14df2a9f729f780f1251550b2789e18d57250169ab22588d91edd31d1da20434"
        observed = { artefact = "tests/actual/one.txt" }
        diff = "@@ -1,2 +1,2 @@\n 1\n-2\n+2.5\n"
    "#]]
    .assert_eq(&fixture.read(record.as_str()));
    let entries = Ledger::read(&at(&fixture, ONE).workspace.project.root, None).entries;
    assert_eq!(entries.len(), 1);
    // A second decision replaces the comment.
    fixture.write("//- tests/actual/one.txt\n1\n3\n");
    accept(&fixture, ONE, "rounds to whole numbers").unwrap();
    let source = fixture.read("tests/test_golden.py");
    expect![[r#"
        def test_one():
            # 2026-08-28: intentional drift. Old: 2.5. New: 3.
            # Reason: rounds to whole numbers
            check_golden("one", render(1))


        def test_two():
            check_golden("two", render(2))
    "#]]
    .assert_eq(&source[source.find("def test_one").unwrap()..]);
}

#[test]
fn what_must_not_be_accepted_says_why() {
    let fixture = drifted(SUITE);
    refused(
        accept(&fixture, ONE, ""),
        expect![[r#"
        the reason is missing; say in one sentence why what is recorded may change
    "#]],
    );
    refused(
        accept(&fixture, ONE, "update snapshot"),
        expect![[r#"
        "update snapshot" does not tell the next reader why what is recorded may change; name the fix, the rule or the decision behind it
    "#]],
    );
    // Shown as another drift.
    let At { workspace, case } = at(&fixture, ONE);
    let refusal =
        plan_accept(&case, &workspace, &request(Some("0123456789ab"), "a reason that says something")).unwrap_err();
    expect![[r#"
        tests/test_golden.py::test_one is not the drift 0123456789ab any more: something changed since; look at it again
    "#]]
    .assert_eq(&format!("{refusal}\n"));
    // Planned, and changed by somebody before it was applied.
    let plan = plan_accept(&case, &workspace, &request(case.drift_id.as_deref(), "rule 7 rounds")).unwrap();
    fixture.write(&format!("//- {ONE}\nnewer\n"));
    assert!(apply(&workspace.project.root, &plan, &|_| false).is_err());
    assert_eq!(fixture.read(ONE), "newer\n");
    assert!(!fixture.at(".pindrift/amendments").exists());
    // Nothing to accept.
    let fixture = Fixture::committed(SUITE);
    refused(
        accept(&fixture, "tests/golden/two.txt", "rule 7 rounds"),
        expect![[r#"
        tests/test_golden.py::test_two is unobserved; there is no drift to accept
    "#]],
    );
}

#[test]
fn without_a_history_that_others_see_nothing_is_accepted() {
    let bare = Fixture::new(SUITE);
    bare.write("//- tests/actual/one.txt\n1\n2.5\n");
    refused(
        accept(&bare, ONE, "rule 7 rounds"),
        expect![[r#"
        this folder is in no git work tree: there is no history, so there can be no record of the decision. Put it under git (`git init`, commit), then accept
    "#]],
    );
    let fixture = drifted(SUITE);
    fixture.write("//- .gitignore\n.pindrift/\n");
    refused(
        accept(&fixture, ONE, "rule 7 rounds"),
        expect![[r#"
            git ignores .pindrift/amendments/2026/08-28-rule-7-rounds-146a4127fe.toml, so the decision would not reach anybody else; take it out of the ignore rules (`git check-ignore -v .pindrift/amendments/2026/08-28-rule-7-rounds-146a4127fe.toml` names the rule), then accept
        "#]],
    );
    assert_eq!(fixture.read(ONE), "1\n2\n");
}

#[test]
fn a_new_baseline_is_recorded_and_only_a_new_one() {
    let fixture = Fixture::committed(&SUITE.replace("//- tests/golden/two.txt\ntwo\n", ""));
    fixture.write("//- tests/actual/two.txt\n2\n");
    let two = "tests/golden/two.txt";
    let At { workspace, case } = at(&fixture, two);
    let plan = plan_record(&case, &workspace, &request(None, "first recording of the report")).unwrap();
    assert_eq!(plan.amendment.kind, Kind::New);
    assert_eq!(plan.changes.len(), 1, "no comment on a new one");
    apply(&workspace.project.root, &plan, &|_| false).unwrap();
    assert_eq!(fixture.read(two), "2\n");
    fixture.commit("recorded");
    let At { workspace, case } = at(&fixture, ONE);
    let refusal = plan_record(&case, &workspace, &request(None, "first recording of the report")).unwrap_err();
    expect![[r#"
        tests/test_golden.py::test_one has a recorded value already; a change of it is one decision, made with `pindrift accept`
    "#]].assert_eq(&format!("{refusal}\n"));
}

#[test]
fn a_withdrawal_brings_the_old_bytes_back_and_stays_on_the_record() {
    let fixture = drifted(SUITE);
    accept(&fixture, ONE, "rounds to halves since rule 7").unwrap();
    fixture.commit("accepted");
    let At { workspace, case } = at(&fixture, ONE);
    let entry = case.history[0].clone();
    let plan = plan_withdraw(&entry, &case, &workspace, &request(None, "rule 7 was misread")).unwrap();
    apply(&workspace.project.root, &plan, &|_| false).unwrap();
    assert_eq!(fixture.read(ONE), "1\n2\n");
    let At { workspace, case } = at(&fixture, ONE);
    assert_eq!(case.history.len(), 2);
    let refusal = plan_withdraw(&entry, &case, &workspace, &request(None, "rule 7 was misread")).unwrap_err();
    assert!(refusal.0.contains(" was withdrawn already, by 08-28-rule-7-was-misread-"), "{refusal}");
    assert!(fixture.at(entry.path.as_str()).exists());
}

#[test]
fn what_can_only_be_shown_is_written_by_no_decision() {
    let fixture = drifted(SUITE);
    accept(&fixture, ONE, "rounds to halves since rule 7").unwrap();
    fixture.commit("accepted");
    let why = "tests/test_golden.py::test_one: this can be shown and not accepted: the text is scrubbed first";
    let At { workspace, mut case } = at(&fixture, ONE);
    let entry = case.history[0].clone();
    Arc::make_mut(&mut case).pin.oracle.shown_only = Some("the text is scrubbed first".into());
    let refusal = plan_withdraw(&entry, &case, &workspace, &request(None, "rule 7 was misread")).unwrap_err();
    assert_eq!(refusal.0, why);
    fixture.write("//- tests/actual/one.txt\n1\n3\n");
    let At { workspace, mut case } = at(&fixture, ONE);
    Arc::make_mut(&mut case).pin.oracle.shown_only = Some("the text is scrubbed first".into());
    let request = request(case.drift_id.as_deref(), "rounds to whole numbers");
    assert_eq!(plan_accept(&case, &workspace, &request).unwrap_err().0, why);
}

#[test]
fn a_value_that_is_known_in_part_is_not_accepted_and_does_not_stop_a_withdrawal() {
    let fixture = drifted(SUITE);
    accept(&fixture, ONE, "rounds to halves since rule 7").unwrap();
    fixture.commit("accepted");
    fixture.write("//- tests/actual/one.txt\n1\n3\n");
    let At { workspace, mut case } = at(&fixture, ONE);
    Arc::make_mut(&mut case).observation.as_mut().unwrap().lossy = true;
    assert!(!case.acceptable());
    let refusal = plan_accept(&case, &workspace, &request(case.drift_id.as_deref(), "rounds to whole numbers"));
    assert!(refusal.unwrap_err().0.contains("the whole value is not known"));
    let entry = case.history[0].clone();
    let plan = plan_withdraw(&entry, &case, &workspace, &request(None, "rule 7 was misread")).unwrap();
    assert_eq!(plan.changes[0].after.as_deref(), Some(b"1\n2\n".as_slice()));
}

#[test]
fn an_explanation_leads_from_the_last_content_that_differs() {
    let fixture = Fixture::committed(SUITE);
    fixture.write(&format!("//- {ONE}\n1\n2.5\n"));
    fixture.commit("regenerated");
    let explain = || {
        let At { workspace, case } = at(&fixture, ONE);
        let plan = plan_explain(&case, &workspace, None, &request(None, "rounds to halves since rule 7"))?;
        apply(&workspace.project.root, &plan, &|_| false)
    };
    let record = explain().unwrap().record;
    let text = fixture.read(record.as_str());
    assert!(text.contains("after-the-fact = true") && text.contains("-2\\n+2.5\\n"), "{text}");
    let again = explain().unwrap_err();
    assert!(again.0.contains("says why already"), "{again}");
}

#[test]
fn an_explanation_takes_the_place_of_an_older_comment() {
    let comment = "    # 2026-01-02: intentional drift. Old: 1. New: 2.\n    # Reason: the first rule\n";
    let call = "    check_golden(\"one\", render(1))\n";
    let fixture = Fixture::committed(&SUITE.replace(call, &format!("{comment}{call}")));
    fixture.write(&format!("//- {ONE}\n1\n2.5\n"));
    fixture.commit("regenerated");
    let explain = |reason: &str| {
        let At { workspace, case } = at(&fixture, ONE);
        let plan = plan_explain(&case, &workspace, None, &request(None, reason)).unwrap();
        apply(&workspace.project.root, &plan, &|_| false).unwrap()
    };
    let text = |fixture: &Fixture| {
        let source = fixture.read("tests/test_golden.py");
        source[source.find("def test_one").unwrap()..source.find("def test_two").unwrap()].trim_end().to_string() + "\n"
    };
    explain("rounds to halves since rule 7");
    expect![[r#"
        def test_one():
            # 2026-08-28: intentional drift. Old: 2. New: 2.5.
            # Reason: rounds to halves since rule 7
            check_golden("one", render(1))
    "#]]
    .assert_eq(&text(&fixture));
    fixture.commit("explained");
    fixture.write(&format!("//- {ONE}\n1\n3\n"));
    fixture.commit("again");
    explain("rounds up since rule 8");
    expect![[r#"
        def test_one():
            # 2026-08-28: intentional drift. Old: 2.5. New: 3.
            # Reason: rounds up since rule 8
            check_golden("one", render(1))
    "#]]
    .assert_eq(&text(&fixture));
    let At { workspace, case } = at(&fixture, ONE);
    let unit = workspace.project.unit(&case.pin.file).unwrap();
    let comment = rationale::find(unit, case.pin.span).unwrap();
    let Baseline::Present(recorded) = &case.baseline else { panic!("nothing recorded") };
    assert_ne!(comment.holds(&recorded.content), Some(false), "the comment tells what is recorded");
}

#[test]
fn line_endings_and_modes_of_a_source_stay() {
    let fixture = drifted(SUITE);
    let source = fixture.read("tests/test_golden.py").replace('\n', "\r\n");
    std::fs::write(fixture.at("tests/test_golden.py"), &source).unwrap();
    fixture.commit("crlf");
    accept(&fixture, ONE, "rounds to halves since rule 7").unwrap();
    let now = fixture.read("tests/test_golden.py");
    assert_eq!(now.matches('\n').count(), now.matches("\r\n").count());
    assert_eq!(now.matches('\n').count(), source.matches('\n').count() + 2);
}

#[test]
fn one_region_is_found_between_two_texts() {
    for (old, new) in [("", "a"), ("aé", "aè"), ("aaa", "aa"), ("ab", "ab"), ("x😀y", "x😁y")] {
        let edit = one_edit(old, new);
        assert_eq!(edited(old, &edit.into_iter().collect::<Vec<_>>()).as_deref(), Some(new));
    }
}

#[test]
fn a_change_that_the_policy_wants_a_proof_for_is_not_accepted_without_one() {
    let fixture = drifted(SUITE);
    fixture.write("//- pindrift.toml\n[policy]\nproof = [\"tests/golden/**\"]\n");
    refused(
        accept(&fixture, ONE, "rounds to whole numbers"),
        expect![[r#"
            the policy of pindrift.toml wants a proof for tests/golden/one.txt; run `pindrift prove --test tests/test_golden.py::test_one --proof SPEC --base REV`, then accept or confirm with `--proof SPEC`
        "#]],
    );
    fixture.write("//- pindrift.toml\n[policy]\nproof = [\"tests/golden/**\"]\npaths = [\"docs/**\"]\n");
    accept(&fixture, ONE, "rounds to whole numbers").expect("the policy holds for other files");
}
