use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::places::RelPath;
use crate::syntax;

fn unit(language: Language, source: &str) -> Unit {
    let text = Text::new(source);
    let tree = syntax::parse(source, language, None, syntax::BUDGET).unwrap();
    let path = RelPath::new("tests/a").unwrap();
    match language {
        Language::Python => crate::code::python::unit(&path, &text, &tree),
        Language::Rust => crate::code::rust::unit(&path, &text, &tree),
    }
}

fn pin(source: &str, at: &str) -> Span {
    let start = source.find(at).unwrap();
    Span::new(start, start + at.len())
}

fn draft<'a>(reason: Option<&'a str>, marker: Option<&'a str>) -> Draft<'a> {
    Draft { date: jiff::civil::date(2026, 8, 28), old: "2.67", new: "Decimal('2.6750')", reason, marker }
}

fn put(language: Language, source: &str, at: &str, draft: &Draft) -> String {
    let unit = unit(language, source);
    match edit(&unit, pin(source, at), draft, None) {
        Some(edit) => unit.text.replaced(edit.span, &edit.text).unwrap().as_str().to_string(),
        None => "no place".into(),
    }
}

fn check(language: Language, source: &str, at: &str, draft: &Draft, want: Expect) {
    want.assert_eq(&put(language, source, at, draft));
}

const PYTHON: &str = "def test_a():\n    x = 1\n    assert f(2.675) == 2.67\n    assert g() == 1\n";

