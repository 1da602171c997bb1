//! insta 0.x to 1.49 and insta-cmd: file, inline and binary snapshots. Takes a site, gives pins by the
//! naming rules of insta 1.49; reads `.snap` files of every header generation and inline literals as insta
//! compares them; reads `.snap.new` and `.pending-snap`; knows the bytes that `cargo insta accept` 1.49
//! writes, except that line endings and the file mode stay. Never compares, never writes.

pub(super) mod around;
pub(super) mod call;
pub mod inline;
mod naming;
mod orphans;
pub mod pending;
pub mod snap;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use self::naming::{Naming, Place, exact, fits};
use self::pending::Pending;
use self::snap::Snap;
use super::{
    Amended, Artefact, Baseline, Content, FileChange, Framework, Oracle, OracleKind, Orphan, Pin, Recorded, Refusal,
    digest_of, seen,
};
use crate::code::{ExprKind, Unit};
use crate::evaluate::{Step, World, worlds};
use crate::pins::{Project, Site};
use crate::places::RelPath;
use crate::roles::Role;
use crate::shelf::Read;
use crate::syntax::Language;
use crate::text::{Span, Text};

pub struct Insta;

/// Most files that are listed for a name known only up to a pattern.
const CANDIDATES: usize = 20;

impl Framework for Insta {
    fn id(&self) -> &'static str {
        "insta"
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        let Some(naming) = Naming::of(project, site) else { return Vec::new() };
        let mut worlds = worlds(project, site);
        if worlds.is_empty() {
            worlds.push(World::empty(site));
        }
        let Some(blank) = blank_pin(project, site) else { return Vec::new() };
        if naming.call.inline.is_some() {
            return inline_pin(&naming, &worlds, blank).into_iter().collect();
        }
        let mut pins: Vec<Pin> = Vec::new();
        let mut met: HashSet<(Option<String>, String)> = HashSet::new();
        for (nth, world) in worlds.iter().enumerate() {
            for place in naming.places(&worlds, nth) {
                let oracle = file_oracle(&naming, &place);
                let known = oracle.path.as_ref().map_or_else(|| format!("{:?}", place.stem), RelPath::to_string);
                if !met.insert((world.case.clone(), known)) || perhaps_never(&naming, world, &oracle) {
                    continue;
                }
                let mut pin = blank.clone();
                pin.case = place.case.filter(|_| oracle.path.is_some());
                seen::with_case(project, site, &mut pin, world);
                pin.oracle = oracle;
                pins.push(pin);
            }
        }
        let shared = pins.len() > 1;
        pins.iter_mut().for_each(|pin| pin.shared_site = shared);
        pins
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        match pin.oracle.kind {
            OracleKind::Inline => inline_baseline(pin, project),
            _ => file_baseline(pin, project),
        }
    }

    fn artefacts(&self, pin: &Pin, project: &Project) -> Vec<Artefact> {
        match pin.oracle.kind {
            OracleKind::Inline => inline_artefacts(pin, project),
            _ => file_artefacts(pin, project),
        }
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        artefact: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        match (pin.oracle.kind, observed) {
            (OracleKind::Inline, Content::Text(text)) => amend_inline(pin, text, artefact, project),
            (_, Content::Text(text)) if binary_of(pin).is_none() => amend_file(pin, text, artefact, project),
            (_, Content::Bytes(bytes)) if binary_of(pin).is_some() => amend_binary(pin, bytes, artefact, project),
            _ => refuse(format!(
                "what was observed for {} is of another kind than its snapshot; run the test again",
                pin.test
            )),
        }
    }

    fn lines_moved(
        &self,
        source: &RelPath,
        before: &Text,
        edit: &(Span, String),
        artefacts: &mut Vec<FileChange>,
        project: &Project,
    ) {
        let Some(path) = pending::path_of(source) else { return };
        let Some(after) = before.replaced(edit.0, &edit.1) else { return };
        let planned = artefacts.iter().position(|change| change.path == path);
        let now = match planned {
            Some(nth) => artefacts[nth].after.clone(),
            None => match project.shelf.disk(&path) {
                Read::Bytes(bytes) => Some(bytes.to_vec()),
                _ => None,
            },
        };
        let Some(old) = now.and_then(|bytes| String::from_utf8(bytes).ok()) else { return };
        let Some(new) = pending::after(&old, &[], before.as_str(), after.as_str()).filter(|new| *new != old) else {
            return;
        };
        match planned {
            Some(nth) => artefacts[nth].after = Some(new.into_bytes()),
            None => artefacts.push(FileChange {
                path,
                before: Some(digest_of(&[old.as_bytes()])),
                after: Some(new.into_bytes()),
                edits: Vec::new(),
            }),
        }
    }

    fn orphans(&self, pins: &[Pin], project: &Project) -> Vec<Orphan> {
        orphans::orphans(pins, project)
    }
}

