//! Which pin a comparison was. Takes the cases of a survey and what one run of pytest compared, gives records and
//! the texts behind digests. A comparison belongs to a pin by its place (the line that compares and the line
//! that a reader sees), its test with the parameters, and the recorded value, which is one of its sides.
//! What fits no pin or several is left out: unknown is better than wrong.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::events::{At, Event, Side, Test};
use super::executed;
use crate::observations::records::{Outcome, Value, assertion_digest, base64};
use crate::oracles::literal_python::Py;
use crate::oracles::{self, Baseline, Content, OracleKind, Pin, reading};
use crate::pins::Project;
use crate::places::RelPath;
use crate::survey::Case;
use crate::syntax::Language;
use crate::text::Span;

/// What a run said about one pin.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    pub pin: Pin,
    /// Of the recorded content; `None`: nothing was recorded.
    pub oracle_digest: Option<String>,
    pub assertion: Option<String>,
    pub outcome: Outcome,
    pub value: Option<Value>,
    pub preimage: Option<String>,
    /// The value is not certainly whole: it is shown and never accepted.
    pub lossy: bool,
}

/// What all tests of a run said.
#[derive(Debug, Clone, Default)]
pub struct Attributed {
    pub said: Vec<Said>,
    /// Digest in hexadecimal digits → the bytes behind it.
    pub behind: BTreeMap<String, Vec<u8>>,
    /// Baselines that tests wrote themselves: the test, the file, the place that wrote.
    pub written: BTreeSet<(String, RelPath, Option<At>)>,
}

struct Known {
    case: Arc<Case>,
    /// Where it is compared and where a reader sees it: file, first and last line.
    compares: (RelPath, usize, usize),
    seen: (RelPath, usize, usize),
    test: Option<(usize, usize)>,
    assertion: Option<String>,
}

impl Known {
    fn of(case: &Arc<Case>, project: &Project) -> Option<Known> {
        let pin = &case.pin;
        let lines = |file: &RelPath, span: Span| {
            let unit = project.unit(file)?;
            let last = unit.text.line_of(span.end.saturating_sub(1).max(span.start));
            Some((file.clone(), unit.text.line_of(span.start) + 1, last + 1))
        };
        let seen = lines(&pin.file, pin.span)?;
        let compares = match &pin.asserted_in {
            Some((file, span)) => lines(file, *span)?,
            None => seen.clone(),
        };
        let test = pin.test_span.and_then(|span| lines(&pin.file, span)).map(|(_, first, last)| (first, last));
        let assertion = project.unit(&pin.file).map(|unit| assertion_digest(unit.text.slice(pin.span)));
        Some(Known { case: case.clone(), compares, seen, test, assertion })
    }

    fn pin(&self) -> &Pin {
        &self.case.pin
    }

    /// The innermost place is where it compares, and the way there leads through the seen one.
    fn is_at(&self, at: &[At]) -> bool {
        // A panic of Rust names one place: the helper's, or that of whoever called it.
        if let ([at], Language::Rust) = (at, self.pin().language) {
            return holds(&self.compares, at) || holds(&self.seen, at);
        }
        at.first().is_some_and(|at| holds(&self.compares, at)) && at.iter().any(|at| holds(&self.seen, at))
    }

    /// Held against this file; `file` may begin anywhere.
    fn is_in(&self, file: &str) -> bool {
        let rest: Vec<&str> = file.split('/').skip_while(|part| matches!(*part, "." | ".." | "")).collect();
        let path = self.pin().oracle.path.as_ref();
        path.is_some_and(|path| path.as_str().ends_with(&rest.join("/")) || file.ends_with(path.as_str()))
    }

    fn is_seen_in(&self, at: &[At]) -> bool {
        at.iter().any(|at| holds(&self.seen, at))
    }

    fn recorded(&self) -> Option<&Content> {
        match &self.case.baseline {
            Baseline::Present(recorded) => Some(&recorded.content),
            _ => None,
        }
    }