#[test]
fn the_comment_stands_above_its_pin() {
    let reason = draft(Some("fix banker's rounding; use Decimal (refactor 42)"), None);
    check(
        Language::Python,
        PYTHON,
        "assert f(2.675) == 2.67",
        &reason,
        expect![[r#"
            def test_a():
                x = 1
                # 2026-08-28: intentional drift. Old: 2.67. New: Decimal('2.6750').
                # Reason: fix banker's rounding; use Decimal (refactor 42)
                assert f(2.675) == 2.67
                assert g() == 1
        "#]],
    );
    check(
        Language::Rust,
        "#[test]\nfn a() {\n\tfor x in 0..3 {\n\t\tassert_eq!(f(x), 2.67);\n\t}\n}\n",
        "assert_eq!(f(x), 2.67)",
        &reason,
        expect![[r#"
            #[test]
            fn a() {
            	for x in 0..3 {
            		// 2026-08-28: intentional drift. Old: 2.67. New: Decimal('2.6750').
            		// Reason: fix banker's rounding; use Decimal (refactor 42)
            		assert_eq!(f(x), 2.67);
            	}
            }
        "#]],
    );
}

#[test]
fn a_pin_inside_a_statement_has_it_above_the_statement() {
    let source = "def test_a():\n    assert (\n        f(1)\n        ==\n        check('''\n  x''', 2)\n    )\n";
    let out = put(Language::Python, source, "check('''\n  x''', 2)", &draft(Some("r"), None));
    assert!(out.starts_with("def test_a():\n    # 2026-08-28"), "{out}");
    let source = "def test_a():\n    if x: assert f() == 1\n";
    let out = put(Language::Python, source, "assert f() == 1", &draft(Some("r"), None));
    assert!(out.starts_with("def test_a():\n    # 2026-08-28"), "{out}");
    let unit = unit(Language::Python, "def test_a(): assert f() == 1\n");
    assert_eq!(edit(&unit, Span::new(14, 29), &draft(None, None), None), None);
}

#[test]
fn it_is_replaced_and_never_stacked_and_neighbours_stay() {
    let first = put(Language::Python, PYTHON, "assert f(2.675)", &draft(Some("one"), None));
    let second = put(Language::Python, &first, "assert f(2.675)", &draft(Some("two"), None));
    assert_eq!(second, first.replace("one", "two"));
    let with_own = first.replace("    assert f(2.675)", "    # Ask finance.\n    assert f(2.675)");
    let again = put(Language::Python, &with_own, "assert f(2.675)", &draft(Some("two"), None));
    assert_eq!(again, with_own.replace("one", "two"));
}

#[test]
fn long_reasons_are_wrapped_and_read_back() {
    let long = "word ".repeat(60).trim().to_string();
    let out = put(Language::Python, PYTHON, "assert f(2.675)", &draft(Some(&long), None));
    assert!(out.lines().all(|line| line.chars().count() <= 88), "{out}");
    let unit = unit(Language::Python, &out);
    let found = find(&unit, pin(&out, "assert f(2.675) == 2.67")).unwrap();
    assert_eq!(found.reason.as_deref(), Some(long.as_str()));
    assert_eq!(put(Language::Python, &out, "assert f(2.675)", &draft(Some("x"), None)).lines().count(), 6);
}

#[test]
fn line_ends_are_those_of_the_file() {
    let out = put(Language::Python, &PYTHON.replace('\n', "\r\n"), "assert f(2.675)", &draft(Some("r"), None));
    assert_eq!(out.matches('\n').count(), out.matches("\r\n").count());
}

#[test]
fn a_waiting_comment_carries_its_drift_and_survives() {
    let waiting_draft = draft(None, Some("d3f9c1e0a2b4"));
    let source = PYTHON;
    let python = unit(Language::Python, source);
    let edit = edit(&python, pin(source, "assert f(2.675)"), &waiting_draft, None).unwrap();
    let out = python.text.replaced(edit.span, &edit.text).unwrap();
    expect![[r#"
        def test_a():
            x = 1
            # 2026-08-28: intentional drift. Old: 2.67. New: Decimal('2.6750').
            #   [pindrift d3f9c1e0a2b4]
            # Reason: <why may the recorded value change?>
            assert f(2.675) == 2.67
            assert g() == 1
    "#]]
    .assert_eq(out.as_str());
    assert_eq!(out.slice(edit.placeholder.unwrap()), PLACEHOLDER);
    let found = waiting(&out, Language::Python);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].marker.as_deref(), found[0].reason.as_deref()), (Some("d3f9c1e0a2b4"), None));
    let typed = out.as_str().replace(PLACEHOLDER, "rounding fixed");
    let two = format!(
        "{typed}\ndef test_b():\n    # 2026-08-28: intentional drift. Old: 1. New: 2. [pindrift 0123456789ab]\n    # Reason: other\n    assert h() == 1\n"
    );
    let found = waiting(&Text::new(two), Language::Python);
    let seen: Vec<_> = found.iter().map(|r| (r.marker.as_deref().unwrap(), r.reason.as_deref())).collect();
    assert_eq!(seen, [("d3f9c1e0a2b4", Some("rounding fixed")), ("0123456789ab", Some("other"))]);
    // Rewrapped by a formatter.
    let rewrapped = "fn a() {\n    // 2026-08-28: intentional drift. Old:\n    // 2.67. New: 2.68. [pindrift\n    // d3f9c1e0a2b4] Reason: rounding\n    assert_eq!(1, 1);\n}\n";
    let found = waiting(&Text::new(rewrapped), Language::Rust);
    assert_eq!(found[0].reason.as_deref(), Some("rounding"));
    assert_eq!(found[0].new.as_deref(), Some("2.68"));
}

#[test]
fn a_comment_that_documents_waits_for_nothing() {
    let out = put(Language::Python, PYTHON, "assert f(2.675)", &draft(None, None));
    let unit = unit(Language::Python, &out);
    let found = find(&unit, pin(&out, "assert f(2.675)")).unwrap();
    assert!(!found.waits());
    assert_eq!(found.reason, None);
    assert_eq!(waiting(&unit.text, Language::Python), []);
}

#[test]
fn free_forms_by_people_are_read_and_other_comments_are_not() {
    let read_one = |comment: &str| {
        let source = format!("def test_a():\n{comment}\n    assert f() == 1\n");
        let unit = unit(Language::Python, &source);
        find(&unit, pin(&source, "assert f() == 1")).map(|r| {
            format!(
                "{} {} {} {}",
                r.date,
                r.old.unwrap_or("-".into()),
                r.new.unwrap_or("-".into()),
                r.reason.unwrap_or("-".into())
            )
        })
    };
    let free = |comment: &str, want: &str| assert_eq!(read_one(comment).as_deref(), Some(want), "{comment}");
    free("    # 2024-03-01: drift. Old: 1.5. New: 2.25. Reason: new tariff", "2024-03-01 1.5 2.25 new tariff");
    free("    # 2024-03-01 - intentional change, old: a new: b\n    # Why: they asked", "2024-03-01 a b they asked");
    free("    # 2024-03-01: intentional drift\n    # Reason: x", "2024-03-01 - - x");
    for other in [
        "    # 2024-03-01 was a Friday",
        "    # TODO 2024-03-01: drift",
        "    # 2024-13-77: drift. Old: 1. New: 2.",
        "    # Old: 1. New: 2.",
    ] {
        assert_eq!(read_one(other), None, "{other}");
    }
}

#[test]
fn what_is_new_is_still_recorded_or_not() {
    let rationale = |new: &str| Rationale {
        span: Span::default(),
        date: jiff::civil::date(2026, 1, 1),
        old: None,
        new: Some(new.into()),
        reason: None,
        marker: None,
    };
    let value = |text: &str| Content::Value(text.into());
    assert_eq!(rationale("Decimal('2.6750')").holds(&value("Decimal(\"2.6750\")")), Some(true));
    assert_eq!(rationale("2.68").holds(&value("2.67")), Some(false));
    assert_eq!(rationale("2.67 (half up)").holds(&value("2.67")), Some(true));
    assert_eq!(rationale("0.39, and 2 more").holds(&Content::Text("A,0.39\nB,1\n".into())), Some(true));
    assert_eq!(rationale("0.39, and 2 more").holds(&Content::Text("A,0.38\nB,1\n".into())), Some(false));
    assert_eq!(rationale("2 lines in another order").holds(&Content::Text("a\nb\n".into())), None);
    assert_eq!(rationale("x").holds(&Content::Bytes(vec![1])), None);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_typed_leaves_the_comment(reason in "(?s).{0,80}", old in "(?s).{0,30}", rust in any::<bool>()) {
        let language = if rust { Language::Rust } else { Language::Python };
        let (source, at, sign) = if rust {
            ("fn a() {\n    assert_eq!(1, 2);\n}\n", "assert_eq!(1, 2)", "//")
        } else {
            ("def a():\n    assert f() == 2\n", "assert f() == 2", "#")
        };
        let draft = Draft { date: jiff::civil::date(2026, 8, 28), old: &old, new: "2", reason: Some(&reason), marker: None };
        let out = put(language, source, at, &draft);
        let lines: Vec<&str> = out.split('\n').collect();
        let original: Vec<&str> = source.split('\n').collect();
        let kept: Vec<&str> = lines.iter().copied().filter(|line| !line.trim_start().starts_with(sign)).collect();
        prop_assert_eq!(kept, original);
        prop_assert!(!out.chars().any(|c| c != '\n' && crate::text::hidden(c)));
        let unit = unit(language, &out);
        prop_assert!(unit.errors.is_empty());
        let found = find(&unit, pin(&out, at));
        prop_assert!(found.is_some());
        let again = put(language, &out, at, &draft);
        prop_assert_eq!(again, out);
    }
}
