//! The comparison guarded like the oracle: pins that are gone, and tests that see less of what they hold than
//! they did. Takes both revisions with their pairs and the decisions, gives items. A decision of kind
//! `comparison` says why a test sees less, one of kind `retire` ends a pin.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::pairs::{self, Held, Pairs};
use super::weakened::{self, Loosening};
use super::{Audit, Item, Outcome, Record, item, line};
use crate::ledger::{Amendment, Entry, Kind};
use crate::oracles::{Baseline, Pin, framework};
use crate::pins::{Extent, Project};
use crate::places::RelPath;
use crate::roles::Role;
use crate::survey::{self, Workspace};
use crate::text::Span;

/// A pin whose test sees less than at a base.
#[derive(Debug, Clone)]
pub struct Weaker {
    pub pin: Pin,
    /// One line each, for the person.
    pub what: Vec<String>,
    /// As an amendment of kind `comparison` keeps them.
    pub shapes: Vec<String>,
}

/// The characterizations that see less than they did in `base`.
pub fn weaker(base: &Workspace, workspace: &Workspace) -> Vec<Weaker> {
    let before = survey::pins(&base.project, &Extent::All);
    let after = survey::pins(&workspace.project, &Extent::All);
    let old = pairs::held(&base.project, &before);
    let new = pairs::held(&workspace.project, &after);
    let pairs = pairs::pairs(&old, &new);
    let (same, _) = of_pins(&pairs, &old, &new, (&before, &after));
    let mut comparer = Comparer { base: &base.project, project: &workspace.project, known: HashMap::new() };
    let mut found = Vec::new();
    for (was, is) in same {
        let loosened = comparer.loosened(was, is);
        if !loosened.is_empty() {
            let what = loosened.iter().map(|it| it.what.clone()).collect();
            found.push(Weaker { pin: is.clone(), what, shapes: loosened.iter().map(|it| it.shape.clone()).collect() });
        }
    }
    found
}

/// The pins of `base` that are gone, each with what was recorded.
pub fn ended(base: &Workspace, workspace: &Workspace) -> Vec<(Pin, Baseline)> {
    let before = survey::pins(&base.project, &Extent::All);
    let after = survey::pins(&workspace.project, &Extent::All);
    let old = pairs::held(&base.project, &before);
    let new = pairs::held(&workspace.project, &after);
    let pairs = pairs::pairs(&old, &new);
    let (_, missing) = of_pins(&pairs, &old, &new, (&before, &after));
    let whole = pairs.gone.iter().filter_map(|at| old.get(*at)).map(|held| &held.pin);
    whole
        .chain(missing)
        .filter_map(|pin| Some((pin.clone(), framework(&pin.framework)?.baseline(pin, &base.project))))
        .collect()
}

/// Pins of one oracle at the base and now, paired by their tests; then those that lack now.
fn of_pins<'a>(
    pairs: &Pairs,
    old: &[Held],
    new: &[Held],
    (before, after): (&'a [Pin], &'a [Pin]),
) -> (Vec<(&'a Pin, &'a Pin)>, Vec<&'a Pin>) {
    let grouped = |pins: &'a [Pin]| {
        let mut groups: HashMap<String, Vec<&'a Pin>> = HashMap::new();
        for pin in pins.iter().filter(|pin| pin.role == Role::Characterization) {
            if let Some(place) = pairs::place(pin) {
                groups.entry(place).or_default().push(pin);
            }
        }
        groups
    };
    let (before, after) = (grouped(before), grouped(after));
    let (mut same, mut missing) = (Vec::new(), Vec::new());
    for (was, is) in &pairs.pairs {
        let of = |held: &Held, groups: &HashMap<String, Vec<&'a Pin>>| {
            pairs::place(&held.pin).and_then(|place| groups.get(&place).cloned()).unwrap_or_default()
        };
        let (Some(was), Some(is)) = (old.get(*was), new.get(*is)) else { continue };
        let (mut was, mut is) = (of(was, &before), of(is, &after));
        let lacking = was.len().saturating_sub(is.len());
        type Key = fn(&Pin) -> (String, String, usize);
        let keys: [Key; 3] = [
            |pin| (pin.file.to_string(), pin.test.clone(), pin.nth),
            |pin| (String::new(), pin.test.rsplit("::").next().unwrap_or_default().to_string(), pin.nth),
            |_| (String::new(), String::new(), 0),
        ];
        for key in keys {
            was.retain(|pin| match is.iter().position(|other| key(other) == key(pin)) {
                Some(at) => {
                    same.push((*pin, is.remove(at)));
                    false
                }
                None => true,
            });
        }
        missing.extend(was.into_iter().take(lacking));
    }
    (same, missing)
}

