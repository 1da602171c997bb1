//! What an editor underlines and `check` reports beside its rows. Takes a survey, gives findings.
//! Never knows a protocol.

use crate::places::RelPath;

/// Codes of the protocol's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    Drift,
    MissingBaseline,
    SpecificationFailed,
    Unconfirmed,
    Unstable,
    StaleRationale,
    UnexplainedBaseline,
    OrphanBaseline,
    Configuration,
}

impl Code {
    pub fn word(self) -> &'static str {
        match self {
            Code::Drift => "drift",
            Code::MissingBaseline => "missing-baseline",
            Code::SpecificationFailed => "specification-failed",
            Code::Unconfirmed => "unconfirmed",
            Code::Unstable => "unstable",
            Code::StaleRationale => "stale-rationale",
            Code::UnexplainedBaseline => "unexplained-baseline",
            Code::OrphanBaseline => "orphan-baseline",
            Code::Configuration => "configuration",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    Error,
    Warning,
    Information,
    Hint,
}

impl Severity {
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Information => "information",
            Severity::Hint => "hint",
        }
    }
}

/// One thing to tell about one place.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub code: Code,
    pub severity: Severity,
    pub file: RelPath,
    /// 1-based.
    pub line: usize,
    pub message: String,
    pub baseline: Option<RelPath>,
    pub entry: Option<String>,
}
