use expect_test::{Expect, expect};

use super::*;
use crate::oracles::pytest::listing::{accepted, listing};

const PROJECT: &str = r#"
//- pyproject.toml
[tool.pytest.ini_options]
//- tests/cases/plain.md
Simple:
.
*a*
.
<p>a</p>
.


[short] with words
.
b

.
.

Simple:
.
é
.
two
lines

.
left open
.
//- tests/cases/form.yaml
first:
  content: 1
  expected: "one\n"
second one:
  description: more
  content: [1, 2]
  expected: [1, 2]
//- tests/test_mark.py
import pytest
from pathlib import Path

FIXTURES = Path(__file__).parent / "cases"

@pytest.mark.param_file(FIXTURES / "plain.md")
def test_plain(file_params):
    file_params.assert_expected(render(file_params.content), rstrip=True)

@pytest.mark.param_file(FIXTURES / "plain.md", fmt="dot", fixture_name="case")
def test_lines(case, other):
    case.assert_expected(render(case.content), rstrip_lines=True)

@pytest.mark.param_file(FIXTURES / "form.yaml", "yaml")
class TestForm:
    def test_form(self, file_params):
        assert render(file_params.content) == file_params.expected

@pytest.mark.param_file(FIXTURES / "gone.md")
def test_gone(file_params):
    file_params.assert_expected(render(file_params.content))

def test_unmarked(file_params):
    file_params.assert_expected("")
//- tests/test_list.py
import pytest
from pathlib import Path
from markdown_it.utils import read_fixture_file
from house import read_fixture_file as other

CASES = read_fixture_file(Path(__file__).parent.joinpath("cases", "plain.md"))

@pytest.mark.parametrize("line,title,input,expected", CASES)
def test_all(line, title, input, expected):
    text = render(input)
    assert text.rstrip() == expected.rstrip()

@pytest.mark.parametrize("line,title,input,expected", CASES, ids=[str(c[0]) for c in CASES])
def test_named(line, title, input, expected):
    assert render(input) == expected

@pytest.mark.parametrize("line,title,input,expected", other("x"))
def test_other(line, title, input, expected):
    assert render(input) == expected
"#;

fn accept(framework: &dyn Framework, test: &str, observed: &str, wanted: Expect) {
    wanted.assert_eq(&accepted(framework, PROJECT, test, Some(Content::Text(observed.into()))));
}

#[test]
fn each_case_of_a_file_is_a_pin() {
    expect![[r#"
        8 test_plain[1-Simple:] tests/cases/plain.md # Simple: = "<p>a</p>" at 5
        8 test_plain[9-short] tests/cases/plain.md # [short] with words = "" at 14
        8 test_plain[16-Simple:] tests/cases/plain.md # Simple: (2) = "two\nlines" at 20
        12 test_lines[1-Simple:] tests/cases/plain.md # Simple: = "<p>a</p>" at 5
        12 test_lines[9-short] tests/cases/plain.md # [short] with words = "" at 14
        12 test_lines[16-Simple:] tests/cases/plain.md # Simple: (2) = "two\nlines" at 20
        17 TestForm::test_form[1-first] tests/cases/form.yaml # first = "one\n" at 0
        17 TestForm::test_form[4-second one] tests/cases/form.yaml # second one = [1, 2] at 0
        21 test_gone tests/cases/gone.md missing
        11 test_all[1-Simple:-*a*\n-<p>a</p>\n] tests/cases/plain.md # Simple: = "<p>a</p>" at 5
        11 test_all[9-[short] with words-b\n\n-] tests/cases/plain.md # [short] with words = "" at 14
        11 test_all[16-Simple:-\xe9\n-two\nlines\n\n] tests/cases/plain.md # Simple: (2) = "two\nlines" at 20
        15 test_named tests/cases/plain.md # Simple: = "<p>a</p>\n" at 5
        15 test_named tests/cases/plain.md # [short] with words = "" at 14
        15 test_named tests/cases/plain.md # Simple: (2) = "two\nlines\n\n" at 20
    "#]]
    .assert_eq(&(listing(&ParamFiles, PROJECT) + &listing(&Golden, PROJECT)));
}

#[test]
fn one_case_is_written_and_the_others_stay() {
    accept(
        &ParamFiles,
        "test_plain[1-Simple:]",
        "<p><em>a</em></p>",
        expect![[r#"
        tests/cases/plain.md
        Simple:
        .
        *a*
        .
        <p><em>a</em></p>
        .


        [short] with words
        .
        b

        .
        .

        Simple:
        .
        é
        .
        two
        lines

        .
        left open
        .
    "#]],
    );
    accept(
        &ParamFiles,
        "test_plain[16-Simple:]",
        "three",
        expect![[r#"
            tests/cases/plain.md
            Simple:
            .
            *a*
            .
            <p>a</p>
            .


            [short] with words
            .
            b

            .
            .

            Simple:
            .
            é
            .
            three
            .
            left open
            .
        "#]],
    );
    accept(
        &ParamFiles,
        "test_plain[9-short]",
        "<p>b</p>",
        expect![[r#"
        tests/cases/plain.md
        Simple:
        .
        *a*
        .
        <p>a</p>
        .


        [short] with words
        .
        b

        .
        <p>b</p>
        .

        Simple:
        .
        é
        .
        two
        lines

        .
        left open
        .
    "#]],
    );
}

#[test]
fn what_would_not_read_back_is_refused() {
    accept(
        &ParamFiles,
        "test_plain[1-Simple:]",
        "a\n.\nb",
        expect![[r#"
        tests/cases/plain.md#Simple:: a line of the observed text is one dot, which ends a case, so it would not read back; nothing was written
    "#]],
    );
    accept(
        &Golden,
        "test_named",
        "no last end",
        expect![[r#"
        tests/cases/plain.md#Simple:: the observed text would not read back equal (a last line without its end?); nothing was written
    "#]],
    );
}
