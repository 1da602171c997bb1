use expect_test::expect;

use super::*;

fn cells(before: &str, after: &str, width: usize) -> String {
    let texts = (crate::oracles::Content::Text(before.into()), crate::oracles::Content::Text(after.into()));
    let found = drift::drift(&texts.0, &texts.1, drift::Options::default()).expect("a drift");
    let mut out = Vec::new();
    region(&mut out, &drift::rows(before, after, &found.hunks), 0, width, false);
    for line in &out {
        assert!(line.width() <= width, "{} columns: {line:?}", line.width());
    }
    out.iter().map(|line| format!("|{}|\n", line.painted(false))).collect()
}

#[test]
fn blanks_controls_and_wide_characters_are_seen_and_long_lines_go_on() {
    expect![[r#"
        |    1- total 10|
        |    1+ total 10··|
        |               ^^|
    "#]]
    .assert_eq(&cells("total 10\n", "total 10  \n", 40));
    expect![[r#"
        |    1- 修正 a\r|
        |             ^^|
        |    1+ 修正 a\u{202e}|
        |             ^^^^^^^^|
        |     + \u{1b}|
        |       ^^^^^^|
    "#]]
    .assert_eq(&cells("修正 a\r\n", "修正 a\u{202e}\u{1b}\n", 26));
}

#[test]
fn both_sides_stand_beside_each_other_where_there_is_room() {
    let text = cells("net 10.38 EUR\ngone\n", "net 10.39 EUR\n", 120);
    let first = text.lines().next().expect("a line");
    assert_eq!(first.chars().position(|c| c == '│'), Some(60), "{text}");
    assert!(first.contains("    1- net 10.38 EUR") && first.contains("│     1+ net 10.39 EUR"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("|    2- gone ")), "{text}");
}

#[test]
fn texts_are_broken_between_words_and_cut_by_columns() {
    let lines: Vec<String> = wrapped("one two three", Tone::Plain, 8).iter().map(|line| line.painted(false)).collect();
    assert_eq!(lines, ["one two", "three"]);
    assert_eq!(cut("修正修正修正", 7), "修正修…");
    assert_eq!(cut("a\u{1b}b", 20), "a\\u{1b}b");
}
