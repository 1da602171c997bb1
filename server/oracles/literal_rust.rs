//! Rust literals as recorded values: which expressions count as one, what they are worth to the comparison,
//! and the literal that replaces one. Pure functions of the code tree and source texts.

use super::{Content, Refusal};
use crate::code::{Arg, Expr, ExprKind, rust};
use crate::text::{Span, Text};

/// Deepest nesting of a literal that is read.
const DEEPEST: usize = 16;

/// A recorded literal: the expression whose source text is replaced, and whether that can be done with
/// certainty.
#[derive(Debug, Clone, PartialEq)]
pub struct Literal<'a> {
    pub expr: &'a Expr,
    /// Why it is only shown.
    pub shown_only: Option<&'static str>,
}

/// The literal in an expression: itself, or the one inside `"…".to_string()` and its kin.
pub fn literal<'a>(source: &Text, expr: &'a Expr) -> Option<Literal<'a>> {
    let inner = owned(expr).unwrap_or(expr);
    if is_certain(inner, 0) {
        return Some(Literal { expr: inner, shown_only: None });
    }
    if is_literal(inner, 0) && !source.slice(inner.span).is_empty() {
        let why = "a struct or enum value cannot be written back with certainty; change it by hand";
        return Some(Literal { expr: inner, shown_only: Some(why) });
    }
    None
}

/// `"…"` of `"…".to_string()`, `.to_owned()`, `.into()`, `String::from("…")`.
fn owned(expr: &Expr) -> Option<&Expr> {
    let ExprKind::Call { callee, args } = &expr.kind else { return None };
    let ExprKind::Attr(base, method) = &callee.kind else { return None };
    let inner = match (method.as_str(), args.as_slice()) {
        ("to_string" | "to_owned" | "into" | "to_vec" | "as_bytes" | "as_str", []) => base.as_ref(),
        ("from", [arg]) if matches!(&base.kind, ExprKind::Name(name) if name == "String" || name == "PathBuf") => {
            &arg.value
        }
        _ => return None,
    };
    matches!(inner.kind, ExprKind::Str(_)).then_some(inner)
}

