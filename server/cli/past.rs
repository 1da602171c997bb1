//! `log`: why baselines are what they are.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::json;

use super::args::Shape;
use super::look::{Scope, from_root};
use super::render::{self, Paint};
use super::{FINE, Outcome, Place};
use crate::hover;
use crate::ledger::{self, Amendment, Entry, Judgement, Ledger};
use crate::oracles::Pin;
use crate::places::RelPath;
use crate::survey::{Case, Workspace};

/// It marks a suspected bug, and no later judgement of the same pin says otherwise.
fn still_suspected(entry: &Entry, ledger: &Ledger) -> bool {
    let about = |other: &&Arc<Entry>| {
        other.amendment.oracle == entry.amendment.oracle && other.amendment.pin == entry.amendment.pin
    };
    let history: Vec<Arc<Entry>> = ledger.entries.iter().filter(about).cloned().collect();
    ledger::judgement(&history)
        .is_some_and(|(judged, standing)| judged == Judgement::SuspectedBug && standing.path == entry.path)
}

/// The decisions about a baseline, a file or a test, newest first: its amendments, the comments above its
/// pins and the commits of its baseline. Without a name every amendment.
pub fn log(what: Option<&str>, suspected: bool, shape: Shape, place: &Place) -> Outcome {
    let scope = match Scope::of(&[], place) {
        Ok(scope) => scope,
        Err(refused) => return refused,
    };
    let workspace = &scope.workspace;
    let about = what.map(|what| About::of(what, workspace, place));
    let entries: Vec<&Arc<Entry>> = workspace
        .ledger
        .entries
        .iter()
        .filter(|entry| about.as_ref().is_none_or(|about| about.decided(&entry.amendment)))
        .filter(|entry| !suspected || still_suspected(entry, &workspace.ledger))
        .collect();
    if shape == Shape::Json {
        let rows: Vec<_> = entries.iter().map(|it| row(it)).collect();
        return Outcome::new(format!("{:#}\n", json!({ "schema": 1, "amendments": rows })), FINE);
    }
    let paint = Paint(place.colour);
    let mut others: Vec<(String, String)> = Vec::new();
    let mut commits: Vec<(RelPath, String)> = Vec::new();
    if let Some(about) = about.as_ref().filter(|_| !suspected) {
        let survey = scope.survey();
        let cases: Vec<&Arc<Case>> = survey.cases.iter().filter(|case| about.pinned(&case.pin)).collect();
        for decision in hover::known(&cases, workspace) {
            match (decision.record, decision.commit) {
                (Some(record), Some(commit)) => commits.push((record, commit)),
                (Some(_), None) => {}
                (None, commit) => {
                    let by = decision.who.map(|who| format!(" by {who}")).unwrap_or_default();
                    let mut text = format!("{}  {}  ", decision.day, paint.strong(&render::plain(&decision.about)));
                    let _ = writeln!(text, "{}\n    {}", decision.what, render::plain(&decision.reason));
                    if let Some(change) = &decision.change {
                        let _ = writeln!(text, "    {}", render::plain(change));
                    }
                    if let Some(commit) = commit {
                        let _ = writeln!(text, "    {}", paint.dim(&render::plain(&format!("{commit}{by}"))));
                    }
                    others.push((decision.day, text));
                }
            }
        }
    }
    let of_entry = |entry: &&Arc<Entry>| {
        let commit = commits.iter().find(|(record, _)| *record == entry.path).map(|(_, commit)| commit.as_str());
        (day(entry), lines(entry, commit, paint))
    };
    // Of one day the amendments come first, newest above older ones.
    let mut told: Vec<(String, String)> = entries.iter().map(of_entry).chain(others).collect();
    told.sort_by(|a, b| b.0.cmp(&a.0));
    let mut text: String = told.iter().map(|(_, text)| text.as_str()).collect();
    for trouble in &workspace.ledger.troubles {
        let _ = writeln!(text, "{}  not read: {}", trouble.file, render::plain(&trouble.message));
    }
    if told.is_empty() {
        let about = what.map(|what| format!(" about {}", render::plain(what))).unwrap_or_default();
        let _ = writeln!(text, "no decision is recorded{about}");
    }
    Outcome::new(text, FINE)
}

