//! Rust syntax to [`Unit`], and the packages that say what a test is called. What stands inside macro
//! calls is only tokens to the grammar; it is read once more as expressions or statements, so that a
//! test inside `allow_duplicates!` or `with_settings!` is seen like any other.
//! Never expands a macro, never takes a fact from inside a syntax error.

mod crates;
pub mod literal;
mod lower;
#[cfg(test)]
mod tests;
pub mod tokens;

use tree_sitter::{Node, Tree};

use super::{Arg, Expr, ExprKind, Unit};
use crate::places::RelPath;
use crate::syntax::{DEEPEST, Language};
use crate::text::{Span, Text};

pub use crates::{Crates, Module, Package, Target, TargetKind};

/// Lowers one parsed file.
pub fn unit(path: &RelPath, text: &Text, tree: &Tree) -> Unit {
    let mut unit = Unit::empty(path.clone(), Language::Rust, text.clone());
    lower::file(&mut unit, tree.root_node());
    unit.comments = tokens::Tokens::new(text.as_str(), Span::new(0, text.len()))
        .filter(|token| token.kind == tokens::Kind::Comment)
        .map(|token| token.span)
        .collect();
    if tree.root_node().has_error() {
        errors(tree.root_node(), &mut unit.errors);
    }
    unit.functions.sort_by_key(|function| (function.span.start, std::cmp::Reverse(function.span.end)));
    unit
}

/// The text of `span` as an expression; opaque where it is none.
pub fn expression(text: &Text, span: Span) -> Expr {
    lower::expression(text, span)
}

/// What `format!` makes of its arguments; `None` where the template is not known or does not fit them.
pub fn formatted(args: &[Arg]) -> Option<ExprKind> {
    lower::format_pieces(args)
}

/// The outermost places that the parser could not read.
fn errors(root: Node, found: &mut Vec<Span>) {
    let mut cursor = root.walk();
    let mut depth = 0usize;
    loop {
        let node = cursor.node();
        let wrong = node.is_error() || node.is_missing();
        if wrong {
            found.push(Span::new(node.start_byte(), node.end_byte()));
        }
        if !wrong && node.has_error() && depth < 10 * DEEPEST && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            depth -= 1;
        }
    }
}
