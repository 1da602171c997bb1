//! The committed record of decisions: `.pindrift/amendments/YYYY/MM-DD-<slug>-<10 hex>.toml`, one file a
//! decision, immutable once committed. The only code that reads or writes amendments: text ⇄ [`Amendment`],
//! and which decisions a root has. A broken file costs itself and no other. Never changes another file.

mod delta;
mod spoken;
mod toml_text;

use std::path::Path;
use std::sync::Arc;

use crate::git::{self, Git};
use crate::oracles::{OracleKind, Pin, digest_of};
use crate::pins::Trouble;
use crate::places::{RelPath, Root};

pub use delta::{Edits, diff, merged, patched};
pub use spoken::{Judgement, Verdict, judgement, verdict};
pub use toml_text::{decode, encode};

/// Folder of the committed record, from the root.
pub const AMENDMENTS: &str = ".pindrift/amendments";
/// Folder of what was begun and is not finished, from the root; ignores itself in git.
pub const UNFINISHED: &str = ".pindrift/unfinished";
/// The command that finishes what was interrupted; messages name it.
pub const FINISH: &str = "pindrift accept --finish";
/// Largest amendment file that is read, in bytes.
const LARGEST: u64 = 1 << 20;
/// Decisions about one oracle that are told apart by their seconds.
const MOST_AT_ONCE: usize = 10_000;
/// Longest reason that is kept, in bytes.
pub const LONGEST_REASON: usize = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Drift,
    New,
    Verdict,
    Judgement,
    Reclassify,
    Retire,
    Withdraw,
    /// The test sees less of what it holds than it did, and why.
    Comparison,
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

/// The four results of a proof, in the words of [`Proven::WORDS`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Proven {
    /// Commit on which the proof had to fail, and the pin to hold.
    pub base: String,
    pub proof_at_base: String,
    pub pin_at_base: String,
    pub proof_now: String,
    pub pin_now: String,
}

impl Proven {
    /// How a test ends, how a pin stands.
    pub const WORDS: [&str; 6] = ["failed", "passed", "match", "drift", "not-run", "absent"];

    /// The code did not do it, and does it now; the pin held, and does not now.
    pub fn proves(&self) -> bool {
        self.proof_at_base == "failed"
            && self.pin_at_base == "match"
            && self.proof_now == "passed"
            && self.pin_now == "drift"
    }
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
    /// What running the proof gave.
    pub proven: Option<Proven>,
    pub observed: Option<Observed>,
    /// Unified lines, bounded; beyond that size and digest.
    pub diff: Option<String>,
    /// Written for a change that was already there.
    pub after_the_fact: bool,
    /// `withdraw`: path of the amendment that it undoes.
    pub withdraws: Option<String>,
    /// `reclassify`: the new role.
    pub to: Option<String>,
    /// `verdict`: shapes of the places that it speaks of, see `drift::Hunk::shape`. `comparison`: those of what
    /// the test does not see any more.
    pub hunks: Vec<String>,
    /// `drift`: the change that it is, see `drift::Drift::change`; other drifts of the same one are offered its reason.
    pub change: Option<String>,
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
    pub entries: Vec<Arc<Entry>>,
    pub troubles: Vec<Trouble>,
    /// Decisions that wait for an editor to save a file: no trouble in that editor, and for everybody else
    /// something to know.
    pub waiting: Vec<Trouble>,
}

impl Kind {
    pub const ALL: [Kind; 8] = [
        Kind::Drift,
        Kind::New,
        Kind::Verdict,
        Kind::Judgement,
        Kind::Reclassify,
        Kind::Retire,
        Kind::Withdraw,
        Kind::Comparison,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Kind::Drift => "drift",
            Kind::New => "new",
            Kind::Verdict => "verdict",
            Kind::Judgement => "judgement",
            Kind::Reclassify => "reclassify",
            Kind::Retire => "retire",
            Kind::Withdraw => "withdraw",
            Kind::Comparison => "comparison",
        }
    }
}

impl PinRef {
    pub fn of(pin: &Pin) -> PinRef {
        PinRef { file: pin.file.clone(), test: pin.test_base().to_string(), nth: pin.nth }
    }
}

