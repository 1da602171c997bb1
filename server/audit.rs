//! The gate: every oracle that changed since a base has its decisions. Takes a workspace and a base
//! revision, gives a [`Report`]. The rules are those of the base: its files, its policy. Never writes in
//! the workspace; the base is read in a temporary folder.

mod compared;
mod pairs;
mod policy;
mod sides;
mod strictness;
mod way;
mod weakened;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use crate::amendment::FINISH;
use crate::git::{self, Git};
use crate::ledger::{AMENDMENTS, Amendment, Entry, Kind, decode};
use crate::oracles::{Content, Pin, Refusal};
use crate::past::past;
use crate::pins::Extent;
use crate::places::RelPath;
use crate::survey::{self, Workspace};
use pairs::{Held, Pairs};
use way::{Edge, way};

pub use compared::{Weaker, ended, weaker};

/// What became of one oracle, or of one amendment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Changed, and no decision leads there; or a decision was edited or deleted. The gate is closed.
    Failed,
    /// Changed, and its amendments say why.
    Explained,
    /// Back to what it was, together with the amendments of the change: a revert.
    Reverted,
    /// An oracle that the base does not have.
    New,
    /// Its pin is gone too.
    Removed,
    /// The same content under another name.
    Moved,
    /// Something to know.
    Noted,
}

impl Outcome {
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Failed => "failed",
            Outcome::Explained => "explained",
            Outcome::Reverted => "reverted",
            Outcome::New => "new",
            Outcome::Removed => "removed",
            Outcome::Moved => "moved",
            Outcome::Noted => "noted",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Item {
    pub outcome: Outcome,
    pub test: Option<String>,
    /// Key of the oracle, or path of the amendment that is wrong.
    pub oracle: String,
    /// Where to look now (in the base, for what is removed); from the root.
    pub file: String,
    /// 1-based.
    pub line: usize,
    pub message: String,
    /// Paths of the amendments that lead there.
    pub amendments: Vec<String>,
}

/// Everything that changed and matters, failures first. What is as it was is not listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Commit id of the merge base.
    pub base: String,
    pub items: Vec<Item>,
    /// Oracles that were looked at.
    pub looked_at: usize,
    /// Paths of the amendments that the base does not have.
    pub decisions: Vec<String>,
    /// Amendments, and files of items, that are not in HEAD as they are here: the work tree is what is judged.
    pub uncommitted: Vec<String>,
}

impl Report {
    /// Every change has its decisions.
    pub fn passes(&self) -> bool {
        self.failures().next().is_none()
    }

    pub fn failures(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| item.outcome == Outcome::Failed)
    }
}

/// Holds the work tree against the commit on which HEAD and `base` parted. An error means that nothing can
/// be said: no git, no such revision, a shallow clone; it says what to do.
pub fn audit(workspace: &Workspace, base: &str) -> Result<Report, Refusal> {
    let Some(git) = workspace.git.as_deref() else {
        return Err(Refusal("this folder is in no git work tree; there is no base to hold it against".into()));
    };
    let commit = git.merge_base(base)?;
    let past = past(&workspace.project.root, git, &commit)?;
    let mut audit = Audit { workspace, git, base: &past.workspace, named: base, items: Vec::new() };
    let record = audit.record(&commit)?;
    let before = survey::pins(&past.workspace.project, &Extent::All);
    let all = survey::pins(&workspace.project, &Extent::All);
    let old = pairs::held(&past.workspace.project, &before);
    let new = pairs::held(&workspace.project, &all);
    let pairs = pairs::pairs(&old, &new);
    audit.oracles(&pairs, &old, &new, &all, &record);
    audit.comparisons(&pairs, &old, &new, (&before, &all), &record);
    audit.sides(&pairs, &old, &new, &commit)?;
    audit.policy(&record, &commit);
    audit.settings();
    let mut items = audit.items;
    items.sort();
    items.dedup();
    let uncommitted = uncommitted(git, &record, &items);
    let decisions = record.fresh.iter().map(|path| path.to_string()).collect();
    Ok(Report { base: commit, items, looked_at: new.len(), decisions, uncommitted })
}

