//! Which entry or file each comparison of a test is held against, by syrupy's rule (4 to 7): the test's name,
//! then `[name]`, or `.N` for the N-th execution of the same snapshot object. Takes the executions of one test
//! in the order in which it makes them, gives names, or what is known of them.

use std::collections::{BTreeMap, BTreeSet};

use super::extension::Extension;
use crate::code::{Stmt, StmtKind};
use crate::evaluate::World;
use crate::pins::{Project, Site};

/// What follows the test's name.
#[derive(Debug, Clone, PartialEq)]
pub enum Suffix {
    Exact(String),
    /// `.N` with N at least the first and at most the second, `.0` being nothing.
    Counted(usize, Option<usize>),
    /// An explicit name that is known in part.
    Named(Vec<Option<String>>),
}

impl Suffix {
    pub fn of_index(index: usize) -> Suffix {
        Suffix::Exact(if index == 0 { String::new() } else { format!(".{index}") })
    }

    /// Whether a text is such a suffix.
    pub fn fits(&self, text: &str) -> bool {
        match self {
            Suffix::Exact(exact) => text == exact,
            Suffix::Counted(least, most) => {
                let number = match text.strip_prefix('.') {
                    Some(digits) if !digits.starts_with('0') => digits.parse().ok(),
                    Some(_) => None,
                    None => text.is_empty().then_some(0),
                };
                number.is_some_and(|number: usize| number >= *least && most.is_none_or(|most| number <= most))
            }
            Suffix::Named(parts) => {
                let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
                inner.is_some_and(|inner| crate::evaluate::fits(parts, inner))
            }
        }
    }
}

/// An explicit name.
#[derive(Debug, Clone, PartialEq)]
pub enum Name {
    None,
    Known(Suffix),
}

/// How one comparison is made.
#[derive(Debug, Clone)]
pub struct How {
    /// `None`: a class that is not understood.
    pub extension: Option<Extension>,
    pub name: Name,
    /// Source of what is filtered or replaced before the comparison.
    pub filters: Vec<String>,
    /// Only a difference to another snapshot is recorded.
    pub diff: bool,
}

/// One execution of a comparison.
#[derive(Debug, Clone)]
pub struct Execution {
    pub site: usize,
    pub world: usize,
    /// Which parameter row.
    pub row: usize,
    pub place: Place,
    /// The snapshot object whose counter counts.
    pub object: String,
    /// Set where options were given to the object elsewhere: they hold for its next execution only.
    pub once: Option<String>,
    pub how: How,
    /// What holds after that.
    pub later: How,
    /// It is not meant to hold.
    pub negated: bool,
}

/// Where in the course of the test it is made.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Place {
    /// Compares as the executions follow each other.
    pub order: Vec<usize>,
    pub guards: Vec<Guard>,
    /// It stands in a loop of which the rounds are not known; the first such loop.
    pub repeats: Option<Vec<usize>>,
}

/// A part of the code that may not run.
#[derive(Debug, Clone, PartialEq)]
pub struct Guard {
    pub at: Vec<usize>,
    pub part: usize,
    /// One of exactly this many parts runs; `None`: not known how many do.
    pub of: Option<usize>,
}

pub fn place(project: &Project, site: &Site, world: &World) -> Place {
    let mut found = Place::default();
    for (nth, frame) in site.frames.iter().enumerate() {
        let function = frame.function.and_then(|index| project.unit(&frame.file)?.functions.get(index));
        let rounds = world.rounds.get(nth).map_or(&[][..], Vec::as_slice);
        if let Some(function) = function {
            let mut rounds = rounds.iter();
            around(&function.body, frame.at.start, &mut rounds, &mut found);
        }
        found.order.push(frame.at.start);
    }
    found
}

