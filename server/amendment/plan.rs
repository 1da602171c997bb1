//! What one decision changes, as a value: accept, record, explain, withdraw. Takes a case and its
//! workspace, gives a [`Plan`] or the reason why not. Never writes.

use std::sync::Arc;

use super::Plan;
use super::undone::{self, Then};
use crate::drift;
use crate::git::Git;
use crate::ledger::{self, Amendment, Entry, Kind, Observed, PinRef, Proven, Verdict};
use crate::observations;
use crate::oracles::{self, Baseline, Content, FileChange, OracleKind, Pin, Refusal, digest_of};
use crate::past::past;
use crate::pins::Extent;
use crate::places::{RelPath, RootKind};
use crate::proof;
use crate::rationale::{self, Draft};
use crate::roles::Role;
use crate::settings::CommentMode;
use crate::shelf::Read;
use crate::survey::{Case, Shown, State, Workspace};
use crate::syntax::Language;
use crate::text::{Span, Text, one_line};

/// What the person said.
#[derive(Debug, Clone)]
pub struct Request {
    /// The drift that was shown; a case that has another one by now is refused.
    pub drift: Option<String>,
    pub reason: String,
    pub authority: Option<String>,
    pub proof: Option<String>,
    /// `intended` unless given.
    pub verdict: Option<String>,
    /// Front through which it came: `cli`, `vscode`, `nvim` …
    pub via: String,
    /// See [`crate::git::author`].
    pub author: String,
    pub proposed_by: Option<String>,
    /// The person who made a decision of the program's proposal.
    pub confirmed_by: Option<String>,
    pub at: jiff::Timestamp,
}

fn refuse<T>(why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal(why.into()))
}

/// Accepts the drift of a case: the observed content becomes the recorded one. A baseline that is missing
/// is recorded as kind `new`.
pub fn plan_accept(case: &Case, workspace: &Workspace, request: &Request) -> Result<Plan, Refusal> {
    let pin = &case.pin;
    may_be_accepted(case, request)?;
    let reason = reason(&request.reason, &pin.test, workspace)?;
    let Some(seen) = case.observation.as_ref().filter(|seen| !seen.stale) else {
        return refuse(format!("{}: nothing was observed that could be recorded; `{}` runs it", pin.test, run(pin)));
    };
    let recorded = match &case.baseline {
        Baseline::Present(recorded) => Some(recorded),
        Baseline::Missing => None,
        Baseline::Unreadable(why) => return refuse(why.clone()),
    };
    let kind = if recorded.is_some() { Kind::Drift } else { Kind::New };
    if pin.oracle.kind == OracleKind::Digest
        && recorded.is_some_and(|recorded| recorded.preimage.is_none() || seen.preimage.is_none())
    {
        return refuse(format!(
            "{} holds only a digest, and the texts behind the old and the new one are not both here, so nobody can \
             read what changed; keep the text beside it, or pin the text itself",
            pin.oracle.key
        ));
    }
    if let Some(said) = proof::specifications(workspace, case).into_iter().find(|said| said.holds == Some(false)) {
        return refuse(format!(
            "{} ({}:{}) is a specification test of the same call and expects {}, which is not what was observed; fix the \
             code, or the specification where its rule changed",
            said.test, said.file, said.line, said.expects
        ));
    }
    let proven = match &request.proof {
        Some(proof) => Some(proven(case, workspace, proof)?),
        None if kind == Kind::Drift && wants_proof(pin, workspace) => {
            return refuse(format!(
                "the policy of pindrift.toml wants a proof for {}; run `pindrift prove --test {} --proof SPEC --base REV`, \
                 then accept or confirm with `--proof SPEC`",
                pin.oracle.key, pin.test
            ));
        }
        None => None,
    };
    let before = recorded.map(|recorded| &recorded.content);
    let observed = Observed {
        command: seen.command.clone(),
        revision: seen.revision.clone(),
        dirty: seen.dirty.clone(),
        artefact: seen.artefact.as_ref().map(|artefact| artefact.path.clone()),
        // A file's time is another one in every checkout; only what a run recorded says when.
        at: seen.at.filter(|_| seen.from == observations::From::Run),
    };
    let shown = case.shown().unwrap_or_else(|| Shown { before: before.cloned(), after: seen.content.clone() });
    let amendment = Amendment {
        observed: Some(observed),
        proof: request.proof.clone(),
        proven,
        change: case.compared().drift.map(|drift| drift.change).filter(|_| kind == Kind::Drift),
        diff: Some(ledger::diff(shown.before.as_ref(), Some(&shown.after))),
        ..draft(case, request, reason, kind, before, Some(&seen.content))
    };
    let change =
        Change { case, workspace, content: &seen.content, artefact: seen.artefact.as_ref(), shown, undone: None };
    change.plan(amendment)
}