    /// A side of a comparison as the oracle's own content is spelled.
    fn spelled(&self, side: &Side) -> Option<Content> {
        let steps = &self.pin().oracle.steps;
        let printed = side.literal().filter(|_| matches!(self.recorded(), Some(Content::Value(_))));
        let value = reading::observed(printed.or_else(|| side.value())?.content(self.pin())?, steps);
        Some(match value {
            Content::Value(source) if !self.in_source() && self.pin().language == Language::Rust => {
                let recorded_bytes = matches!(self.recorded(), Some(Content::Text(_) | Content::Bytes(_)));
                match numbers(&source).filter(|_| recorded_bytes).map(String::from_utf8) {
                    Some(Ok(text)) if matches!(self.recorded(), Some(Content::Text(_))) => Content::Text(text),
                    Some(Ok(text)) => Content::Bytes(text.into_bytes()),
                    Some(Err(bytes)) => Content::Bytes(bytes.into_bytes()),
                    None => Content::Value(source),
                }
            }
            Content::Bytes(bytes) if self.in_source() => Py::Bytes(bytes).content(),
            Content::Bytes(bytes) if matches!(self.recorded(), Some(Content::Text(_))) => {
                String::from_utf8(bytes).map_or_else(|err| Content::Bytes(err.into_bytes()), Content::Text)
            }
            other => other,
        })
    }

    fn in_source(&self) -> bool {
        matches!(self.pin().oracle.kind, OracleKind::Literal | OracleKind::Inline)
    }

    fn is_recorded(&self, side: &Side) -> bool {
        let Some(recorded) = self.recorded() else { return false };
        match &side.digest {
            Some(digest) => recorded.digest() == *digest,
            None => self.spelled(side).as_ref() == Some(recorded),
        }
    }

    /// The test wrote its own baseline and then held against it: what it wrote is what it observed.
    fn rewrote(&self, left: &Side, right: &Side) -> Option<Said> {
        if self.is_recorded(left) || self.is_recorded(right) {
            return Some(self.said(Outcome::Match, None, None));
        }
        let (one, other) = (self.spelled(left)?, self.spelled(right)?);
        (one == other).then(|| self.said(Outcome::Differs, Some(written(one, left)), text_behind(self, left)))
    }

    fn said(&self, outcome: Outcome, value: Option<Value>, preimage: Option<String>) -> Said {
        Said {
            pin: self.pin().clone(),
            oracle_digest: self.recorded().map(Content::digest),
            assertion: self.assertion.clone(),
            outcome,
            value,
            preimage,
            lossy: false,
        }
    }
}

/// The bytes of `[104, 105]`, as Rust prints them.
fn numbers(source: &str) -> Option<Vec<u8>> {
    let inner = source.trim().strip_prefix('[')?.strip_suffix(']')?;
    let items = inner.split(',').map(str::trim).filter(|item| !item.is_empty());
    items.map(|item| item.parse().ok()).collect()
}

fn holds((file, first, last): &(RelPath, usize, usize), at: &At) -> bool {
    at.0 == file.as_str() && (*first..=*last).contains(&at.1)
}

/// Lines on which pins are compared, by file: what the plugin has to look at.
pub fn places(cases: &[Arc<Case>], project: &Project) -> BTreeMap<String, Vec<(usize, usize)>> {
    let mut places: BTreeMap<String, BTreeSet<(usize, usize)>> = BTreeMap::new();
    for known in cases.iter().filter_map(|case| Known::of(case, project)) {
        let (file, first, last) = known.compares;
        places.entry(file.to_string()).or_default().insert((first, last));
    }
    places.into_iter().map(|(file, lines)| (file, lines.into_iter().collect())).collect()
}

/// Sorts the comparisons of a run to the pins.
pub fn attributed(cases: &[Arc<Case>], tests: &[Test], language: Language, project: &Project) -> Attributed {
    let mut by_test: HashMap<&str, Vec<Known>> = HashMap::new();
    for case in cases.iter().filter(|case| case.pin.language == language && case.pin.oracle.path.is_some()) {
        if let Some(known) = Known::of(case, project) {
            by_test.entry(case.pin.test_base()).or_default().push(known);
        }
    }
    let mut out = Attributed::default();
    for test in tests {
        for event in &test.events {
            behind(event, &mut out);
            if let Event::Write { path, at } = event
                && let Some(path) = RelPath::new(path)
            {
                out.written.insert((test.id.clone(), path, at.first().cloned()));
            }
        }
        let base = base_of(&test.id);
        let Some(known) = by_test.get(test.id.as_str()).or_else(|| by_test.get(base)) else { continue };
        // A failure by declaration says nothing about what is pinned.
        if test.is("xfailed") || test.is("rerun") {
            continue;
        }
        of_test(test, &for_case(known, &test.id), project, &mut out);
    }
    out
}

