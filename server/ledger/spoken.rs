//! What people said about a pin besides accepting: what they think of the recorded behaviour, and of the
//! places of a drift. Takes a pin's history, newest first, gives the word that counts. Never writes.

use std::sync::Arc;

use super::{Entry, Kind};

/// What a person thinks of pinned behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    Unjudged,
    Deliberate,
    SuspectedBug,
    Contract,
}

impl Judgement {
    pub const ALL: [Judgement; 4] =
        [Judgement::Deliberate, Judgement::SuspectedBug, Judgement::Contract, Judgement::Unjudged];

    /// The word of reports and amendments.
    pub fn word(self) -> &'static str {
        match self {
            Judgement::Unjudged => "unjudged",
            Judgement::Deliberate => "deliberate",
            Judgement::SuspectedBug => "suspected-bug",
            Judgement::Contract => "contract",
        }
    }

    pub fn of(word: &str) -> Option<Judgement> {
        Judgement::ALL.into_iter().find(|known| known.word() == word)
    }

    /// As it stands in a sentence: "judged a suspected bug".
    pub fn phrase(self) -> &'static str {
        match self {
            Judgement::Unjudged => "unjudged",
            Judgement::Deliberate => "deliberate",
            Judgement::SuspectedBug => "a suspected bug",
            Judgement::Contract => "a product contract",
        }
    }
}

/// A person's classification of a place of a drift, when its oracle is to stay as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The code is to be fixed.
    Unintended,
    /// The harness is to be fixed.
    Noise,
}

impl Verdict {
    /// The word of reports and amendments.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Unintended => "unintended",
            Verdict::Noise => "noise",
        }
    }

    pub fn of(word: &str) -> Option<Verdict> {
        [Verdict::Unintended, Verdict::Noise].into_iter().find(|known| known.word() == word)
    }
}

/// The newest judgement that was not taken back.
pub fn judgement(history: &[Arc<Entry>]) -> Option<(Judgement, &Arc<Entry>)> {
    let entry = standing(history, Kind::Judgement).next()?;
    let judged = Judgement::of(entry.amendment.verdict.as_deref()?)?;
    (judged != Judgement::Unjudged).then_some((judged, entry))
}

/// The newest verdict about a place of this shape that was not taken back.
pub fn verdict<'a>(history: &'a [Arc<Entry>], shape: &str) -> Option<(Verdict, &'a Arc<Entry>)> {
    let entry = standing(history, Kind::Verdict).find(|entry| entry.amendment.hunks.iter().any(|own| own == shape))?;
    Some((Verdict::of(entry.amendment.verdict.as_deref()?)?, entry))
}

fn standing(history: &[Arc<Entry>], kind: Kind) -> impl Iterator<Item = &Arc<Entry>> {
    history.iter().filter(move |entry| {
        let back = |other: &Arc<Entry>| {
            other.amendment.kind == Kind::Withdraw && other.amendment.withdraws.as_deref() == Some(entry.path.as_str())
        };
        entry.amendment.kind == kind && !entry.amendment.pending && !history.iter().any(back)
    })
}