/// The policy lets this change only with a proof: as the gate will hold it against the decision.
fn wants_proof(pin: &Pin, workspace: &Workspace) -> bool {
    let policy = &workspace.project.settings.policy;
    let files = || pin.oracle.key.split('#').next().into_iter().chain([pin.file.as_str()]);
    policy.holds_for(files()) && policy.wants_proof(files())
}

/// The results of the proof that was named: it was run, and it proves this very drift.
fn proven(case: &Case, workspace: &Workspace, proof: &str) -> Result<Proven, Refusal> {
    let Some(proven) = proof::kept(workspace, case, proof) else {
        return refuse(format!(
            "{proof} was not run as a proof of this drift, or changed since; run `pindrift prove --test {} --proof {proof} \
             --base REV`, then accept",
            case.pin.test
        ));
    };
    match proof::lacks(&proven, proof) {
        Some(why) => refuse(format!("{why}; accept without --proof, or with another one")),
        None => Ok(proven),
    }
}

/// Records a baseline that does not exist yet; anything else is refused, so that a batch with one reason
/// can only be of new ones.
pub fn plan_record(case: &Case, workspace: &Workspace, request: &Request) -> Result<Plan, Refusal> {
    match case.baseline {
        Baseline::Missing => plan_accept(case, workspace, request),
        _ => refuse(format!(
            "{} has a recorded value already; a change of it is one decision, made with `pindrift accept`",
            case.pin.test
        )),
    }
}

fn may_be_accepted(case: &Case, request: &Request) -> Result<(), Refusal> {
    let pin = &case.pin;
    let test = &pin.test;
    match pin.role {
        Role::Characterization => {}
        Role::Specification => {
            return refuse(format!(
                "{test} is a specification test: its value comes from an authority, so a mismatch means that the \
                 code is wrong. Fix the code; if the rule itself changed, edit the test"
            ));
        }
        Role::Unlabelled => {
            return refuse(format!(
                "{test} does not say that it pins current behaviour; label it as a characterization test first \
                 (`pindrift reclassify`)"
            ));
        }
    }
    if let Some(why) = case.shown_only() {
        return refuse(only_shown(test, why));
    }
    let judged = if case.history.iter().any(|entry| entry.amendment.kind == Kind::Verdict) {
        case.compared().verdict().cloned()
    } else {
        None
    };
    if let Some(spoken) = judged.filter(|spoken| spoken.verdict == Verdict::Unintended) {
        let said = &spoken.entry.amendment;
        return refuse(format!(
            "{test}: {} judged this change unintended ({}); fix the code, or take that verdict back with `pindrift \
             withdraw {}`",
            one_line(&said.author, 60),
            one_line(&said.reason, 120),
            spoken.entry.path.name()
        ));
    }
    if let Some(why) = case.disagreement() {
        return refuse(format!("{test} is unstable: {why}"));
    }
    if case.observation.as_ref().is_some_and(|seen| seen.stale) {
        return refuse(format!(
            "{test}: what was observed belongs to an older recorded value; run the test again, then look at the drift"
        ));
    }
    if let Some(shown) = &request.drift
        && case.drift_id.as_ref() != Some(shown)
    {
        return refuse(format!("{test} is not the drift {shown} any more: something changed since; look at it again"));
    }
    match case.state {
        State::Drift | State::Missing => Ok(()),
        State::Match => refuse(format!("{test} matches what is recorded; there is nothing to accept")),
        state => refuse(format!("{test} is {}; there is no drift to accept", state.word())),
    }
}

