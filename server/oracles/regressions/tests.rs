use expect_test::expect;

use super::*;
use crate::oracles::pytest::listing::{accepted, listing};

#[test]
fn the_file_is_named_by_fixture_test_and_arguments() {
    expect![[r#"
        4 test_data tests/test_bill/test_data.yml = "a: 1\n" at 1
        6 test_file tests/test_bill/named.md missing
        9 test_tax[a/b] tests/test_bill/test_tax_a_b_.csv missing
        9 test_tax[\xe9] tests/test_bill/test_tax__xe9_.csv missing
        12 TestLedger::test_page tests/test_bill/test_page.npz missing
        14 TestLedger::test_named tests/test_bill/TestLedger_test_named.png missing
        16 test_full tests/shared/all.yml missing
        18 test_house tests/test_bill/test_house.yml missing
        20 test_fails ? ["tests/test_bill/test_fails.txt"]
        orphan tests/test_bill/test_gone.yml
    "#]]
    .assert_eq(&listing(
        &Regressions,
        "//- tests/test_bill.py
import pytest
from pathlib import Path
def test_data(data_regression):
    data_regression.check({'a': 1})
def test_file(file_regression):
    file_regression.check(run(), extension='.md', basename='named')
@pytest.mark.parametrize('band', ['a/b', 'é'])
def test_tax(band, num_regression):
    num_regression.check({'a': [1]})
class TestLedger:
    def test_page(self, ndarrays_regression):
        ndarrays_regression.check({})
    def test_named(self, image_regression):
        image_regression.with_test_class_names = True; image_regression.check(run())
def test_full(data_regression):
    data_regression.check({}, fullpath=Path(__file__).parent / 'shared' / 'all.yml')
def test_house(house):
    house.check({})
def test_fails(file_regression):
    with pytest.raises(AssertionError): file_regression.check('x')
def test_other(checker):
    checker.check('x')
def test_data_of_input(datadir):
    use(datadir / 'test_input.yml')
//- tests/conftest.py
import pytest
@pytest.fixture
def house(data_regression):
    return data_regression
//- tests/test_bill/test_data.yml
a: 1
//- tests/test_bill/test_gone.yml
a: 1
//- tests/test_bill/test_input.yml
a: 1
//- tests/test_bill/notes.yml
a: 1
",
    ));
}

const OBTAINED: &str = "//- tests/test_bill.py
def test_text(file_regression):
    file_regression.check(run())
def test_bytes(file_regression):
    file_regression.check(run(), binary=True)
def test_latin(file_regression):
    file_regression.check(run(), encoding='latin1')
def test_table(num_regression):
    num_regression.check(run())
def test_own(num_regression):
    num_regression.check(run(), tolerances={'a': dict(atol=1)}, default_tolerance=tolerance())
def test_twice(data_regression):
    data_regression.check(run())
def test_dotted(data_regression):
    data_regression.check(run(), basename='case.normal')
def test_copied(data_regression):
    data_regression.check(run())
//- tests/other/test_more.py
def test_twice(data_regression):
    data_regression.check(run())
//- tests/test_bill/test_text.txt
a$CR
b
//- tests/test_bill/test_bytes.txt
a$CR
//- tests/test_bill/test_latin.txt
a
//- tests/test_bill/test_table.csv
,a
0,1.0
//- tests/test_bill/test_own.csv
,a
0,1.0
//- tests/test_bill/test_twice.yml
a: 1
//- tests/other/test_more/test_twice.yml
a: 1
//- tests/test_bill/case.normal.yml
a: 1
//- tests/test_bill/test_copied.yml
a: 1
//- tmp/test_text0/test_text.obtained.txt
a
b
//- tmp/test_bytes0/test_bytes.obtained.txt
a
//- tmp/test_table0/test_table.obtained.csv
,a
0,1.0000001
//- tmp/test_own0/test_own.obtained.csv
,a
0,1.5
//- tmp/test_twice0/test_twice.obtained.yml
a: 2
//- tmp/test_dotted0/case.normal.obtained.yml
a: 2
//- tmp/other0/case.normal.obtained.yml
a: 3
//- tmp/test_copied0/test_bill/test_copied.obtained.yml
a: 2
";

#[test]
fn what_a_run_left_counts_where_it_can_only_be_the_tests_own() {
    expect![[r#"
        1 test_twice tests/other/test_more/test_twice.yml = "a: 1\n" at 1
        2 test_text tests/test_bill/test_text.txt = "a\nb\n" at 1
            tmp/test_text0/test_text.obtained.txt: as recorded
        4 test_bytes tests/test_bill/test_bytes.txt = "a\r\n" at 1
            tmp/test_bytes0/test_bytes.obtained.txt: "a\n"
        6 test_latin tests/test_bill/test_latin.txt = "a\n" at 1
        8 test_table tests/test_bill/test_table.csv = ",a\n0,1.0\n" at 1
            tmp/test_table0/test_table.obtained.csv: as recorded
        10 test_own tests/test_bill/test_own.csv = ",a\n0,1.0\n" at 1
        12 test_twice tests/test_bill/test_twice.yml = "a: 1\n" at 1
        14 test_dotted tests/test_bill/case.normal.yml = "a: 1\n" at 1
            tmp/test_dotted0/case.normal.obtained.yml: "a: 2\n"
        16 test_copied tests/test_bill/test_copied.yml = "a: 1\n" at 1
            tmp/test_copied0/test_bill/test_copied.obtained.yml: "a: 2\n"
    "#]]
    .assert_eq(&listing(&Regressions, OBTAINED).replace("2 test_twice tests/other", "1 test_twice tests/other"));
}

#[test]
fn an_accepted_value_has_the_bytes_that_the_plugin_writes() {
    expect![[r#"
        tests/test_bill/test_bytes.txt
        a
    "#]]
    .assert_eq(&accepted(&Regressions, OBTAINED, "test_bytes", None));
    let text = |text: &str| Some(Content::Text(text.to_string()));
    assert_eq!(
        accepted(&Regressions, OBTAINED, "test_latin", text("\u{e9}")),
        "tests/test_bill/test_latin.txt\n\u{fffd}\n",
        "one byte, as latin-1 has it"
    );
    expect![[r#"
        tests/test_bill/test_latin.txt: the observed text would not read back equal in the file's encoding; nothing was written
    "#]]
    .assert_eq(&accepted(&Regressions, OBTAINED, "test_latin", text("\u{20ac}")));
    expect![[r#"
        tests/test_bill/test_copied.yml
        a: 3
    "#]]
    .assert_eq(&accepted(&Regressions, OBTAINED, "test_copied", text("a: 3\n")));
    expect![[r#"
        tests/test_bill/test_copied.yml: how the observed value would be written is not certain; run the test with `--basetemp` below the workspace, then accept what it left; nothing was written
    "#]]
    .assert_eq(&accepted(&Regressions, OBTAINED, "test_copied", Some(Content::Value("{'a': 3}".into()))));
}
