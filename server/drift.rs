//! Whether oracle and observation differ, where, and in what way. A pure function of two contents.
//! Never reads a file, never knows a framework or a language.

/// One contiguous changed region; lines are 0-based and end exclusive, within each content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    pub before: std::ops::Range<usize>,
    pub after: std::ops::Range<usize>,
}

/// Kinds of change, in the order in which they are joined with `+`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Difference {
    Behaviour,
    Ordering,
    Volatile,
    LineEndings,
    TrailingSpace,
    FloatDigits,
    Digest,
    Binary,
}

/// Oracle and observation differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    pub hunks: Vec<Hunk>,
    /// Never empty. Advice, never a verdict.
    pub difference: Vec<Difference>,
    /// 1-based lines of the recorded content that changed or went.
    pub content_lines: Vec<usize>,
    /// 1-based lines of the recorded content after which something was inserted; 0 is before the first.
    pub inserted_after: Vec<usize>,
    /// Equal for drifts that are the same change (DESIGN, "The same change"): 12 hexadecimal digits.
    pub change: String,
    /// Old → new in one bounded line.
    pub brief: String,
    /// The comparison was cut short because of size; hunks name the first difference only.
    pub bounded: bool,
}

impl Difference {
    /// The word of the reports.
    pub fn word(self) -> &'static str {
        match self {
            Difference::Behaviour => "behaviour",
            Difference::Ordering => "ordering",
            Difference::Volatile => "volatile",
            Difference::LineEndings => "line-endings",
            Difference::TrailingSpace => "trailing-space",
            Difference::FloatDigits => "float-digits",
            Difference::Digest => "digest",
            Difference::Binary => "binary",
        }
    }
}

/// Bounds of one comparison.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {}

/// `None` when the contents are equal.
pub fn drift(before: &crate::oracles::Content, after: &crate::oracles::Content, options: Options) -> Option<Drift> {
    let _ = (before, after, options);
    None
}