fn only_shown(test: &str, why: &str) -> String {
    format!("{test}: this can be shown and not accepted: {why}")
}

/// The bytes of a pin's amended oracle. No framework is asked about a pin that can only be shown.
pub(super) fn amended(
    pin: &Pin,
    content: &Content,
    artefact: Option<&oracles::Artefact>,
    workspace: &Workspace,
) -> Result<oracles::Amended, Refusal> {
    if let Some(why) = &pin.oracle.shown_only {
        return refuse(only_shown(&pin.test, why));
    }
    match oracles::framework(&pin.framework) {
        Some(framework) => framework.amend(pin, content, artefact, &workspace.project),
        None => refuse(format!("{} is of a framework ({}) that is only shown", pin.test, pin.framework)),
    }
}

/// The call that runs a pin's test.
pub fn run(pin: &Pin) -> String {
    let what = if pin.language == Language::Python { pin.test_base() } else { pin.file.as_str() };
    let plain = what.chars().all(|c| c.is_alphanumeric() || "_-./:".contains(c));
    if plain { format!("pindrift observe {what}") } else { format!("pindrift observe '{what}'") }
}

/// What an accept would make of a drift's oracle, without comment and record.
pub fn oracle_alone(case: &Case, workspace: &Workspace) -> Result<Vec<FileChange>, Refusal> {
    let (pin, test) = (&case.pin, &case.pin.test);
    if pin.role == Role::Specification {
        return refuse(format!(
            "{test} is a specification test: the code is to be fixed, so there is no patch; `pindrift diff` shows the \
             difference"
        ));
    }
    if let Some(why) = case.shown_only() {
        return refuse(only_shown(test, why));
    }
    let Some(seen) = &case.observation else { return refuse(format!("{test} has no observed value")) };
    Ok(amended(pin, &seen.content, seen.artefact.as_ref(), workspace)?.oracle)
}

/// One line, trimmed and bounded.
pub(super) fn reason(typed: &str, test: &str, workspace: &Workspace) -> Result<String, Refusal> {
    let line =
        typed.split(['\r', '\n', '\u{85}', '\u{2028}', '\u{2029}']).map(str::trim).filter(|part| !part.is_empty());
    let line = line.collect::<Vec<_>>().join(" ");
    if let Some(why) = rationale::refuse_reason(&line).or_else(|| rationale::refuse_name(&line, test)) {
        return refuse(why);
    }
    if let Some(word) = workspace.project.settings.policy.forbids(&line) {
        return refuse(format!("the policy of pindrift.toml allows no reason with {word:?}; say what it stands for"));
    }
    if line.len() > ledger::LONGEST_REASON {
        return refuse(format!("the reason has {} kB; write one sentence, and link what is longer", line.len() >> 10));
    }
    Ok(line)
}

/// The ledger exists only with git, and nothing of the decision may be ignored by it.
pub(super) fn recordable(workspace: &Workspace, paths: &[&RelPath]) -> Result<(), Refusal> {
    let Some(git) = workspace.git.as_deref().filter(|_| workspace.project.root.kind != RootKind::Opened) else {
        return refuse(
            "this folder is in no git work tree: there is no history, so there can be no record of the decision. \
             Put it under git (`git init`, commit), then accept",
        );
    };
    git.usable()?;
    if let Some(path) = git.ignored(paths).into_iter().next() {
        return refuse(format!(
            "git ignores {path}, so the decision would not reach anybody else; take it out of the ignore rules \
             (`git check-ignore -v {path}` names the rule), then accept"
        ));
    }
    Ok(())
}

fn draft(
    case: &Case,
    request: &Request,
    reason: String,
    kind: Kind,
    before: Option<&Content>,
    after: Option<&Content>,
) -> Amendment {
    draft_of(&case.pin, request, reason, kind, before, after)
}