fn around(body: &[Stmt], at: usize, rounds: &mut std::slice::Iter<Option<usize>>, found: &mut Place) {
    let holds = |body: &[Stmt]| body.iter().any(|stmt| stmt.span.holds(at));
    for stmt in body.iter().filter(|stmt| stmt.span.holds(at)) {
        match &stmt.kind {
            StmtKind::For { body, .. } => {
                if holds(body) {
                    found.order.push(stmt.span.start);
                    let round = rounds.next().copied().flatten();
                    if round.is_none() {
                        found.repeats.get_or_insert_with(|| found.order.clone());
                    }
                    found.order.push(round.unwrap_or(0));
                }
                around(body, at, rounds, found);
            }
            StmtKind::While { body, .. } => {
                if holds(body) {
                    found.order.push(stmt.span.start);
                    found.repeats.get_or_insert_with(|| found.order.clone());
                }
                around(body, at, rounds, found);
            }
            StmtKind::With { body, .. } => around(body, at, rounds, found),
            StmtKind::If { then, otherwise, .. } => {
                let mut key = found.order.clone();
                key.push(stmt.span.start);
                let of = Some(if otherwise.is_empty() { 1 } else { 2 });
                for (part, body) in [then, otherwise].into_iter().enumerate() {
                    if holds(body) {
                        found.guards.push(Guard { at: key.clone(), part, of });
                    }
                    around(body, at, rounds, found);
                }
            }
            StmtKind::Block(parts) => {
                let mut key = found.order.clone();
                key.push(stmt.span.start);
                for (part, body) in parts.iter().enumerate() {
                    if holds(body) && parts.len() > 1 {
                        found.guards.push(Guard { at: key.clone(), part, of: None });
                    }
                    around(body, at, rounds, found);
                }
            }
            _ => {}
        }
    }
}

/// The suffix of each execution and how it is made, in the order given.
pub fn suffixes(executions: &[Execution]) -> Vec<(Suffix, How)> {
    let mut order: Vec<usize> = (0..executions.len()).collect();
    order.sort_by(|a, b| {
        let (a, b) = (&executions[*a], &executions[*b]);
        (a.row, &a.place.order, a.site).cmp(&(b.row, &b.place.order, b.site))
    });
    let mut given: BTreeSet<(usize, &str)> = BTreeSet::new();
    let mut out: Vec<Option<(Suffix, How)>> = executions.iter().map(|_| None).collect();
    for (at, index) in order.iter().enumerate() {
        let execution = &executions[*index];
        let first = execution.once.as_deref().is_none_or(|once| given.insert((execution.row, once)));
        let how = if first { &execution.how } else { &execution.later };
        let suffix = match &how.name {
            Name::Known(suffix) => suffix.clone(),
            Name::None => {
                let before = order[..at].iter().map(|before| &executions[*before]);
                let peers: Vec<&Execution> =
                    before.filter(|before| before.row == execution.row && before.object == execution.object).collect();
                counted(execution, &peers)
            }
        };
        out[*index] = Some((suffix, how.clone()));
    }
    out.into_iter()
        .zip(executions)
        .map(|(out, execution)| out.unwrap_or_else(|| (Suffix::Counted(0, None), execution.how.clone())))
        .collect()
}

/// Executions in the parts of one guarded place.
#[derive(Default)]
struct Parts {
    counts: BTreeMap<usize, usize>,
    of: Option<usize>,
    /// Some of them are behind another guard.
    nested: bool,
}

/// The index of an unnamed execution, after those of the same object that come before it in the source.
fn counted(execution: &Execution, before: &[&Execution]) -> Suffix {
    let (mut least, mut most) = (0, Some(0));
    let mut add = |low: usize, high: Option<usize>| {
        least += low;
        most = most.zip(high).map(|(most, high)| most + high);
    };
    // By the first guard that the execution does not stand behind: how many in each part.
    let mut parts: BTreeMap<&[usize], Parts> = BTreeMap::new();
    for peer in before {
        let shared = |guard: &Guard| execution.place.guards.contains(guard);
        if peer.place.repeats.is_some() && peer.place.repeats != execution.place.repeats {
            add(0, None);
            continue;
        }
        let mut others = peer.place.guards.iter().filter(|guard| !shared(guard));
        match others.next() {
            None => add(1, Some(1)),
            Some(guard) => {
                let other_part = |own: &Guard| own.at == guard.at && own.part != guard.part;
                if guard.of.is_some() && execution.place.guards.iter().any(other_part) {
                    continue;
                }
                let known = parts.entry(&guard.at).or_default();
                *known.counts.entry(guard.part).or_default() += 1;
                known.of = guard.of;
                known.nested |= others.next().is_some();
            }
        }
    }
    for Parts { counts, of, nested } in parts.values() {
        let high = counts.values().copied().max().unwrap_or(0);
        match of {
            Some(of) if !nested && *of > 1 && counts.len() == *of => {
                add(counts.values().copied().min().unwrap_or(0), Some(high));
            }
            Some(_) => add(0, Some(high)),
            None => add(0, Some(counts.values().sum())),
        }
    }
    if execution.place.repeats.is_some() {
        return Suffix::Counted(least, None);
    }
    match most {
        Some(most) if most == least => Suffix::of_index(least),
        most => Suffix::Counted(least, most),
    }
}