/// An assertion under a condition that may hold in none of a test's cases of which nothing is recorded.
fn perhaps_never(naming: &Naming, world: &World, oracle: &Oracle) -> bool {
    let Some(path) = oracle.path.as_ref().filter(|_| world.case.is_some() && !naming.around.branches.is_empty()) else {
        return false;
    };
    let shelf = &naming.project.shelf;
    let fresh = RelPath::new(&format!("{path}.new")).is_some_and(|fresh| shelf.listed(&fresh));
    !shelf.listed(path) && !fresh
}

fn refuse<T>(why: String) -> Result<T, Refusal> {
    Err(Refusal(why))
}

/// A pin of the site with everything but its oracle.
pub(super) fn blank_pin(project: &Project, site: &Site) -> Option<Pin> {
    let frame = site.frames.first()?;
    let unit = project.unit(&frame.file)?;
    let function = frame.function.and_then(|index| unit.functions.get(index));
    let name = match function {
        Some(function) => function.name.clone(),
        None => site.frames.iter().find_map(|frame| crate::pins::macros::function_around(project, frame))?,
    };
    let scopes: Vec<String> = unit.scopes_at(frame.at).map(|scope| scope.name.clone()).collect();
    let test = match project.crates.modules(&project.shelf, &frame.file).first() {
        Some(module) => module.test_id(&scopes, &name),
        None => {
            std::iter::once(frame.file.stem().to_string()).chain(scopes).chain([name]).collect::<Vec<_>>().join("::")
        }
    };
    let comparing = site.comparing();
    let asserted_in = (site.frames.len() > 1).then(|| (comparing.file.clone(), comparing.at));
    Some(Pin {
        file: frame.file.clone(),
        span: frame.at,
        test,
        case: None,
        nth: 0,
        language: Language::Rust,
        framework: "insta".to_string(),
        role: Role::Unlabelled,
        asserted_in,
        test_span: function.map(|function| function.span),
        oracle: Oracle {
            kind: OracleKind::File,
            path: None,
            entry: None,
            span: None,
            candidates: Vec::new(),
            steps: vec![Step::CrlfToLf, Step::TrimEnd],
            shown_only: None,
            key: String::new(),
            tolerance: None,
        },
        shared_site: false,
    })
}

/// One literal is one pin, however often it is reached.
fn inline_pin(naming: &Naming, worlds: &[World], mut pin: Pin) -> Option<Pin> {
    let (frame, literal) = call::filled(naming.site, naming.site.frames.len() - 1, naming.call.inline?);
    let file = &naming.site.frames[frame].file;
    let unit = naming.project.unit(file)?;
    pin.shared_site = worlds.len() > 1;
    pin.oracle.kind = OracleKind::Inline;
    pin.oracle.path = Some(file.clone());
    pin.oracle.span = Some(literal.span);
    let written = inline::value(unit.text.slice(literal.span)).is_some();
    if !written || !matches!(literal.kind, ExprKind::Str(_)) {
        pin.oracle.shown_only =
            Some("the text after `@` is not a plain string literal, so it cannot be rewritten".to_string());
    }
    pin.oracle.entry = naming.places(worlds, 0).first().and_then(|place| exact(&place.name));
    Some(pin)
}

