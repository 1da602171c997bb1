//! Text to syntax tree. Takes a text and a language, gives a tree within a time budget.
//! Never reads a file, never interprets a node.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{InputEdit, ParseOptions, Parser, Tree};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    Python,
    Rust,
}

impl Language {
    /// By the file name's extension.
    pub fn of(name: &str) -> Option<Language> {
        match name.rsplit_once('.')?.1 {
            "py" => Some(Language::Python),
            "rs" => Some(Language::Rust),
            _ => None,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::Rust => "rust",
        }
    }

    pub fn grammar(self) -> tree_sitter::Language {
        match self {
            Language::Python => tree_sitter_python::LANGUAGE.into(),
            Language::Rust => tree_sitter_rust::LANGUAGE.into(),
        }
    }
}

/// Longest time one parse may take; a file that needs more is reported and left out.
pub const BUDGET: Duration = Duration::from_secs(5);

/// Parses `source`. `before` is the tree of the text before `edits`, for a quick re-parse; without it the
/// tree is made afresh. `None` when the budget ran out.
pub fn parse(source: &str, language: Language, before: Option<&Tree>, budget: Duration) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).ok()?;
    let started = Instant::now();
    let mut late = |_: &tree_sitter::ParseState| {
        if started.elapsed() > budget { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let bytes = source.as_bytes();
    parser.parse_with_options(
        &mut |at, _| bytes.get(at..).unwrap_or_default(),
        before,
        Some(ParseOptions::new().progress_callback(&mut late)),
    )
}

/// Deepest nesting of the tree that is followed. Beyond it a node is taken as unknown, so that hostile
/// input cannot exhaust the stack.
pub const DEEPEST: usize = 200;

/// One replacement, for [`Tree::edit`]: bytes and (row, byte column) of its three corners.
pub fn edit(tree: &mut Tree, edit: &InputEdit) {
    tree.edit(edit);
}
