//! What an editor underlines and `check` reports beside its rows. Takes a survey, gives findings.
//! Never knows a protocol.

use crate::places::RelPath;
use crate::survey::{Survey, Workspace};
use crate::text::Span;

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
    /// What an editor underlines; the whole line where that is not known. Bytes of the file as read.
    pub span: Option<Span>,
    pub message: String,
    pub baseline: Option<RelPath>,
    pub entry: Option<String>,
    /// Ids of the drifts that it speaks of.
    pub drifts: Vec<String>,
    /// Cases, hunks and baselines: file, 1-based line, what is there.
    pub related: Vec<(RelPath, usize, String)>,
}

/// Findings of a survey, one a site, by file and line. Without opting in only drifts that fresh artefacts
/// prove.
pub fn findings(survey: &Survey, workspace: &Workspace) -> Vec<Finding> {
    let _ = (survey, workspace);
    Vec::new()
}

/// The changed lines of a baseline, for an editor that has it open: one finding a hunk.
pub fn in_baseline(survey: &Survey, workspace: &Workspace, baseline: &RelPath) -> Vec<Finding> {
    let _ = (survey, workspace, baseline);
    Vec::new()
}