fn file_oracle(naming: &Naming, place: &Place) -> Oracle {
    let shelf = &naming.project.shelf;
    let extension = naming.call.binary.as_deref().map(|extension| format!(".{extension}")).unwrap_or_default();
    let mut oracle = Oracle {
        kind: OracleKind::File,
        path: None,
        entry: None,
        span: None,
        candidates: Vec::new(),
        steps: vec![Step::CrlfToLf, Step::TrimEnd],
        shown_only: None,
        key: String::new(),
        tolerance: None,
    };
    if naming.call.binary.is_some() {
        oracle.steps.clear();
    }
    let Some(folder) = &place.folder else { return oracle };
    if let Some(stem) = exact(&place.stem) {
        oracle.path = folder.join(&format!("{stem}.snap{extension}"));
        return oracle;
    }
    let ending = format!(".snap{extension}");
    let names = shelf.below(folder).filter(|path| path.parent() == *folder);
    let found: Vec<RelPath> = names
        .filter(|path| path.name().strip_suffix(&ending).is_some_and(|stem| fits(&place.stem, stem)))
        .take(CANDIDATES + 1)
        .cloned()
        .collect();
    if found.len() <= CANDIDATES {
        oracle.candidates = found;
    }
    oracle
}

// Inline snapshots.

fn inline_source<'a>(pin: &Pin, project: &'a Project) -> Option<(&'a Unit, Span)> {
    Some((project.unit(pin.oracle.path.as_ref()?)?, pin.oracle.span?))
}

fn inline_content(pin: &Pin, project: &Project) -> Option<String> {
    let (unit, span) = inline_source(pin, project)?;
    Some(inline::content(&inline::value(unit.text.slice(span))?))
}

fn inline_baseline(pin: &Pin, project: &Project) -> Baseline {
    let Some((unit, span)) = inline_source(pin, project) else { return Baseline::Missing };
    let source = unit.text.slice(span);
    let Some(value) = inline::value(source) else {
        return Baseline::Unreadable(format!(
            "the snapshot at {}:{} is not a plain string literal; pindrift can only point at it",
            unit.path,
            unit.line(span.start)
        ));
    };
    let opened = source.find('"').map_or(0, |quote| quote + 1);
    let below = source[opened..].starts_with(['\n', '\r']) && value.trim_end().lines().count() > 1;
    Baseline::Present(Recorded {
        content: Content::Text(inline::content(&value)),
        first_line: unit.line(span.start) + usize::from(below),
        file_digest: unit.text.digest().to_string(),
        preimage: None,
    })
}

/// The pending entries of a source file; the last file read is kept, so that thousands of pins of one file
/// do not read it again and again.
fn pending_of(project: &Project, source: &RelPath) -> Option<(RelPath, Arc<(String, Pending)>)> {
    type Kept = (std::path::PathBuf, u64, SystemTime, Arc<(String, Pending)>);
    static LAST: Mutex<Option<Kept>> = Mutex::new(None);
    let path = pending::path_of(source)?;
    let stamp = project.shelf.stamp(&path)?;
    let place = project.root.absolute(&path);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let (Some((kept, size, time, pending)), Some(modified)) = (last.as_ref(), stamp.modified)
        && *kept == place
        && *size == stamp.size
        && *time == modified
    {
        return Some((path, pending.clone()));
    }
    let Read::Bytes(bytes) = project.shelf.disk(&path) else { return None };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let read = pending::read(&text);
    let pending = Arc::new((text, read));
    if let Some(modified) = stamp.modified {
        *last = Some((place, stamp.size, modified, pending.clone()));
    }
    Some((path, pending))
}

