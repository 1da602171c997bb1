//! What the code does now: what frameworks leave on disk and what runs recorded in
//! `.pindrift/observed/*.jsonl`. Takes a pin and its baseline, gives observations with their freshness.
//! Never runs a test, never writes.

use crate::oracles::{Artefact, Content};
use crate::places::RelPath;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    Artefact,
    Run,
}

/// One value that the code produced, with its provenance.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    pub content: Content,
    pub from: From,
    /// The artefact or the observation file.
    pub path: RelPath,
    /// When it was made, in seconds since 1970 (file time, or what the run recorded).
    pub at: Option<jiff::Timestamp>,
    pub command: Option<String>,
    pub revision: Option<String>,
    pub dirty: Vec<RelPath>,
    /// It belongs to another content of the oracle than the present one: no warning, no accept.
    pub stale: bool,
    /// Text behind an observed digest.
    pub preimage: Option<String>,
    pub artefact: Option<Artefact>,
}
