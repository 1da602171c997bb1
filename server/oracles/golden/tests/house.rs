//! House-made helpers as `queries/README.md` shows them: its own blocks are what is tried here.

use super::check;
use expect_test::expect;

const README: &str = include_str!("../../../../queries/README.md");

const SOURCES: &str = r#"
//- Cargo.toml
[package]
name = "shop"
version = "0.1.0"
edition = "2021"
//- tests/golden/march.txt
//- tests/golden/totals.json
//- tests/golden/invoice.txt
//- tests/test_reports.py
from house import check_golden, golden
from shop import report, totals

def test_march():
    check_golden("march", report(3))

@golden("totals")
def test_totals():
    return totals()
//- tests/invoices.rs
#[macro_use]
mod house;

#[test]
fn invoice() {
    assert_golden!("invoice", shop::invoice(7));
}
"#;

/// The fenced block of the README that holds `sign`, below the heading of the three shapes.
fn block(language: &str, sign: &str) -> &'static str {
    let shapes = README.split("### Three shapes").nth(1).unwrap();
    let fence = format!("```{language}\n");
    let blocks = shapes.split(fence.as_str()).skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.into_iter().find(|block| block.contains(sign)).unwrap()
}

#[test]
fn one_table_for_a_function_a_decorator_and_a_macro() {
    let settings = block("toml", "check_golden");
    check(
        &format!("{SOURCES}//- pindrift.toml\n{settings}"),
        expect![[r#"
            invoices::invoice:6 golden-file tests/golden/invoice.txt []
            tests/test_reports.py::test_march:5 golden-file tests/golden/march.txt []
            tests/test_reports.py::test_totals:7 golden-file tests/golden/totals.json []
        "#]],
    );
}

#[test]
fn one_pattern_for_a_decorator_and_a_macro() {
    let (decorator, call) = (block("scheme", "decorator"), block("scheme", "macro_invocation"));
    check(
        &format!(
            "{SOURCES}//- .pindrift/queries/python/golden.scm\n{decorator}//- .pindrift/queries/rust/golden.scm\n{call}"
        ),
        expect![[r#"
            invoices::invoice:6 acme.assert_golden tests/golden/invoice.txt []
        "#]],
    );
}