fn base_of(id: &str) -> &str {
    match id.find('[') {
        Some(at) if id.ends_with(']') => &id[..at],
        _ => id,
    }
}

/// Pins of these very parameters, and those that are the same for all.
fn for_case<'a>(known: &'a [Known], id: &str) -> Vec<&'a Known> {
    known.iter().filter(|known| known.pin().case.is_none() || known.pin().test == id).collect()
}

/// Texts behind the digests of both sides are kept for the next time.
fn behind(event: &Event, out: &mut Attributed) {
    let Event::Cmp { left, right, .. } = event else { return };
    for side in [left, right] {
        if let (Some(digest), Some(bytes)) = (side.text(), side.preimage()) {
            out.behind.insert(digest.trim().to_ascii_lowercase(), bytes);
        }
    }
}

fn of_test(test: &Test, known: &[&Known], project: &Project, out: &mut Attributed) {
    let mut told: Vec<Vec<Said>> = vec![Vec::new(); known.len()];
    let mut written: BTreeSet<&str> = BTreeSet::new();
    for event in &test.events {
        if let Event::Write { path, .. } = event {
            written.insert(path);
        }
        let found = match event {
            Event::Cmp { op, ok, left, right, at, opened } => {
                let here: Vec<usize> = match (at.as_slice(), opened.as_slice()) {
                    // Only the file that it was held against is told, by a path from its source.
                    ([], [file]) => indices(known, |known| known.is_in(file)),
                    _ => indices(known, |known| known.is_at(at)),
                };
                let rewritten = |index: &usize| {
                    let path = known.get(*index).and_then(|known| known.pin().oracle.path.as_ref());
                    path.is_some_and(|path| written.contains(path.as_str()))
                };
                match here.as_slice() {
                    [one] if *ok && rewritten(one) => {
                        known.get(*one).and_then(|it| it.rewrote(left, right)).map(|it| (*one, it))
                    }
                    here if here.iter().any(rewritten) => None,
                    here => compared(known, here, op, *ok, left, right, opened),
                }
            }
            Event::Broke { message, at } => match indices(known, |known| known.is_at(at)).as_slice() {
                // No value to take: what is pinned is the assertion itself.
                [one] => known
                    .get(*one)
                    .filter(|known| known.pin().oracle.shown_only.is_some())
                    .map(|known| (*one, known.said(Outcome::Differs, Some(Value::Literal(message.clone())), None))),
                _ => None,
            },
            Event::Pass { at } => match indices(known, |known| known.is_at(at)).as_slice() {
                [one] => known.get(*one).map(|known| (*one, known.said(Outcome::Match, None, None))),
                _ => None,
            },
            Event::File { path, ok, bytes, at } => {
                let of_path = |known: &Known| known.pin().oracle.path.as_ref().is_some_and(|it| it.as_str() == path);
                let here = indices(known, |known| known.is_seen_in(at) && of_path(known));
                match here.as_slice() {
                    [one] => known
                        .get(*one)
                        .and_then(|known| held(known, *ok, bytes.as_deref(), project))
                        .map(|said| (*one, said)),
                    _ => None,
                }
            }
            Event::Snap { path, entry, ok, value, at } => {
                let of_oracle = |known: &Known| {
                    let oracle = &known.pin().oracle;
                    oracle.path.as_ref().is_some_and(|it| it.as_str() == path)
                        && (oracle.entry.is_none() || oracle.entry == *entry)
                };
                match indices(known, |known| known.is_seen_in(at) && of_oracle(known)).as_slice() {
                    [one] => known.get(*one).and_then(|known| snapshot(known, *ok, value)).map(|said| (*one, said)),
                    _ => None,
                }
            }
            _ => None,
        };
        if let Some((index, said)) = found
            && let Some(told) = told.get_mut(index)
            && !told.contains(&said)
        {
            told.push(said);
        }
    }
    // A value that held in one round of a loop and not in another does not hold.
    for told in &mut told {
        if told.iter().any(|said| said.outcome == Outcome::Differs) {
            told.retain(|said| said.outcome != Outcome::Match);
        }
    }
    // A run of Rust tells nothing of comparisons that hold: those that it surely came to did.
    for (told, known) in told.iter_mut().zip(known).filter(|(_, known)| known.pin().language == Language::Rust) {
        let came = test.is("passed") || stop(test, known).is_some_and(|stop| known.seen.2 < stop);
        if came && told.is_empty() && known.recorded().is_some() && executed::surely(known.pin(), project) {
            told.push(known.said(Outcome::Match, None, None));
        }
    }
    for (index, known_pin) in known.iter().enumerate() {
        if told.get(index).is_some_and(Vec::is_empty) && not_reached(test, known_pin, known, &told) {
            out.said.push(known_pin.said(Outcome::NotReached, None, None));
        }
    }
    out.said.extend(told.into_iter().flatten());
}

