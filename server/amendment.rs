//! The only code that changes a user's files: plan, then apply. A plan is a value that can be printed;
//! applying it is crash-safe and refuses when anything changed since it was shown.
//!
//! ```text
//! plan ─▶ lock ─▶ verify ─▶ intent ─▶ new bytes beside each file ─▶ renames ─▶ artefacts ─▶ amendment
//! ```
//!
//! What an editor has open is not written: its edits are handed back, and the amendment stays pending
//! until the saved file holds the new content ([`settle`]).

mod intent;
mod judge;
mod plan;
mod reclassify;
mod settle;
mod undone;
mod write;

use crate::ledger::Amendment;
use crate::oracles::{FileChange, Refusal};
use crate::places::{RelPath, Root};

pub use crate::ledger::FINISH;
pub use intent::{Finished, abandon, advance, finish};
pub use judge::{plan_comparison, plan_judge, plan_retire, plan_verdict};
pub use plan::{Request, oracle_alone, plan_accept, plan_explain, plan_record, plan_withdraw, run};
pub use reclassify::{AUTHORITY, plan_reclassify};
pub use settle::{Outcome, Settled, settle};

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
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    pub record: RelPath,
    /// The amendment waits: for the editor to take `edits`, then for the file to be saved.
    pub pending: bool,
    /// Changes of files that an editor has open. The caller sends them, then says [`advance`] when the
    /// editor took them or [`abandon`] when it did not.
    pub edits: Vec<FileChange>,
}

/// Plans and applies one decision. `plan` is called once more, with the lock held, when somebody else
/// changed one of its files in between; it must read them afresh. `open` says which files an editor has
/// open. Nothing is changed when this refuses.
pub fn amend(
    root: &Root,
    plan: &mut dyn FnMut() -> Result<Plan, Refusal>,
    open: &dyn Fn(&RelPath) -> bool,
) -> Result<Applied, Refusal> {
    let mut planned = plan()?;
    let lock = write::Lock::take(root)?;
    if write::verify(root, &planned, open).is_err() {
        planned = plan()?;
    }
    intent::apply(root, &planned, open, &lock)
}

/// Applies a plan that was shown. Refuses, with nothing changed, when a file is not as it was.
pub fn apply(root: &Root, plan: &Plan, open: &dyn Fn(&RelPath) -> bool) -> Result<Applied, Refusal> {
    let lock = write::Lock::take(root)?;
    intent::apply(root, plan, open, &lock)
}

#[cfg(test)]
mod tests;
