//! What a person reads at a pin: its state, the difference, the advice, where the observation is from, and
//! why the baseline is what it is. Takes cases, gives short Markdown that reads well as plain text.
//! Never knows a protocol, never asks git on the way to a hover.

use std::sync::Arc;
use std::time::{Duration, Instant};

use similar::DiffOp;

use crate::drift;
use crate::findings::{advice, reading, treatment};
use crate::git::Git;
use crate::ledger::{Entry, Judgement, Kind};
use crate::observations::From;
use crate::oracles::{Baseline, OracleKind};
use crate::places::RelPath;
use crate::rationale;
use crate::roles::Role;
use crate::survey::{Case, Shown, State, Workspace};
use crate::text::{align, one_line};

/// Most lines of the difference, most cases and most decisions of one hover.
const DIFF: usize = 6;
const CASES: usize = 3;
const DECISIONS: usize = 3;
/// Most values of a structured text that are named.
const VALUES: usize = 2;
/// Longest line of a difference, in characters.
const WIDE: usize = 120;

/// The hover of the cases at one place of `path`; `None` when there is nothing to say. `markdown: false`
/// leaves out every sign of it.
pub fn hover(cases: &[&Arc<Case>], workspace: &Workspace, path: &RelPath, markdown: bool) -> Option<String> {
    hover_at(cases, workspace, path, markdown, jiff::Timestamp::now())
}

fn hover_at(
    cases: &[&Arc<Case>],
    workspace: &Workspace,
    path: &RelPath,
    markdown: bool,
    now: jiff::Timestamp,
) -> Option<String> {
    let cases: Vec<&Case> =
        cases.iter().map(|case| &***case).filter(|case| case.pin.role != Role::Unlabelled).collect();
    let page = Page { markdown };
    // The case that needs a person most speaks; the others are counted.
    let case = *cases.iter().min_by_key(|case| rank(case.state))?;
    let mut out = vec![page.state(case, &cases, path)];
    let alike: Vec<&&Case> = cases.iter().filter(|other| other.state == case.state).collect();
    if alike.len() > 1 && case.drift.is_some() {
        out.push(String::new());
        for other in alike.iter().take(CASES) {
            let what = other.drift.as_ref().map_or(other.state.word(), |drift| drift.brief.as_str());
            let name = other.pin.case.as_deref().unwrap_or(&other.pin.test);
            out.push(format!("- {}: {}", page.words(&one_line(name, 60)), page.code(what)));
        }
        if alike.len() > CASES {
            out.push(format!("- … and {} more", alike.len() - CASES));
        }
    }
    let read = reading(case);
    // What names the values needs fewer lines of the difference.
    let room = if read.values.is_empty() { 0 } else { 1 };
    if case.drift.is_some() {
        out.extend(page.diff(case, DIFF - 2 * room));
    }
    if let Some(drift) = case.drift.as_ref().filter(|_| case.state == State::Drift) {
        out.extend(read.values.iter().take(VALUES).map(|value| format!("- {}", page.code(value))));
        if read.values.len() > VALUES {
            out.extend(read.size.map(|size| format!("- … {size}")));
        }
        let places = read.places.map(|places| format!(" {places}.")).unwrap_or_default();
        let treatment = treatment(&drift.difference).map(|what| format!(" What helps: {what}.")).unwrap_or_default();
        let distance = read.distance.map(|distance| format!(" {distance}.")).unwrap_or_default();
        let advice = match case.verdict() {
            Some(spoken) => format!("Judged {} on {}", spoken.verdict.word(), day(spoken.entry.amendment.at)),
            None => advice(&drift.difference),
        };
        out.push(format!("{}:{places}{distance} {advice}.{treatment}", drift.difference_word()));
        out.extend(case.proposal.as_ref().map(|proposal| format!("Not decided: {}.", page.words(&proposal.words()))));
    }
    if let Some((judged, entry)) = case.judgement() {
        let changed = case.state == State::Drift && judged == Judgement::SuspectedBug;
        let expected = if changed { "; it was expected to change" } else { "" };
        let said = &entry.amendment;
        out.push(format!(
            "Judged {} on {}: {}{expected}.",
            judged.phrase(),
            day(said.at),
            page.words(&one_line(said.reason.trim_end_matches('.'), 120))
        ));
    }
    if case.state != State::Match {
        out.extend(page.provenance(case, now));
    }
    let known = decisions(&[case], workspace);
    if case.state == State::Match {
        out.extend(known.first().map(|last| page.decision(last, true)));
    } else if !known.is_empty() {
        out.push(String::new());
        out.push("Why it is what it is:".into());
        out.extend(known.iter().take(DECISIONS - room).map(|known| page.decision(known, false)));
    }
    Some(out.join("\n"))
}

