use std::time::{Duration, SystemTime};

use super::*;
use crate::fixture::Fixture;
use crate::oracles::Oracle;
use crate::places::Root;
use crate::roles::Role;
use crate::syntax::Language;
use crate::text::Span;

fn rel(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

fn pin(kind: OracleKind, path: &str, key: &str) -> Pin {
    Pin {
        file: rel("tests/test_a.py"),
        span: Span::new(0, 0),
        test: "tests/test_a.py::test_x[one]".into(),
        case: Some("one".into()),
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
            key: key.into(),
            tolerance: None,
        },
        shared_site: false,
    }
}

fn recorded(text: &str) -> Baseline {
    Baseline::Present(Recorded {
        content: Content::Text(text.into()),
        first_line: 1,
        file_digest: String::new(),
        preimage: None,
    })
}

fn artefact(path: &str, text: &str, compared: Option<&str>) -> Artefact {
    Artefact {
        path: rel(path),
        content: Ok(Content::Text(text.into())),
        compared_with: compared.map(|text| Content::Text(text.into())),
        header: None,
        names: None,
        says_match: false,
    }
}

fn shelf(fixture: &Fixture) -> Shelf {
    Shelf::new(Root::of(fixture.path(), fixture.path()).unwrap())
}

fn age(fixture: &Fixture, path: &str, seconds: u64) {
    let file = std::fs::File::options().write(true).open(fixture.at(path)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
}

const FILES: &str = "\
//- golden/a.txt
old
//- actual/a.txt
new
//- actual/b.txt
newer
";

fn stale_of(fixture: &Fixture, clean: bool, artefact: Artefact) -> bool {
    let pin = pin(OracleKind::File, "golden/a.txt", "golden/a.txt");
    let seen = judge(&pin, &recorded("old\n"), vec![artefact], &[], None, &shelf(fixture), &|_| clean);
    seen.best.unwrap().stale
}

#[test]
fn an_artefact_older_than_its_oracle_is_stale_unless_git_has_both() {
    let fixture = Fixture::new(FILES);
    age(&fixture, "golden/a.txt", 10);
    assert!(!stale_of(&fixture, false, artefact("actual/a.txt", "new\n", None)));
    age(&fixture, "actual/a.txt", 100);
    assert!(stale_of(&fixture, false, artefact("actual/a.txt", "new\n", None)));
    assert!(!stale_of(&fixture, true, artefact("actual/a.txt", "new\n", None)));
}

#[test]
fn what_it_was_compared_with_decides_over_times() {
    let fixture = Fixture::new(FILES);
    age(&fixture, "actual/a.txt", 100);
    assert!(!stale_of(&fixture, false, artefact("actual/a.txt", "new\n", Some("old\n"))));
    assert!(stale_of(&fixture, true, artefact("actual/a.txt", "new\n", Some("older\n"))));
}

#[test]
fn the_time_of_the_test_source_never_counts() {
    let fixture = Fixture::new(FILES);
    age(&fixture, "actual/a.txt", 100);
    let pin = pin(OracleKind::Inline, "golden/a.txt", "golden/a.txt#literal:1");
    let new = artefact("actual/a.txt", "new\n", None);
    let seen = judge(&pin, &recorded("old\n"), vec![new], &[], None, &shelf(&fixture), &|_| false);
    assert!(!seen.best.unwrap().stale);
}

#[test]
fn an_unsaved_text_of_the_oracle_was_compared_with_nothing() {
    let fixture = Fixture::new(FILES);
    age(&fixture, "golden/a.txt", 10);
    let open = std::collections::HashMap::from([(rel("golden/a.txt"), crate::text::Text::new("typed\n"))]);
    let shelf = shelf(&fixture).with_open(std::sync::Arc::new(open));
    let pin = pin(OracleKind::File, "golden/a.txt", "golden/a.txt");
    let new = artefact("actual/a.txt", "new\n", None);
    let seen = judge(&pin, &recorded("typed\n"), vec![new], &[], None, &shelf, &|_| false);
    assert!(seen.best.unwrap().stale);
}

#[test]
fn the_newest_wins_and_equals_that_disagree_are_unstable() {
    let fixture = Fixture::new(FILES);
    age(&fixture, "golden/a.txt", 1000);
    age(&fixture, "actual/a.txt", 100);
    let pin = pin(OracleKind::File, "golden/a.txt", "golden/a.txt");
    let both = || vec![artefact("actual/b.txt", "newer\n", None), artefact("actual/a.txt", "new\n", None)];
    let seen = judge(&pin, &recorded("old\n"), both(), &[], None, &shelf(&fixture), &|_| false);
    assert_eq!((seen.best.unwrap().path, seen.unstable), (rel("actual/b.txt"), false));
    let cloned = judge(&pin, &recorded("old\n"), both(), &[], None, &shelf(&fixture), &|_| true);
    assert!(cloned.unstable);
    assert_eq!(cloned.disagreeing.len(), 2);
}

#[test]
fn an_unreadable_artefact_is_told_and_a_match_is_the_recorded_content() {
    let fixture = Fixture::new(FILES);
    let pin = pin(OracleKind::File, "golden/a.txt", "golden/a.txt");
    let broken = Artefact { content: Err("cut".into()), ..artefact("actual/a.txt", "", None) };
    let matched =
        Artefact { says_match: true, content: Err("none".into()), ..artefact("actual/b.txt", "", Some("old\n")) };
    let seen = judge(&pin, &recorded("old\n"), vec![broken, matched], &[], None, &shelf(&fixture), &|_| false);
    assert_eq!(seen.unreadable, [(rel("actual/a.txt"), "cut".to_string())]);
    assert_eq!(seen.best.unwrap().content, Content::Text("old\n".into()));
}

fn line(digest: &str, outcome: &str, text: &str, at: &str, run: &str) -> String {
    format!(
        r#"{{"schema":1,"pin":{{"file":"tests/test_a.py","test":"tests/test_a.py::test_x","nth":1}},"oracle":"golden/a.txt","oracle_digest":{digest},"outcome":"{outcome}","value":{text},"at":"2026-08-28T{at}Z","run":"{run}"}}"#
    )
}

fn of_records(lines: &[String], baseline: &Baseline) -> Observed {
    let fixture = Fixture::new(&format!("//- .pindrift/observed/a.jsonl\n{}\n", lines.join("\n")));
    let shelf = shelf(&fixture);
    let records = Records::read(&shelf);
    assert_eq!(records.troubles, []);
    let pin = pin(OracleKind::File, "golden/a.txt", "golden/a.txt");
    judge(&pin, baseline, vec![], records.of(&pin), None, &shelf, &|_| false)
}

#[test]
fn the_digest_of_a_record_decides_its_freshness() {
    let old = format!("{:?}", Content::Text("old\n".into()).digest());
    let other = format!("{:?}", Content::Text("x".into()).digest());
    let value = r#"{"text":"new\n"}"#;
    let newer = r#"{"text":"newer\n"}"#;
    let fresh = of_records(
        &[line(&other, "differs", newer, "12:00:00", "2"), line(&old, "differs", value, "10:00:00", "1")],
        &recorded("old\n"),
    );
    let best = fresh.best.unwrap();
    assert_eq!((best.content, best.stale, fresh.unstable), (Content::Text("new\n".into()), false, false));
    let stale = of_records(&[line(&other, "differs", value, "10:00:00", "1")], &recorded("old\n"));
    assert!(stale.best.unwrap().stale);
    let missing = of_records(&[line("null", "differs", value, "10:00:00", "1")], &Baseline::Missing);
    assert!(!missing.best.unwrap().stale);
    let same = of_records(&[line(&old, "match", "null", "10:00:00", "1")], &recorded("old\n"));
    assert_eq!(same.best.unwrap().content, Content::Text("old\n".into()));
}

#[test]
fn two_values_in_one_run_are_unstable_and_a_later_run_settles_it() {
    let old = format!("{:?}", Content::Text("old\n".into()).digest());
    let (a, b) = (r#"{"text":"a"}"#, r#"{"text":"b"}"#);
    let one_run = [line(&old, "differs", a, "10:00:00", "1"), line(&old, "differs", b, "10:00:01", "1")];
    assert!(of_records(&one_run, &recorded("old\n")).unstable);
    let mut later = one_run.to_vec();
    later.push(line(&old, "differs", b, "11:00:00", "2"));
    assert!(!of_records(&later, &recorded("old\n")).unstable);
}

#[test]
fn a_run_that_stopped_before_says_so() {
    let old = format!("{:?}", Content::Text("old\n".into()).digest());
    let stopped = line(&old, "not-reached", "null", "11:00:00", "2");
    let before = line(&old, "match", "null", "10:00:00", "1");
    let after = line(&old, "match", "null", "12:00:00", "3");
    assert!(of_records(std::slice::from_ref(&stopped), &recorded("old\n")).not_reached);
    assert!(of_records(&[before, stopped.clone()], &recorded("old\n")).not_reached);
    assert!(!of_records(&[stopped, after], &recorded("old\n")).not_reached);
}

#[test]
fn broken_lines_cost_only_themselves() {
    let good = line("null", "differs", r#"{"text":"a"}"#, "10:00:00", "1");
    let fixture = Fixture::new(&format!(
        "//- .pindrift/observed/a.jsonl\n{good}\nnot json\n{{\"schema\": 7}}\n{{}}\n{}\n[]\n{{\"schema\":1}}\n",
        good.replace("tests/test_a.py\",\"test", "../out.py\",\"test")
    ));
    let shelf = shelf(&fixture);
    let records = Records::read(&shelf);
    let told: Vec<(usize, String)> =
        records.troubles.iter().map(|t| (t.at.unwrap().0, t.message.chars().take(44).collect())).collect();
    expect_test::expect![[r#"
        [
            (
                2,
                "this line holds no JSON object; run the test",
            ),
            (
                3,
                "schema 7 is not known; records of schema 1 a",
            ),
            (
                4,
                "this line names no schema; records of schema",
            ),
            (
                5,
                "the pin's file ../out.py is not a path insid",
            ),
            (
                6,
                "this line holds no JSON object; run the test",
            ),
            (
                7,
                "this record cannot be read: missing field `p",
            ),
        ]
    "#]]
    .assert_debug_eq(&told);
    assert_eq!(records.of(&pin(OracleKind::File, "golden/a.txt", "golden/a.txt")).len(), 1);
}

#[test]
fn another_assertion_is_another_pin() {
    let same = records::assertion_digest("assert f(1) ==\n    2");
    assert_eq!(same, records::assertion_digest("assert f(1) == 2"));
    assert_ne!(same, records::assertion_digest("assert f(2) == 2"));
}