pub(super) fn draft_of(
    pin: &Pin,
    request: &Request,
    reason: String,
    kind: Kind,
    before: Option<&Content>,
    after: Option<&Content>,
) -> Amendment {
    Amendment {
        at: request.at,
        author: request.author.clone(),
        via: request.via.clone(),
        proposed_by: request.proposed_by.clone(),
        confirmed_by: request.confirmed_by.clone(),
        kind,
        pin: Some(PinRef::of(pin)),
        oracle: pin.oracle.key.clone(),
        framework: None,
        verdict: Some(request.verdict.clone().unwrap_or_else(|| "intended".into())),
        reason,
        authority: request.authority.clone(),
        before: before.map(Content::digest),
        after: after.map(Content::digest),
        proof: None,
        proven: None,
        observed: None,
        diff: Some(ledger::diff(before, after)),
        after_the_fact: false,
        withdraws: None,
        to: None,
        hunks: Vec::new(),
        change: None,
        pending: false,
    }
}

/// A region of a text and what comes in its place.
pub(super) type Edit = (Span, String);

/// A new content of a case's oracle.
struct Change<'a> {
    case: &'a Case,
    workspace: &'a Workspace,
    content: &'a Content,
    artefact: Option<&'a oracles::Artefact>,
    shown: Shown,
    /// An acceptance that is taken back before it was committed, and what stood there before it.
    undone: Option<(&'a Amendment, Then)>,
}

