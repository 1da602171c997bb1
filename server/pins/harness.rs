//! Functions that a harness runs once for each file of a folder: `datatest_stable::harness!` (0.3, and the
//! positional form of 0.1 and 0.2). Takes a unit, gives which functions, and where their files lie. Never
//! evaluates, never lists a folder.

use crate::code::rust::expression;
use crate::code::rust::tokens::{Kind, closing, pieces, tokens};
use crate::code::{Expr, ExprKind, Function, StmtKind, Unit};
use crate::syntax::Language;
use crate::text::Span;

/// One group of a `harness!`.
#[derive(Debug, Clone, PartialEq)]
pub struct Harness {
    /// The function as written.
    pub test: String,
    pub root: Expr,
    /// `None`: every file.
    pub pattern: Option<Expr>,
    /// Until 0.2 the pattern was held against the path with the root before it.
    pub whole_path: bool,
}

/// The groups of every `harness!` of a file.
pub fn of(unit: &Unit) -> Vec<Harness> {
    let mut found = Vec::new();
    if unit.language != Language::Rust {
        return found;
    }
    for stmt in &unit.top {
        if let StmtKind::Expr(Expr { kind: ExprKind::Macro { name, tokens, .. }, .. }) = &stmt.kind
            && is_harness(unit, name)
        {
            groups(unit, *tokens, &mut found);
        }
    }
    found
}

/// The groups that run one function.
pub fn running(unit: &Unit, function: &Function) -> Vec<Harness> {
    let mut found = of(unit);
    found.retain(|harness| {
        let mut parts: Vec<&str> = harness.test.split("::").filter(|part| !matches!(*part, "self" | "crate")).collect();
        parts.pop() == Some(function.name.as_str()) && parts == function.path
    });
    found
}

fn is_harness(unit: &Unit, name: &str) -> bool {
    const CRATE: &str = "datatest_stable";
    match name.rsplit_once("::") {
        Some((before, "harness")) => before.trim_start_matches("::") == CRATE,
        Some(_) => false,
        None => unit.imports_named(name).any(|import| import.path == format!("{CRATE}.harness")),
    }
}

fn groups(unit: &Unit, inner: Span, found: &mut Vec<Harness>) {
    let source = unit.text.as_str();
    let all = tokens(source, inner);
    let slice = |span: Span| unit.text.slice(span).to_string();
    let parts = pieces(&all);
    let braced = |part: &crate::code::rust::tokens::Piece| {
        part.tokens.first().is_some_and(|token| token.kind == Kind::Open(b'{'))
            && closing(&part.tokens, 0) == Some(part.tokens.len() - 1)
    };
    if !parts.first().is_some_and(&braced) {
        for three in parts.chunks_exact(3) {
            found.push(Harness {
                test: slice(three[0].span()),
                root: expression(&unit.text, three[1].span()),
                pattern: Some(expression(&unit.text, three[2].span())),
                whole_path: true,
            });
        }
        return;
    }
    for part in parts.iter().filter(|part| braced(part)) {
        let (mut test, mut root, mut pattern) = (None, None, None);
        for field in pieces(&part.tokens[1..part.tokens.len() - 1]) {
            let [key, equals, rest @ ..] = field.tokens.as_slice() else { continue };
            let (Some(first), Some(last), Kind::Punct(b'=')) = (rest.first(), rest.last(), equals.kind) else {
                continue;
            };
            let value = Span::new(first.span.start, last.span.end);
            match unit.text.slice(key.span) {
                "test" => test = Some(slice(value)),
                "root" => root = Some(expression(&unit.text, value)),
                "pattern" => pattern = Some(expression(&unit.text, value)),
                _ => {}
            }
        }
        if let (Some(test), Some(root)) = (test, root) {
            found.push(Harness { test, root, pattern, whole_path: false });
        }
    }
}