fn uncommitted(git: &Git, record: &Record, items: &[Item]) -> Vec<String> {
    let amendments = record.entries.iter().filter(|entry| !entry.committed).map(|entry| entry.path.clone());
    let of_items = items.iter().flat_map(|item| {
        let oracle = item.oracle.split('#').next().and_then(RelPath::new);
        [RelPath::new(&item.file), oracle].into_iter().flatten()
    });
    let head = git.head_tree();
    let of_items = of_items.filter(|path| head.contains_key(path) && !git.tracked_unmodified(path));
    let all: BTreeSet<String> = amendments.chain(of_items).map(|path| path.to_string()).collect();
    all.into_iter().collect()
}

struct Audit<'a> {
    workspace: &'a Workspace,
    git: &'a Git,
    base: &'a Workspace,
    /// The base as the person named it.
    named: &'a str,
    items: Vec<Item>,
}

/// The decisions that count.
struct Record {
    /// Unchanged since the base, or new.
    entries: Vec<Arc<Entry>>,
    /// Not at the base.
    fresh: BTreeSet<RelPath>,
    /// At the base, and gone.
    deleted: Vec<(RelPath, Amendment)>,
}

impl Record {
    /// A later decision took it back.
    fn taken_back(&self, entry: &Entry) -> bool {
        self.entries.iter().any(|other| {
            other.amendment.kind == Kind::Withdraw && other.amendment.withdraws.as_deref() == Some(entry.path.as_str())
        })
    }
}