impl Change<'_> {
    /// The oracle's new bytes, the rationale comment above the pin where one can stand, and what moves
    /// with the lines of the source. A new baseline has no old value to tell: there the amendment is all.
    fn plan(&self, amendment: Amendment) -> Result<Plan, Refusal> {
        let (pin, project) = (&self.case.pin, &self.workspace.project);
        let amendment = self.workspace.ledger.apart(amendment);
        let record = amendment.file();
        let mut paths = vec![&record];
        paths.extend(pin.oracle.path.as_ref());
        recordable(self.workspace, &paths)?;
        let mut amended = amended(pin, self.content, self.artefact, self.workspace)?;
        if let Some((_, then)) = &self.undone {
            self.as_it_was(then, &mut amended);
        }
        let mut changes = amended.oracle;
        let mut artefacts = amended.artefacts;
        let comment = match &self.undone {
            Some((accepted, then)) => self.comment_as_it_was(accepted, then)?,
            None => self.comment(&amendment, amended.shown_after.as_deref())?,
        };
        if let Some((old, edit)) = comment {
            let (between, moved) = after_others(&changes, &pin.file, &old, &edit)?;
            with_edit(&mut changes, &pin.file, &old, edit)?;
            for framework in oracles::table() {
                framework.lines_moved(&pin.file, &between, &moved, &mut artefacts, project);
            }
        }
        for change in &mut changes {
            fill_edits(self.workspace, change);
        }
        Ok(Plan { changes, artefacts, amendment, record })
    }

    /// The amendment alone; a comment that tells of an older change above the pin becomes that of this one.
    fn explained(self, amendment: Amendment) -> Result<Plan, Refusal> {
        let (pin, project) = (&self.case.pin, &self.workspace.project);
        let record = amendment.file();
        let (mut changes, mut artefacts) = (Vec::new(), Vec::new());
        let unit = project.unit(&pin.file);
        let told = unit.and_then(|unit| rationale::find(unit, pin.span)).is_some_and(|comment| !comment.waits());
        let literal = unit.zip(pin.oracle.span).filter(|(unit, _)| pin.oracle.path.as_ref() == Some(&unit.path));
        let literal = literal.map(|(unit, span)| unit.text.slice(span).to_string());
        if told && let Some((old, edit)) = self.comment(&amendment, literal.as_deref())? {
            for framework in oracles::table() {
                framework.lines_moved(&pin.file, &Text::new(old.as_str()), &edit, &mut artefacts, project);
            }
            with_edit(&mut changes, &pin.file, &old, edit)?;
        }
        Ok(Plan { changes, artefacts, amendment, record })
    }

    /// The oracle in the bytes in which it stood there, in place of those of its framework.
    fn as_it_was(&self, then: &Then, amended: &mut oracles::Amended) {
        let (pin, project) = (&self.case.pin, &self.workspace.project);
        let [change] = amended.oracle.as_mut_slice() else { return };
        if let (Some(literal), Some(unit), [(span, written)]) =
            (&then.literal, project.unit(&change.path), change.edits.as_mut_slice())
            && literal != written
            && let Some(after) = unit.text.replaced(*span, literal)
        {
            *written = literal.clone();
            change.after = Some(after.as_str().as_bytes().to_vec());
            amended.artefacts.clear();
            let edit = (*span, literal.clone());
            for framework in oracles::table() {
                framework.lines_moved(&change.path, &unit.text, &edit, &mut amended.artefacts, project);
            }
        }
        let ended = |bytes: &[u8]| bytes.windows(2).any(|pair| pair == b"\r\n");
        if let (Some(bytes), Some(after)) = (&then.bytes, &mut change.after)
            && pin.oracle.path.as_ref() == Some(&change.path)
            && ended(bytes) == ended(after)
        {
            after.clone_from(bytes);
        }
    }

    /// The edit that takes the acceptance's comment away or brings the one before it back. A comment that
    /// somebody rewrote since is theirs and stays.
    fn comment_as_it_was(&self, accepted: &Amendment, then: &Then) -> Result<Option<(String, Edit)>, Refusal> {
        let (pin, project) = (&self.case.pin, &self.workspace.project);
        let (Some(span), Some(unit), Some(comment)) =
            (undone::own_comment(self.case, self.workspace, accepted), project.unit(&pin.file), &then.comment)
        else {
            return Ok(None);
        };
        let old = source(self.workspace, &pin.file)?;
        if old != unit.text.as_str() {
            return refuse(format!("{} changed since this was shown; look again", pin.file));
        }
        Ok((unit.text.slice(span) != comment).then(|| (old, (span, comment.clone()))))
    }

    fn wants_comment(&self) -> bool {
        let pin = &self.case.pin;
        let in_source = matches!(pin.oracle.kind, OracleKind::Literal | OracleKind::Inline);
        !pin.shared_site
            && match self.workspace.project.settings.comment {
                CommentMode::Always => true,
                CommentMode::LiteralOnly => in_source,
                CommentMode::Never => false,
            }
    }

    /// The present source of the pin and the edit that puts the comment in.
    fn comment(&self, amendment: &Amendment, shown_after: Option<&str>) -> Result<Option<(String, Edit)>, Refusal> {
        let (pin, project) = (&self.case.pin, &self.workspace.project);
        let Some(before) = self.shown.before.as_ref().filter(|_| self.wants_comment()) else { return Ok(None) };
        let (Some(drift), Some(unit)) =
            (drift::drift(before, &self.shown.after, drift::Options::default()), project.unit(&pin.file))
        else {
            return Ok(None);
        };
        let old = source(self.workspace, &pin.file)?;
        if old != unit.text.as_str() {
            return refuse(format!("{} changed since this drift was shown; look at it again", pin.file));
        }
        let (was, is) = rationale::sides(before, &self.shown.after, &drift);
        let is = shown_after.filter(|shown| shows(&self.shown.after, shown)).map_or(is, str::to_string);
        let draft = Draft {
            date: jiff::tz::Offset::UTC.to_datetime(amendment.at).date(),
            old: &was,
            new: &is,
            reason: Some(&amendment.reason),
            marker: None,
        };
        let edit = rationale::edit(unit, pin.span, &draft, project.settings.line_length);
        Ok(edit.map(|edit| (old, (edit.span, edit.text))))
    }
}

/// Whether a comment shows a value as its literal stands: texts are told without their quotes.
pub(super) fn shows(value: &Content, literal: &str) -> bool {
    matches!(value, Content::Value(_)) && literal.chars().count() <= 60 && !literal.contains('\n')
}

pub(super) fn source(workspace: &Workspace, file: &RelPath) -> Result<String, Refusal> {
    match workspace.project.shelf.read(file) {
        Read::Bytes(bytes) => match std::str::from_utf8(&bytes) {
            Ok(text) => Ok(text.to_string()),
            Err(_) => refuse(format!("{file} is not UTF-8 text, so no comment can be written in it")),
        },
        Read::Missing => refuse(format!("{file} is gone; look again")),
        Read::Refused(why) => refuse(why),
    }
}

