//! What syrupy's serializers write for a plain Python value: `AmberDataSerializer` and the JSON extension of
//! syrupy 4 to 7. Takes the source of a literal, gives the text; nothing where that is not certain (a
//! constructor, a character of which Python's `repr` is not known here).

use std::fmt::Write;

use crate::code::python;
use crate::code::python::repr::{self, plain};
use crate::code::{Expr, ExprKind};
use crate::oracles::reading::python_lines;

/// Deepest nesting; syrupy cuts at 99.
const DEEPEST: usize = 60;

/// The text of an amber entry.
pub fn amber(source: &str) -> Option<String> {
    let mut out = String::new();
    amber_of(&python::expression(&format!("({source}\n)"))?, 0, &mut out)?;
    Some(out.replace("\r\n", "\n").replace('\r', "\n"))
}

/// The text of a JSON file.
pub fn json(source: &str) -> Option<String> {
    let mut out = String::new();
    json_of(&python::expression(&format!("({source}\n)"))?, 0, &mut out)?;
    out.push('\n');
    Some(out)
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth)
}

fn amber_of(expr: &Expr, depth: usize, out: &mut String) -> Option<()> {
    if depth > DEEPEST {
        return None;
    }
    let pad = indent(depth);
    let inner = |items: &[Expr], open: &str, close: &str, out: &mut String| {
        let _ = writeln!(out, "{pad}{open}");
        for item in items {
            amber_of(item, depth + 1, out)?;
            out.push_str(",\n");
        }
        let _ = write!(out, "{pad}{close}");
        Some(())
    };
    match &expr.kind {
        ExprKind::Str(text) if text.contains(['\n', '\r']) => {
            let _ = writeln!(out, "{pad}'''");
            let lines = python_lines(text);
            let pad_lines = if depth > 0 { indent(depth + 1) } else { String::new() };
            lines.iter().for_each(|line| out.push_str(&format!("{pad_lines}{line}")));
            let _ = write!(out, "\n{pad}'''");
        }
        ExprKind::Str(text) => {
            let _ = write!(out, "{pad}{}", repr::text(text)?);
        }
        ExprKind::List(items) => inner(items, "list([", "])", out)?,
        ExprKind::Tuple(items) => inner(items, "tuple(", ")", out)?,
        ExprKind::Set(items) => {
            let mut items = items.clone();
            sort(&mut items, |item| item)?;
            inner(&items, "set({", "})", out)?;
        }
        ExprKind::Dict(items) => {
            let mut items = items.clone();
            sort(&mut items, |(key, _)| key)?;
            let _ = writeln!(out, "{pad}dict({{");
            for (key, value) in &items {
                amber_of(key, depth + 1, out)?;
                out.push_str(": ");
                let mut text = String::new();
                amber_of(value, depth + 1, &mut text)?;
                // `str.lstrip` of the indentation.
                out.push_str(text.trim_start_matches(' '));
                out.push_str(",\n");
            }
            let _ = write!(out, "{pad}}})");
        }
        _ => {
            let _ = write!(out, "{pad}{}", plain(expr)?);
        }
    }
    Some(())
}

/// In the order of the items, where they are all of one kind: texts or whole numbers.
fn sort<T>(items: &mut [T], key: impl Fn(&T) -> &Expr) -> Option<()> {
    let text = |item: &T| match &key(item).kind {
        ExprKind::Str(text) => Some(text.clone()),
        _ => None,
    };
    let number = |item: &T| plain(key(item)).and_then(|text| text.parse::<i128>().ok());
    if items.iter().all(|item| text(item).is_some()) {
        items.sort_by_key(text);
    } else if items.iter().all(|item| number(item).is_some()) {
        items.sort_by_key(number);
    } else if items.len() > 1 {
        return None;
    }
    // An item twice is one in the value.
    (1..items.len()).all(|at| key(&items[at - 1]).kind != key(&items[at]).kind).then_some(())
}

fn json_of(expr: &Expr, depth: usize, out: &mut String) -> Option<()> {
    if depth > DEEPEST {
        return None;
    }
    let pad = indent(depth + 1);
    match &expr.kind {
        ExprKind::Str(text) => out.push_str(&json_text(text)),
        ExprKind::Bool(yes) => out.push_str(if *yes { "true" } else { "false" }),
        ExprKind::None => out.push_str("null"),
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Neg(_) => {
            let text = plain(expr)?;
            text.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e')).then_some(())?;
            out.push_str(&text);
        }
        ExprKind::List(items) | ExprKind::Tuple(items) => {
            if items.is_empty() {
                out.push_str("[]");
                return Some(());
            }
            out.push_str("[\n");
            for (at, item) in items.iter().enumerate() {
                out.push_str(&pad);
                json_of(item, depth + 1, out)?;
                out.push_str(if at + 1 < items.len() { ",\n" } else { "\n" });
            }
            out.push_str(&indent(depth));
            out.push(']');
        }
        ExprKind::Dict(items) => {
            let mut items = items.clone();
            items.iter().all(|(key, _)| matches!(key.kind, ExprKind::Str(_))).then_some(())?;
            sort(&mut items, |(key, _)| key)?;
            if items.is_empty() {
                out.push_str("{}");
                return Some(());
            }
            out.push_str("{\n");
            for (at, (key, value)) in items.iter().enumerate() {
                out.push_str(&pad);
                json_of(key, depth + 1, out)?;
                out.push_str(": ");
                json_of(value, depth + 1, out)?;
                out.push_str(if at + 1 < items.len() { ",\n" } else { "\n" });
            }
            out.push_str(&indent(depth));
            out.push('}');
        }
        _ => return None,
    }
    Some(())
}

/// `json.dumps(text, ensure_ascii=False)`.
fn json_text(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn plain_values_are_written_as_syrupy_7_writes_them() {
        expect![[r#"
            dict({
              'a': list([
                1,
                '''
                  x
                  y

                ''',
                "it's",
              ]),
              'b': tuple(
              ),
              'c': set({
                -1,
                2,
              }),
              'd': dict({
                1: None,
              }),
            })"#]]
        .assert_eq(&amber("{'b': (), 'a': [1, 'x\\ny\\n', \"it's\"], 'c': {2, -1}, 'd': {1: None}}").unwrap());
        assert_eq!(amber("'a\\r\\nb'").unwrap(), "'''\na\nb\n'''");
        assert_eq!(amber("1.50").unwrap(), "1.5");
        assert_eq!(amber("b'\\x00\\''").unwrap(), "b\"\\x00'\"");
        assert_eq!(amber("[Decimal('1')]"), None);
        assert_eq!(amber("{1, 'a'}"), None);
    }

    #[test]
    fn json_is_sorted_and_keeps_non_ascii() {
        expect![[r#"
            {
              "a": [],
              "b": [
                1,
                "é\t",
                null
              ]
            }
        "#]]
        .assert_eq(&json("{'b': (1, 'é\\t', None), 'a': []}").unwrap());
        assert_eq!(json("{1: 2}"), None);
    }
}