/// A text without white space, to compare an expression with what `stringify!` made of it.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The entries of the last run that belong to this literal: by content, expression and name; a line alone
/// says nothing, because lines move.
fn entries_of(pin: &Pin, project: &Project, pending: &Pending) -> Vec<pending::Entry> {
    let Some((unit, _)) = inline_source(pin, project) else { return Vec::new() };
    let Some(present) = inline_content(pin, project) else { return Vec::new() };
    let home = call::macro_at(unit, pin.span).filter(|_| pin.file == unit.path && pin.asserted_in.is_none());
    let line = unit.line(pin.span.start);
    let own_name = pin.test_base().rsplit("::").next().unwrap_or("");
    let own_name = own_name.strip_prefix("test_").unwrap_or(own_name);
    let expression =
        home.and_then(|expr| call::Call::of(unit, expr)?.value).map(|value| squeezed(unit.text.slice(value.span)));
    let of_function = |entry: &pending::Entry| match (&pin.asserted_in, &entry.name) {
        // The function that named it is the helper's; the name itself is compared below.
        (Some(_), _) | (None, None) => true,
        (None, Some(name)) => {
            let base = name.split('@').next().unwrap_or(name);
            base == own_name
                || base
                    .strip_prefix(own_name)
                    .and_then(|rest| rest.strip_prefix('-'))
                    .is_some_and(|n| n.parse::<u32>().is_ok())
        }
    };
    let same_old = |entry: &pending::Entry| {
        entry.old.as_ref().is_some_and(|old| {
            let old = inline::normal(old);
            old == present || old.trim_start() == present
        })
    };
    let same_expression = |entry: &pending::Entry| match (&expression, &entry.expression) {
        (Some(mine), Some(theirs)) => *mine == squeezed(theirs),
        _ => true,
    };
    let mine: Vec<&pending::Entry> =
        pending.entries.iter().filter(|entry| entry.new.is_some() && of_function(entry)).collect();
    let fitting: Vec<&pending::Entry> =
        mine.iter().copied().filter(|entry| same_expression(entry) && same_old(entry)).collect();
    let named = |entry: &&pending::Entry| pin.oracle.entry.is_some() && entry.name == pin.oracle.entry;
    let chosen: Vec<&pending::Entry> = if fitting.is_empty() {
        // Something else is recorded now than the run compared with: shown as stale, if it is surely this one.
        mine.into_iter().filter(|entry| named(entry) && same_expression(entry)).collect()
    } else if lines_of(&fitting) == 1 && twins(pin, unit, &present, expression.as_deref()) == 1 {
        fitting
    } else if fitting.iter().any(named) {
        fitting.into_iter().filter(named).collect()
    } else {
        // Several of the same content in one function: only one that stands where the run saw it.
        let all_there = fitting.iter().any(|entry| entry.line == line) && pin.oracle.entry.is_none();
        fitting.into_iter().filter(|entry| all_there && entry.line == line).collect()
    };
    chosen.into_iter().cloned().collect()
}

fn lines_of(entries: &[&pending::Entry]) -> usize {
    entries.iter().map(|entry| entry.line).collect::<HashSet<_>>().len()
}

/// Inline assertions of the pin's function with the same recorded content and the same expression.
fn twins(pin: &Pin, unit: &Unit, present: &str, expression: Option<&str>) -> usize {
    let Some(function) = unit.function_at(pin.span) else { return 1 };
    around::macros_of(function)
        .into_iter()
        .filter_map(|expr| {
            let call = call::Call::of(unit, expr)?;
            let literal = inline::value(unit.text.slice(call.inline?.span))?;
            let same_value = match (expression, call.value) {
                (Some(mine), Some(value)) => mine == squeezed(unit.text.slice(value.span)),
                _ => true,
            };
            (inline::content(&literal) == present && same_value).then_some(())
        })
        .count()
        .max(1)
}

fn inline_artefacts(pin: &Pin, project: &Project) -> Vec<Artefact> {
    let Some(source) = &pin.oracle.path else { return Vec::new() };
    let Some((path, pending)) = pending_of(project, source) else { return Vec::new() };
    let pending = &pending.1;
    let pending_path = path.clone();
    let mut found: Vec<Artefact> = entries_of(pin, project, pending)
        .into_iter()
        .filter_map(|entry| {
            let present = inline_content(pin, project);
            let compared = entry.old.as_deref().map(inline::normal).map(|old| match present {
                Some(present) if old.trim_start() == present => present,
                _ => old,
            });
            Some(Artefact {
                path: path.clone(),
                content: Ok(Content::Text(inline::normal(entry.new.as_deref()?))),
                compared_with: compared.map(Content::Text),
                header: None,
                names: entry.name.map(|name| (entry.line, name)),
                says_match: false,
            })
        })
        .collect();
    if found.is_empty()
        && pin.asserted_in.is_none()
        && let Some(unit) = project.unit(source)
    {
        // `new: null` carries nothing but a line: it counts only while every other entry of that run still
        // stands where it was, so that no line has moved since.
        let line = unit.line(pin.span.start);
        let passed = pending.entries.iter().any(|entry| entry.line == line && entry.new.is_none());
        if passed && unmoved(unit, pending) {
            let content = inline_content(pin, project).map(Content::Text).ok_or_else(String::new);
            let names = Some((line, String::new()));
            let artefact = Artefact { path, content, compared_with: None, header: None, names, says_match: true };
            found.push(artefact);
        }
    }
    if let Some(line) = pending.broken.first() {
        let why = format!(
            "{pending_path}: line {line} is cut or damaged, so what a run left there is not known; run the tests again, \
             or remove that line"
        );
        found.push(broken(pending_path, why));
    }
    found
}

