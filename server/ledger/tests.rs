use expect_test::expect;
use proptest::prelude::*;

use super::*;
use crate::fixture::Fixture;
use crate::oracles::Content;

fn amendment(reason: &str) -> Amendment {
    Amendment {
        at: "2026-08-28T21:30:05Z".parse().unwrap(),
        author: "Ada <ada@example.org>".into(),
        via: "vscode".into(),
        proposed_by: None,
        confirmed_by: None,
        kind: Kind::Drift,
        pin: Some(PinRef {
            file: RelPath::new("tests/test_legacy.py").unwrap(),
            test: "tests/test_legacy.py::test_apply_discount_pins_legacy_output".into(),
            nth: 1,
        }),
        oracle: "tests/test_legacy.py#literal:1".into(),
        framework: None,
        verdict: Some("intended".into()),
        reason: reason.into(),
        authority: Some("accounting rule 7".into()),
        before: Some(Content::Value("2.67".into()).digest()),
        after: Some(Content::Value("Decimal('2.6750')".into()).digest()),
        proof: Some("tests/test_rules.py::test_half_goes_to_even".into()),
        proven: Some(Proven {
            base: "def".into(),
            proof_at_base: "failed".into(),
            pin_at_base: "match".into(),
            proof_now: "passed".into(),
            pin_now: "drift".into(),
        }),
        observed: Some(Observed {
            command: Some("python -m pytest".into()),
            revision: Some("abc".into()),
            dirty: vec![RelPath::new("legacy.py").unwrap()],
            artefact: None,
            at: Some("2026-08-28T21:29:00.75Z".parse().unwrap()),
        }),
        diff: Some(diff(Some(&Content::Value("2.67".into())), Some(&Content::Value("Decimal('2.6750')".into())))),
        after_the_fact: false,
        withdraws: None,
        to: None,
        hunks: Vec::new(),
        change: None,
        pending: false,
    }
}

