//! The whole line for a root or for one file: facts → sites → pins → baselines → observations → drift.
//! Takes a project, gives [`Case`]s and troubles. Never writes.

use std::sync::Arc;

use crate::drift::Drift;
use crate::ledger::Entry;
use crate::observations::Observation;
use crate::oracles::{Baseline, Orphan, Pin};
use crate::pins::Trouble;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    Match,
    Drift,
    Missing,
    /// A specification's mismatch.
    Failed,
    Unobserved,
    NotReached,
    Unstable,
    Unreadable,
    ExpectedFailure,
    Skipped,
}

/// One pin with everything that is known about it. Hover, findings, actions and check all read this.
#[derive(Debug, Clone)]
pub struct Case {
    pub pin: Pin,
    pub baseline: Baseline,
    /// The observation that counts: the newest consistent with the present oracle, else a stale one.
    pub observation: Option<Observation>,
    pub state: State,
    /// For `Drift`, `Failed`, and `Missing` with an observed value.
    pub drift: Option<Drift>,
    /// 12 hexadecimal digits; hash of the pin, the oracle content and the observed content.
    pub drift_id: Option<String>,
    /// 1-based lines of the file that holds the oracle.
    pub changed_lines: Vec<usize>,
    pub inserted_after: Vec<usize>,
    /// Decisions about this pin's oracle, newest first.
    pub history: Vec<Arc<Entry>>,
    /// `false` after an accept until a run matched.
    pub confirmed: bool,
}

#[derive(Debug, Clone, Default)]
pub struct Survey {
    pub cases: Vec<Arc<Case>>,
    pub orphans: Vec<Orphan>,
    pub troubles: Vec<Trouble>,
}
