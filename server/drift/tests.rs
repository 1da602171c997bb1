mod corpus;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn text(text: &str) -> Content {
    Content::Text(text.into())
}

fn value(text: &str) -> Content {
    Content::Value(text.into())
}

fn show(before: &Content, after: &Content) -> String {
    match drift(before, after, Options::default()) {
        None => "equal".into(),
        Some(drift) => format!(
            "{} lines {:?} inserted {:?}: {}",
            drift.difference_word(),
            drift.content_lines,
            drift.inserted_after,
            drift.brief
        ),
    }
}

fn check(before: &Content, after: &Content, want: Expect) {
    want.assert_eq(&show(before, after));
}

fn kind(before: &str, after: &str) -> String {
    drift(&text(before), &text(after), Options::default()).map_or("equal".into(), |drift| drift.difference_word())
}

fn value_kind(before: &str, after: &str) -> String {
    drift(&value(before), &value(after), Options::default()).map_or("equal".into(), |drift| drift.difference_word())
}

const REPORT: &str = "order,due,tax,gross\nA1,2024-12-03,0.38,5.88\nA2,2024-12-04,0.10,1.60\ntotal,,,7.48\n";

#[test]
fn equal_contents_have_no_drift() {
    check(&text(REPORT), &text(REPORT), expect!["equal"]);
    check(&Content::Bytes(vec![0, 1]), &Content::Bytes(vec![0, 1]), expect!["equal"]);
}

#[test]
fn changed_lines_are_named_and_the_first_edit_is_shown() {
    let rounded = REPORT.replace("0.38,5.88", "0.39,5.89").replace("7.48", "7.49");
    check(&text(REPORT), &text(&rounded), expect!["behaviour lines [2, 4] inserted []: 0.38 → 0.39, and 1 more"]);
    check(
        &value("2.67"),
        &value("Decimal('2.6750')"),
        expect!["behaviour lines [1] inserted []: 2.67 → Decimal('2.6750')"],
    );
    check(&text("a\nb\n"), &text("a\nx\nb\n"), expect!["behaviour lines [] inserted [1]: added x"]);
    check(&text("a\nb\n"), &text("b\n"), expect!["behaviour lines [1] inserted []: removed a"]);
    check(&text(""), &text("a"), expect!["behaviour lines [] inserted [0]: nothing → a"]);
    check(&text("a"), &text("a\n"), expect!["behaviour lines [1] inserted []: a final newline was added"]);
    check(&text("5"), &value("5"), expect!["behaviour lines [1] inserted []: text → value, another type of value"]);
}

#[test]
fn a_line_put_in_and_one_taken_out_is_no_change_of_everything_between() {
    check(
        &text("a\nb\nc\nd\n"),
        &text("b\nc\nd\ne\n"),
        expect!["behaviour lines [1] inserted [4]: removed a, and 1 more"],
    );
}

#[test]
fn noise_is_named_and_seen() {
    check(
        &text("a\nb\nc\n"),
        &text("a\r\nb\r\nc\r\n"),
        expect!["line-endings lines [1, 2, 3] inserted []: line endings LF → CRLF in 3 lines"],
    );
    check(
        &text("a\nb\n"),
        &text("a \nb\n"),
        expect!["trailing-space lines [1] inserted []: only trailing blanks differ, in 1 line"],
    );
    check(
        &text("a\nb\n"),
        &text("a \r\nb \r\n"),
        expect![
            "line-endings+trailing-space lines [1, 2] inserted []: only line endings and trailing blanks differ, in 2 lines"
        ],
    );
    check(
        &text("x\nb\na\n"),
        &text("x\na\nb\n"),
        expect!["ordering lines [2, 3] inserted []: 2 lines in another order"],
    );
    check(
        &text("8400\n1400\n1200"),
        &text("1200\n1400\n8400"),
        expect!["ordering lines [1, 3] inserted []: 2 lines in another order"],
    );
    check(
        &value("['VIP', 'BULK']"),
        &value("['BULK', 'VIP']"),
        expect!["ordering lines [1] inserted []: ['VIP', 'BULK'] → ['BULK', 'VIP']"],
    );
    check(
        &Content::Bytes(vec![0, 159, 1]),
        &Content::Bytes(vec![0, 159, 2, 3]),
        expect!["binary lines [] inserted []: 3 bytes → 4 bytes, different from byte 3 on"],
    );
}