impl Audit<'_> {
    /// The ledger held against the base's: amendments are immutable.
    fn record(&mut self, commit: &str) -> Result<Record, Refusal> {
        let tree = self.git.tree(commit).ok_or_else(|| Refusal("git cannot list the files of the base".into()))?;
        let folder = RelPath::new(AMENDMENTS).unwrap_or_default();
        let root = &self.workspace.project.root;
        let (mut edited, mut deleted, mut at_base) = (BTreeSet::new(), Vec::new(), BTreeSet::new());
        for (path, tracked) in
            tree.iter().filter(|(path, _)| path.starts_with(&folder) && path.name().ends_with(".toml"))
        {
            at_base.insert(path.clone());
            match std::fs::read(root.absolute(path)) {
                Ok(bytes) if git::is_blob(&tracked.id, &bytes) => {}
                Ok(_) => {
                    edited.insert(path.clone());
                    self.wrong(path, format!("{path} was edited; an amendment is immutable. Restore it (`git checkout {} -- {path}`) and decide anew", short(commit)));
                }
                Err(_) => {
                    let text = self.git.blobs(std::slice::from_ref(&tracked.id)).pop().flatten();
                    let amendment = text.and_then(|text| decode(std::str::from_utf8(&text).ok()?).ok());
                    match amendment {
                        Some(amendment) => deleted.push((path.clone(), amendment)),
                        None => self.wrong(
                            path,
                            format!("{path} was deleted; restore it (`git checkout {} -- {path}`)", short(commit)),
                        ),
                    }
                }
            }
        }
        let ledger = &self.workspace.ledger;
        for trouble in ledger.troubles.iter().filter(|trouble| !edited.contains(&trouble.file)) {
            self.items.push(Item {
                line: trouble.at.map_or(1, |(line, _)| line),
                ..wrong(&trouble.file, trouble.message.clone())
            });
        }
        for entry in ledger.pending() {
            self.wrong(
                &entry.path,
                format!("{} is not finished; save the file that waits in the editor, or run `{FINISH}`", entry.path),
            );
        }
        let counts = |entry: &&Arc<Entry>| !entry.amendment.pending && !edited.contains(&entry.path);
        let entries: Vec<Arc<Entry>> = ledger.entries.iter().filter(counts).cloned().collect();
        let fresh = entries.iter().map(|entry| entry.path.clone()).filter(|path| !at_base.contains(path)).collect();
        Ok(Record { entries, fresh, deleted })
    }

    fn wrong(&mut self, path: &RelPath, message: String) {
        self.items.push(wrong(path, message));
    }

    fn oracles(&mut self, pairs: &Pairs, old: &[Held], new: &[Held], all: &[Pin], record: &Record) {
        let mut used: BTreeSet<usize> = BTreeSet::new();
        let mut taken_back: BTreeSet<usize> = BTreeSet::new();
        let mut open = Vec::new();
        let both = pairs.pairs.iter().map(|(was, is)| (Some(&old[*was]), Some(&new[*is])));
        let all_pairs = both.chain(pairs.fresh.iter().map(|is| (None, Some(&new[*is]))));
        for (was, is) in all_pairs {
            let Some(is) = is else { continue };
            if let Some(why) = &is.unreadable {
                if was.is_some_and(|was| was.unreadable.is_none()) {
                    self.item(Outcome::Failed, is, format!("what is recorded cannot be read: {why}"), vec![]);
                }
                continue;
            }
            let wanted = self.wanted(is);
            let before = was.and_then(|was| was.content.as_ref());
            let about = |index: &usize| {
                let amendment = &record.entries[*index].amendment;
                amendment.changes_content()
                    && (amendment.is_about(&is.pin) || was.is_some_and(|was| amendment.is_about(&was.pin)))
            };
            let exact: Vec<usize> = (0..record.entries.len()).filter(about).collect();
            if wanted.contains(&before.map(Content::digest)) {
                self.unchanged(was, is, &wanted, &exact, record);
                continue;
            }
            match find(before, &wanted, &exact, &[], record) {
                Some((edges, _)) => {
                    used.extend(&edges);
                    self.explained(was, is, &edges, record);
                }
                None => open.push((was, is, wanted, exact)),
            }
        }
        // What its own amendments do not explain: a revert, or amendments of the test under another name
        // or number that explain nothing else.
        for (was, is, wanted, exact) in open {
            let before = was.and_then(|was| was.content.as_ref());
            let about_test = |index: &usize| {
                let amendment = &record.entries[*index].amendment;
                let known = |pin: &Pin| amendment.is_about(pin);
                let same_test = amendment.pin.as_ref().is_some_and(|named| {
                    [Some(&is.pin), was.map(|was| &was.pin)]
                        .into_iter()
                        .flatten()
                        .any(|pin| pin.oracle.span.is_some() && named.file == pin.file && named.test == pin.test_base())
                });
                let orphaned = || !old.iter().chain(new).any(|held| known(&held.pin));
                amendment.changes_content() && !used.contains(index) && (same_test || orphaned())
            };
            let mut edges = exact.clone();
            edges.extend((0..record.entries.len()).filter(|index| !exact.contains(index)).filter(about_test));
            let back: Vec<usize> = (0..record.deleted.len())
                .filter(|index| {
                    let amendment = &record.deleted[*index].1;
                    amendment.is_about(&is.pin) || was.is_some_and(|was| amendment.is_about(&was.pin))
                })
                .collect();
            match find(before, &wanted, &edges, &back, record) {
                Some((edges, back)) if back.is_empty() => {
                    used.extend(&edges);
                    self.explained(was, is, &edges, record);
                }
                Some((edges, back)) => {
                    used.extend(&edges);
                    taken_back.extend(&back);
                    let paths = back.iter().map(|index| record.deleted[*index].0.to_string()).collect();
                    self.item(
                        Outcome::Reverted,
                        is,
                        "back to what was recorded before, with its amendment".into(),
                        paths,
                    );
                }
                None if exact.is_empty() && was.is_none_or(|was| was.content.is_none() && was.unreadable.is_none()) => {
                    self.item(Outcome::New, is, "a new oracle".into(), vec![]);
                }
                None => self.unexplained(was, is, &exact, record),
            }
        }
        let others = pairs::held_by_others(&self.workspace.project, all);
        for was in pairs.gone.iter().map(|at| &old[*at]) {
            self.gone(was, &others, all, record);
        }
        for (index, (path, amendment)) in record.deleted.iter().enumerate() {
            let gone = || !new.iter().any(|held| amendment.is_about(&held.pin));
            let role_back = amendment.kind == Kind::Reclassify
                && all.iter().any(|pin| amendment.is_about(pin) && Some(pin.role.word()) != amendment.to.as_deref());
            let without_effect = amendment.changes_content() && gone() && amendment.kind == Kind::New;
            if !taken_back.contains(&index) && !role_back && !without_effect {
                self.wrong(path, format!(
                    "{path} was deleted, and what it accepted still stands; restore it, or take it back with `pindrift withdraw`"
                ));
            }
        }
    }

    /// Digests of what is recorded now. A checkout with `core.autocrlf` has other line endings on disk than
    /// in git; where that is the only difference to HEAD, either counts.
    fn wanted(&self, is: &Held) -> Vec<Option<String>> {
        let mut wanted = vec![is.digest.clone()];
        if let (Some(Content::Text(text)), Some(path)) = (&is.content, &is.pin.oracle.path)
            && text.contains("\r\n")
            && self.git.tracked_unmodified(path)
            && self.git.head_tree().get(path).is_some_and(|tracked| {
                std::fs::read(self.workspace.project.root.absolute(path))
                    .is_ok_and(|bytes| !git::is_exact_blob(&tracked.id, &bytes))
            })
        {
            wanted.push(Some(Content::Text(text.replace("\r\n", "\n")).digest()));
        }
        wanted
    }

    /// The content is the base's. It may have moved; and no decision since may say otherwise.
    fn unchanged(
        &mut self,
        was: Option<&Held>,
        is: &Held,
        wanted: &[Option<String>],
        exact: &[usize],
        record: &Record,
    ) {
        let fresh: Vec<usize> =
            exact.iter().copied().filter(|index| record.fresh.contains(&record.entries[*index].path)).collect();
        for index in &fresh {
            let entry = &record.entries[*index];
            if !leads(&entry.amendment.after, wanted, &edges(&fresh, &[], record)) {
                self.item(
                    Outcome::Failed,
                    is,
                    format!(
                        "{} accepted another value than the one that is recorded; withdraw it, or record what it says",
                        entry.path
                    ),
                    vec![entry.path.to_string()],
                );
            }
        }
        if let Some(was) = was
            && was.pin.oracle.key != is.pin.oracle.key
            && was.pin.oracle.path != is.pin.oracle.path
        {
            self.item(Outcome::Moved, is, format!("moved from {}", was.pin.oracle.key), vec![]);
        }
    }

    fn explained(&mut self, was: Option<&Held>, is: &Held, edges: &[usize], record: &Record) {
        let entries: Vec<&Arc<Entry>> = edges.iter().map(|index| &record.entries[*index]).collect();
        let reasons: Vec<&str> = entries.iter().map(|entry| entry.amendment.reason.as_str()).collect();
        let paths = entries.iter().map(|entry| entry.path.to_string()).collect();
        let is_new = was.is_none_or(|was| was.content.is_none());
        let outcome = if is_new { Outcome::New } else { Outcome::Explained };
        self.item(outcome, is, reasons.join("; "), paths);
    }

    fn unexplained(&mut self, was: Option<&Held>, is: &Held, exact: &[usize], record: &Record) {
        let test = &is.pin.test;
        let message = if is.content.is_none() {
            format!(
                "{} is gone, and {test} still holds a value against it; bring it back, or take the pin out too",
                is.pin.oracle.key
            )
        } else if let Some(latest) = exact.iter().max_by_key(|index| record.entries[**index].amendment.at) {
            format!(
                "what is recorded is not what {} accepted, and no later decision says why; restore it, or write the reason \
                 with `pindrift explain`",
                record.entries[*latest].path
            )
        } else {
            format!(
                "what is recorded changed and no amendment says why{}; write the reason with `pindrift explain`, or restore it",
                match was {
                    Some(was) if was.pin.oracle.key != is.pin.oracle.key => format!(" (it was {})", was.pin.oracle.key),
                    _ => String::new(),
                }
            )
        };
        self.item(Outcome::Failed, is, message, vec![]);
    }

    /// Settings or patterns that broke since the base: what they found is not looked at any more.
    fn settings(&mut self) {
        let tells =
            |file: &RelPath| file.as_str() == survey::SETTINGS || file.as_str().starts_with(".pindrift/queries/");
        let before: Vec<(&RelPath, &str)> =
            self.base.troubles.iter().map(|trouble| (&trouble.file, trouble.message.as_str())).collect();
        for trouble in self.workspace.troubles.iter().filter(|trouble| tells(&trouble.file)) {
            if !before.contains(&(&trouble.file, trouble.message.as_str())) {
                let message = format!("{}; pins that it finds are not looked at until it is mended", trouble.message);
                self.items.push(Item {
                    line: trouble.at.map_or(1, |(line, _)| line),
                    amendments: Vec::new(),
                    ..wrong(&trouble.file, message)
                });
            }
        }
    }

    fn item(&mut self, outcome: Outcome, held: &Held, message: String, amendments: Vec<String>) {
        let item = item(self.workspace, outcome, held, message, amendments);
        self.items.push(item);
    }
}

