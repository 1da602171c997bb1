//! `pindrift.toml`. Takes its text, gives settings and what is wrong with it. A broken file costs
//! nothing but itself: what can be read of it counts, the rest is a trouble with line and column.
//! Never reads a file.

use std::collections::BTreeMap;

/// Which argument of a call: by position (0-based, a method's receiver not counted) or by keyword.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    Nth(usize),
    Named(String),
}

/// `[[helper]]`: a house-made compare function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Helper {
    /// Name of the function or macro, bare or with its path (`support.check_golden`).
    pub call: String,
    pub name: Which,
    pub value: Option<Which>,
    /// Folder from the root that names are joined to.
    pub root: String,
    pub suffix: String,
    /// Framework word in reports; `golden-file` unless given.
    pub id: String,
    pub line: usize,
}

/// How rationale comments are written on accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CommentMode {
    #[default]
    Always,
    LiteralOnly,
    Never,
}

#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// `pindrift.toml` exists: the workspace opted in.
    pub present: bool,
    pub helpers: Vec<Helper>,
    /// Golden pattern → observed twin pattern, both from the root, `*` matching within and across folders.
    pub pairs: Vec<(String, String)>,
    pub characterization: Vec<String>,
    pub specification: Vec<String>,
    pub comment: CommentMode,
    /// Longest line of a rationale comment; the project's formatter's where that is known.
    pub line_length: Option<usize>,
    pub policy: BTreeMap<String, toml::Value>,
    /// (1-based line, 1-based column, message)
    pub troubles: Vec<(usize, usize, String)>,
}
