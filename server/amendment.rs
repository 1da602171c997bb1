//! The only code that changes a user's files: plan, then apply. A plan is a value that can be printed;
//! applying it is crash-safe and refuses when anything changed since it was shown.

use crate::ledger::Amendment;
use crate::oracles::FileChange;
use crate::places::RelPath;

/// Everything that one decision changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Oracle and rationale comment; source files that an editor has open go through the editor.
    pub changes: Vec<FileChange>,
    /// Applied last.
    pub artefacts: Vec<FileChange>,
    pub amendment: Amendment,
    /// File that the amendment will be.
    pub record: RelPath,
}

/// What applying gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    pub record: RelPath,
    /// The source edit waits for the editor to save.
    pub pending: bool,
}