fn wrong(path: &RelPath, message: String) -> Item {
    Item {
        outcome: Outcome::Failed,
        test: None,
        oracle: path.to_string(),
        file: path.to_string(),
        line: 1,
        message,
        amendments: vec![path.to_string()],
    }
}

fn item(workspace: &Workspace, outcome: Outcome, held: &Held, message: String, amendments: Vec<String>) -> Item {
    Item {
        outcome,
        test: Some(held.pin.test.clone()),
        oracle: held.pin.oracle.key.clone(),
        file: held.pin.file.to_string(),
        line: line(workspace, &held.pin),
        message,
        amendments,
    }
}

fn line(workspace: &Workspace, pin: &Pin) -> usize {
    workspace.project.unit(&pin.file).map_or(1, |unit| unit.text.line_of(pin.span.start) + 1)
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

fn edges<'a>(entries: &[usize], back: &[usize], record: &'a Record) -> Vec<Edge<'a>> {
    let forth = entries.iter().map(|index| Edge { amendment: &record.entries[*index].amendment, backwards: false });
    forth.chain(back.iter().map(|index| Edge { amendment: &record.deleted[*index].1, backwards: true })).collect()
}

/// Indices of the entries and of the deleted amendments on the way.
fn find(
    before: Option<&Content>,
    wanted: &[Option<String>],
    entries: &[usize],
    back: &[usize],
    record: &Record,
) -> Option<(Vec<usize>, Vec<usize>)> {
    let used = way(before, wanted, &edges(entries, back, record))?;
    let (forth, back): (Vec<_>, Vec<_>) = used
        .into_iter()
        .map(|at| match at.checked_sub(entries.len()) {
            None => (Some(entries[at]), None),
            Some(at) => (None, Some(back[at])),
        })
        .unzip();
    Some((forth.into_iter().flatten().collect(), back.into_iter().flatten().collect()))
}

/// From the digest alone: a path through later decisions.
fn leads(from: &Option<String>, wanted: &[Option<String>], edges: &[Edge]) -> bool {
    let mut seen = BTreeSet::from([from.clone()]);
    let mut open = vec![from.clone()];
    while let Some(at) = open.pop() {
        if wanted.contains(&at) {
            return true;
        }
        for edge in edges.iter().filter(|edge| !edge.backwards && edge.amendment.before == at) {
            if seen.insert(edge.amendment.after.clone()) {
                open.push(edge.amendment.after.clone());
            }
        }
    }
    false
}

#[cfg(test)]
mod tests;