fn text_of(change: &FileChange) -> Result<Option<String>, Refusal> {
    match change.after.as_deref().map(std::str::from_utf8) {
        None => Ok(None),
        Some(Ok(text)) => Ok(Some(text.to_string())),
        Some(Err(_)) => refuse(format!("{} would not be UTF-8 text any more", change.path)),
    }
}

/// The text of `file` after the changes so far, and `edit`, which is one of its old text, as one of that.
fn after_others(changes: &[FileChange], file: &RelPath, old: &str, edit: &Edit) -> Result<(Text, Edit), Refusal> {
    let Some(change) = changes.iter().find(|change| change.path == *file) else {
        return Ok((Text::new(old), edit.clone()));
    };
    let new = text_of(change)?.unwrap_or_default();
    let edits = if change.edits.is_empty() { one_edit(old, &new).into_iter().collect() } else { change.edits.clone() };
    let before = edits.iter().filter(|(span, _)| span.end <= edit.0.start);
    let (gone, put) = before.fold((0, 0), |(gone, put), (span, text)| (gone + span.end - span.start, put + text.len()));
    let moved = |at: usize| (at + put).saturating_sub(gone);
    Ok((Text::new(new), (Span::new(moved(edit.0.start), moved(edit.0.end)), edit.1.clone())))
}

/// Adds an edit of the old text of `file` to the changes.
fn with_edit(changes: &mut Vec<FileChange>, file: &RelPath, old: &str, edit: Edit) -> Result<(), Refusal> {
    let mut edits = vec![edit];
    match changes.iter_mut().find(|change| change.path == *file) {
        Some(change) => {
            if change.edits.is_empty() {
                change.edits.extend(one_edit(old, text_of(change)?.as_deref().unwrap_or(old)));
            }
            edits.append(&mut change.edits);
            edits.sort_by_key(|(span, _)| (span.start, span.end));
            let new = edited(old, &edits);
            let Some(new) = new else {
                return refuse(format!("{file}: the comment and the new value would overlap; nothing was changed"));
            };
            change.after = Some(new.into_bytes());
            change.edits = edits;
            Ok(())
        }
        None => {
            let Some(new) = edited(old, &edits) else {
                return refuse(format!("{file}: no comment can stand at this place; nothing was changed"));
            };
            changes.push(FileChange {
                path: file.clone(),
                before: Some(digest_of(&[old.as_bytes()])),
                after: Some(new.into_bytes()),
                edits,
            });
            Ok(())
        }
    }
}

/// The text with all edits, which are in order; `None` when they overlap or do not fit.
pub(super) fn edited(old: &str, edits: &[Edit]) -> Option<String> {
    let mut out = String::with_capacity(old.len());
    let mut at = 0;
    for (span, new) in edits {
        out.push_str(old.get(at..span.start)?);
        old.get(span.start..span.end)?;
        out.push_str(new);
        at = span.end;
    }
    out.push_str(old.get(at..)?);
    Some(out)
}

/// The one region in which two texts differ.
fn one_edit(old: &str, new: &str) -> Option<Edit> {
    if old == new {
        return None;
    }
    let mut start = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    while !old.is_char_boundary(start) || !new.is_char_boundary(start) {
        start -= 1;
    }
    let most = old.len().min(new.len()) - start;
    let mut end = old.bytes().rev().zip(new.bytes().rev()).take(most).take_while(|(a, b)| a == b).count();
    while !old.is_char_boundary(old.len() - end) || !new.is_char_boundary(new.len() - end) {
        end -= 1;
    }
    Some((Span::new(start, old.len() - end), new[start..new.len() - end].to_string()))
}

/// A changed source file gets its edits, for an editor that has it open.
fn fill_edits(workspace: &Workspace, change: &mut FileChange) {
    if !change.edits.is_empty() {
        return;
    }
    let Read::Bytes(old) = workspace.project.shelf.read(&change.path) else { return };
    if let (Ok(old), Some(Ok(new))) = (std::str::from_utf8(&old), change.after.as_deref().map(std::str::from_utf8)) {
        change.edits.extend(one_edit(old, new));
    }
}