fn indices(known: &[&Known], is: impl Fn(&Known) -> bool) -> Vec<usize> {
    known.iter().enumerate().filter(|(_, known)| is(known)).map(|(index, _)| index).collect()
}

fn compared(
    known: &[&Known],
    here: &[usize],
    op: &str,
    ok: bool,
    left: &Side,
    right: &Side,
    opened: &[String],
) -> Option<(usize, Said)> {
    let pin = |index: &usize| known.get(*index).copied();
    let side = |known: &Known| match (known.is_recorded(left), known.is_recorded(right)) {
        (true, false) => Some(right),
        (false, true) => Some(left),
        _ => None,
    };
    if ok {
        let fits = |index: &&usize| pin(index).is_some_and(|it| it.is_recorded(left) || it.is_recorded(right));
        let mut fit: Vec<usize> = match here {
            [one] => vec![*one],
            more => more.iter().filter(fits).copied().collect(),
        };
        if fit.len() > 1 {
            fit = last_opened(known, &fit, opened);
        }
        let [one] = fit.as_slice() else { return None };
        let known = pin(one)?;
        let preimage = text_behind(known, left).or_else(|| text_behind(known, right));
        return Some((*one, known.said(Outcome::Match, None, preimage)));
    }
    if !matches!(op, "==" | "<=" | ">=") {
        // `assert_ne!` that fails: both sides are what must not be.
        let [one] = here else { return None };
        let known = pin(one).filter(|known| known.pin().oracle.shown_only.is_some() && op == "!=")?;
        let equal = Value::Literal("equal: the assertion failed".into());
        return Some((*one, known.said(Outcome::Differs, Some(equal), None)));
    }
    let mut fit: Vec<usize> =
        here.iter().filter(|index| pin(index).is_some_and(|known| side(known).is_some())).copied().collect();
    if fit.len() > 1 {
        fit = last_opened(known, &fit, opened);
    }
    let [one] = fit.as_slice() else { return None };
    let known = pin(one)?;
    let observed = side(known)?;
    let value = known.spelled(observed).map(|content| written(content, observed))?;
    let said = known.said(Outcome::Differs, Some(value), text_behind(known, observed));
    Some((*one, Said { lossy: observed.lossy, ..said }))
}

/// Of several pins with the same recorded value those whose file the test opened last.
fn last_opened(known: &[&Known], fit: &[usize], opened: &[String]) -> Vec<usize> {
    let path = |index: &usize| known.get(*index).and_then(|known| known.pin().oracle.path.as_ref());
    let last =
        opened.iter().rev().find(|path_opened| fit.iter().any(|i| path(i).is_some_and(|p| p.as_str() == *path_opened)));
    fit.iter()
        .filter(|index| path(index).is_some_and(|path| last.is_some_and(|last| path.as_str() == last)))
        .copied()
        .collect()
}

fn text_behind(known: &Known, side: &Side) -> Option<String> {
    (known.pin().oracle.kind == OracleKind::Digest).then(|| String::from_utf8(side.preimage()?).ok()).flatten()
}

/// A content as a record holds it.
fn written(content: Content, side: &Side) -> Value {
    match (content, side.value()) {
        (Content::Text(text), _) => Value::Text(text),
        (Content::Value(_), Some(value @ Value::Literal(_))) => value,
        (Content::Value(source), _) => Value::Literal(source),
        (Content::Bytes(bytes), _) => Value::of_bytes(&bytes),
    }
}

