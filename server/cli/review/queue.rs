//! The drifts of a review in their order, and what became of each. Takes a scope, gives the case that is
//! looked at. Reads everything again after something was written, so that what is shown is what is there.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::look::Scope;
use super::super::render::count;
use crate::ledger::Verdict;
use crate::places::RelPath;
use crate::survey::{Case, State, Workspace};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    Open,
    Skipped,
    /// With the amendment.
    Accepted(RelPath),
    Judged(Verdict, RelPath),
    /// Not a drift any more, and not by a decision made here.
    Gone,
}

impl Fate {
    pub fn words(&self) -> String {
        match self {
            Fate::Open => "open".into(),
            Fate::Skipped => "skipped".into(),
            Fate::Accepted(_) => "accepted".into(),
            Fate::Judged(verdict, _) => format!("judged {}", verdict.word()),
            Fate::Gone => "not there any more".into(),
        }
    }
}

struct Item {
    id: String,
    /// As it was when it was last a drift.
    case: Arc<Case>,
    fate: Fate,
    /// Verdicts about places of it that were given here.
    verdicts: Vec<RelPath>,
    /// It was a drift when everything was last read.
    there: bool,
}

pub struct Queue {
    scope: Scope,
    items: Vec<Item>,
    at: usize,
}

impl Queue {
    pub fn of(scope: Scope) -> Queue {
        let mut queue = Queue { scope, items: Vec::new(), at: 0 };
        for case in queue.cases() {
            let judged_noise = case.verdict().is_some_and(|spoken| spoken.verdict == Verdict::Noise);
            if let Some(id) = case.drift_id.clone().filter(|_| !judged_noise) {
                queue.items.push(Item { id, case, fate: Fate::Open, verdicts: Vec::new(), there: true });
            }
        }
        queue
    }