/// Strings, numbers, booleans, characters, and flat lists and tuples of those.
fn is_certain(expr: &Expr, depth: usize) -> bool {
    match &expr.kind {
        ExprKind::Str(_)
        | ExprKind::Bytes(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::Char(_) => true,
        ExprKind::Neg(inner) => matches!(inner.kind, ExprKind::Int(_) | ExprKind::Float(_)),
        ExprKind::List(items) | ExprKind::Tuple(items) => {
            depth < 2 && items.iter().all(|item| is_certain(item, depth + 1))
        }
        _ => false,
    }
}

fn starts_upper(name: &str) -> bool {
    name.chars().next().is_some_and(char::is_uppercase)
}

/// Values of structs and enums too, made of literals.
fn is_literal(expr: &Expr, depth: usize) -> bool {
    if depth > DEEPEST {
        return false;
    }
    let all = |items: &[Expr]| items.iter().all(|item| is_literal(item, depth + 1));
    match &expr.kind {
        ExprKind::List(items) | ExprKind::Tuple(items) => all(items),
        ExprKind::Struct { fields, .. } => {
            fields.iter().all(|(name, value)| name != ".." && is_literal(value, depth + 1))
        }
        ExprKind::Call { callee, args } => {
            let constructor = match &callee.kind {
                ExprKind::Name(name) | ExprKind::Attr(_, name) => starts_upper(name),
                _ => false,
            };
            owned(expr).is_some() || (constructor && args.iter().all(|arg: &Arg| is_literal(&arg.value, depth + 1)))
        }
        // A variant without values; a constant is written in capitals throughout.
        ExprKind::Attr(_, name) => starts_upper(name) && name.chars().any(char::is_lowercase),
        ExprKind::Name(name) => name == "None",
        _ => is_certain(expr, depth),
    }
}

/// What the comparison sees of a literal: a text, or a value in one spelling.
pub fn content(source: &Text, expr: &Expr) -> Content {
    match &expr.kind {
        ExprKind::Str(text) => Content::Text(text.clone()),
        ExprKind::Bytes(bytes) => Content::Bytes(bytes.clone()),
        _ => Content::Value(canonical(source, expr, 0)),
    }
}

fn canonical(source: &Text, expr: &Expr, depth: usize) -> String {
    let list =
        |items: &[Expr]| items.iter().map(|item| canonical(source, item, depth + 1)).collect::<Vec<_>>().join(", ");
    if depth > DEEPEST {
        return source.slice(expr.span).to_string();
    }
    match &expr.kind {
        ExprKind::Str(text) => format!("{text:?}"),
        ExprKind::Int(text) | ExprKind::Float(text) => text.clone(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Char(c) => format!("{c:?}"),
        ExprKind::Neg(inner) => format!("-{}", canonical(source, inner, depth + 1)),
        ExprKind::List(items) => format!("[{}]", list(items)),
        ExprKind::Tuple(items) => {
            if items.len() == 1 {
                format!("({},)", list(items))
            } else {
                format!("({})", list(items))
            }
        }
        ExprKind::Struct { name, fields } => {
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("{name}: {}", canonical(source, value, depth + 1))).collect();
            format!("{name} {{ {} }}", fields.join(", "))
        }
        ExprKind::Call { callee, args } => match owned(expr) {
            Some(inner) => canonical(source, inner, depth + 1),
            None => {
                let args: Vec<String> = args.iter().map(|arg| canonical(source, &arg.value, depth + 1)).collect();
                format!("{}({})", canonical(source, callee, depth + 1), args.join(", "))
            }
        },
        ExprKind::Name(name) => name.clone(),
        ExprKind::Attr(base, name) => format!("{}::{name}", canonical(source, base, depth + 1)),
        _ => source.slice(expr.span).split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// The content of a literal's source text, in one spelling; `None` where it is no literal.
pub fn read(source: &str) -> Option<Content> {
    let text = Text::new(source);
    let expr = rust::expression(&text, Span::new(0, text.len()));
    let literal = literal(&text, &expr)?;
    Some(content(&text, literal.expr))
}

/// The literal that stands for `observed` in the style of the old one (`old`: its source text).
pub fn render(old: &str, observed: &Content) -> Result<String, Refusal> {
    let refuse = |why: &str| Err(Refusal(format!("{why}; change the literal by hand")));
    let text = Text::new(old);
    let expr = rust::expression(&text, Span::new(0, text.len()));
    let new = match observed {
        Content::Text(value) => {
            if !matches!(expr.kind, ExprKind::Str(_)) {
                return refuse("a text was observed where another kind of literal is recorded");
            }
            string(old, value)
        }
        Content::Value(value) => {
            let observed_text = Text::new(value.as_str());
            let new = rust::expression(&observed_text, Span::new(0, observed_text.len()));
            if !is_certain(&new, 0) || !alike(&expr, &new) {
                return refuse("the observed value cannot be written as a literal of the recorded kind with certainty");
            }
            let mut out = String::new();
            write(&new, &expr, &text, &mut out);
            out
        }
        Content::Bytes(bytes) => {
            if !matches!(expr.kind, ExprKind::Bytes(_)) {
                return refuse("bytes were observed where another kind of literal is recorded");
            }
            let escaped: String =
                bytes.iter().flat_map(|byte| std::ascii::escape_default(*byte)).map(char::from).collect();
            format!("b\"{escaped}\"")
        }
    };
    match read(&new) {
        Some(read) if read == *observed => Ok(new),
        _ => refuse("the observed value would not read back equal"),
    }
}

/// Whether both are of one kind, item by item as far as both go.
fn alike(old: &Expr, new: &Expr) -> bool {
    match (&old.kind, &new.kind) {
        (ExprKind::Neg(old), _) => alike(old, new),
        (_, ExprKind::Neg(new)) => alike(old, new),
        (ExprKind::List(old), ExprKind::List(new)) => match old.first() {
            Some(first) => new.iter().all(|item| alike(first, item)),
            None => true,
        },
        (ExprKind::Tuple(old), ExprKind::Tuple(new)) => {
            old.len() == new.len() && old.iter().zip(new).all(|(old, new)| alike(old, new))
        }
        (old, new) => std::mem::discriminant(old) == std::mem::discriminant(new),
    }
}

/// The new value with the forms of the old one: `vec![…]`, number suffixes.
fn write(new: &Expr, old: &Expr, source: &Text, out: &mut String) {
    let old_text = source.slice(old.span);
    match (&new.kind, &old.kind) {
        (ExprKind::List(items), ExprKind::List(old_items)) => {
            out.push_str(if old_text.starts_with('[') { "[" } else { "vec![" });
            for (nth, item) in items.iter().enumerate() {
                if nth > 0 {
                    out.push_str(", ");
                }
                match old_items.get(nth).or(old_items.first()) {
                    Some(old) => write(item, old, source, out),
                    None => out.push_str(&plain(item)),
                }
            }
            out.push(']');
        }
        (ExprKind::Tuple(items), ExprKind::Tuple(old_items)) => {
            out.push('(');
            for (nth, (item, old)) in items.iter().zip(old_items).enumerate() {
                if nth > 0 {
                    out.push_str(", ");
                }
                write(item, old, source, out);
            }
            out.push_str(if items.len() == 1 { ",)" } else { ")" });
        }
        (ExprKind::Neg(inner), _) => {
            out.push('-');
            write(inner, old, source, out);
        }
        (ExprKind::Int(_) | ExprKind::Float(_), _) => {
            out.push_str(&plain(new));
            out.push_str(rust::literal::suffix(old_text.trim_start_matches('-')).1);
        }
        (ExprKind::Str(value), _) => out.push_str(&string(old_text, value)),
        _ => out.push_str(&plain(new)),
    }
}

fn plain(expr: &Expr) -> String {
    canonical(&Text::new(""), expr, 0)
}

/// A string literal: raw where the old one was and the value allows it.
fn string(old: &str, value: &str) -> String {
    let raw = old.starts_with('r') && !value.chars().any(|c| c.is_control() && c != '\n' && c != '\t');
    if raw
        && !value.contains([
            '\u{202a}', '\u{202b}', '\u{202d}', '\u{202e}', '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}', '\u{202c}',
            '\u{2028}',
        ])
    {
        let least = old[1..].len() - old[1..].trim_start_matches('#').len();
        let needed = value
            .split('"')
            .skip(1)
            .map(|after| after.len() - after.trim_start_matches('#').len() + 1)
            .max()
            .unwrap_or(0);
        let hashes = "#".repeat(least.max(needed));
        return format!("r{hashes}\"{value}\"{hashes}");
    }
    // What Debug leaves as it is but an editor would not show.
    let mut out = String::from("\"");
    for c in value.chars() {
        match c {
            '\'' => out.push('\''),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
            }
            c => out.extend(c.escape_debug()),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_keeps_its_form() {
        let text = |text: &str| Content::Text(text.to_string());
        let value = |text: &str| Content::Value(text.to_string());
        let table: &[(&str, Content, &str)] = &[
            ("\"a\"", text("b\n\"q\" 'x' é"), "\"b\\n\\\"q\\\" 'x' é\""),
            ("r#\"a\"#", text("b \"q\"\nc"), "r#\"b \"q\"\nc\"#"),
            ("r\"a\"", text("\"#\""), "r##\"\"#\"\"##"),
            ("r\"a\"", text("a\rb"), "\"a\\rb\""),
            ("\"a\"", text("x\u{202e}y"), "\"x\\u{202e}y\""),
            ("concat!(\"a\", \"b\")", text("ab\n"), "\"ab\\n\""),
            ("1_400i64", value("1401"), "1401i64"),
            ("1400", value("-3"), "-3"),
            ("0.5f32", value("0.25"), "0.25f32"),
            ("true", value("false"), "false"),
            ("'a'", value("'\\n'"), "'\\n'"),
            ("vec![\"a\", \"b\"]", value("[\"b\"]"), "vec![\"b\"]"),
            ("[1u8, 2]", value("[3, 4]"), "[3u8, 4]"),
            ("(1, \"a\")", value("(2, \"b\")"), "(2, \"b\")"),
        ];
        for (old, observed, want) in table {
            assert_eq!(render(old, observed).unwrap(), *want, "{old}");
        }
        for (old, observed) in
            [("1", value("Foo { a: 1 }")), ("1", value("1.5")), ("\"a\"", value("1")), ("1", text("a"))]
        {
            render(old, &observed).unwrap_err();
        }
    }

    #[test]
    fn equal_values_have_one_spelling() {
        assert_eq!(read("vec![ \"a\",\n 'b' ]"), read("[\"a\", 'b',]"));
        assert_eq!(read("1_000u8"), Some(Content::Value("1000".to_string())));
        assert_eq!(
            read("Totals { net: 1,\n vat: -2 }"),
            Some(Content::Value("Totals { net: 1, vat: -2 }".to_string()))
        );
        assert_eq!(read("Some(\"x\".to_string())"), Some(Content::Value("Some(\"x\")".to_string())));
        assert_eq!(read("run(1)"), None);
    }
}
