//! Parametrised Rust tests: the rows of rstest 0.29 (`#[case(…)]`) and test-case 3.4 (`#[test_case(…)]`), with
//! the ids that the test runner prints. Takes a function, gives rows; evaluates nothing.

use super::parametrize::Row;
use crate::code::{Arg, Expr, ExprKind, Function, Unit};

fn macro_of(mark: &Expr) -> Option<(&str, &[Arg])> {
    match &mark.kind {
        ExprKind::Macro { name, args, .. } => Some((name, args)),
        _ => None,
    }
}

/// The rows of a test in the order of its attributes; none where it has no cases.
pub fn rows(unit: &Unit, function: &Function) -> Vec<Row> {
    let marks = || function.marks.iter().filter_map(macro_of);
    let cases: Vec<(&str, &[Arg])> = marks()
        .filter(|(name, _)| *name == "case" || name.starts_with("case::") || name.ends_with("rstest::case"))
        .collect();
    let rows = if cases.is_empty() { Vec::new() } else { of_rstest(function, &cases) };
    let rows = with_values(unit, function, rows);
    if !rows.is_empty() {
        return rows;
    }
    marks()
        .filter(|(name, _)| name.rsplit("::").next() == Some("test_case"))
        .enumerate()
        .map(|(nth, (_, args))| of_test_case(unit, function, nth + 1, args))
        .collect()
}

fn of_rstest(function: &Function, cases: &[(&str, &[Arg])]) -> Vec<Row> {
    let is_case = |mark: &Expr| mark.dotted().is_some_and(|name| name == "case");
    let params: Vec<&str> = function
        .params
        .iter()
        .filter(|param| param.marks.iter().any(is_case))
        .map(|param| param.name.as_str())
        .collect();
    let digits = cases.len().to_string().len();
    let row = |(nth, (name, args)): (usize, &(&str, &[Arg]))| {
        let description = name.strip_prefix("case::").map(|name| format!("_{name}")).unwrap_or_default();
        Row {
            case: Some(format!("case_{:0digits$}{description}", nth + 1)),
            bindings: params.iter().zip(*args).map(|(param, arg)| (param.to_string(), arg.value.clone())).collect(),
        }
    };
    cases.iter().enumerate().map(row).collect()
}

/// Most rows that lists of values give together.
const MOST: usize = 2_001;

/// Each row with each value of `#[values(…)]` on the parameters, as rstest nests them: the first one outermost.
fn with_values(unit: &Unit, function: &Function, rows: Vec<Row>) -> Vec<Row> {
    let mut rows = rows;
    for param in &function.params {
        let Some(values) = param.marks.iter().filter_map(macro_of).find(|(name, _)| *name == "values") else {
            continue;
        };
        let name = param.name.trim_start_matches("mut ");
        let digits = values.1.len().to_string().len();
        let before = if rows.is_empty() { vec![Row { case: None, bindings: Vec::new() }] } else { rows };
        rows = before
            .iter()
            .flat_map(|row| values.1.iter().enumerate().map(move |(nth, arg)| (row, nth, arg)))
            .take(MOST)
            .map(|(row, nth, arg)| {
                let value = value_name(unit.text.slice(arg.value.span));
                let own = format!("{name}_{:0digits$}_{value}", nth + 1);
                let mut bindings = row.bindings.clone();
                bindings.push((name.to_string(), arg.value.clone()));
                Row { case: Some(row.case.iter().map(|case| format!("{case}::")).collect::<String>() + &own), bindings }
            })
            .collect();
    }
    rows
}

/// A value's source as rstest 0.29 puts it into a name (`sanitize_ident`), at most 64 characters.
fn value_name(source: &str) -> String {
    let mut out = String::new();
    for c in source.chars().filter(|c| !c.is_whitespace()) {
        match c {
            '"' | '\'' => out.push_str("__"),
            ':' | '(' | ')' | '{' | '}' | '[' | ']' | ',' | '.' | '*' | '+' | '/' | '-' | '%' | '^' | '!' | '&'
            | '|' => {
                out.push('_');
            }
            c if c.is_alphanumeric() || c == '_' => out.push(c),
            _ => {}
        }
    }
    out.chars().take(64).collect()
}