#[test]
fn ordering_is_the_same_lines_or_items_and_nothing_else() {
    assert_eq!(kind("[1, 2,\n 3]", "[3, 1,\n 2]"), "ordering");
    assert_eq!(kind(r#"{"a": [1, 2], "b": 1}"#, r#"{"b": 1, "a": [2, 1]}"#), "ordering");
    assert_eq!(kind("[1, 2]", "[1,  2]"), "formatting", "layout");
    let xml = |version: &str| format!("<?xml version={version}?>\n<a b=\"1\"><c/></a>\n");
    assert_eq!(kind(&xml("\"1.0\""), &xml("'1.0'")), "formatting", "other quotes");
    assert_eq!(kind(&xml("\"1.0\""), &xml("\"-1.0\"")), "behaviour", "another declaration");
    assert_eq!(kind("[1, 2,3]", "[1,2, 3]"), "formatting", "layout with the same bytes");
    assert_eq!(value_kind("[1, 2]", "[1,  2]"), "behaviour", "a literal has one spelling");
    assert_eq!(kind("[1, 1, 2]", "[1, 2, 2]"), "behaviour");
    assert_eq!(kind("f(1, 2)", "f(2, 1)"), "behaviour", "arguments are no list");
    assert_eq!(kind("see [1, 2]", "see [2, 1]"), "behaviour", "a text is no list");
    assert_eq!(kind("b=1,a=-2\n", "a=-2,b=1\n"), "ordering", "each item has its name");
    assert_eq!(kind("x\nb: 1; a: 2", "x\na: 2; b: 1"), "ordering");
    assert_eq!(kind("b=1,a=2", "a=1,b=2"), "behaviour");
    assert_eq!(kind("b=1, a=2", "a=2,b=1"), "behaviour", "layout");
    assert_eq!(kind("a=1,a=2", "a=2,a=1"), "behaviour", "the same name twice");
    assert_eq!(kind("2,1", "1,2"), "behaviour", "columns mean something");
    assert_eq!(kind("f(a=1,b=2)", "f(b=2,a=1)"), "behaviour", "a text is no list");
    assert_eq!(kind("[[1, 2], [3]]", "[[1, 3], [2]]"), "behaviour");
    assert_eq!(value_kind("(1, 2)", "(2, 1)"), "behaviour", "places in a tuple mean something");
    assert_eq!(value_kind(r#"vec!["a", "b"]"#, r#"vec!["b", "a"]"#), "ordering");
    assert_eq!(value_kind(r##"["a,b", r#"c"d"#]"##, r##"[r#"c"d"#, "a,b"]"##), "ordering");
    assert_eq!(value_kind("['a, b', 'c']", "['a', 'b, c']"), "behaviour");
}

#[test]
fn volatile_is_ids_and_times_of_the_same_shape() {
    let at = |stamp: &str| format!("run at {stamp}.\n");
    for (a, b) in [
        ("2026-11-30T21:07:12Z", "2026-12-01T09:00:00Z"),
        ("2026-11-30 21:07:12.123456", "2026-12-01 09:00:00.5"),
        ("2026-11-30T21:07:12+01:00", "2026-12-01T21:07:12-05:00"),
        ("30/Nov/2026:21:07:12 +0100", "01/Dec/2026:21:07:12 +0100"),
        ("Mon, 30 Nov 2026 21:07:12 GMT", "Tue, 01 Dec 2026 21:07:12 GMT"),
        ("Mon Nov 30 21:07:12 2026", "Tue Dec  1 09:00:00 2026"),
        ("20261130T210712Z", "20261201T000000Z"),
        ("datetime.datetime(2026, 11, 30, 21, 7)", "datetime.datetime(2026, 12, 1, 9, 0, 3)"),
        ("c1f2d7a0-9e0b-4c47-8a61-5be0a4d2f9e3", "54a25706-524c-4e43-85b5-806c72d12659"),
        ("d41d8cd98f00b204e9800998ecf8427e", "0cc175b9c0f1b6a831c399e269772661"),
        ("run_c1f2d7a0-9e0b-4c47-8a61-5be0a4d2f9e3", "run_54a25706-524c-4e43-85b5-806c72d12659"),
    ] {
        assert_eq!(kind(&at(a), &at(b)), "volatile", "{a} → {b}");
    }
    for (a, b) in [
        ("2024-12-07", "2024-12-06"),
        ("21:07", "21:08"),
        ("2026-11-30T21:07:12Z", "2026-11-30 21:07:12Z"),
        ("2026-11-30T21:07:12Z", "2026-11-30T21:07:12+00:00"),
        ("2026-11-30T21:07Z", "2026-11-30T21:07:12Z"),
        ("d41d8cd98f00b204e9800998ecf8427e", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ("340282366920938463463374607431768211456", "340282366920938463463374607431768211455"),
        ("0.33333333333333333333333333333333", "0.33333333333333333333333333333334"),
        ("d41d8cd98f00b204e9800998ecf8427", "0cc175b9c0f1b6a831c399e26977266"),
    ] {
        assert_eq!(kind(&at(a), &at(b)), "behaviour", "{a} → {b}");
    }
}

#[test]
fn float_digits_are_the_last_ones_of_a_double() {
    assert_eq!(kind("rate 0.0885\n", "rate 0.08850000000000001\n"), "float-digits");
    assert_eq!(kind("0.2", "0.19999999999999998"), "float-digits");
    assert_eq!(kind("x=1e-7,", "x=1.0000000000000002e-07,"), "float-digits");
    assert_eq!(kind("[0.1, 0.2]", "[0.1, 0.19999999999999998]"), "float-digits");
    assert_eq!(value_kind("0.2f64", "0.19999999999999998f64"), "float-digits");
    assert_eq!(kind("2.5", "2.50"), "behaviour", "a format");
    assert_eq!(kind("0.38", "0.39"), "behaviour");
    assert_eq!(kind("0.1", "0.1000000000000003"), "behaviour", "too far");
    assert_eq!(kind("0.0", "-0.0"), "behaviour");
    assert_eq!(kind("1.2.3", "1.2.4"), "behaviour");
    assert_eq!(value_kind("Decimal('0.2')", "Decimal('0.19999999999999998')"), "behaviour");
    assert_eq!(kind("0.2 EUR", "0.19999999999999998 USD"), "behaviour");
}

#[test]
fn kinds_are_joined_and_none_is_idle() {
    assert_eq!(kind("b\na\n", "a \r\nb \r\n"), "ordering+line-endings+trailing-space");
    let (id, other) = ("c1f2d7a0-9e0b-4c47-8a61-5be0a4d2f9e3", "54a25706-524c-4e43-85b5-806c72d12659");
    assert_eq!(kind(&format!("{id}\nx\n"), &format!("{other}\nx \n")), "volatile+trailing-space");
    assert_eq!(kind(&format!("{id}\nx\n"), &format!("x\n{other}\n")), "ordering+volatile");
    assert_eq!(kind("0.2\nx\n", "x\n0.19999999999999998\n"), "ordering+float-digits");
    assert_eq!(kind("[\"b\", \"a \"]", "[\"a\", \"b\"]"), "ordering+trailing-space");
    assert_eq!(kind("a\nb\n", "a \nc\n"), "behaviour");
}

#[test]
fn line_ends_and_blanks_inside_literals_count_too() {
    assert_eq!(kind(r"'date;payee\n'", r"'date;payee\r\n'"), "line-endings");
    assert_eq!(value_kind(r"b'a\nb\n'", r"b'a\r\nb\r\n'"), "line-endings");
    assert_eq!(value_kind("['Rent  ', 'Post']", "['Rent', 'Post']"), "trailing-space");
    assert_eq!(value_kind(r"'Rent \nPost'", r"'Rent\nPost'"), "trailing-space");
    assert_eq!(kind(r"C:\new", r"C:\r\new"), "behaviour", "a backslash in a text is one");
}

#[test]
fn only_numbers_moved_the_same_way_are_the_same_change() {
    let change = |a: &str, b: &str| drift(&text(a), &text(b), Options::default()).map(|drift| drift.change);
    let rounding = change("A,0.38,5.88\ntotal,31.27\n", "A,0.39,5.89\ntotal,31.29\n");
    assert_eq!(rounding, change("D,sale,0.24\nx\ntotal,12.91\n", "D,sale,0.25\nx\ntotal,12.92\n"));
    assert_ne!(rounding, change("A,0.39\n", "A,0.38\n"), "another direction");
    assert_ne!(rounding, change("A,3\n", "A,4\n"), "other decimals");
    assert_ne!(rounding, change("2024-12-07\n", "2024-12-06\n"));
    assert_ne!(change("2024-12-07\n", "2024-12-06\n"), change("2024-12-09\n", "2024-12-08\n"), "a date is a text");
    assert_ne!(rounding, change("A,0.38,x\n", "A,0.39,y\n"), "something beside it");
    assert_eq!(change("due    9.99\n", "due   10.00\n"), rounding, "columns make room");
    assert_eq!(change("Customer: Ann\n", "Client: Ann\n"), change("Customer: Bo\n", "Client: Bo\n"));
    assert_eq!(change("t -47.60\n", "t -47.61\n"), change("0.39", "0.38"), "below zero, down is down");
}

#[test]
fn a_digest_says_what_is_behind_it_only_when_both_texts_are_known() {
    let (old, new) = (text("d41d8cd98f00b204e9800998ecf8427e"), text("0cc175b9c0f1b6a831c399e269772661"));
    let without = digest_drift(&old, &new, None, Options::default()).unwrap();
    assert_eq!((without.difference_word().as_str(), without.content_lines), ("digest", vec![1]));
    let texts = (text("a\nb\n"), text("a\r\nb\r\n"));
    let with = digest_drift(&old, &new, Some((&texts.0, &texts.1)), Options::default()).unwrap();
    assert_eq!((with.difference_word().as_str(), with.content_lines), ("line-endings", vec![1]));
}

#[test]
fn a_huge_content_is_told_by_size_and_first_difference() {
    let big = "line of text\n".repeat(100_000);
    let other = format!("{}changed\n{}", &big[..13 * 7], &big[13 * 7..]);
    let drift = drift(&text(&big), &text(&other), Options::default()).unwrap();
    assert!(drift.bounded);
    assert_eq!(drift.content_lines, [8]);
    assert_eq!(drift.brief, "1269 kB → 1269 kB, first difference in line 8: line of text → changed");
    assert!(unified(Some(&text(&big)), &text(&other), None).len() < 400);
}

#[test]
fn hostile_sizes_end_in_time() {
    let started = std::time::Instant::now();
    let deep = "[".repeat(200_000);
    let a: String = (0..40_000u64).map(|i| format!("{}\n", i * 7919 % 10_007)).collect();
    let b: String = (0..40_000u64).map(|i| format!("{}\n", i * 104_729 % 10_009)).collect();
    assert_eq!(kind(&deep, &format!("{deep}1")), "behaviour");
    assert_eq!(kind(&a, &b), "behaviour");
    assert_eq!(kind(&"x".repeat(300_000), &"y".repeat(300_000)), "behaviour");
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn a_diff_is_what_patch_reads_and_steers_no_terminal() {
    expect![[r#"
        --- recorded
        +++ observed
        @@ -1,4 +1,4 @@
         order,due,tax,gross
        -A1,2024-12-03,0.38,5.88
        +A1,2024-12-03,0.39,5.88\u{1b}[2J
         A2,2024-12-04,0.10,1.60
         total,,,7.48
    "#]]
    .assert_eq(&unified(
        Some(&text(REPORT)),
        &text(&REPORT.replace("0.38,5.88", "0.39,5.88\u{1b}[2J")),
        Some(("recorded", "observed")),
    ));
    expect![[r#"
        -2.67
        +Decimal('2.6750')
    "#]]
    .assert_eq(&unified(Some(&value("2.67")), &value("Decimal('2.6750')"), None));
    assert_eq!(unified(None, &text("new\n"), None), "+new\n");
    assert!(unified(Some(&Content::Bytes(vec![0])), &Content::Bytes(vec![0, 1]), None).contains("1 bytes sha256:"));
}

fn lines_of() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("a".to_string()),
        Just("b ".to_string()),
        Just("[1, 2]".to_string()),
        Just("0.2".to_string()),
        Just("0.19999999999999998".to_string()),
        Just("2026-11-30T21:07:12Z".to_string()),
        Just("2026-12-01T21:07:12Z".to_string()),
        Just("\"x\\r\\n\"".to_string()),
        "[\\PC]{0,6}",
    ];
    let end = prop_oneof![Just("\n"), Just("\r\n"), Just("\r"), Just("")];
    proptest::collection::vec((line, end), 0..6)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| format!("{line}{end}")).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_drifts_from_itself(a in lines_of()) {
        prop_assert_eq!(drift(&text(&a), &text(&a), Options::default()), None);
        prop_assert_eq!(drift(&value(&a), &value(&a), Options::default()), None);
    }

    #[test]
    fn claims_hold_when_applied_again(a in lines_of(), b in lines_of()) {
        let Some(drift) = drift(&text(&a), &text(&b), Options::default()) else {
            prop_assert_eq!(a, b);
            return Ok(());
        };
        prop_assert!(!drift.difference.is_empty());
        let count = a.split('\n').count();
        prop_assert!(drift.content_lines.iter().all(|line| (1..=count).contains(line)));
        prop_assert!(drift.inserted_after.iter().all(|line| *line <= count));
        let by_normalising = |kind: &Difference| {
            !matches!(kind, Difference::Behaviour | Difference::Locale | Difference::Formatting)
        };
        if drift.difference.iter().all(by_normalising) {
            prop_assert!(kinds::equal_under(&a, &b, &drift.difference, false));
            for idle in &drift.difference {
                let rest: Vec<Difference> = drift.difference.iter().copied().filter(|kind| kind != idle).collect();
                prop_assert!(!kinds::equal_under(&a, &b, &rest, false));
            }
        }
    }

    #[test]
    fn unchanged_lines_are_the_same_on_both_sides(a in lines_of(), b in lines_of()) {
        let (old, new) = (lines(&a), lines(&b));
        let Some(drift) = drift(&text(&a), &text(&b), Options::default()) else { return Ok(()) };
        let kept = |lines: &[&str], of: &dyn Fn(&Hunk) -> std::ops::Range<usize>| -> Vec<String> {
            (0..lines.len())
                .filter(|line| !drift.hunks.iter().any(|hunk| of(hunk).contains(line)))
                .map(|line| lines[line].to_string())
                .collect()
        };
        prop_assert_eq!(kept(&old, &|hunk| hunk.before.clone()), kept(&new, &|hunk| hunk.after.clone()));
    }
}

#[test]
fn numbers_and_dates_of_another_country() {
    for (before, after) in [
        ("total 1,234.56\nnet 0.50\n", "total 1.234,56\nnet 0,50\n"),
        ("due 12/31/2024\nmade 01/02/2024\n", "due 31.12.2024\nmade 02.01.2024\n"),
        ("due 2024-12-31", "due 31/12/2024"),
    ] {
        assert_eq!(kind(before, after), "locale", "{before} and {after}");
        assert_eq!(kind(after, before), "locale", "{after} and {before}");
    }
    for (before, after) in [
        // Thousands or thousandths: nobody can tell.
        ("total 1,234", "total 1.234"),
        ("total 1,234.56\nnet 0.50\n", "total 1.234,56\nnet 0,51\n"),
        ("a 0.50\nb 0,70\n", "a 0,50\nb 0.70\n"),
        // Another day, or a day that may be another.
        ("due 12/31/2024", "due 30.12.2024"),
        ("due 01/02/2024", "due 02/01/2024"),
        ("version 1.2.3", "version 1,2,3"),
    ] {
        assert_eq!(kind(before, after), "behaviour", "{before} and {after}");
    }
}

#[test]
fn places_of_the_machine_are_volatile() {
    for (before, after) in [
        ("<Order object at 0x7f3a01b2c4d0>", "<Order object at 0x7f11aa00ffee>"),
        ("wrote /tmp/tmpab12cd/report.txt", "wrote /tmp/tmpzz98xx/report.txt"),
        ("see /tmp/pytest-of-ada/pytest-12/out.csv", "see /tmp/pytest-of-bob/pytest-3/out.csv"),
        ("at /home/ada/src/x.py", "at /Users/bob/src/x.py"),
        ("listening on localhost:43121", "listening on localhost:51002"),
        ("3 passed in 0.03s", "3 passed in 0.11s"),
        ("worker pid 4711 ended", "worker pid 99 ended"),
    ] {
        assert_eq!(kind(before, after), "volatile", "{before} and {after}");
    }
    for (before, after) in [
        ("wrote /tmp/tmpab12cd/report.txt", "wrote /tmp/tmpab12cd/summary.txt"),
        ("timeout: 30s", "timeout: 60s"),
        ("colour 0xff00ff", "colour 0xff00aa"),
        ("listening on example.org:8080", "listening on example.org:9090"),
    ] {
        assert_eq!(kind(before, after), "behaviour", "{before} and {after}");
    }
}

#[test]
fn identifiers_that_merge_or_split_are_behaviour() {
    let (a, b, c) = (
        "0b0f2f9e-6f0a-4a52-9d5c-0d9c8a1b2c3d",
        "11111111-2222-4333-8444-555555555555",
        "99999999-8888-4777-8666-555555555555",
    );
    let lines = |one: &str, two: &str| format!("order {one}\nof {two}\n");
    assert_eq!(kind(&lines(a, a), &lines(b, b)), "volatile");
    assert_eq!(kind(&lines(a, b), &lines(b, a)), "volatile");
    assert_eq!(kind(&lines(a, a), &lines(b, c)), "behaviour");
    assert_eq!(kind(&lines(a, b), &lines(c, c)), "behaviour");
}

#[test]
fn each_place_has_its_own_kind() {
    let before = "made 2024-01-01T10:00:00Z\nid 1\ntotal 5\nend  \n\nlast\n";
    let after = "made 2024-02-02T11:00:00Z\nid 1\ntotal 6\nend\n\nlast\n";
    let drift = drift(&text(before), &text(after), Options::default()).expect("they differ");
    let kinds: Vec<String> = drift.hunks.iter().map(|hunk| words(&hunk.difference)).collect();
    assert_eq!(drift.difference_word(), "behaviour");
    assert_eq!(kinds, ["volatile", "behaviour"], "{:?}", drift.hunks);
}

proptest! {
    /// Whatever else a drift holds, a planted value is never explained away.
    #[test]
    fn no_kind_hides_a_planted_change(
        lines in proptest::collection::vec("[a-z]{2,8} (= )?[a-z0-9]{1,6}", 2..12),
        noise in 0usize..6,
        at in 0usize..12,
        planted in "[A-Z]{3,6}",
    ) {
        let at = at % lines.len();
        let before = format!("{}\nmade 2024-01-01T10:00:00Z\n", lines.join("\n"));
        let mut changed = lines.clone();
        changed[at] = format!("{} {planted}", changed[at]);
        let mut after = format!("{}\nmade 2024-01-01T10:00:00Z\n", changed.join("\n"));
        match noise {
            0 => after = after.replace('\n', "\r\n"),
            1 => after = after.replace('\n', "  \n"),
            2 => after = after.replace("2024-01-01T10", "2025-03-04T11"),
            3 => {
                let mut moved: Vec<&str> = after.lines().collect();
                moved.rotate_left(1);
                after = format!("{}\n", moved.join("\n"));
            }
            _ => {}
        }
        prop_assert_eq!(kind(&before, &after), "behaviour");
    }

    /// The same inside a JSON value, under layout and order.
    #[test]
    fn no_kind_hides_a_planted_value(values in proptest::collection::vec(0u32..1000, 2..8), at in 0usize..8, pretty: bool) {
        let mut changed = values.clone();
        let at = at % values.len();
        changed[at] += 1000;
        let json = |values: &[u32]| serde_json::json!({ "values": values, "name": "x" });
        let after = if pretty { format!("{:#}", json(&changed)) } else { json(&changed).to_string() };
        prop_assert_eq!(kind(&json(&values).to_string(), &after), "behaviour");
    }
}

#[test]
fn named_items_with_brackets_or_quotes_are_not_taken_apart() {
    assert_eq!(kind("a=[1,b=2],c=3\n", "a=[1,c=3,b=2]\n"), "behaviour");
    assert_eq!(kind("a='1,b=2',c=3\n", "a='1,c=3,b=2'\n"), "behaviour");
    assert_eq!(kind("a=1,b=2,c=3\n", "a=1,c=3,b=2\n"), "ordering");
}

#[test]
fn the_unit_of_a_whole_number_is_behaviour() {
    assert_eq!(kind("retry elapsed: 5 s\n", "retry elapsed: 7 s\n"), "volatile");
    assert_eq!(kind("retry elapsed: 5 s\n", "retry elapsed: 5 ms\n"), "behaviour");
    assert_eq!(kind("took 5 s\n", "took 5 seconds\n"), "behaviour");
    assert_eq!(kind("took 0.9 s\n", "took 1.2 s\n"), "volatile");
}
