//! What a pin looks like: the queries compiled in, and those of the workspace. Takes `.scm` texts, gives
//! one compiled query a language and what is wrong with the workspace's. A bad one costs only itself.

use std::collections::BTreeMap;

use tree_sitter::Tree;

use crate::places::RelPath;
use crate::shelf::Shelf;
use crate::syntax::Language;
use crate::text::{Span, Text};

/// One match of a query in one file: what `queries/README.md` documents.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// `pin.framework` of the pattern: the name of an oracle family, or the id of a user's query.
    pub framework: String,
    /// All `#set!` properties of the pattern.
    pub properties: BTreeMap<String, String>,
    /// The whole assertion (`@pin`).
    pub span: Span,
    /// The other captures, by name without the `pin.` prefix, in source order.
    pub captures: Vec<(String, Span)>,
}

/// Something unreadable, with its place; shown once, never fatal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trouble {
    pub file: RelPath,
    /// 1-based line and column (scalar values), where known.
    pub at: Option<(usize, usize)>,
    pub message: String,
}

/// Compiled queries of both languages. Cheap to share behind an `Arc`.
pub struct Vocabulary {}

impl Vocabulary {
    pub fn built_in() -> Vocabulary {
        Vocabulary {}
    }

    /// The built-in queries and those under `.pindrift/queries/<language>/*.scm`.
    pub fn of(shelf: &Shelf) -> (Vocabulary, Vec<Trouble>) {
        let _ = shelf;
        (Vocabulary::built_in(), Vec::new())
    }

    /// All matches in one file, none from inside a syntax error.
    pub fn matches(&self, tree: &Tree, text: &Text, language: Language) -> Vec<Match> {
        let _ = (tree, text, language);
        Vec::new()
    }
}