/// Whether every entry of the last run with a value names the line of a macro with that recorded content.
fn unmoved(unit: &Unit, pending: &Pending) -> bool {
    let starts: HashSet<usize> =
        unit.functions.iter().flat_map(around::macros_of).map(|expr| unit.line(expr.span.start)).collect();
    pending.entries.iter().all(|entry| starts.contains(&entry.line))
}

fn amend_inline(pin: &Pin, text: &str, artefact: Option<&Artefact>, project: &Project) -> Result<Amended, Refusal> {
    let (Some((unit, span)), Some(source)) = (inline_source(pin, project), &pin.oracle.path) else {
        return refuse(format!("{} is gone from {}; look again", pin.test, pin.file));
    };
    let start = literal_macro_start(pin, unit, span);
    let line = unit.text.line(unit.text.line_of(start));
    let indent = &line[..line.len() - line.trim_start().len()];
    let literal = inline::literal(text, indent)?;
    let crlf = unit.text.as_str().contains("\r\n");
    let written = if crlf { literal.replace('\n', "\r\n") } else { literal.clone() };
    let Some(after) = unit.text.replaced(span, &written) else {
        return refuse(format!("{} is gone from {}; look again", pin.test, pin.file));
    };
    let mut amended = Amended {
        oracle: vec![FileChange {
            path: source.clone(),
            before: Some(digest_of(&[unit.text.as_str().as_bytes()])),
            after: Some(after.as_str().as_bytes().to_vec()),
            edits: vec![(span, written)],
        }],
        artefacts: Vec::new(),
        shown_after: Some(literal),
    };
    if let Some((path, pending)) = pending_of(project, source) {
        let (old, read) = pending.as_ref();
        let done: Vec<usize> = match artefact.filter(|artefact| artefact.path == path) {
            Some(artefact) => {
                let lines: HashSet<usize> = entries_of(pin, project, read)
                    .iter()
                    .filter(|entry| {
                        entry.new.as_deref().map(inline::normal).map(Content::Text).as_ref()
                            == artefact.content.as_ref().ok()
                    })
                    .map(|entry| entry.line)
                    .collect();
                read.entries.iter().filter(|entry| lines.contains(&entry.line)).map(|entry| entry.at).collect()
            }
            None => Vec::new(),
        };
        let new = pending::after(old, &done, unit.text.as_str(), after.as_str());
        if new.as_ref() != Some(old) {
            amended.artefacts.push(FileChange {
                path,
                before: Some(digest_of(&[old.as_bytes()])),
                after: new.map(String::into_bytes),
                edits: Vec::new(),
            });
        }
    }
    Ok(amended)
}

/// Start of the macro call in the literal's file whose argument the literal is.
fn literal_macro_start(pin: &Pin, unit: &Unit, literal: Span) -> usize {
    if unit.path == pin.file && pin.span.contains(literal) {
        return pin.span.start;
    }
    let mut start = literal.start;
    for function in unit.functions.iter().filter(|function| function.span.contains(literal)) {
        for expr in around::macros_of(function).into_iter().filter(|expr| expr.span.contains(literal)) {
            start = expr.span.start;
        }
    }
    start
}

// Snapshot files.

/// The header file and the extension, where the oracle is the data of a binary snapshot.
fn binary_of(pin: &Pin) -> Option<(RelPath, String)> {
    let path = pin.oracle.path.as_ref()?;
    let at = path.name().rfind(".snap.")?;
    let header = path.parent().join(&path.name()[..at + ".snap".len()])?;
    Some((header, path.name()[at + ".snap.".len()..].to_string()))
}