fn of_test_case(unit: &Unit, function: &Function, number: usize, args: &[Arg]) -> Row {
    let name = args.iter().find_map(|arg| match (&arg.name, &arg.value.kind) {
        (Some(name), ExprKind::Str(text)) if name == ";" => Some(text.clone()),
        _ => None,
    });
    let mut values: Vec<&Expr> = Vec::new();
    let mut returned = None;
    for arg in args.iter().filter(|arg| arg.name.as_deref() != Some(";")) {
        match &arg.value.kind {
            ExprKind::Dict(pairs) if pairs.len() == 1 => {
                values.push(&pairs[0].0);
                returned = Some(&pairs[0].1);
            }
            _ => values.push(&arg.value),
        }
    }
    let name = name.unwrap_or_else(|| {
        let mut name: String = values.iter().map(|value| format!("{}_", unit.text.slice(value.span))).collect();
        name.push_str("expects");
        if let Some(returned) = returned {
            name.push_str(&format!(" {}", unit.text.slice(returned.span)));
        }
        name
    });
    let name = escaped(&name);
    let between = if name.starts_with('_') { "" } else { "_" };
    Row {
        case: Some(format!("test_case_{number}{between}{name}")),
        bindings: function
            .params
            .iter()
            .zip(values)
            .map(|(param, value)| (param.name.clone(), value.clone()))
            .collect(),
    }
}

/// A name as test-case writes it: lower case, everything else than letters and digits one `_`.
fn escaped(name: &str) -> String {
    if name.is_empty() {
        return "_empty".to_string();
    }
    let mut out = String::new();
    for c in name.to_ascii_lowercase().chars() {
        if c.is_alphanumeric() {
            out.push(c);
        } else if !out.ends_with('_') {
            out.push('_');
        }
    }
    if !out.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic()) {
        out.insert(0, '_');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::RelPath;
    use crate::syntax::{self, Language};
    use crate::text::Text;
    use expect_test::{Expect, expect};

    fn check(source: &str, expected: Expect) {
        let text = Text::new(source);
        let tree = syntax::parse(source, Language::Rust, None, syntax::BUDGET).unwrap();
        let unit = crate::code::rust::unit(&RelPath::new("src/lib.rs").unwrap(), &text, &tree);
        let mut out = String::new();
        for row in unit.functions.iter().flat_map(|function| rows(&unit, function)) {
            let bound: Vec<String> =
                row.bindings.iter().map(|(name, value)| format!("{name}={}", text.slice(value.span))).collect();
            out.push_str(&format!("{} {}\n", row.case.unwrap_or_default(), bound.join(" ")));
        }
        expected.assert_eq(&out);
    }

    #[test]
    fn cases_have_the_ids_that_the_runner_prints() {
        check(
            r#"
#[rstest]
#[case(1, "a")]
#[case::negative(-1, "b")]
fn r(#[case] n: i64, fixture: u8, #[case] s: &str) {}
#[test_case(Rule::Unused, Path::new("F401_0.py"))]
#[test_case(2 => 4; "void record")]
#[test_case("x", 1 => true)]
fn t(a: u8, b: u8) {}
#[rstest]
#[case::neg(1)]
#[case(2)]
fn both(#[case] n: u8, #[values("x", "y z")] s: &str, #[values(true)] b: bool) {}
#[rstest]
fn values(#[values(Some(3), None, Some(-1))] s: Option<i32>) {}
"#,
            expect![[r#"
                case_1 n=1 s="a"
                case_2_negative n=-1 s="b"
                test_case_1_rule_unused_path_new_f401_0_py_expects a=Rule::Unused b=Path::new("F401_0.py")
                test_case_2_void_record a=2
                test_case_3_x_1_expects_true a="x" b=1
                case_1_neg::s_1___x__::b_1_true n=1 s="x" b=true
                case_1_neg::s_2___yz__::b_1_true n=1 s="y z" b=true
                case_2::s_1___x__::b_1_true n=2 s="x" b=true
                case_2::s_2___yz__::b_1_true n=2 s="y z" b=true
                s_1_Some_3_ s=Some(3)
                s_2_None s=None
                s_3_Some__1_ s=Some(-1)
            "#]],
        );
    }
}
