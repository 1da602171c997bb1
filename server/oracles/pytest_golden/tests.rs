use expect_test::expect;

use super::*;
use crate::oracles::pytest::listing::{accepted, listing};

const TESTS: &str = "//- tests/test_bill.py
import pytest
@pytest.mark.golden_test('golden/tax_*.yml')
def test_tax(golden):
    assert run(golden['cents']) == golden.out['tax']
    assert golden.out.get('text') == run()
def test_by_hand(golden):
    case = golden.open('golden/tags.yml')
    assert run(case['codes']) == case.out['sorted']
@pytest.mark.golden_test('test_own/*.yml')
def test_own(golden):
    assert run() == golden.out['x']
def test_other(golden):
    assert run() == golden
//- tests/golden/tax_red.yml
cents: 999
# kept
tax: 54
text: |
  a

  b
shown: '9.99'
//- tests/golden/tags.yml
sorted:
- VIP
- BULK
//- tests/test_own/a.yml
x: *alias
//- tests/golden/dunning.yml
level: 2
";

#[test]
fn keys_of_the_files_that_the_mark_names() {
    let shown = listing(&PytestGolden, TESTS);
    expect![[r#"
        4 test_tax[golden/tax_red.yml] tests/golden/tax_red.yml # tax = 54 at 3
        5 test_tax[golden/tax_red.yml] tests/golden/tax_red.yml # text = "a\n\nb\n" at 5
        8 test_by_hand tests/golden/tags.yml # sorted = ['VIP', 'BULK'] at 2
        11 test_own[a.yml] tests/test_own/a.yml # x unreadable
        orphan tests/golden/dunning.yml
    "#]]
    .assert_eq(
        &shown
            .lines()
            .map(|line| format!("{}\n", line.split(": tests/test_own").next().unwrap_or(line)))
            .collect::<String>(),
    );
}

#[test]
fn only_what_is_laid_out_in_one_way_is_written() {
    let value = |source: &str| Some(Content::Value(source.to_string()));
    let file = |tax: &str| format!("cents: 999\n# kept\ntax: {tax}\ntext: |\n  a\n\n  b\nshown: '9.99'\n");
    assert_eq!(
        accepted(&PytestGolden, TESTS, "test_tax[golden/tax_red.yml]", value("55")),
        format!("tests/golden/tax_red.yml\n{}", file("55"))
    );
    let refused = accepted(&PytestGolden, TESTS, "test_by_hand", value("['BULK', 'VIP']"));
    assert!(refused.contains("is not certain"), "{refused}");
    let replaced = |key: &str, new: &str| yaml::replaced(&file("54"), key, &Py::Str(new.into()));
    assert_eq!(replaced("shown", "10.01"), Some(file("54").replace("'9.99'", "'10.01'")));
    assert_eq!(replaced("text", "c\n  d\n\ne\n"), Some(file("54").replace("  a\n\n  b\n", "  c\n    d\n\n  e\n")));
    for uncertain in ["yes", "a: b", "c\n\n", " c\n", ""] {
        assert_eq!(replaced("shown", uncertain), None, "{uncertain:?}");
    }
}