fn text_at(project: &Project, path: &RelPath) -> Result<Option<String>, String> {
    match project.shelf.read(path) {
        Read::Missing => Ok(None),
        Read::Refused(why) => Err(why),
        Read::Bytes(bytes) => match String::from_utf8(bytes.to_vec()) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(format!("{path} is not UTF-8 text, so insta cannot read it; restore it or record it anew")),
        },
    }
}

fn file_baseline(pin: &Pin, project: &Project) -> Baseline {
    let Some(path) = &pin.oracle.path else { return Baseline::Missing };
    if let Some((header, _)) = binary_of(pin) {
        match text_at(project, &header) {
            Ok(None) => return Baseline::Missing,
            Ok(Some(_)) => {}
            Err(why) => return Baseline::Unreadable(why),
        }
        return match project.shelf.read(path) {
            Read::Missing => Baseline::Missing,
            Read::Refused(why) => Baseline::Unreadable(why),
            Read::Bytes(bytes) => Baseline::Present(Recorded {
                content: Content::Bytes(bytes.to_vec()),
                first_line: 0,
                file_digest: digest_of(&[&bytes]),
                preimage: None,
            }),
        };
    }
    match text_at(project, path) {
        Ok(None) => Baseline::Missing,
        Err(why) => Baseline::Unreadable(why),
        Ok(Some(text)) => match Snap::read(&text) {
            Ok(snap) => Baseline::Present(Recorded {
                content: Content::Text(snap.normal()),
                first_line: snap.first_line,
                file_digest: digest_of(&[text.as_bytes()]),
                preimage: None,
            }),
            Err(why) => Baseline::Unreadable(format!("{path} cannot be read as a snapshot: {why}")),
        },
    }
}

fn beside(path: &RelPath, ending: &str) -> Option<RelPath> {
    path.parent().join(&format!("{}{ending}", path.name()))
}

fn file_artefacts(pin: &Pin, project: &Project) -> Vec<Artefact> {
    let Some(path) = &pin.oracle.path else { return Vec::new() };
    let header_path = binary_of(pin).map_or_else(|| path.clone(), |(header, _)| header);
    let Some(new) = beside(&header_path, ".new") else { return Vec::new() };
    let text = match text_at(project, &new) {
        Ok(None) => return Vec::new(),
        Ok(Some(text)) => text,
        Err(why) => return vec![broken(new, why)],
    };
    let snap = match Snap::read(&text) {
        Ok(snap) => snap,
        Err(why) => return vec![broken(new.clone(), format!("{new} cannot be read as a snapshot: {why}"))],
    };
    let line = snap.key("assertion_line").and_then(|line| line.parse().ok());
    let mut artefact = Artefact {
        path: new.clone(),
        content: Ok(Content::Text(snap.normal())),
        compared_with: None,
        header: Some(text.clone()),
        names: line.map(|line| (line, String::new())),
        says_match: false,
    };
    if let Some(extension) = snap.extension()
        && let Some(data) = beside(&new, &format!(".{extension}"))
    {
        artefact.content = match project.shelf.disk(&data) {
            Read::Bytes(bytes) => Ok(Content::Bytes(bytes.to_vec())),
            Read::Missing => Err(format!("{new} has no data file {data} beside it; run the test again")),
            Read::Refused(why) => Err(why),
        };
        artefact.path = data;
    }
    vec![artefact]
}

fn broken(path: RelPath, why: String) -> Artefact {
    Artefact { path, content: Err(why), compared_with: None, header: None, names: None, says_match: false }
}

/// The header that an accepted file gets: that of the `.snap.new`, else the one that is there.
fn header_for(pin: &Pin, artefact: Option<&Artefact>, old: Option<&str>) -> String {
    let read = artefact.and_then(|artefact| Snap::read(artefact.header.as_deref()?).ok());
    if let Some(snap) = read {
        return snap.kept_header();
    }
    match old.and_then(|old| Snap::read(old).ok()).filter(|snap| !snap.legacy) {
        Some(snap) => snap.kept_header(),
        None => format!("source: {}\n", pin.asserted_in.as_ref().map_or(&pin.file, |(file, _)| file)),
    }
}