    /// The drifts that are there now.
    fn cases(&self) -> Vec<Arc<Case>> {
        let survey = self.scope.survey();
        let is_open = |case: &&Arc<Case>| matches!(case.state, State::Drift | State::Missing) && case.drift.is_some();
        survey.cases.iter().filter(is_open).cloned().collect()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn workspace(&self) -> &Workspace {
        &self.scope.workspace
    }

    fn item(&self) -> Option<&Item> {
        self.items.get(self.at)
    }

    pub fn case(&self) -> Option<Arc<Case>> {
        self.item().map(|item| Arc::clone(&item.case))
    }

    pub fn fate(&self) -> Fate {
        self.item().map_or(Fate::Gone, |item| item.fate.clone())
    }

    /// Further drifts that wait and are the same change as this one.
    pub fn same_change(&self) -> usize {
        let change = |item: &Item| item.case.drift.as_ref().map(|drift| drift.change.clone());
        let Some(own) = self.item().and_then(change) else { return 0 };
        let waits = |item: &Item| matches!(item.fate, Fate::Open | Fate::Skipped);
        let others = self.items.iter().enumerate().filter(|(at, item)| *at != self.at && waits(item));
        others.filter(|(_, item)| change(item).as_ref() == Some(&own)).count()
    }

    /// To the next one that waits, around the end; then to those that were skipped, then to any.
    pub fn next(&mut self) {
        let all = self.items.len();
        let is = |at: &usize, fate: Fate| self.items.get(*at).is_some_and(|item| item.fate == fate);
        let after = || (1..=all).map(|by| (self.at + by) % all.max(1));
        let open = after().find(|at| is(at, Fate::Open));
        let next = open.or_else(|| after().find(|at| is(at, Fate::Skipped))).or_else(|| after().next());
        self.at = next.unwrap_or(0);
    }

    pub fn back(&mut self) {
        self.at = self.at.checked_sub(1).unwrap_or(self.items.len().saturating_sub(1));
    }

    pub fn skip(&mut self) {
        if let Some(item) = self.items.get_mut(self.at).filter(|item| item.fate == Fate::Open) {
            item.fate = Fate::Skipped;
        }
    }

    pub fn decided(&mut self, fate: Fate) {
        if let Some(item) = self.items.get_mut(self.at) {
            item.fate = fate;
        }
    }

    /// A verdict about a place was recorded: only the record changed.
    pub fn judged(&mut self, record: RelPath) {
        self.scope.workspace.reread_records();
        let ledger = Arc::clone(&self.scope.workspace.ledger);
        let key = self.item().map(|item| item.case.pin.oracle.key.clone());
        for item in self.items.iter_mut().filter(|item| Some(&item.case.pin.oracle.key) == key.as_ref()) {
            let mut case = Case::clone(&item.case);
            case.history = ledger.history(&case.pin);
            case.drift = None;
            let lines = (std::mem::take(&mut case.changed_lines), std::mem::take(&mut case.inserted_after));
            case = case.compared();
            (case.changed_lines, case.inserted_after) = lines;
            item.case = Arc::new(case);
        }
        if let Some(item) = self.items.get_mut(self.at) {
            item.verdicts.push(record);
        }
    }

    /// The newest decision that was made here about this drift.
    pub fn decision(&self) -> Option<RelPath> {
        let item = self.item()?;
        match &item.fate {
            Fate::Accepted(record) => Some(record.clone()),
            _ => item.verdicts.last().cloned(),
        }
    }

    /// The newest decision about this drift was taken back; whether the drift is there again.
    pub fn undone(&mut self) -> bool {
        let Some(item) = self.items.get_mut(self.at) else { return false };
        if !matches!(item.fate, Fate::Accepted(_)) {
            item.verdicts.pop();
        }
        item.fate = if item.there { Fate::Open } else { Fate::Gone };
        item.there
    }

    /// The drift that is looked at was accepted. Files that others of the list share are read again.
    pub fn accepted(&mut self, record: RelPath) {
        let Some(item) = self.items.get_mut(self.at) else { return };
        (item.fate, item.there) = (Fate::Accepted(record), false);
        let files = |case: &Case| -> Vec<RelPath> {
            let pin = &case.pin;
            let asserted = pin.asserted_in.as_ref().map(|(file, _)| file.clone());
            pin.oracle.path.iter().cloned().chain([pin.file.clone()]).chain(asserted).collect()
        };
        let written = files(&item.case);
        let open = self.items.iter().filter(|item| matches!(item.fate, Fate::Open | Fate::Skipped));
        if open.into_iter().any(|item| files(&item.case).iter().any(|file| written.contains(file))) {
            self.read_again();
        } else {
            self.scope.workspace.reread_records();
        }
    }

    /// Whether the drift that is looked at is there when everything is read again.
    pub fn still_there(&mut self) -> Result<bool, String> {
        self.read()?;
        Ok(self.item().is_some_and(|item| item.there))
    }

    /// Reads everything again; what is no drift any more without a decision is gone.
    pub fn read_again(&mut self) {
        // What was read before stays where nothing can be read.
        let _ = self.read();
    }

    fn read(&mut self) -> Result<(), String> {
        let root = self.scope.workspace.project.root.path.clone();
        let workspace = Workspace::open(&root)?;
        self.scope.workspace = workspace;
        let now: HashMap<String, Arc<Case>> =
            self.cases().into_iter().filter_map(|case| Some((case.drift_id.clone()?, case))).collect();
        for item in &mut self.items {
            item.there = now.contains_key(&item.id);
            match now.get(&item.id) {
                Some(case) => item.case = Arc::clone(case),
                None if matches!(item.fate, Fate::Open | Fate::Skipped) => item.fate = Fate::Gone,
                None => {}
            }
        }
        Ok(())
    }

    fn counted(&self, holds: impl Fn(&Fate) -> bool) -> usize {
        self.items.iter().filter(|item| holds(&item.fate)).count()
    }

    /// Drifts on which nothing was decided.
    pub fn open(&self) -> usize {
        self.counted(|fate| matches!(fate, Fate::Open | Fate::Skipped))
    }

    /// `drift 3 of 40: 36 open, 1 accepted, 1 unintended, 0 noise, 2 skipped`.
    pub fn counters(&self) -> String {
        format!("drift {} of {}: {}", self.at + 1, self.items.len(), self.numbers())
    }

    fn numbers(&self) -> String {
        let judged = |wanted| self.counted(|fate| matches!(fate, Fate::Judged(verdict, _) if *verdict == wanted));
        let skipped = self.counted(|fate| *fate == Fate::Skipped);
        let gone = self.counted(|fate| *fate == Fate::Gone);
        let gone = if gone > 0 { format!(", {gone} gone") } else { String::new() };
        format!(
            "{} open, {} accepted, {} unintended, {} noise, {skipped} skipped{gone}",
            self.open() - skipped,
            self.counted(|fate| matches!(fate, Fate::Accepted(_))),
            judged(Verdict::Unintended),
            judged(Verdict::Noise),
        )
    }

    /// What is said when the review is over.
    pub fn ending(&self) -> String {
        let mut out = format!("{}: {}\n", count(self.items.len(), "drift"), self.numbers());
        if self.items.iter().any(|item| matches!(item.fate, Fate::Accepted(_) | Fate::Judged(..))) {
            out.push_str("Commit the decisions together with the change they explain.\n");
        }
        out
    }
}