/// The reason after the fact: an amendment from what was recorded at `base` to what is recorded now.
/// Without a base the last recorded content that differs: that of HEAD, else that before the newest commit
/// that touched the oracle's file.
pub fn plan_explain(
    case: &Case,
    workspace: &Workspace,
    base: Option<&str>,
    request: &Request,
) -> Result<Plan, Refusal> {
    let pin = &case.pin;
    if pin.role != Role::Characterization {
        return refuse(format!("{} is not a characterization test; its value needs no amendment", pin.test));
    }
    let reason = reason(&request.reason, &pin.test, workspace)?;
    let Baseline::Present(now) = &case.baseline else {
        return refuse(format!("{} has no recorded value now; there is nothing to explain", pin.test));
    };
    let probe = draft(case, request, reason.clone(), Kind::Drift, None, Some(&now.content)).file();
    let mut paths = vec![&probe];
    paths.extend(pin.oracle.path.as_ref());
    recordable(workspace, &paths)?;
    let Some(git) = workspace.git.as_deref() else { return refuse("there is no git work tree here") };
    let revisions = match base {
        Some(base) => vec![git.merge_base(base)?],
        None => revisions_before(git, pin.oracle.path.as_ref()),
    };
    let mut before = None;
    for revision in &revisions {
        let old = recorded_at(git, workspace, revision, case)?;
        if old.as_ref() != Some(&now.content) {
            before = Some(old);
            break;
        }
    }
    let Some(before) = before else {
        let whence = revisions.first().map_or("HEAD", String::as_str);
        return refuse(format!(
            "{} has the same recorded value at {}; name the revision before the change with --base",
            pin.test,
            whence.get(..12).unwrap_or(whence)
        ));
    };
    let digest = now.content.digest();
    let known = |entry: &&Arc<Entry>| {
        entry.amendment.after.as_ref() == Some(&digest)
            && entry.amendment.before == before.as_ref().map(Content::digest)
    };
    if let Some(entry) = case.history.iter().find(known) {
        return refuse(format!("{} says why already: {}", entry.path, entry.amendment.reason));
    }
    let kind = if before.is_some() { Kind::Drift } else { Kind::New };
    let amendment =
        Amendment { after_the_fact: true, ..draft(case, request, reason, kind, before.as_ref(), Some(&now.content)) };
    let amendment = workspace.ledger.apart(amendment);
    let shown = Shown { before, after: now.content.clone() };
    Change { case, workspace, content: &now.content, artefact: None, shown, undone: None }.explained(amendment)
}

fn revisions_before(git: &Git, path: Option<&RelPath>) -> Vec<String> {
    let mut revisions: Vec<String> = git.head().into_iter().collect();
    if let Some(newest) = path.and_then(|path| git.commits(path, 1).first().cloned()) {
        revisions.extend(git.commit(&format!("{}^", newest.id)));
    }
    revisions
}

/// What the same pin's oracle held at a revision; `None` when there was none.
fn recorded_at(git: &Git, workspace: &Workspace, revision: &str, case: &Case) -> Result<Option<Content>, Refusal> {
    let past = past(&workspace.project.root, git, revision)?;
    let project = &past.workspace.project;
    let pins = crate::survey::pins(project, &Extent::All);
    let probe = Amendment { oracle: case.pin.oracle.key.clone(), ..blank(case) };
    let found = pins.iter().find(|pin| probe.is_about(pin));
    Ok(found.and_then(|pin| match oracles::framework(&pin.framework)?.baseline(pin, project) {
        Baseline::Present(recorded) => Some(recorded.content),
        _ => None,
    }))
}

fn blank(case: &Case) -> Amendment {
    let request = Request {
        drift: None,
        reason: String::new(),
        authority: None,
        proof: None,
        verdict: None,
        via: String::new(),
        author: String::new(),
        proposed_by: None,
        confirmed_by: None,
        at: jiff::Timestamp::UNIX_EPOCH,
    };
    draft(case, &request, String::new(), Kind::Drift, None, None)
}

