//! Text to syntax tree. Takes a text and a language, gives a tree within a time budget.
//! Never reads a file, never interprets a node.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, Parser, Tree};

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

/// Most different widths of indentation in a Python file that is parsed. The grammar's scanner keeps one
/// number for each level in 1,024 bytes and ends the process when they do not fit (tree-sitter-python
/// 0.25); no level is open that no line is indented to.
pub const MOST_INDENTS: usize = 350;

/// Whether the grammar's scanner would not survive the text.
pub fn unparsable(source: &str, language: Language) -> bool {
    if language != Language::Python {
        return false;
    }
    let bytes = source.as_bytes();
    let mut seen = std::collections::BTreeSet::new();
    let mut at = Some(0);
    while let Some(start) = at {
        let mut width = 0usize;
        let mut here = start;
        // As the scanner counts it: a continued or blank line belongs to the next one.
        while let Some(byte) = bytes.get(here) {
            match (byte, bytes.get(here + 1)) {
                (b' ', _) => width += 1,
                (b'\t', _) => width += 8,
                (b'\r' | b'\n' | 0x0c, _) => width = 0,
                (b'\\', Some(b'\r' | b'\n')) => here += 1,
                _ => break,
            }
            here += 1;
        }
        seen.insert(width);
        if width > usize::from(u16::MAX) || seen.len() > MOST_INDENTS {
            return true;
        }
        at = bytes.get(here..).and_then(|rest| rest.iter().position(|byte| *byte == b'\n')).map(|next| here + next + 1);
    }
    false
}

/// A Rust text as the grammar can read it: to tree-sitter-rust 0.24 `str` is a type and never the name of a
/// macro, so another name of the same length stands in `str![…]`. Offsets stay; names are read from the source.
pub fn readable(source: &str) -> Cow<'_, str> {
    let mut out: Option<String> = None;
    for (at, _) in source.match_indices("str!") {
        let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
        let inside = at.checked_sub(1).and_then(|before| source.as_bytes().get(before)).is_some_and(word);
        let opened = source.get(at + 4..).is_some_and(|rest| rest.trim_start().starts_with(['[', '(', '{']));
        if !inside && opened {
            out.get_or_insert_with(|| source.to_string()).replace_range(at..at + 3, "st_");
        }
    }
    out.map_or(Cow::Borrowed(source), Cow::Owned)
}

/// Parses `source`. `before` is the tree of the text before `edits`, for a quick re-parse; without it the
/// tree is made afresh. `None` when the budget ran out, or the text is [`unparsable`].
pub fn parse(source: &str, language: Language, before: Option<&Tree>, budget: Duration) -> Option<Tree> {
    if unparsable(source, language) {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).ok()?;
    let started = Instant::now();
    let mut late = |_: &tree_sitter::ParseState| {
        if started.elapsed() > budget { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let readable = match language {
        Language::Rust => readable(source),
        Language::Python => Cow::Borrowed(source),
    };
    let bytes = readable.as_bytes();
    parser.parse_with_options(
        &mut |at, _| bytes.get(at..).unwrap_or_default(),
        before,
        Some(ParseOptions::new().progress_callback(&mut late)),
    )
}

/// Deepest nesting of the tree that is followed. Beyond it a node is taken as unknown, so that hostile
/// input cannot exhaust the stack.
pub const DEEPEST: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    /// `depth` blocks in each other, and a text in the innermost.
    fn staircase(depth: usize) -> String {
        let mut source: String = (0..depth).map(|level| format!("{}if x:\n", " ".repeat(level))).collect();
        source.push_str(&format!("{}check(f\"{{a}}\")\n", " ".repeat(depth)));
        source
    }

    #[test]
    fn blocks_too_deep_for_the_grammar_are_not_given_to_it() {
        assert!(parse(&staircase(100), Language::Python, None, BUDGET).is_some());
        for depth in [MOST_INDENTS + 1, 511, 3000] {
            assert!(parse(&staircase(depth), Language::Python, None, BUDGET).is_none(), "{depth}");
        }
        let tabs: String = (0..600).map(|level| format!("{}if x:\n", "\t".repeat(level))).collect();
        assert!(parse(&tabs, Language::Python, None, BUDGET).is_none());
        let continued: String = (0..600).map(|level| format!("{}\\\n if x:\n", " ".repeat(level))).collect();
        assert!(parse(&continued, Language::Python, None, BUDGET).is_none());
        let wide = format!("if x:\n{}y\n", " ".repeat(70_000));
        assert!(parse(&wide, Language::Python, None, BUDGET).is_none());
    }

    #[test]
    fn many_lines_of_few_indentations_are_parsed() {
        let source = "def f():\n    if x:\n\ty = 1\n\n  # z\n".repeat(2000);
        assert!(parse(&source, Language::Python, None, BUDGET).is_some());
    }

    #[test]
    fn a_macro_called_str_is_read() {
        for source in ["fn f() { a.b(str![[\"x\"]]).c(str! []); }", "fn f() { snapbox::str![\"ü str! [\"]; }"] {
            let tree = parse(source, Language::Rust, None, BUDGET).unwrap();
            assert!(!tree.root_node().has_error(), "{}", tree.root_node().to_sexp());
        }
        for source in ["mystr![1]", "str", "if str != x {}", "str!"] {
            assert_eq!(readable(source), source);
        }
    }
}