#[test]
fn an_amendment_is_a_page_that_a_person_can_read() {
    let amendment = amendment("fix banker's rounding; use Decimal (refactor 42)");
    expect![[r#"
        at = 2026-08-28T21:30:05Z
        author = "Ada <ada@example.org>"
        via = "vscode"
        kind = "drift"
        pin = { file = "tests/test_legacy.py", test = "tests/test_legacy.py::test_apply_discount_pins_legacy_output", nth = 1 }
        oracle = "tests/test_legacy.py#literal:1"
        verdict = "intended"
        reason = "fix banker's rounding; use Decimal (refactor 42)"
        authority = "accounting rule 7"
        before = "sha256:d7163b1fbb9f3a24808fc8a9856c716e22614a1c70085f95282bcf570cbf422b"
        after = "sha256:aee01d49ad3599472c8837e6d4042f37f2ebbc0a55ccd60ad2f7bbf9e499573d"
        proof = "tests/test_rules.py::test_half_goes_to_even"
        proven = { base = "def", proof-at-base = "failed", pin-at-base = "match", proof-now = "passed", pin-now = "drift" }
        observed = { command = "python -m pytest", revision = "abc", dirty = ["legacy.py"], at = 2026-08-28T21:29:00Z }
        diff = "-2.67\n+Decimal('2.6750')\n"
    "#]]
    .assert_eq(&encode(&amendment));
    let name = amendment.file();
    assert!(name.as_str().starts_with(".pindrift/amendments/2026/08-28-fix-banker-s-rounding-use-decimal-"), "{name}");
    assert_eq!(name.stem().rsplit('-').next().unwrap().len(), 10);
}

#[test]
fn whatever_was_typed_stands_in_one_line_and_reads_back() {
    for reason in [
        "a\r\nb",
        "*/ \"\"\" ''' \\",
        "\u{1b}[31mred\u{202e}evil\u{2028}x\u{85}\u{feff}",
        "日本語の理由",
        "tab\there",
        &"x".repeat(10 << 10),
        "\u{0}\u{7f}",
        "\u{e0041}",
    ] {
        let amendment = amendment(reason);
        let text = encode(&amendment);
        assert!(text.lines().count() == 15, "{text}");
        assert!(!text.chars().any(|c| c != '\n' && (c.is_control() || c == '\u{202e}' || c == '\u{2028}')), "{text:?}");
        let mut back = decode(&text).unwrap();
        back.observed.as_mut().unwrap().at = amendment.observed.as_ref().unwrap().at;
        assert_eq!(back, amendment);
        assert!(!amendment.file().name().contains(|c: char| !(c.is_ascii_alphanumeric() || "-.".contains(c))));
    }
}

#[test]
fn a_broken_amendment_is_named_and_costs_no_other() {
    let good = encode(&amendment("a good reason"));
    let fixture = Fixture::committed(&format!(
        "//- .pindrift/amendments/2026/08-28-good-0123456789.toml\n{good}\
         //- .pindrift/amendments/2026/08-29-cut-0123456789.toml\nat = 2026-08-28T21:30:05Z\nauthor = \"x\n\
         //- .pindrift/amendments/2026/08-30-kind-0123456789.toml\nat = 2026-08-28T21:30:05Z\nauthor = \"x\"\nkind = \"maybe\"\n\
         //- .pindrift/amendments/README.md\nnot one\n"
    ));
    let root = Root::of(fixture.path(), fixture.path()).unwrap();
    let read = || Ledger::read(&root, Git::of(&root).as_ref());
    let ledger = read();
    assert_eq!(ledger.entries.len(), 1);
    assert!(ledger.entries[0].committed);
    let troubles: Vec<String> = ledger
        .troubles
        .iter()
        .map(|trouble| format!("{} {:?} {}\n", trouble.file.name(), trouble.at, trouble.message))
        .collect();
    expect![[r#"
        08-29-cut-0123456789.toml Some((2, 12)) this amendment cannot be read: invalid basic string, expected `"`; restore it with `git checkout -- .pindrift/amendments/2026/08-29-cut-0123456789.toml`
        08-30-kind-0123456789.toml Some((3, 1)) this amendment cannot be read: `kind` is one of drift, new, verdict, judgement, reclassify, retire, withdraw, comparison, not "maybe"; restore it with `git checkout -- .pindrift/amendments/2026/08-30-kind-0123456789.toml`
    "#]].assert_eq(&troubles.concat());

    let path = ".pindrift/amendments/2026/08-28-good-0123456789.toml";
    fixture.write(&format!("//- {path}\n{}", good.replace("good", "other")));
    assert!(!read().entries[0].committed, "edited since");
}

fn texts() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        proptest::sample::select(vec!["a", "b", "c\r", "", "@@ -1,1 +1,1 @@", "\\ No newline", "-x", "+y", " z"]),
        0..9,
    )
    .prop_flat_map(|lines| (Just(lines), any::<bool>()))
    .prop_map(|(lines, end)| lines.join("\n") + if end { "\n" } else { "" })
}

proptest! {
    /// A kept diff makes either content of the other, or nothing at all.
    #[test]
    fn a_diff_leads_both_ways(old in texts(), new in texts()) {
        let (old, new) = (Content::Text(old), Content::Text(new));
        prop_assume!(old != new);
        let kept = diff(Some(&old), Some(&new));
        prop_assert_eq!(patched(Some(&old), &kept, &new.digest(), false), Some(new.clone()), "{}", kept);
        prop_assert_eq!(patched(Some(&new), &kept, &old.digest(), true), Some(old.clone()), "{}", kept);
        prop_assert_eq!(patched(Some(&old), &kept, &Content::Text("other".into()).digest(), false), None);
    }
}

#[test]
fn bytes_and_long_texts_keep_size_and_digest() {
    let long = Content::Text("line\n".repeat(20_000));
    let kept = diff(Some(&Content::Bytes(vec![0, 1])), Some(&long));
    assert!(kept.starts_with("before: 2 bytes, sha256:"), "{kept}");
    assert!(kept.contains("after: 100000 bytes, sha256:"), "{kept}");
    let kept = diff(Some(&Content::Text("x".repeat(40_000))), Some(&Content::Text("y".into())));
    assert!(kept.len() < 300, "{}", kept.len());
    assert_eq!(patched(None, &kept, &Content::Text("y".into()).digest(), false), None);
}

#[test]
fn changes_of_different_lines_merge_and_of_the_same_do_not() {
    let text = |text: &str| Content::Text(text.into());
    let base = text("1\n2\n3\n4\n");
    assert_eq!(merged(&base, &text("1\ntwo\n3\n4\n"), &text("1\n2\n3\nfour\n")), Some(text("1\ntwo\n3\nfour\n")));
    assert_eq!(merged(&base, &text("1\ntwo\n3\n4\n"), &text("1\nzwei\n3\n4\n")), None);
    assert_eq!(merged(&base, &text("1\ntwo\n3\n4\n"), &text("1\ntwo\n3\n4\n5\n")), Some(text("1\ntwo\n3\n4\n5\n")));
    assert_eq!(merged(&Content::Bytes(vec![1]), &base, &base), None);
}
