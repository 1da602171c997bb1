//! What stood at a pin before an acceptance that is not committed yet, to the byte: the spelling of the
//! literal or the bytes of the baseline, and the rationale comment or that there was none. Takes a case and
//! its acceptance; asks HEAD, else the ledger. Never writes.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use crate::ledger::{self, Amendment, Entry};
use crate::oracles::{self, Baseline, Content, OracleKind, Pin};
use crate::pins::{self, Extent, Project};
use crate::places::{RelPath, Root};
use crate::rationale::{self, Draft, Rationale};
use crate::shelf::Shelf;
use crate::survey::{Case, Workspace};
use crate::text::Span;

/// The state to go back to. A part that is `None` is not known.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Then {
    /// Source text of the literal.
    pub literal: Option<String>,
    /// Bytes of the baseline's file.
    pub bytes: Option<Vec<u8>>,
    /// The comment above the pin with its line ends; empty when there was none.
    pub comment: Option<String>,
}

/// What HEAD holds for the same pin, if that is the content `old` which the acceptance replaced; else what
/// the decision before it left.
pub(super) fn then(case: &Case, workspace: &Workspace, entry: &Entry, old: &Content) -> Then {
    if let Some(then) = at_head(case, workspace, old) {
        return then;
    }
    let comment = match decision_before(case, entry) {
        Some(earlier) => rendered(case, workspace, &earlier.amendment, old),
        None => Some(String::new()),
    };
    Then { comment, ..Then::default() }
}

/// The region of the comment above the pin, where it is the one that the acceptance wrote.
pub(super) fn own_comment(case: &Case, workspace: &Workspace, accepted: &Amendment) -> Option<Span> {
    let unit = workspace.project.unit(&case.pin.file)?;
    let found = rationale::find(unit, case.pin.span)?;
    is_of(&found, accepted).then_some(found.span)
}

fn is_of(comment: &Rationale, accepted: &Amendment) -> bool {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let date = jiff::tz::Offset::UTC.to_datetime(accepted.at).date();
    let kept = rationale::kept(&accepted.reason);
    comment.date == date && comment.reason.as_deref().is_some_and(|said| squeezed(said) == squeezed(&kept))
}

fn at_head(case: &Case, workspace: &Workspace, old: &Content) -> Option<Then> {
    let (git, project) = (workspace.git.as_deref()?, &workspace.project);
    let pin = &case.pin;
    let oracle = pin.oracle.path.as_ref()?;
    let folder = tempfile::tempdir().ok()?;
    let mut past = project.clone();
    let mut oracle_bytes = None;
    for path in BTreeSet::from([&pin.file, oracle]) {
        let bytes = git.blob("HEAD", path)?;
        let whole = folder.path().join(path.as_str());
        fs::create_dir_all(whole.parent()?).ok()?;
        fs::write(&whole, &bytes).ok()?;
        if let Some(unit) = project.unit(path) {
            let text = crate::text::Text::new(std::str::from_utf8(&bytes).ok()?);
            let facts = pins::facts(path, &text, unit.language, &workspace.vocabulary);
            past = past.with_file(path.clone(), Arc::new(facts));
        }
        if path == oracle {
            oracle_bytes = Some(bytes);
        }
    }
    let same = |other: &&Pin| other.oracle.key == pin.oracle.key && other.test == pin.test && other.nth == pin.nth;
    let all = crate::survey::pins(&past, &Extent::Files(BTreeSet::from([pin.file.clone()])));
    let found = all.iter().find(same)?;
    let unit = past.unit(&found.file)?;
    let comment = rationale::find(unit, found.span).map_or(String::new(), |it| unit.text.slice(it.span).to_string());
    let root = Root { path: folder.path().canonicalize().ok()?, kind: project.root.kind, git_top: None };
    let alone = Project { shelf: Shelf::new(root.clone()), root, ..past.clone() };
    match oracles::framework(&found.framework)?.baseline(found, &alone) {
        Baseline::Present(recorded) if recorded.content == *old => {}
        _ => return None,
    }
    let crlf = |path: &RelPath| project.unit(path).is_some_and(|unit| unit.text.as_str().contains("\r\n"));
    let ended = |text: String, path: &RelPath| match crlf(path) && !text.contains('\r') {
        true => text.replace('\n', "\r\n"),
        false => text,
    };
    let in_source = matches!(pin.oracle.kind, OracleKind::Literal | OracleKind::Inline);
    let literal = found.oracle.span.filter(|_| in_source).zip(past.unit(oracle));
    Some(Then {
        literal: literal.map(|(span, unit)| ended(unit.text.slice(span).to_string(), oracle)),
        bytes: oracle_bytes.filter(|_| !in_source),
        comment: Some(ended(comment, &pin.file)),
    })
}

/// The decision whose content the acceptance replaced.
fn decision_before<'a>(case: &'a Case, entry: &Entry) -> Option<&'a Arc<Entry>> {
    let earlier = |other: &&Arc<Entry>| {
        other.path != entry.path
            && other.amendment.at <= entry.amendment.at
            && other.amendment.changes_content()
            && !other.amendment.after_the_fact
            && other.amendment.after == entry.amendment.before
    };
    case.history.iter().find(earlier)
}

/// The comment that a decision wrote above the pin.
fn rendered(case: &Case, workspace: &Workspace, decided: &Amendment, after: &Content) -> Option<String> {
    let before = ledger::patched(Some(after), decided.diff.as_deref()?, decided.before.as_ref()?, true)?;
    let drift = crate::drift::drift(&before, after, crate::drift::Options::default())?;
    let unit = workspace.project.unit(&case.pin.file)?;
    let (was, is) = rationale::sides(&before, after, &drift);
    let is = literal_of(case, workspace, after).unwrap_or(is);
    let draft = Draft {
        date: jiff::tz::Offset::UTC.to_datetime(decided.at).date(),
        old: &was,
        new: &is,
        reason: Some(&decided.reason),
        marker: None,
    };
    rationale::edit(unit, case.pin.span, &draft, workspace.project.settings.line_length).map(|edit| edit.text)
}

/// A value as the comment shows it where its oracle is a short literal.
fn literal_of(case: &Case, workspace: &Workspace, value: &Content) -> Option<String> {
    let amended = super::plan::amended(&case.pin, value, None, workspace).ok()?;
    amended.shown_after.filter(|shown| super::plan::shows(value, shown))
}
