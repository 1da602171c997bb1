use std::sync::Arc;

use expect_test::{Expect, expect};

use super::*;
use crate::drift::{Options, drift};
use crate::fixture::Fixture;
use crate::ledger::{Amendment, Entry, Kind, PinRef};
use crate::observations::{From, Observation};
use crate::oracles::{Content, Oracle, Pin, Recorded};
use crate::pins;
use crate::syntax::Language;
use crate::vocabulary::Vocabulary;

/// A workspace whose cases are made by hand.
pub struct Bench {
    _fixture: Fixture,
    pub workspace: Workspace,
    pub survey: Survey,
}

pub fn rel(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

impl Bench {
    pub fn new(notation: &str) -> Bench {
        let fixture = Fixture::new(notation);
        let mut workspace = Workspace::open(fixture.path()).unwrap();
        let files = crate::fixture::files(notation).into_iter().filter_map(|(path, text)| {
            let language = Language::of(&path)?;
            let path = rel(&path);
            let facts = pins::facts(&path, &crate::text::Text::new(text), language, &Vocabulary::built_in());
            Some((path, Arc::new(facts)))
        });
        workspace.project.files = Arc::new(files.collect());
        Bench { _fixture: fixture, workspace, survey: Survey::default() }
    }

    /// A case of the assertion `at` in `tests/test_a.py`, held against `path`.
    pub fn case(&self, at: &str, path: &str, recorded: Option<Content>, observed: Option<Content>) -> Case {
        let file = rel("tests/test_a.py");
        let unit = self.workspace.project.unit(&file).unwrap();
        let start = unit.text.as_str().find(at).unwrap();
        let literal = path == "tests/test_a.py";
        let kind = if literal { OracleKind::Literal } else { OracleKind::File };
        let state = match (&recorded, &observed) {
            (None, _) => State::Missing,
            (_, None) => State::Unobserved,
            (Some(recorded), Some(observed)) if recorded == observed => State::Match,
            _ => State::Drift,
        };
        let nothing = Content::Text(String::new());
        let found = observed
            .as_ref()
            .and_then(|observed| drift(recorded.as_ref().unwrap_or(&nothing), observed, Options::default()));
        let first = if literal { unit.line(start) } else { 1 };
        let lines = found.iter().flat_map(|found| &found.content_lines).map(|line| line + first - 1).collect();
        Case {
            pin: Pin {
                file: file.clone(),
                span: Span::new(start, start + at.len()),
                test: "tests/test_a.py::test_a".into(),
                case: None,
                nth: 1,
                language: Language::Python,
                framework: "golden-file".into(),
                role: Role::Characterization,
                asserted_in: None,
                test_span: None,
                oracle: Oracle {
                    kind,
                    path: Some(rel(path)),
                    entry: None,
                    span: None,
                    candidates: vec![],
                    steps: vec![],
                    shown_only: None,
                    key: if literal { format!("{path}#literal:1") } else { path.into() },
                    tolerance: None,
                },
                shared_site: false,
            },
            baseline: recorded.map_or(Baseline::Missing, |content| {
                Baseline::Present(Recorded { content, first_line: 1, file_digest: String::new(), preimage: None })
            }),
            observation: observed.map(|content| Observation {
                content,
                from: From::Artefact,
                path: rel("tests/actual/a.txt"),
                at: "2026-08-28T10:00:00Z".parse().ok(),
                command: None,
                revision: None,
                dirty: vec![],
                environment: BTreeMap::new(),
                stale: false,
                preimage: None,
                lossy: false,
                artefact: None,
            }),
            state,
            drift_id: found.as_ref().map(|_| "d3f9c1e0a2b4".into()),
            drift: found,
            changed_lines: lines,
            inserted_after: vec![],
            history: vec![],
            confirmed: true,
            moves: None,
            spoken: Vec::new(),
            proposal: None,
        }
    }

    pub fn add(&mut self, case: Case) -> &mut Bench {
        self.survey.cases.push(Arc::new(case));
        self
    }

    fn check(&self, want: Expect) {
        let shown: Vec<String> = everything(&self.survey, &self.workspace)
            .iter()
            .map(|finding| {
                format!(
                    "{} {} {}:{} {}\n{}",
                    finding.severity.word(),
                    finding.code.word(),
                    finding.file,
                    finding.line,
                    finding.message,
                    finding
                        .related
                        .iter()
                        .map(|(file, line, what)| format!("  {file}:{line} {what}\n"))
                        .collect::<String>()
                )
            })
            .collect();
        want.assert_eq(&shown.concat());
    }
}

pub fn text(text: &str) -> Option<Content> {
    Some(Content::Text(text.into()))
}

pub fn value(text: &str) -> Option<Content> {
    Some(Content::Value(text.into()))
}

pub fn entry(reason: &str, before: &str, after: &Content, committed: bool) -> Arc<Entry> {
    let shown = match after {
        Content::Text(text) | Content::Value(text) => text.as_str(),
        Content::Bytes(_) => "",
    };
    Arc::new(Entry {
        path: rel(".pindrift/amendments/2026/08-28-x-0123456789.toml"),
        amendment: Amendment {
            at: "2026-08-28T21:30:05Z".parse().unwrap(),
            author: "Ann".into(),
            via: "cli".into(),
            proposed_by: None,
            confirmed_by: None,
            kind: Kind::Drift,
            pin: Some(PinRef { file: rel("tests/test_a.py"), test: "tests/test_a.py::test_a".into(), nth: 1 }),
            oracle: "tests/test_a.py#literal:1".into(),
            framework: None,
            verdict: Some("intended".into()),
            reason: reason.into(),
            authority: None,
            before: Some("sha256:old".into()),
            after: Some(after.digest()),
            proof: None,
            proven: None,
            observed: None,
            diff: Some(format!("-{before}\n+{shown}\n")),
            after_the_fact: false,
            withdraws: None,
            to: None,
            hunks: Vec::new(),
            change: None,
            pending: false,
        },
        committed,
    })
}

pub const TEST: &str = "\
//- tests/test_a.py
def test_a():
    assert f() == 2.67
";

const SITE: &str = "assert f() == 2.67";

#[test]
fn a_drifted_literal_says_old_new_kind_and_advice() {
    let mut bench = Bench::new(TEST);
    let case = bench.case(SITE, "tests/test_a.py", value("2.67"), value("2.68"));
    bench.add(case).check(expect![[r#"
        warning drift tests/test_a.py:2 2.67 → 2.68 (behaviour). Accept with a reason if this is the intended fix and nothing else; otherwise fix the code
    "#]]);
    assert_eq!(findings(&bench.survey, &bench.workspace).len(), 1, "shown without opting in");
}

#[test]
fn many_cases_of_one_site_are_one_finding() {
    let mut bench = Bench::new(TEST);
    for (name, old, new) in
        [("a", "x\n0.38\n", "x\n0.39\n"), ("b", "0.24\n", "0.25\n"), ("c", "1\n", "1\n"), ("d", "u\nv\n", "v\nu\n")]
    {
        let mut case = bench.case(SITE, &format!("tests/golden/{name}.txt"), text(old), text(new));
        case.pin.case = Some(name.into());
        bench.add(case);
    }
    let mut missing = bench.case(SITE, "tests/golden/e.txt", None, None);
    missing.pin.case = Some("e".into());
    bench.add(missing).check(expect![[r#"
        warning drift tests/test_a.py:2 3 of 5 cases drifted, 2 distinct changes: 0.38 → 0.39 … (behaviour). Accept with a reason if this is the intended fix and nothing else; otherwise fix the code; 1 without a baseline
          tests/golden/a.txt:2 a: 0.38 → 0.39
          tests/golden/b.txt:1 b: 0.24 → 0.25
          tests/golden/d.txt:1 d: 2 lines in another order
    "#]]);
}

#[test]
fn noise_is_advised_to_be_mended_in_the_harness() {
    let mut bench = Bench::new(TEST);
    let case = bench.case(SITE, "tests/golden/a.txt", text("a\nb\n"), text("b \na\n"));
    bench.add(case).check(expect![[r#"
        warning drift tests/test_a.py:2 a → b, and 1 more (ordering+trailing-space). Only the order and trailing blanks changed: probably noise, so fix the test harness and keep what is recorded
          tests/golden/a.txt:1 a → b, and 1 more
    "#]]);
}

#[test]
fn a_missing_baseline_names_the_file_and_what_would_be_recorded() {
    let mut bench = Bench::new(TEST);
    let case = bench.case(SITE, "tests/golden/a.txt", None, text("12.01"));
    bench.add(case).check(expect![[r#"
        warning missing-baseline tests/test_a.py:2 No baseline: there is no tests/golden/a.txt. Observed: 12.01. Record it as new, with a reason
    "#]]);
    assert_eq!(findings(&bench.survey, &bench.workspace), [], "only after opting in");
}

#[test]
fn a_specification_is_never_accepted_and_an_unlabelled_literal_never_mentioned() {
    let mut bench = Bench::new(TEST);
    let mut case = bench.case(SITE, "tests/test_a.py", value("2.67"), value("2.68"));
    case.state = State::Failed;
    case.pin.role = Role::Specification;
    bench.add(case).check(expect![[r#"
        error specification-failed tests/test_a.py:2 2.67 → 2.68; a specification, so the code is wrong: nothing to accept
    "#]]);
    let mut bench = Bench::new(TEST);
    let mut case = bench.case(SITE, "tests/test_a.py", value("2.67"), value("2.68"));
    case.pin.role = Role::Unlabelled;
    bench.add(case).check(expect![""]);
}

#[test]
fn what_was_accepted_waits_for_a_run_and_what_nobody_explained_is_told() {
    let now = Content::Value("2.68".into());
    let mut bench = Bench::new(TEST);
    let mut case = bench.case(SITE, "tests/test_a.py", value("2.68"), None);
    case.history = vec![entry("fix VAT", "2.67", &now, false)];
    case.confirmed = false;
    bench.add(case).check(expect![[r#"
        information unconfirmed tests/test_a.py:2 Accepted on 2026-08-28, and no run has matched it yet: run the test
    "#]]);
    let mut bench = Bench::new(TEST);
    let mut case = bench.case(SITE, "tests/test_a.py", value("2.69"), value("2.69"));
    case.history = vec![entry("fix VAT", "2.67", &now, true)];
    bench.add(case).check(expect![[r#"
        information unexplained-baseline tests/test_a.py:2 What is recorded changed since the amendment of 2026-08-28, and nothing says why: write the reason now
    "#]]);
}

#[test]
fn a_stale_observation_is_only_a_hint() {
    let mut bench = Bench::new(TEST);
    let mut case = bench.case(SITE, "tests/golden/a.txt", text("a\n"), text("b\n"));
    case.state = State::Unobserved;
    (case.drift, case.drift_id) = (None, None);
    if let Some(seen) = &mut case.observation {
        seen.stale = true;
    }
    bench.add(case);
    let found = everything(&bench.survey, &bench.workspace);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].severity, found[0].drifts.len()), (Severity::Hint, 0));
    assert_eq!(found[0].message, "What was observed belongs to an older recorded value: observe again");
    assert_eq!(findings(&bench.survey, &bench.workspace), []);
}

#[test]
fn a_comment_that_tells_another_value_is_stale_but_not_while_it_waits() {
    let source = "\
//- tests/test_a.py
def test_a():
    # 2026-08-28: intentional drift. Old: 2.66. New: 2.67.
    # Reason: fix VAT
    assert f() == 2.68
";
    let mut bench = Bench::new(source);
    let case = bench.case("assert f() == 2.68", "tests/test_a.py", value("2.68"), None);
    bench.add(case).check(expect![[r#"
        warning stale-rationale tests/test_a.py:2 This comment calls 2.67 the new value, and that is not what is pinned below; write why it changed again, or remove the comment
    "#]]);
    let mut bench = Bench::new(&source.replace("2.67.\n", "2.67. [pindrift d3f9c1e0a2b4]\n"));
    let case = bench.case("assert f() == 2.68", "tests/test_a.py", value("2.68"), None);
    bench.add(case).check(expect![""]);
}

#[test]
fn orphans_and_troubles_have_their_place() {
    let mut bench = Bench::new(TEST);
    bench.survey.orphans =
        vec![Orphan { path: rel("tests/golden/old.txt"), entry: None, line: 1, framework: "golden-file".into() }];
    bench.survey.troubles = vec![
        Trouble { file: rel("pindrift.toml"), at: Some((3, 5)), message: "`helper` needs `call`".into() },
        Trouble { file: rel("tests/big.py"), at: None, message: "tests/big.py was not read".into() },
    ];
    bench.check(expect![[r#"
        error configuration pindrift.toml:3 `helper` needs `call` (column 5)
        information configuration tests/big.py:1 tests/big.py was not read
        information orphan-baseline tests/golden/old.txt:1 This baseline is held by no test (golden-file): remove it if its test is gone, or mend the name that should lead to it
    "#]]);
}

#[test]
fn an_open_baseline_shows_each_hunk_at_its_line() {
    let mut bench = Bench::new(TEST);
    let mut case = bench.case(SITE, "tests/golden/a.txt", text("a\nb\nc\nd\n"), text("x\nb\nc\nd\ne\n"));
    if let Baseline::Present(recorded) = &mut case.baseline {
        recorded.first_line = 5;
    }
    bench.add(case);
    let shown: Vec<(usize, String)> = in_baseline(&bench.survey, &bench.workspace, &rel("tests/golden/a.txt"))
        .into_iter()
        .map(|finding| (finding.line, finding.message))
        .collect();
    expect![[r#"
        [
            (
                5,
                "tests/test_a.py::test_a: a → x, and 1 more (hunk 1 of 2) (behaviour)",
            ),
            (
                8,
                "tests/test_a.py::test_a: a → x, and 1 more (hunk 2 of 2) (behaviour)",
            ),
        ]
    "#]]
    .assert_debug_eq(&shown);
}

#[test]
fn a_golden_that_changed_since_the_last_commit_without_a_reason_is_told() {
    let fixture = Fixture::committed(
        r#"
//- pindrift.toml
//- tests/test_a.py
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def test_a():
    assert (GOLDEN / "a.txt").read_text() == f()


def test_b():
    assert (GOLDEN / "b.bin").read_bytes() == g()
//- tests/golden/a.txt
1
//- tests/golden/b.bin
1
"#,
    );
    let told = || {
        let workspace = Workspace::open(fixture.path()).unwrap();
        let survey = workspace.survey(&crate::pins::Extent::All, &|| false).unwrap();
        let found = everything(&survey, &workspace);
        found.iter().map(|found| format!("{} {}:{}\n", found.code.word(), found.file, found.line)).collect::<String>()
    };
    assert_eq!(told(), "");
    fixture.write("//- tests/golden/a.txt\n2\n");
    std::fs::write(fixture.at("tests/golden/b.bin"), [0xff, 0]).unwrap();
    expect![[r#"
        unexplained-baseline tests/test_a.py:7
        unexplained-baseline tests/test_a.py:11
    "#]]
    .assert_eq(&told());
    // Only another line ending, which the test does not see.
    std::fs::write(fixture.at("tests/golden/a.txt"), "1\r\n").unwrap();
    expect![[r#"
        unexplained-baseline tests/test_a.py:11
    "#]]
    .assert_eq(&told());
    fixture.commit("regenerated");
    assert_eq!(told(), "", "what is committed is the audit's to judge");
}