/// The decision ends this pin, which holds a content of this digest.
fn ends(amendment: &Amendment, pin: &Pin, digest: &Option<String>) -> bool {
    let same_test = || amendment.pin.as_ref().is_some_and(|it| it.file == pin.file && it.test == pin.test_base());
    // Literals of a test are counted anew when one goes; what was recorded tells which one it was.
    let about = match pin.oracle.span {
        Some(_) => same_test() && amendment.before == *digest,
        None => amendment.is_about(pin) && same_test(),
    };
    amendment.kind == Kind::Retire && about
}

type Site = (RelPath, Span, Option<Span>, String);

/// Compares each test once, however many cases it has.
struct Comparer<'a> {
    base: &'a Project,
    project: &'a Project,
    known: HashMap<(Site, Site), Vec<Loosening>>,
}

impl Comparer<'_> {
    fn loosened(&mut self, was: &Pin, is: &Pin) -> Vec<Loosening> {
        let site = |pin: &Pin| (pin.file.clone(), pin.span, pin.test_span, pin.test_base().to_string());
        let (base, project) = (self.base, self.project);
        self.known.entry((site(was), site(is))).or_insert_with(|| weakened::loosened(base, was, project, is)).clone()
    }
}

impl Audit<'_> {
    /// Tests that see less than they did, and pins of an oracle that others still hold values against.
    pub(super) fn comparisons(
        &mut self,
        pairs: &Pairs,
        old: &[Held],
        new: &[Held],
        pins: (&[Pin], &[Pin]),
        record: &Record,
    ) {
        let (same, missing) = of_pins(pairs, old, new, pins);
        for was in missing {
            let held = Held::of(&self.base.project, was.clone());
            self.without(&held, pins.1, record);
        }
        if !self.sources_changed() {
            return;
        }
        let mut comparer =
            Comparer { base: &self.base.project, project: &self.workspace.project, known: HashMap::new() };
        // One item for each place, however many pins it is behind.
        type Behind<'p> = Vec<(&'p Pin, &'p Pin)>;
        let mut places: BTreeMap<(RelPath, usize, String), (Loosening, Behind)> = BTreeMap::new();
        for (was, is) in same {
            for loosening in comparer.loosened(was, is) {
                let place = (loosening.file.clone(), loosening.at.start, loosening.what.clone());
                places.entry(place).or_insert_with(|| (loosening, Vec::new())).1.push((was, is));
            }
        }
        for (loosening, behind) in places.into_values() {
            let Some((_, pin)) = behind.first() else { continue };
            let comparison = record.entries.iter().find(|entry| {
                let amendment = &entry.amendment;
                amendment.kind == Kind::Comparison
                    && record.fresh.contains(&entry.path)
                    && amendment.hunks.contains(&loosening.shape)
                    && !record.taken_back(entry)
            });
            let said = match comparison {
                Some(entry) => Some(vec![entry]),
                None if loosening.off => self.all_ended(&behind, record),
                None => None,
            };
            let said = said.unwrap_or_default();
            let others = match behind.len() {
                1 => String::new(),
                2 => " (and of one more pin)".to_string(),
                more => format!(" (and of {} more pins)", more - 1),
            };
            let test = pin.test_base();
            let message = match said.first() {
                Some(entry) => entry.amendment.reason.clone(),
                None => format!(
                    "{test} sees less than it did{others}: {}; take it back, or write the reason with `pindrift explain \
                     {test} --base {} --reason …`",
                    loosening.what, self.named
                ),
            };
            self.items.push(Item {
                outcome: if said.is_empty() { Outcome::Failed } else { Outcome::Explained },
                test: Some(pin.test.clone()),
                oracle: pin.oracle.key.clone(),
                file: loosening.file.to_string(),
                line: self
                    .workspace
                    .project
                    .unit(&loosening.file)
                    .map_or(1, |unit| unit.text.line_of(loosening.at.start) + 1),
                message,
                amendments: said.iter().map(|entry| entry.path.to_string()).collect(),
            });
        }
    }

    /// The decisions that end every one of these pins; `None` where one of them was never ended.
    fn all_ended<'r>(&self, behind: &[(&Pin, &Pin)], record: &'r Record) -> Option<Vec<&'r Arc<Entry>>> {
        let mut found: Vec<&'r Arc<Entry>> = Vec::new();
        for (was, is) in behind {
            let digests = [
                Held::of(&self.base.project, (*was).clone()).digest,
                Held::of(&self.workspace.project, (*is).clone()).digest,
            ];
            let ends = |entry: &&Arc<Entry>| {
                digests.iter().any(|digest| ends(&entry.amendment, is, digest)) && !record.taken_back(entry)
            };
            let entry = record.entries.iter().find(ends)?;
            if found.iter().all(|other| other.path != entry.path) {
                found.push(entry);
            }
        }
        Some(found)
    }

    /// Some source that a test can reach is not what it was.
    fn sources_changed(&self) -> bool {
        let (before, after) = (&self.base.project.files, &self.workspace.project.files);
        let differs = |path: &RelPath| match (before.get(path), after.get(path)) {
            (Some(was), Some(is)) => was.unit.text.as_str() != is.unit.text.as_str(),
            _ => true,
        };
        before.keys().chain(after.keys()).any(differs)
    }

    /// An oracle of the base that no characterization holds values against now.
    pub(super) fn gone(&mut self, was: &Held, others: &[Held], all: &[Pin], record: &Record) {
        if was.content.is_none() {
            return;
        }
        let still = others.iter().find(|other| was.is(other)).map(|other| &other.pin);
        match still {
            Some(still) => self.relabelled(was, still, record),
            None => self.without(was, all, record),
        }
    }

    fn relabelled(&mut self, was: &Held, still: &Pin, record: &Record) {
        // One that stood at the base already was taken over by what made it a characterization again.
        let says = |entry: &&Arc<Entry>| {
            let amendment = &entry.amendment;
            let of_test =
                || amendment.pin.as_ref().is_some_and(|pin| pin.file == still.file && pin.test == still.test_base());
            amendment.kind == Kind::Reclassify
                && amendment.to.as_deref() == Some(still.role.word())
                && of_test()
                && record.fresh.contains(&entry.path)
                && !record.taken_back(entry)
        };
        let found = record.entries.iter().find(says);
        let (outcome, message) = match found {
            Some(entry) => (Outcome::Explained, entry.amendment.reason.clone()),
            None => (
                Outcome::Failed,
                format!(
                    "it was a characterization and is {} now, and no amendment says why; use `pindrift reclassify`, or put \
                     its label back",
                    still.role.word()
                ),
            ),
        };
        self.items.push(Item {
            outcome,
            test: Some(still.test.clone()),
            oracle: was.pin.oracle.key.clone(),
            file: still.file.to_string(),
            line: line(self.workspace, still),
            message,
            amendments: found.iter().map(|entry| entry.path.to_string()).collect(),
        });
    }

    /// A pin of the base that is gone: on the record, or not.
    fn without(&mut self, was: &Held, all: &[Pin], record: &Record) {
        let pin = &was.pin;
        let ends = |entry: &&Arc<Entry>| ends(&entry.amendment, pin, &was.digest) && !record.taken_back(entry);
        if let Some(entry) = record.entries.iter().find(ends) {
            let (reason, path) = (entry.amendment.reason.clone(), entry.path.to_string());
            self.items.push(item(self.base, Outcome::Removed, was, reason, vec![path]));
            return;
        }
        let test = pin.test_base();
        let retire = format!("`pindrift retire {test} --base {} --reason …`", self.named);
        let project = &self.workspace.project;
        let name = test.rsplit("::").next().unwrap_or(test);
        let now = project.unit(&pin.file).and_then(|unit| {
            let path = pin.test_span.and_then(|span| {
                let unit = self.base.project.unit(&pin.file)?;
                unit.functions.iter().find(|function| function.span == span).map(|function| function.path.clone())
            })?;
            Some((unit, unit.functions.iter().find(|function| function.name == name && function.path == path)?))
        });
        let Some((unit, function)) = now else {
            let message = format!(
                "{test} is gone with what it pinned, and no amendment ends it; bring it back, or say why with {retire}"
            );
            self.items.push(item(self.base, Outcome::Failed, was, message, vec![]));
            return;
        };
        let left = weakened::left_over(&self.base.project, pin, unit, function.span);
        if let (None, Some(at)) = (&left, weakened::still_passed(&self.base.project, pin, unit, function.span)) {
            self.items.push(Item {
                outcome: Outcome::Noted,
                test: Some(pin.test.clone()),
                oracle: pin.oracle.key.clone(),
                file: pin.file.to_string(),
                line: unit.text.line_of(at.start) + 1,
                message: format!(
                    "the value that {test} pinned goes into a call now that is not followed; see that it still compares"
                ),
                amendments: Vec::new(),
            });
            return;
        }
        let of_test = |other: &&Pin| other.file == pin.file && other.test_base() == test;
        let mut others = all.iter().filter(of_test);
        if others.clone().any(|other| other.oracle.path.is_none()) {
            // Which file it is held against is not known any more, and it may be this one.
            self.items.push(Item {
                outcome: Outcome::Noted,
                test: Some(pin.test.clone()),
                oracle: pin.oracle.key.clone(),
                file: pin.file.to_string(),
                line: unit.text.line_of(function.name_span.start) + 1,
                message: format!(
                    "{test} holds its values against a file that is not known now; see that {} is still one of them",
                    pin.oracle.key
                ),
                amendments: Vec::new(),
            });
            return;
        }
        let what = if others.next().is_some() { "this value" } else { "its value" };
        let as_it_was = pin.test_span.and_then(|span| {
            let tight = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            let was = self.base.project.unit(&pin.file)?;
            Some(tight(was.text.slice(span)) == tight(unit.text.slice(function.span)))
        });
        let (at, message) = match left {
            Some((at, shown)) => (
                at,
                format!(
                    "the value that was held against {} is only asserted by `{shown}` now; put the comparison back, or end \
                     the pin with {retire}",
                    pin.oracle.key
                ),
            ),
            None if as_it_was == Some(true) => (
                function.name_span,
                format!(
                    "{test} is as it was, and what it calls, or a setting, does not hold {what} against {} any more; take that \
                     back, or end the pin with {retire}",
                    pin.oracle.key
                ),
            ),
            None => (
                function.name_span,
                format!(
                    "{test} does not hold {what} against {} any more; put the comparison back, or end the pin with {retire}",
                    pin.oracle.key
                ),
            ),
        };
        self.items.push(Item {
            outcome: Outcome::Failed,
            test: Some(pin.test.clone()),
            oracle: pin.oracle.key.clone(),
            file: pin.file.to_string(),
            line: unit.text.line_of(at.start) + 1,
            message,
            amendments: Vec::new(),
        });
    }
}