impl Amendment {
    /// The file that this amendment is kept in: `.pindrift/amendments/2026/08-28-<slug>-<10 hex>.toml`,
    /// the digits of a hash of its text, which is [`encode`]'s.
    pub fn file(&self) -> RelPath {
        let at = self.at.to_string();
        let (year, rest) = at.split_once('-').unwrap_or(("0000", "00-00"));
        let day = rest.get(..5).unwrap_or("00-00");
        let digest = digest_of(&[encode(self).as_bytes()]);
        let hex = digest.get("sha256:".len()..).and_then(|hex| hex.get(..10)).unwrap_or("0000000000");
        let slug = match slug(&self.reason) {
            slug if slug.is_empty() => slug_of_oracle(&self.oracle),
            slug => slug,
        };
        RelPath::new(&format!("{AMENDMENTS}/{year}/{day}-{slug}-{hex}.toml")).unwrap_or_default()
    }

    /// It says how the content of an oracle went from `before` to `after`.
    pub fn changes_content(&self) -> bool {
        matches!(self.kind, Kind::Drift | Kind::New | Kind::Withdraw) && self.before != self.after
    }

    /// It is about this pin's oracle. A file or an entry is known by its key; a literal's key is counted
    /// within its test, so there the test must be the same too.
    pub fn is_about(&self, pin: &Pin) -> bool {
        let same_test =
            || self.pin.as_ref().is_some_and(|named| named.file == pin.file && named.test == pin.test_base());
        match pin.oracle.kind {
            OracleKind::Literal | OracleKind::Inline => self.oracle == pin.oracle.key && same_test(),
            _ => !pin.oracle.key.is_empty() && self.oracle == pin.oracle.key,
        }
    }
}

fn slug(text: &str) -> String {
    let mut slug = String::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if slug.len() + word.len() >= 40 {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(&word.to_ascii_lowercase());
    }
    slug
}

fn slug_of_oracle(oracle: &str) -> String {
    let name = oracle.rsplit('/').next().unwrap_or(oracle);
    match slug(name) {
        slug if slug.is_empty() => "amendment".to_string(),
        slug => slug,
    }
}

impl Ledger {
    /// The amendment after all others about its oracle: dated a second after the newest of them where it was
    /// made within the same second, so that they have an order, and each a name of its own.
    pub fn apart(&self, mut amendment: Amendment) -> Amendment {
        let second = jiff::SignedDuration::from_secs(1);
        for _ in 0..MOST_AT_ONCE {
            let taken = |entry: &Arc<Entry>| {
                entry.path == amendment.file()
                    || (entry.amendment.oracle == amendment.oracle
                        && entry.amendment.at.as_second() == amendment.at.as_second())
            };
            if !self.entries.iter().any(taken) {
                break;
            }
            match amendment.at.checked_add(second) {
                Ok(later) => amendment.at = later,
                Err(_) => break,
            }
        }
        amendment
    }

    /// Reads every amendment of a root, and those that were begun and are not finished.
    pub fn read(root: &Root, git: Option<&Git>) -> Ledger {
        let mut ledger = Ledger::default();
        let Some(folder) = RelPath::new(AMENDMENTS) else { return ledger };
        let mut files = Vec::new();
        collect(root, &folder, ".toml", 0, &mut files, &mut ledger.troubles);
        let head = (!files.is_empty()).then(|| git.map(Git::head_tree)).flatten();
        for file in files {
            match read_one(root, &file) {
                Ok((bytes, amendment)) => {
                    let committed = head
                        .as_ref()
                        .and_then(|tree| tree.get(&file))
                        .is_some_and(|tracked| git::is_blob(&tracked.id, &bytes));
                    ledger.entries.push(Arc::new(Entry { path: file, amendment, committed }));
                }
                Err(trouble) => ledger.troubles.push(trouble),
            }
        }
        for (file, waits, mut amendment) in unfinished(root, &mut ledger.troubles) {
            let path = amendment.file();
            amendment.pending = true;
            let about = amendment.pin.as_ref().map_or(&amendment.oracle, |pin| &pin.test);
            if waits {
                let message = format!(
                    "the decision about {about} waits for an editor to save its file; save it, or finish it on disk with \
                     `{FINISH}`"
                );
                ledger.waiting.push(Trouble { file, at: None, message });
            } else {
                let message = format!(
                    "the decision about {about} was interrupted before all of it was written; finish it with `{FINISH}`"
                );
                ledger.troubles.push(Trouble { file, at: None, message });
            }
            ledger.entries.retain(|entry| entry.path != path);
            ledger.entries.push(Arc::new(Entry { path, amendment, committed: false }));
        }
        ledger.entries.sort_by(|a, b| (b.amendment.at, &b.path).cmp(&(a.amendment.at, &a.path)));
        ledger
    }