fn rank(state: State) -> usize {
    match state {
        State::Failed => 0,
        State::Drift => 1,
        State::Unstable => 2,
        State::Unreadable => 3,
        State::Missing => 4,
        State::NotReached => 5,
        State::Unobserved => 6,
        State::ExpectedFailure | State::Skipped => 7,
        State::Match => 8,
    }
}

/// Everything that is known of why these pins hold what they hold, newest first, as Markdown. Asks git.
pub fn history(cases: &[&Arc<Case>], workspace: &Workspace) -> String {
    let Some(first) = cases.first() else { return "No pin is here.\n".into() };
    let page = Page { markdown: true };
    let known = known(cases, workspace);
    let name = if first.pin.oracle.key.is_empty() { &first.pin.test } else { &first.pin.oracle.key };
    let mut out = vec![format!("# Why {} is what it is", page.words(&one_line(name, 200))), String::new()];
    if known.is_empty() {
        out.push("Nothing is recorded about it: no amendment, no comment, no commit.".into());
    }
    for decision in &known {
        out.push(page.decision(decision, false));
        if let Some(record) = &decision.record {
            out.push(format!("  {}", page.words(record.as_str())));
        }
    }
    out.push(String::new());
    out.join("\n")
}

/// Longest time that a text is held against HEAD's to find a literal's lines there.
const ALIGNED: Duration = Duration::from_millis(200);
/// Longest time in which git is asked about one more literal or baseline.
const PATIENCE: Duration = Duration::from_secs(4);
/// Most amendments whose commits are looked up, and most baselines whose commits are told.
const LOOKED_UP: usize = 20;

/// Amendments, comments and commits of these pins, those of one decision merged, newest first. Asks git.
pub fn known(cases: &[&Arc<Case>], workspace: &Workspace) -> Vec<Decision> {
    let cases: Vec<&Case> = cases.iter().map(|case| &***case).collect();
    let mut known = decisions(&cases, workspace);
    let Some(git) = workspace.git.as_deref() else { return known };
    let mut seen: Vec<String> = Vec::new();
    // The commit that brought an amendment is the same decision.
    for decision in known.iter_mut().take(LOOKED_UP) {
        let Some(record) = &decision.record else { continue };
        if let Some(commit) = git.commits(record, 20).last() {
            decision.commit = Some(short(&commit.id));
            seen.push(commit.id.clone());
        }
    }
    let mut asked: Vec<(&RelPath, Option<(usize, usize)>)> = Vec::new();
    for case in &cases {
        let Some(path) = &case.pin.oracle.path else { continue };
        let lines = in_source(case).then(|| lines_at_head(case, workspace, git));
        let one = match lines {
            Some(None) => continue,
            Some(lines) => (path, lines),
            None => (path, None),
        };
        if asked.len() < LOOKED_UP && !asked.contains(&one) {
            asked.push(one);
        }
    }
    let begun = Instant::now();
    for (path, lines) in asked.into_iter().take_while(|_| begun.elapsed() < PATIENCE) {
        let commits = lines.map_or_else(|| git.lineage(path), |lines| git.of_lines(path, lines));
        for commit in commits {
            if seen.contains(&commit.id) {
                continue;
            }
            seen.push(commit.id.clone());
            known.push(Decision {
                day: commit.at.map(day).unwrap_or_default(),
                who: Some(commit.author.clone()),
                reason: commit.subject.clone(),
                change: None,
                what: "commit",
                about: path.to_string(),
                record: None,
                commit: Some(short(&commit.id)),
            });
        }
    }
    known.sort_by(|a, b| b.day.cmp(&a.day));
    known
}