/// A whole file was held against the baseline.
fn held(known: &Known, ok: bool, bytes: Option<&str>, project: &Project) -> Option<Said> {
    if ok {
        return known.recorded().map(|_| known.said(Outcome::Match, None, None));
    }
    let bytes = base64(bytes?)?;
    let pin = known.pin();
    let content = oracles::framework(&pin.framework)?.content(pin, &bytes, project).ok()?;
    if known.recorded() == Some(&content) {
        return None;
    }
    let value = match content {
        Content::Text(text) => Value::Text(text),
        Content::Value(source) => Value::Literal(source),
        Content::Bytes(bytes) => Value::of_bytes(&bytes),
    };
    Some(known.said(Outcome::Differs, Some(value), None))
}

/// A snapshot plugin held a value against its own baseline.
fn snapshot(known: &Known, ok: bool, value: &Side) -> Option<Said> {
    if ok {
        return known.recorded().map(|_| known.said(Outcome::Match, None, None));
    }
    let content = known.spelled(value)?;
    // What it takes for different and we for equal is not understood.
    let differs = known.recorded() != Some(&content);
    differs.then(|| known.said(Outcome::Differs, Some(written(content, value)), None))
}

/// What a framework left for a pin in the folder of a run, or that it compared the baseline and was content.
pub fn of_artefact(
    case: &Arc<Case>,
    left: &Project,
    project: &Project,
    referenced: &BTreeSet<RelPath>,
) -> Option<Said> {
    let known = Known::of(case, project)?;
    let pin = known.pin();
    let artefact = oracles::framework(&pin.framework)?.artefacts(pin, left).into_iter().next();
    match artefact {
        Some(artefact) if artefact.says_match => known.recorded().map(|_| known.said(Outcome::Match, None, None)),
        Some(artefact) => {
            let value = match artefact.content.ok()? {
                Content::Text(text) => Value::Text(text),
                Content::Value(source) => Value::Literal(source),
                Content::Bytes(bytes) => Value::of_bytes(&bytes),
            };
            Some(known.said(Outcome::Differs, Some(value), None))
        }
        None => {
            let path = pin.oracle.path.as_ref()?;
            let whole =
                path.as_str().split(".snap.").next().map(|stem| format!("{}.snap", stem.trim_end_matches(".snap")));
            let compared = referenced.contains(path)
                || whole.and_then(|it| RelPath::new(&it)).is_some_and(|it| referenced.contains(&it));
            (compared && known.recorded().is_some()).then(|| known.said(Outcome::Match, None, None))
        }
    }
}

/// The line in the test itself at which it failed.
fn stop(test: &Test, pin: &Known) -> Option<usize> {
    let in_test =
        |at: &&At| at.0 == pin.seen.0.as_str() && pin.test.is_none_or(|(first, last)| (first..=last).contains(&at.1));
    let failed = test.reports().filter(|(when, outcome, _)| *outcome == "failed" && *when == "call");
    failed.filter_map(|(_, _, at)| at.iter().find(in_test)).map(|at| at.1).max()
}

/// The test ended before this pin: in its setup, with its process, or at a line above; or in a loop at the same
/// place, held against another oracle.
fn not_reached(test: &Test, pin: &Known, all: &[&Known], told: &[Vec<Said>]) -> bool {
    if !test.ended {
        return true;
    }
    if test.is("skipped") {
        return false;
    }
    let failed: Vec<(&str, &[At])> =
        test.reports().filter(|(_, outcome, _)| *outcome == "failed").map(|(when, _, at)| (when, at)).collect();
    if failed.iter().any(|(when, _)| *when == "setup") {
        return true;
    }
    // Sub-tests fail and go on: then the test itself comes to its end.
    if test.reports().any(|(when, outcome, _)| when == "call" && outcome == "passed") {
        return false;
    }
    // A panic in a helper does not say who called it; the pin that it was told of does.
    let of_told = || {
        let differs = |told: &Vec<Said>| told.iter().any(|said| said.outcome == Outcome::Differs);
        all.iter()
            .zip(told)
            .filter(|(other, told)| other.seen.0 == pin.seen.0 && differs(told))
            .map(|(it, _)| it.seen.1)
            .max()
    };
    let Some(stop) = stop(test, pin).or_else(of_told) else { return false };
    let (_, first, last) = pin.seen;
    let drifted_here = || {
        all.iter()
            .zip(told)
            .any(|(other, told)| other.seen == pin.seen && told.iter().any(|said| said.outcome == Outcome::Differs))
    };
    stop < first || ((first..=last).contains(&stop) && drifted_here())
}

#[cfg(test)]
mod tests;