/// What `log` was asked about: a file, a folder or a test.
struct About {
    word: String,
    path: Option<RelPath>,
}

impl About {
    fn of(word: &str, workspace: &Workspace, place: &Place) -> About {
        About { word: word.to_string(), path: from_root(workspace, word.as_ref(), place).ok() }
    }

    fn test(&self, test: &str) -> bool {
        test == self.word || test == self.word.split('[').next().unwrap_or_default()
    }

    /// An oracle's key names a file below the path, or one of its entries.
    fn oracle(&self, key: &str) -> bool {
        key == self.word
            || self.path.as_ref().is_some_and(|path| {
                let rest = if path.as_str().is_empty() { Some("/") } else { key.strip_prefix(path.as_str()) };
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['#', '/']))
            })
    }

    fn file(&self, file: &RelPath) -> bool {
        self.path.as_ref().is_some_and(|path| file.starts_with(path))
    }

    fn decided(&self, amendment: &Amendment) -> bool {
        self.oracle(&amendment.oracle)
            || amendment.pin.as_ref().is_some_and(|pin| self.file(&pin.file) || self.test(&pin.test))
    }

    fn pinned(&self, pin: &Pin) -> bool {
        let base = pin.test_base();
        self.oracle(&pin.oracle.key) || self.file(&pin.file) || pin.test == self.word || self.test(base)
    }
}

/// As in `2026-08-28`.
fn day(entry: &Entry) -> String {
    entry.amendment.at.to_string().chars().take(10).collect()
}

fn row(entry: &Entry) -> serde_json::Value {
    let it = &entry.amendment;
    json!({
        "amendment": entry.path.as_str(),
        "at": it.at.to_string(),
        "author": it.author,
        "via": it.via,
        "kind": it.kind.word(),
        "pin": it.pin.as_ref().map(|pin| json!({ "file": pin.file.as_str(), "test": pin.test, "nth": pin.nth })),
        "oracle": it.oracle,
        "verdict": it.verdict,
        "reason": it.reason,
        "authority": it.authority,
        "before": it.before,
        "after": it.after,
        "proof": it.proof,
        "diff": it.diff,
        "after_the_fact": it.after_the_fact,
        "withdraws": it.withdraws,
        "committed": entry.committed,
        "pending": it.pending,
    })
}

fn lines(entry: &Entry, commit: Option<&str>, paint: Paint) -> String {
    let it = &entry.amendment;
    let day = day(entry);
    let standing = match (it.pending, entry.committed) {
        (true, _) => ", not finished",
        (false, false) => ", not committed yet",
        _ => "",
    };
    let mut text = format!("{day}  {}  {}\n", paint.strong(&render::plain(&it.oracle)), it.kind.word());
    let late = if it.after_the_fact { " (written after the fact)" } else { "" };
    let _ = writeln!(text, "    {}{late}", render::plain(&it.reason));
    if let Some(authority) = &it.authority {
        let _ = writeln!(text, "    authority: {}", render::plain(authority));
    }
    if let Some(withdrawn) = &it.withdraws {
        let _ = writeln!(text, "    withdraws {withdrawn}");
    }
    for line in it.diff.as_deref().unwrap_or_default().lines().take(12) {
        let line = render::plain_lines(line);
        let line = match line.as_bytes().first() {
            Some(b'+') => paint.added(&line),
            Some(b'-') => paint.removed(&line),
            _ => line,
        };
        let _ = writeln!(text, "    {line}");
    }
    let commit = commit.map(|commit| format!(", in {commit}")).unwrap_or_default();
    let by = format!("{} by {}{commit}{standing}", entry.path, render::plain(&it.author));
    let _ = writeln!(text, "    {}", paint.dim(&by));
    text
}