/// The lines (1-based, both inside) of HEAD's text that a literal's lines of today are; none where all of them
/// are new.
fn lines_at_head(case: &Case, workspace: &Workspace, git: &Git) -> Option<(usize, usize)> {
    let (path, span) = case.pin.oracle.path.as_ref().zip(case.pin.oracle.span)?;
    let unit = workspace.project.unit(path)?;
    let committed = String::from_utf8(git.blob("HEAD", path)?).ok()?;
    let today = unit.line(span.start) - 1..unit.line(span.end.saturating_sub(1).max(span.start));
    let (old, new): (Vec<&str>, Vec<&str>) = (committed.lines().collect(), unit.text.as_str().lines().collect());
    let mut at_head = align(&old, &new, ALIGNED).into_iter().filter_map(|op| match op {
        DiffOp::Equal { old_index, new_index, len } => {
            let (start, end) = (today.start.max(new_index), today.end.min(new_index + len));
            (start < end).then(|| (old_index + start - new_index + 1, old_index + end - new_index))
        }
        _ => None,
    });
    let first = at_head.next()?;
    Some(at_head.fold(first, |(first, _), (_, last)| (first, last)))
}

fn short(id: &str) -> String {
    id.chars().take(10).collect()
}

fn day(at: jiff::Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

fn in_source(case: &Case) -> bool {
    matches!(case.pin.oracle.kind, OracleKind::Literal | OracleKind::Inline)
}

/// One reason why a pin holds what it holds.
#[derive(Debug, Clone)]
pub struct Decision {
    /// As in `2026-08-28`; empty where git cannot say.
    pub day: String,
    pub who: Option<String>,
    pub reason: String,
    /// Old → new.
    pub change: Option<String>,
    /// What it was, where it was no accepted drift.
    pub what: &'static str,
    /// The oracle's key, or the path of a commit's baseline.
    pub about: String,
    /// The amendment's file.
    pub record: Option<RelPath>,
    /// First ten digits.
    pub commit: Option<String>,
}

/// Amendments and the comment of the same decision merged, newest first.
fn decisions(cases: &[&Case], workspace: &Workspace) -> Vec<Decision> {
    let mut entries: Vec<&Arc<Entry>> = Vec::new();
    for entry in cases.iter().flat_map(|case| &case.history) {
        if !entries.iter().any(|known| known.path == entry.path) {
            entries.push(entry);
        }
    }
    let mut out: Vec<Decision> = entries.into_iter().map(of_entry).collect();
    let (mut comments, mut abouts) = (Vec::new(), Vec::new());
    for case in cases {
        let comment = workspace.project.unit(&case.pin.file).and_then(|unit| rationale::find(unit, case.pin.span));
        if let Some(comment) = comment.filter(|comment| !comment.waits() && !comments.contains(comment)) {
            comments.push(comment);
            abouts.push(case.pin.oracle.key.clone());
        }
    }
    for (comment, about) in comments.into_iter().zip(abouts) {
        let reason = comment.reason.clone().unwrap_or_default();
        let cut = reason.trim_end_matches('…');
        let same = |known: &Decision| known.day == comment.date.to_string() && known.reason.starts_with(cut);
        if reason.is_empty() || out.iter().any(same) {
            continue;
        }
        out.push(Decision {
            day: comment.date.to_string(),
            who: None,
            reason,
            change: comment.old.zip(comment.new).map(|(old, new)| format!("{old} → {new}")),
            what: "comment",
            about,
            record: None,
            commit: None,
        });
    }
    out.sort_by(|a, b| b.day.cmp(&a.day));
    out
}

fn of_entry(entry: &Arc<Entry>) -> Decision {
    let amendment = &entry.amendment;
    let what = match amendment.kind {
        Kind::Drift if amendment.after_the_fact => "explained afterwards",
        Kind::Drift => "",
        Kind::New => "recorded",
        Kind::Verdict => "verdict",
        Kind::Judgement => "judgement",
        Kind::Reclassify => "reclassified",
        Kind::Retire => "retired",
        Kind::Withdraw => "withdrawn",
        Kind::Comparison => "sees less",
    };
    let change = amendment.diff.as_deref().filter(|_| amendment.changes_content()).map(|diff| {
        let side = |sign: char| {
            let line = diff.lines().find(|line| line.starts_with(sign))?;
            Some(one_line(line.trim_start_matches(sign).trim(), 40))
        };
        format!("{} → {}", side('-').unwrap_or("nothing".into()), side('+').unwrap_or("nothing".into()))
    });
    Decision {
        day: day(amendment.at),
        who: Some(amendment.author.clone()),
        reason: amendment.reason.clone(),
        change,
        what,
        about: amendment.oracle.clone(),
        record: Some(entry.path.clone()),
        commit: None,
    }
}

/// How it is written: Markdown or plain text.
struct Page {
    markdown: bool,
}

impl Page {
    /// Words of a person or of a program, so that they are no Markdown.
    fn words(&self, text: &str) -> String {
        let text = one_line(text, 400);
        if !self.markdown {
            return text;
        }
        let mut out = String::with_capacity(text.len());
        let mut before = ' ';
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let inner = before.is_alphanumeric() && chars.peek().is_some_and(|next| next.is_alphanumeric());
            if matches!(c, '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '&' | '|' | '~') || (c == '_' && !inner) {
                out.push('\\');
            }
            out.push(c);
            before = c;
        }
        out
    }

    /// A value, in a code span whose fence it cannot end.
    fn code(&self, text: &str) -> String {
        let text = one_line(text, 200);
        if !self.markdown {
            return text;
        }
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest + 1);
        let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
        format!("{fence}{pad}{text}{pad}{fence}")
    }

    fn strong(&self, text: &str) -> String {
        if self.markdown { format!("**{text}**") } else { text.to_string() }
    }

    fn state(&self, case: &Case, cases: &[&Case], path: &RelPath) -> String {
        let pin = &case.pin;
        let held = match (&pin.oracle.path, &pin.oracle.entry) {
            _ if in_source(case) => "the value recorded here".to_string(),
            (Some(file), _) if file == path => format!("this file, pinned by {}", self.words(&pin.test)),
            (Some(file), Some(entry)) => {
                format!("{} ({})", self.words(file.as_str()), self.words(&one_line(entry, 80)))
            }
            (Some(file), None) => self.words(file.as_str()),
            (None, _) => "a baseline whose name is only known when it runs".to_string(),
        };
        let same = cases.iter().filter(|other| other.state == case.state).count();
        let count = if cases.len() > 1 { format!(", {same} of {} cases", cases.len()) } else { String::new() };
        let parity = "parity with what was recorded, not proof that it is right";
        match case.state {
            State::Match => format!("{}{count}: {parity} ({held})", self.strong("Matches")),
            State::Drift if case.contradicted().is_some() => {
                format!(
                    "{}{count}: {held} was accepted, and a run gave another value since",
                    self.strong("The accepted value does not hold")
                )
            }
            State::Drift => format!("{}{count} from {held}; this pins {parity}", self.strong("Drifted")),
            State::Failed => {
                format!(
                    "{}{count}: the code does not do what {held} demands; fix the code",
                    self.strong("Specification fails")
                )
            }
            State::Missing => format!("{}{count}: {held} does not exist", self.strong("No baseline")),
            State::Unstable => {
                let moves = case.moves.as_ref().map(|moves| format!("; {}", self.words(&moves.words())));
                format!("{}{count}: runs disagree about {held}{}", self.strong("Unstable"), moves.unwrap_or_default())
            }
            State::Unreadable => {
                let why = match &case.baseline {
                    Baseline::Unreadable(why) => self.words(why),
                    _ => held,
                };
                format!("{}{count}: {why}", self.strong("Cannot be read"))
            }
            State::NotReached => {
                format!("{}{count}: the run stopped before this pin ({held})", self.strong("Not reached"))
            }
            State::Unobserved | State::ExpectedFailure | State::Skipped => {
                let accepted = case.history.iter().find(|entry| entry.amendment.changes_content());
                match accepted.filter(|_| !case.confirmed) {
                    Some(entry) => format!(
                        "{}{count}: accepted on {}, and no run has matched it yet ({held})",
                        self.strong("Unconfirmed"),
                        day(entry.amendment.at)
                    ),
                    None => format!("{}{count} against {held}: run the test to see", self.strong("Not compared")),
                }
            }
        }
    }

    fn diff(&self, case: &Case, most: usize) -> Vec<String> {
        let Some(Shown { before, after }) = case.shown() else { return Vec::new() };
        let whole = drift::unified(before.as_ref(), &after, None);
        let lines: Vec<&str> = whole.lines().filter(|line| line.starts_with(['-', '+', '…'])).collect();
        let mut out = Vec::new();
        out.push(if self.markdown { "```diff".to_string() } else { String::new() });
        let shown = if lines.len() > most { most - 1 } else { lines.len() };
        out.extend(lines.iter().take(shown).map(|line| one_line(line, WIDE)));
        if lines.len() > shown {
            out.push(format!("… {} more changed lines", lines.len() - shown));
        }
        out.push(if self.markdown { "```".to_string() } else { String::new() });
        out
    }

    fn provenance(&self, case: &Case, now: jiff::Timestamp) -> Option<String> {
        let seen = case.observation.as_ref()?;
        let mut text = match seen.from {
            From::Artefact => format!("Observed in {}", self.words(seen.path.as_str())),
            From::Run => match &seen.command {
                Some(command) => format!("Observed by {}", self.code(&one_line(command, 80))),
                None => "Observed by a run".to_string(),
            },
        };
        if let Some(at) = seen.at {
            text.push_str(&format!(", {}", ago(at, now)));
        }
        if let Some(revision) = &seen.revision {
            text.push_str(&format!(", at {}", self.words(&short(revision))));
            if !seen.dirty.is_empty() {
                let files = if seen.dirty.len() == 1 { "file" } else { "files" };
                text.push_str(&format!(" with {} modified {files}", seen.dirty.len()));
            }
        }
        text.push('.');
        if seen.stale {
            text.push_str(" It belongs to an older recorded value: run the test again.");
        }
        Some(text)
    }

    fn decision(&self, decision: &Decision, alone: bool) -> String {
        let bullet = if alone { "Last: " } else { "- " };
        let what = if decision.what.is_empty() { String::new() } else { format!(", {}", decision.what) };
        let who = decision.who.as_ref().map(|who| format!(", {}", self.words(&one_line(who, 60)))).unwrap_or_default();
        let commit = decision.commit.as_ref().map(|id| format!(" [{id}]")).unwrap_or_default();
        let commit = if self.markdown { commit.replace('[', "(").replace(']', ")") } else { commit };
        let change = decision.change.as_ref().map(|change| format!(" ({})", self.code(change))).unwrap_or_default();
        format!("{bullet}{}{who}{what}: {}{change}{commit}", decision.day, self.words(&one_line(&decision.reason, 160)))
    }
}

/// `3 minutes ago`; a time of the future is named as it is.
fn ago(at: jiff::Timestamp, now: jiff::Timestamp) -> String {
    let seconds = now.as_second().saturating_sub(at.as_second());
    let (count, unit) = match seconds {
        ..-60 => return format!("dated {}", day(at)),
        -60..60 => return "just now".into(),
        60..3_600 => (seconds / 60, "minute"),
        3_600..172_800 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests;
