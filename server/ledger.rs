//! The committed record of decisions: `.pindrift/amendments/YYYY/MM-DD-<slug>-<10 hex>.toml`, one file a
//! decision, immutable once committed. The only code that reads or writes amendments.

use crate::places::RelPath;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Drift,
    New,
    Verdict,
    Judgement,
    Reclassify,
    Retire,
    Withdraw,
}

/// `pin = { file, test, nth }` of an amendment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PinRef {
    pub file: RelPath,
    /// Without parameter id.
    pub test: String,
    pub nth: usize,
}

/// What was observed, and by what.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Observed {
    pub command: Option<String>,
    pub revision: Option<String>,
    pub dirty: Vec<RelPath>,
    pub artefact: Option<RelPath>,
    pub at: Option<jiff::Timestamp>,
}

/// One decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Amendment {
    pub at: jiff::Timestamp,
    pub author: String,
    /// Front through which it came: `cli`, `vscode`, `nvim`, …
    pub via: String,
    pub proposed_by: Option<String>,
    pub confirmed_by: Option<String>,
    pub kind: Kind,
    pub pin: Option<PinRef>,
    /// `path`, `path#entry`, `path#literal:N`.
    pub oracle: String,
    pub framework: Option<String>,
    pub verdict: Option<String>,
    /// One line.
    pub reason: String,
    pub authority: Option<String>,
    /// Digest of the content before (`None` for a new baseline) and after (see `oracles::Content::digest`).
    pub before: Option<String>,
    pub after: Option<String>,
    pub proof: Option<String>,
    pub observed: Option<Observed>,
    /// Unified lines, bounded; beyond that size and digest.
    pub diff: Option<String>,
    /// Written for a change that was already there.
    pub after_the_fact: bool,
    /// `withdraw`: path of the amendment that it undoes.
    pub withdraws: Option<String>,
    /// `reclassify`: the new role.
    pub to: Option<String>,
    /// The write was planned and is not known to be finished (DESIGN 3.7, 3.8).
    pub pending: bool,
}

/// An amendment with its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub path: RelPath,
    pub amendment: Amendment,
    /// Present in HEAD with the same bytes.
    pub committed: bool,
}

/// All decisions of one root.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// Newest first.
    pub entries: Vec<std::sync::Arc<Entry>>,
    pub troubles: Vec<crate::pins::Trouble>,
}

impl Ledger {
    pub fn read(root: &crate::places::Root, git: Option<&crate::git::Git>) -> Ledger {
        let _ = (root, git);
        Ledger::default()
    }

    /// Decisions about this pin or its oracle, newest first.
    pub fn history(&self, pin: &crate::oracles::Pin) -> Vec<std::sync::Arc<Entry>> {
        let _ = pin;
        Vec::new()
    }
}
