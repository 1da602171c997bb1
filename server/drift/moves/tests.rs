use expect_test::{Expect, expect};

use super::*;

/// Three runs as `observe --repeat 3` varies them.
const THREE: [[&str; 4]; 3] = [["", "C", "1", ""], ["", "de", "2", ""], ["Asia/X", "C", "2", ""]];

fn check(settings: &[[&str; 4]], texts: &[&str], expected: Expect) {
    let settings: Vec<BTreeMap<String, String>> = settings
        .iter()
        .map(|values| {
            let set = VARIED.iter().zip(values).filter(|(_, value)| !value.is_empty());
            set.map(|((name, _), value)| (name.to_string(), value.to_string())).collect()
        })
        .collect();
    let contents: Vec<Content> = texts.iter().map(|text| Content::Text(text.to_string())).collect();
    let rounds: Vec<Round> =
        settings.iter().zip(&contents).map(|(settings, content)| Round { settings, content }).collect();
    expected.assert_eq(&moves(&rounds).map_or("equal".into(), |moves| moves.words()));
}

#[test]
fn each_variable_is_told_from_the_others() {
    check(
        &THREE,
        &["{'a', 'b'}\nUTC\n1234.5\nsame\n", "{'b', 'a'}\nUTC\n1.234,5\nsame\n", "{'b', 'a'}\n+0545\n1234.5\nsame\n"],
        expect![
            "line 1 moves with the hash seed (order); line 2 moves with the time zone (clock); line 3 moves with the locale (locale)"
        ],
    );
    check(
        &THREE,
        &["{'a', 'b'} UTC 1,234.5", "{'b', 'a'} UTC 1.234,5", "{'b', 'a'} +0545 1,234.5"],
        expect![
            "line 1 moves with the hash seed (order); line 1 moves with the time zone (clock); line 1 moves with the locale (locale)"
        ],
    );
    check(&THREE, &["a", "a", "a"], expect!["equal"]);
}

#[test]
fn the_order_of_the_tests_has_a_run_of_its_own() {
    let four = [THREE[0], THREE[1], THREE[2], ["", "C", "1", "reversed"]];
    check(&four, &["1", "1", "1", "0"], expect!["line 1 moves with the order of the tests (value)"]);
    check(&four, &["1", "2", "3", "4"], expect!["line 1 moves from run to run (value)"]);
    check(&four, &["{1, 2}", "{2, 1}", "{2, 1}", "{1, 2}"], expect!["line 1 moves with the hash seed (order)"]);
}

#[test]
fn what_moves_by_itself_depends_on_nothing() {
    check(&THREE, &["at 10:01:07", "at 10:01:09", "at 10:01:12"], expect!["line 1 moves from run to run (clock)"]);
    check(
        &THREE,
        &[
            "id c1f2d7a0-9e0b-4c47-8a61-5be0a4d2f9e3\nin /tmp/pytest-of-me/pytest-1/a\n",
            "id 54a25706-524c-4e43-85b5-806c72d12659\nin /tmp/pytest-of-me/pytest-2/a\n",
            "id e4971593-5b99-4491-850a-9fd42303b503\nin /tmp/pytest-of-me/pytest-3/a\n",
        ],
        expect!["line 1 moves from run to run (identifiers); line 2 moves from run to run (path)"],
    );
    let same = [["", "C", "1", ""], ["", "C", "1", ""], ["Asia/X", "C", "1", ""]];
    check(&same, &["0.1", "0.10000000000000002", "0.1"], expect!["line 1 moves from run to run (float)"]);
    check(&[["", "", "", ""]; 2], &["a\nb", "a\nb\n"], expect!["line 2 moves from run to run (value)"]);
}

#[test]
fn the_same_lines_in_another_order_may_be_compared_as_a_set() {
    check(
        &THREE,
        &["h\na\nb\n", "h\nb\na\n", "h\nb\na\n"],
        expect![
            "lines 2, 3 move with the hash seed (order). The lines are the same each time: compare as a set; weaker but honest"
        ],
    );
    check(&THREE, &["a\nb\n", "a\nb\nc\n", "a\nb\nc\n"], expect!["line 2 moves with the hash seed (value)"]);
}

#[test]
fn with_two_runs_all_that_was_varied_may_be_the_cause() {
    check(
        &[["", "C", "1", ""], ["Asia/X", "de", "2", "reversed"]],
        &["1", "2"],
        expect!["line 1 moves with the time zone, the locale, the hash seed or the order of the tests (value)"],
    );
}