    /// Decisions about this pin or its oracle, newest first.
    pub fn history(&self, pin: &Pin) -> Vec<Arc<Entry>> {
        self.entries.iter().filter(|entry| entry.amendment.is_about(pin)).cloned().collect()
    }

    /// The amendment of that path; a bare file name will do.
    pub fn entry(&self, path: &str) -> Option<&Arc<Entry>> {
        self.entries.iter().find(|entry| entry.path.as_str() == path || entry.path.name() == path)
    }

    /// Amendments that were begun and are not known to be finished.
    pub fn pending(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.entries.iter().filter(|entry| entry.amendment.pending)
    }
}

/// Files below a folder whose names end so; links that lead out of the root are left out.
fn collect(
    root: &Root,
    folder: &RelPath,
    ending: &str,
    depth: usize,
    files: &mut Vec<RelPath>,
    troubles: &mut Vec<Trouble>,
) {
    let Ok(Some(real)) = root.resolved(folder) else { return };
    let entries = match std::fs::read_dir(&real) {
        Ok(entries) => entries,
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => return,
        Err(err) => {
            let message = format!("{folder} cannot be read: {err}; the decisions in it are not seen");
            troubles.push(Trouble { file: folder.clone(), at: None, message });
            return;
        }
    };
    let mut names: Vec<(String, bool)> = entries
        .flatten()
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.file_type().ok()?.is_dir())))
        .collect();
    names.sort();
    for (name, is_dir) in names {
        let Some(path) = folder.join(&name) else { continue };
        if is_dir && depth < 3 {
            collect(root, &path, ending, depth + 1, files, troubles);
        } else if !is_dir && name.ends_with(ending) && !name.starts_with('.') {
            files.push(path);
        }
    }
}

fn read_one(root: &Root, file: &RelPath) -> Result<(Vec<u8>, Amendment), Trouble> {
    let trouble = |at, message| Trouble { file: file.clone(), at, message };
    let real = match root.resolved(file) {
        Ok(Some(real)) => real,
        _ => return Err(trouble(None, format!("{file} leads out of the workspace; it is not followed"))),
    };
    let bytes = bounded(&real).map_err(|why| trouble(None, format!("{file} cannot be read: {why}")))?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| trouble(None, format!("{file} is not UTF-8 text; restore it with `git checkout -- {file}`")))?;
    let amendment = decode(text).map_err(|(line, column, why)| {
        trouble(
            Some((line, column)),
            format!("this amendment cannot be read: {why}; restore it with `git checkout -- {file}`"),
        )
    })?;
    Ok((bytes, amendment))
}

fn bounded(path: &Path) -> Result<Vec<u8>, String> {
    let meta = std::fs::metadata(path).map_err(|err| err.to_string())?;
    if !meta.is_file() {
        return Err("it is not an ordinary file".into());
    }
    if meta.len() > LARGEST {
        return Err(format!("it has {} kB; an amendment has at most {} kB", meta.len() >> 10, LARGEST >> 10));
    }
    std::fs::read(path).map_err(|err| err.to_string())
}

/// The amendments of unfinished writes, each with its file and whether it waits for an editor
/// (`amendment.rs` writes these intents).
fn unfinished(root: &Root, troubles: &mut Vec<Trouble>) -> Vec<(RelPath, bool, Amendment)> {
    let mut found = Vec::new();
    let Some(folder) = RelPath::new(UNFINISHED) else { return found };
    let mut files = Vec::new();
    collect(root, &folder, ".toml", 0, &mut files, troubles);
    for file in files {
        match read_one(root, &file) {
            Ok((_, amendment)) => {
                let changes =
                    file.as_str().strip_suffix(".toml").and_then(|stem| RelPath::new(&format!("{stem}.json")));
                let changes = changes.and_then(|changes| std::fs::read(root.absolute(&changes)).ok());
                let waits = changes
                    .and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok())
                    .is_some_and(|intent| {
                        let steps = intent["changes"].as_array().map(Vec::as_slice).unwrap_or_default();
                        steps.iter().any(|step| step["waits"] == true)
                    });
                found.push((file, waits, amendment));
            }
            Err(trouble) => troubles.push(trouble),
        }
    }
    found
}

#[cfg(test)]
mod tests;