/// The `.snap.new` that was shown, if it is still what it was.
fn unchanged(artefact: &Artefact, new: &RelPath, project: &Project) -> Result<FileChange, Refusal> {
    match text_at(project, new) {
        Ok(Some(text)) if Some(&text) == artefact.header.as_ref() => Ok(FileChange {
            path: new.clone(),
            before: Some(digest_of(&[text.as_bytes()])),
            after: None,
            edits: Vec::new(),
        }),
        _ => refuse(format!("{new} has changed since it was shown; nothing was accepted, look again")),
    }
}

fn amend_file(pin: &Pin, text: &str, artefact: Option<&Artefact>, project: &Project) -> Result<Amended, Refusal> {
    let Some(path) = &pin.oracle.path else {
        return refuse(format!("the snapshot file of {} is not known exactly, so it is only shown", pin.test));
    };
    let old = text_at(project, path).map_err(Refusal)?;
    let header = header_for(pin, artefact, old.as_deref());
    let mut new = snap::write(&header, text);
    if old.as_deref().is_some_and(|old| old.contains("\r\n") && !old.replace("\r\n", "").contains('\n')) {
        new = new.replace('\n', "\r\n");
    }
    let whole = Span::new(0, old.as_ref().map_or(0, String::len));
    let mut amended = Amended {
        oracle: vec![FileChange {
            path: path.clone(),
            before: old.as_ref().map(|old| digest_of(&[old.as_bytes()])),
            after: Some(new.clone().into_bytes()),
            edits: vec![(whole, new)],
        }],
        artefacts: Vec::new(),
        shown_after: None,
    };
    if let (Some(artefact), Some(beside)) =
        (artefact.filter(|artefact| artefact.header.is_some()), beside(path, ".new"))
    {
        amended.artefacts.push(unchanged(artefact, &beside, project)?);
    }
    Ok(amended)
}

fn amend_binary(pin: &Pin, bytes: &[u8], artefact: Option<&Artefact>, project: &Project) -> Result<Amended, Refusal> {
    let (Some(path), Some((header_path, extension))) = (&pin.oracle.path, binary_of(pin)) else {
        return refuse(format!("the snapshot file of {} is not known exactly, so it is only shown", pin.test));
    };
    let old_header = text_at(project, &header_path).map_err(Refusal)?;
    let old_data = match project.shelf.disk(path) {
        Read::Bytes(bytes) => Some(digest_of(&[&bytes])),
        Read::Missing => None,
        Read::Refused(why) => return refuse(why),
    };
    let mut header = header_for(pin, artefact, old_header.as_deref());
    if !header.contains("snapshot_kind: binary") {
        header.push_str(&format!("extension: {extension}\nsnapshot_kind: binary\n"));
    }
    let change = |path: &RelPath, before: Option<String>, after: Option<Vec<u8>>| FileChange {
        path: path.clone(),
        before,
        after,
        edits: Vec::new(),
    };
    let mut amended = Amended::default();
    let before = old_header.as_ref().map(|old| digest_of(&[old.as_bytes()]));
    amended.oracle.push(change(path, old_data, Some(bytes.to_vec())));
    amended.oracle.push(change(&header_path, before, Some(snap::write_binary(&header).into_bytes())));
    // The data under the extension that was recorded before goes, as insta removes it.
    if let Some(old) = old_header.as_ref().and_then(|old| Snap::read(old).ok())
        && let Some(gone) = old.extension().filter(|old| *old != extension)
        && let Some(gone) = beside(&header_path, &format!(".{gone}"))
        && let Read::Bytes(bytes) = project.shelf.disk(&gone)
    {
        amended.artefacts.push(change(&gone, Some(digest_of(&[&bytes])), None));
    }
    if let (Some(artefact), Some(new)) =
        (artefact.filter(|artefact| artefact.header.is_some()), beside(&header_path, ".new"))
    {
        amended.artefacts.push(unchanged(artefact, &new, project)?);
        if artefact.path != new {
            amended.artefacts.push(change(&artefact.path, Some(digest_of(&[bytes])), None));
        }
    }
    Ok(amended)
}
