use expect_test::{Expect, expect};

use super::*;
use crate::findings::tests::{Bench, TEST, entry, rel, text, value};
use crate::oracles::Content;

const SITE: &str = "assert f() == 2.67";

fn check(bench: &Bench, markdown: bool, want: Expect) {
    let cases: Vec<&Arc<Case>> = bench.survey.cases.iter().collect();
    let now = "2026-08-28T10:05:00Z".parse().unwrap();
    let shown = hover_at(&cases, &bench.workspace, &rel("tests/test_a.py"), markdown, now).unwrap_or("nothing".into());
    assert!(shown.lines().count() <= 16, "{shown}");
    want.assert_eq(&(shown + "\n"));
}

#[test]
fn a_drift_shows_the_difference_the_advice_and_why() {
    let mut bench = Bench::new(TEST);
    let mut case =
        bench.case(SITE, "tests/golden/a.txt", text("A,0.38\nB,1\ntotal,1.38\n"), text("A,0.39\nB,1\ntotal,1.39\n"));
    case.history = vec![entry("fix *VAT* <b>of</b> apply_discount", "0.37", &Content::Text("0.38".into()), true)];
    bench.add(case);
    check(
        &bench,
        true,
        expect![[r#"
            **Drifted** from tests/golden/a.txt; this pins parity with what was recorded, not proof that it is right
            ```diff
            -A,0.38
            +A,0.39
            -total,1.38
            +total,1.39
            ```
            - `row 1, column 2: 0.38 → 0.39`
            - `row 3, column 2: 1.38 → 1.39`
            behaviour: Accept with a reason if this is the intended fix and nothing else; otherwise fix the code.
            Observed in tests/actual/a.txt, 5 minutes ago.

            Why it is what it is:
            - 2026-08-28, Ann: fix \*VAT\* \<b\>of\</b\> apply_discount (`0.37 → 0.38`)
        "#]],
    );
    check(
        &bench,
        false,
        expect![[r#"
            Drifted from tests/golden/a.txt; this pins parity with what was recorded, not proof that it is right

            -A,0.38
            +A,0.39
            -total,1.38
            +total,1.39

            - row 1, column 2: 0.38 → 0.39
            - row 3, column 2: 1.38 → 1.39
            behaviour: Accept with a reason if this is the intended fix and nothing else; otherwise fix the code.
            Observed in tests/actual/a.txt, 5 minutes ago.

            Why it is what it is:
            - 2026-08-28, Ann: fix *VAT* <b>of</b> apply_discount (0.37 → 0.38)
        "#]],
    );
}

#[test]
fn a_match_is_one_line_and_its_last_reason() {
    let mut bench = Bench::new(TEST);
    let mut case = bench.case(SITE, "tests/test_a.py", value("2.67"), value("2.67"));
    case.history = vec![entry("fix VAT", "2.66", &Content::Value("2.67".into()), true)];
    bench.add(case);
    check(
        &bench,
        true,
        expect![[r#"
            **Matches**: parity with what was recorded, not proof that it is right (the value recorded here)
            Last: 2026-08-28, Ann: fix VAT (`2.66 → 2.67`)
        "#]],
    );
}

#[test]
fn long_differences_many_cases_and_hostile_values_stay_short() {
    let mut bench = Bench::new(TEST);
    let new: String = (0..300).map(|i| format!("```{i}\u{1b}\n")).collect();
    for i in 0..9 {
        let mut case = bench.case(SITE, "tests/golden/a.txt", text("a\n"), text(&new));
        case.pin.case = Some(format!("c{i}"));
        bench.add(case);
    }
    let cases: Vec<&Arc<Case>> = bench.survey.cases.iter().collect();
    let shown = hover(&cases, &bench.workspace, &rel("tests/test_a.py"), true).unwrap();
    assert!(shown.lines().count() <= 18 && shown.len() < 3000, "{shown}");
    assert!(!shown.contains('\u{1b}'));
    assert!(shown.lines().filter(|line| line.starts_with("```")).count() == 2, "{shown}");
}

#[test]
fn the_comment_of_the_same_decision_is_not_told_twice() {
    let source = "\
//- tests/test_a.py
def test_a():
    # 2026-08-28: intentional drift. Old: 2.66. New: 2.67.
    # Reason: fix VAT
    assert f() == 2.67
";
    let mut bench = Bench::new(source);
    let mut case = bench.case(SITE, "tests/test_a.py", value("2.67"), value("2.68"));
    let alone = case.clone();
    case.history = vec![entry("fix VAT", "2.66", &Content::Value("2.67".into()), true)];
    bench.add(case);
    let why = |bench: &Bench| -> Vec<String> {
        let cases: Vec<&Arc<Case>> = bench.survey.cases.iter().collect();
        let shown = hover(&cases, &bench.workspace, &rel("tests/test_a.py"), false).unwrap();
        shown.lines().filter(|line| line.starts_with("- ")).map(str::to_string).collect()
    };
    assert_eq!(why(&bench), ["- 2026-08-28, Ann: fix VAT (2.66 → 2.67)"]);
    bench.survey.cases.clear();
    bench.add(alone);
    assert_eq!(why(&bench), ["- 2026-08-28, comment: fix VAT (2.66 → 2.67)"]);
    let cases: Vec<&Arc<Case>> = bench.survey.cases.iter().collect();
    assert!(history(&cases, &bench.workspace).contains("2026-08-28, comment: fix VAT"));
}

#[test]
fn an_unlabelled_literal_has_no_hover() {
    let mut bench = Bench::new(TEST);
    let mut case = bench.case(SITE, "tests/test_a.py", value("2.67"), value("2.68"));
    case.pin.role = Role::Unlabelled;
    bench.add(case);
    check(&bench, true, expect![["nothing\n"]]);
}
