//! What became of amendments whose source an editor had open: finished when the saved text holds the new
//! content, dropped when it was saved or closed without it, undone when an undo took it back. Takes cases
//! of the files on disk. Removes and finishes amendments that are not committed, never one that is.

use std::sync::Arc;

use super::intent::{self, Begun, holds};
use super::write::{self, Lock, Stand};
use crate::git::Git;
use crate::ledger::{Amendment, Ledger};
use crate::oracles::{Baseline, OracleKind, Refusal};
use crate::places::{RelPath, Root};
use crate::survey::Case;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The saved file holds what was accepted; the amendment is in the ledger.
    Finished,
    /// The editor's text never reached the disk: no record stays.
    Dropped,
    /// An undo took the change back: its amendment, not committed yet, is removed.
    Undone,
    /// The file no longer holds what a committed amendment says.
    Reported,
}

/// What happened to one amendment, and how to tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    pub record: RelPath,
    pub outcome: Outcome,
    pub message: String,
}

/// Looks at the amendments about `saved`, a source file that was just written or closed. `cases` are read
/// from the disk. `open` says that an editor still has it open with text that is not saved.
pub fn settle(
    root: &Root,
    git: Option<&Git>,
    saved: &RelPath,
    cases: &[Arc<Case>],
    open: &dyn Fn(&RelPath) -> bool,
) -> Result<Vec<Settled>, Refusal> {
    let _lock = Lock::take(root)?;
    let mut settled = Vec::new();
    for begun in intent::begun(root).0 {
        let waiting = begun.intent.changes.iter().filter(|step| step.waits);
        let about = waiting.clone().any(|step| step.path().is_ok_and(|path| path == *saved));
        if !about {
            continue;
        }
        let done = waiting.clone().all(|step| matches!(step.stand(root), Ok(Stand::After)));
        if done || holds_after(&begun.amendment, cases) == Some(true) {
            begun.complete(root)?;
            settled.push(told(&begun, Outcome::Finished, "accepted; the record is written"));
        } else if !open(saved) {
            begun.drop_it();
            settled.push(told(
                &begun,
                Outcome::Dropped,
                "not accepted: the file was closed or saved without the change",
            ));
        }
    }
    settled.extend(undone(root, git, saved, cases)?);
    Ok(settled)
}

fn told(begun: &Begun, outcome: Outcome, message: &str) -> Settled {
    let about = begun.amendment.pin.as_ref().map_or(begun.amendment.oracle.as_str(), |pin| &pin.test);
    Settled { record: begun.record(), outcome, message: format!("{about}: {message}") }
}

/// Whether the pin that the amendment is about holds its new content; `None` when there is no such pin.
fn holds_after(amendment: &Amendment, cases: &[Arc<Case>]) -> Option<bool> {
    let about: Vec<_> = cases.iter().filter(|case| amendment.is_about(&case.pin)).collect();
    if about.is_empty() {
        return None;
    }
    Some(about.iter().any(|case| content(case) == amendment.after))
}

fn content(case: &Case) -> Option<String> {
    match &case.baseline {
        Baseline::Present(recorded) => Some(recorded.content.digest()),
        _ => None,
    }
}

/// Amendments of literals and inline texts in `saved` which the file no longer holds.
fn undone(root: &Root, git: Option<&Git>, saved: &RelPath, cases: &[Arc<Case>]) -> Result<Vec<Settled>, Refusal> {
    let ledger = Ledger::read(root, git);
    let mut settled = Vec::new();
    for case in cases {
        let in_source = matches!(case.pin.oracle.kind, OracleKind::Literal | OracleKind::Inline);
        if !in_source || !holds(&case.pin.oracle.key, saved) {
            continue;
        }
        let Some(now) = content(case) else { continue };
        let history = ledger.history(&case.pin);
        let changes: Vec<_> = history.iter().filter(|entry| entry.amendment.changes_content()).collect();
        let Some(last) = changes.first() else { continue };
        if last.amendment.pending || last.amendment.after.as_ref() == Some(&now) {
            continue;
        }
        let test = &case.pin.test;
        if last.committed {
            settled.push(Settled {
                record: last.path.clone(),
                outcome: Outcome::Reported,
                message: format!("{test}: what is pinned is no longer what {} accepted", last.path),
            });
            continue;
        }
        // One undo may take several back; each goes only if the text is what it was before the first of them.
        let fresh: Vec<_> = changes.iter().take_while(|entry| !entry.committed).collect();
        let Some(first) = fresh.iter().position(|entry| entry.amendment.before.as_ref() == Some(&now)) else {
            continue;
        };
        for entry in &fresh[..=first] {
            let real = write::place(root, &entry.path)?;
            write::remove(&real)
                .map_err(|err| Refusal(format!("{} could not be removed: {}", entry.path, write::words(&err))))?;
            settled.push(Settled {
                record: entry.path.clone(),
                outcome: Outcome::Undone,
                message: format!("{test}: the change was taken back, so its amendment {} is removed", entry.path),
            });
        }
    }
    Ok(settled)
}
