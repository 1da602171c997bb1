//! What the code does now: what frameworks leave on disk and what runs recorded in
//! `.pindrift/observed/*.jsonl`. Takes a pin and its baseline, gives observations with their freshness.
//! Never runs a test, never writes.
//!
//! # Freshness
//!
//! An observation belongs to the oracle content it was compared with. Where the artefact records that
//! content, or a record its digest, that decides. Otherwise an artefact is stale when the oracle's file is
//! newer, except when both are tracked by git and unmodified (a clone has no times). The time of a test's
//! source never counts: there only a changed pin ages an observation.
//!
//! # The recorded format
//!
//! See [`records`]: one JSON object a line, schema 1.

use std::collections::{BTreeMap, HashSet};

use crate::oracles::{self, Artefact, Baseline, Content, OracleKind, Pin, Recorded};
use crate::pins::Project;
use crate::places::RelPath;
use crate::shelf::{Read, Shelf};

pub mod notes;
pub mod records;

pub use records::{Outcome, Record, Records};

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
    /// When it was made (file time, or what the run recorded).
    pub at: Option<jiff::Timestamp>,
    pub command: Option<String>,
    pub revision: Option<String>,
    pub dirty: Vec<RelPath>,
    /// What the run was made under: versions, time zone, locale, hash seed.
    pub environment: BTreeMap<String, String>,
    /// It belongs to another content of the oracle than the present one: no warning, no accept.
    pub stale: bool,
    /// Text behind an observed digest.
    pub preimage: Option<String>,
    /// Something of the value may be lost: it is shown and never accepted.
    pub lossy: bool,
    pub artefact: Option<Artefact>,
}

/// What is known of one pin's present behaviour.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// The newest that belongs to the present oracle, else the newest stale one.
    pub best: Option<Observation>,
    /// Equally current observations disagree.
    pub unstable: bool,
    /// The observations that disagree, where some do.
    pub disagreeing: Vec<Observation>,
    /// The newest run stopped before it reached this pin.
    pub not_reached: bool,
    /// Artefacts that are there and cannot be read: which, and why, for the person.
    pub unreadable: Vec<(RelPath, String)>,
}

/// One observation with what says how current it is.
struct Candidate {
    seen: Observation,
    /// Equal for observations of which none is newer: those of one run, those of one clone.
    moment: Moment,
}

#[derive(Clone, PartialEq)]
enum Moment {
    /// Files of a clean work tree have no times.
    Clone,
    Run(String),
    At(Option<jiff::Timestamp>),
}

/// Judges artefacts and records. `clean` says that a path is tracked by git and unmodified.
pub fn observed(
    pin: &Pin,
    baseline: &Baseline,
    project: &Project,
    records: &Records,
    clean: &dyn Fn(&RelPath) -> bool,
) -> Observed {
    let framework = oracles::framework(&pin.framework);
    let artefacts = framework.map(|framework| framework.artefacts(pin, project)).unwrap_or_default();
    let assertion = project.unit(&pin.file).map(|unit| records::assertion_digest(unit.text.slice(pin.span)));
    let mut observed = judge(pin, baseline, artefacts, records.of(pin), assertion.as_deref(), &project.shelf, clean);
    if let (Some(framework), Some(best)) = (framework, &mut observed.best) {
        let told = best.preimage.take().filter(|text| oracles::digest::is_behind(pin, &best.content, text));
        best.preimage = told.or_else(|| framework.preimage(pin, best.artefact.as_ref()?, project));
    }
    observed
}

fn judge(
    pin: &Pin,
    baseline: &Baseline,
    artefacts: Vec<Artefact>,
    records: &[Record],
    assertion: Option<&str>,
    shelf: &Shelf,
    clean: &dyn Fn(&RelPath) -> bool,
) -> Observed {
    let mut out = Observed::default();
    let recorded = match baseline {
        Baseline::Present(recorded) => Some(recorded),
        Baseline::Missing => None,
        Baseline::Unreadable(_) => return out,
    };
    let mut all: Vec<Candidate> = Vec::new();
    for artefact in artefacts {
        match of_artefact(pin, recorded, &artefact, shelf, clean) {
            Ok(Some(candidate)) => all.push(candidate),
            Ok(None) => {}
            Err(why) => out.unreadable.push((artefact.path, why)),
        }
    }
    let mut last_stop: Option<&Record> = None;
    for record in records {
        match of_record(pin, recorded, record, assertion) {
            Some(candidate) => all.push(candidate),
            None if record.outcome == Outcome::NotReached && last_stop.is_none_or(|stop| stop.at <= record.at) => {
                last_stop = Some(record);
            }
            None => {}
        }
    }
    // Newest last; of equal times the later line of the file. Records know their time, clones do not.
    all.sort_by_key(|candidate| (!candidate.seen.stale, candidate.seen.at));
    let Some(newest) = all.last() else {
        out.not_reached = last_stop.is_some();
        return out;
    };
    out.not_reached = last_stop.is_some_and(|stop| newest.seen.stale || newest.seen.at < stop.at);
    if !newest.seen.stale {
        let peers: Vec<&Candidate> =
            all.iter().filter(|peer| !peer.seen.stale && peer.moment == newest.moment).collect();
        let values: HashSet<&Content> = peers.iter().map(|peer| &peer.seen.content).collect();
        if values.len() > 1 {
            out.unstable = true;
            out.disagreeing = peers.iter().map(|peer| peer.seen.clone()).collect();
        }
    }
    out.best = all.pop().map(|candidate| candidate.seen);
    if let Some(best) = out.best.as_mut().filter(|best| best.from == From::Run && !best.stale) {
        // The same value lies in an artefact: accepting takes its bytes and clears it away.
        let same = all
            .iter()
            .find(|other| !other.seen.stale && other.seen.artefact.is_some() && other.seen.content == best.content);
        best.artefact = same.and_then(|other| other.seen.artefact.clone());
    }
    out
}