/// Undoes an amendment with another one: the content before it is recorded again. One that is not committed
/// yet leaves the oracle and the source byte for byte as they were, without its comment; the record keeps
/// both decisions. One that is committed is followed by a comment that says why it was taken back.
pub fn plan_withdraw(entry: &Entry, case: &Case, workspace: &Workspace, request: &Request) -> Result<Plan, Refusal> {
    let (pin, undone) = (&case.pin, &entry.amendment);
    let reason = reason(&request.reason, &pin.test, workspace)?;
    if undone.pending {
        return refuse(format!(
            "{} is not finished yet; finish it with `{}`, then withdraw it",
            entry.path,
            super::FINISH
        ));
    }
    if let Some(back) = case.history.iter().find(|other| {
        other.amendment.kind == Kind::Withdraw && other.amendment.withdraws.as_deref() == Some(entry.path.as_str())
    }) {
        return refuse(format!("{} was withdrawn already, by {}", entry.path.name(), back.path.name()));
    }
    if matches!(undone.kind, Kind::Verdict | Kind::Judgement | Kind::Retire) {
        let taken_back = Amendment {
            verdict: None,
            diff: None,
            withdraws: Some(entry.path.to_string()),
            ..draft(case, request, reason, Kind::Withdraw, None, None)
        };
        let amendment = workspace.ledger.apart(taken_back);
        let record = amendment.file();
        recordable(workspace, &[&record])?;
        return Ok(Plan { changes: Vec::new(), artefacts: Vec::new(), amendment, record });
    }
    if !undone.changes_content() {
        return refuse(format!("{} changed no recorded value; there is nothing to take back", entry.path));
    }
    let now = match &case.baseline {
        Baseline::Present(recorded) => Some(&recorded.content),
        Baseline::Missing => None,
        Baseline::Unreadable(why) => return refuse(why.clone()),
    };
    if now.map(Content::digest) != undone.after {
        return refuse(format!(
            "what {} records is no longer what {} accepted; withdraw the later decisions first",
            pin.oracle.key, entry.path
        ));
    }
    let template = Amendment {
        withdraws: Some(entry.path.to_string()),
        ..draft(case, request, reason, Kind::Withdraw, now, None)
    };
    let Some(digest) = &undone.before else {
        return without_baseline(case, workspace, template);
    };
    let diff = undone.diff.as_deref().unwrap_or("");
    let mut old = ledger::patched(now, diff, digest, true);
    if old.is_none()
        && let Some(git) = workspace.git.as_deref()
    {
        for revision in revisions_before(git, pin.oracle.path.as_ref()) {
            old = recorded_at(git, workspace, &revision, case)?.filter(|content| content.digest() == *digest);
            if old.is_some() {
                break;
            }
        }
    }
    let Some(old) = old else {
        return refuse(format!(
            "the value before {} is neither in the amendment nor in the last revisions; restore it with git, then \
             write the reason with `pindrift explain`",
            entry.path
        ));
    };
    let amendment = Amendment { after: Some(old.digest()), diff: Some(ledger::diff(now, Some(&old))), ..template };
    let shown = Shown { before: now.cloned(), after: old.clone() };
    let undone = (!entry.committed).then(|| (undone, undone::then(case, workspace, entry, &old)));
    Change { case, workspace, content: &old, artefact: None, shown, undone }.plan(amendment)
}

/// A new baseline is taken back: its file goes.
fn without_baseline(case: &Case, workspace: &Workspace, amendment: Amendment) -> Result<Plan, Refusal> {
    let oracle = &case.pin.oracle;
    let (OracleKind::File | OracleKind::Digest, Some(path), Baseline::Present(recorded)) =
        (oracle.kind, &oracle.path, &case.baseline)
    else {
        return refuse(format!("{} was new; take it out by hand, or with git", oracle.key));
    };
    let amendment = workspace.ledger.apart(amendment);
    let record = amendment.file();
    recordable(workspace, &[&record, path])?;
    let change =
        FileChange { path: path.clone(), before: Some(recorded.file_digest.clone()), after: None, edits: Vec::new() };
    Ok(Plan { changes: vec![change], artefacts: Vec::new(), amendment, record })
}

#[cfg(test)]
mod tests;