fn of_artefact(
    pin: &Pin,
    recorded: Option<&Recorded>,
    artefact: &Artefact,
    shelf: &Shelf,
    clean: &dyn Fn(&RelPath) -> bool,
) -> Result<Option<Candidate>, String> {
    let content = match (artefact.says_match, recorded) {
        (true, Some(recorded)) => artefact.compared_with.clone().unwrap_or_else(|| recorded.content.clone()),
        (true, None) => return Ok(None),
        (false, _) => artefact.content.clone()?,
    };
    let modified = |path: &RelPath| shelf.stamp(path).and_then(|stamp| stamp.modified);
    let made = modified(&artefact.path);
    let in_source = matches!(pin.oracle.kind, OracleKind::Literal | OracleKind::Inline);
    let both_clean = |oracle: &RelPath| clean(oracle) && clean(&artefact.path);
    let mut of_clone = false;
    let stale = match (&artefact.compared_with, recorded, &pin.oracle.path) {
        (Some(compared), Some(recorded), _) => *compared != recorded.content,
        (Some(_), None, _) => true,
        (None, Some(_), Some(oracle)) if !in_source => {
            of_clone = both_clean(oracle);
            unsaved(shelf, oracle) || (modified(oracle) > made && !of_clone)
        }
        _ => false,
    };
    let at = made.and_then(|time| jiff::Timestamp::try_from(time).ok());
    Ok(Some(Candidate {
        seen: Observation {
            content,
            from: From::Artefact,
            path: artefact.path.clone(),
            at,
            command: None,
            revision: None,
            dirty: Vec::new(),
            environment: BTreeMap::new(),
            stale,
            preimage: None,
            lossy: false,
            artefact: Some(artefact.clone()),
        },
        moment: if of_clone { Moment::Clone } else { Moment::At(at) },
    }))
}

/// An editor holds another text of the oracle than the disk: nothing was compared with that one yet.
fn unsaved(shelf: &Shelf, oracle: &RelPath) -> bool {
    match (shelf.open_text(oracle), shelf.disk(oracle)) {
        (Some(open), Read::Bytes(disk)) => open.as_str().as_bytes() != &*disk,
        _ => false,
    }
}

fn of_record(pin: &Pin, recorded: Option<&Recorded>, record: &Record, assertion: Option<&str>) -> Option<Candidate> {
    let compared = recorded.map(|recorded| recorded.content.digest());
    let same_oracle = compared == record.oracle_digest;
    let same_pin = match (&record.assertion, assertion) {
        (Some(then), Some(now)) => then == now,
        _ => true,
    };
    let content = match (&record.value, record.outcome) {
        (_, Outcome::NotReached) => return None,
        // What the comparison took as equal is equal, within its tolerance or as `1 == 1.0`.
        (_, Outcome::Match) if same_oracle && recorded.is_some() => recorded?.content.clone(),
        (Some(value), _) => {
            let value = value.content(pin)?;
            match oracles::framework(&pin.framework) {
                Some(framework) => framework.observed(pin, value),
                None => value,
            }
        }
        (None, _) => return None,
    };
    Some(Candidate {
        seen: Observation {
            content,
            from: From::Run,
            path: record.path.clone(),
            at: record.at,
            command: record.command.clone(),
            revision: record.revision.clone(),
            dirty: record.dirty.clone(),
            environment: record.environment.clone(),
            stale: !(same_oracle && same_pin) || record.aged,
            preimage: record.preimage.clone(),
            lossy: record.lossy,
            artefact: None,
        },
        moment: record.run.clone().map_or(Moment::At(record.at), Moment::Run),
    })
}

#[cfg(test)]
mod tests;
