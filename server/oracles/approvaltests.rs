//! approvaltests 20.0.1: `verify(x)` against `<folder>/<owner>.<test>[.<part>…].approved.<ext>`, where the owner
//! is the module for functions and the class for methods, and the test the outermost function on the way
//! down. Takes sites of the `verify` family, gives the approved files, what a failing run left beside them
//! (`.received.`), and the bytes of an accepted one (the received file, moved).
//!
//! The comparer folds CRLF to LF, in binary files too, and nothing else: the received file always ends in a
//! newline, so an approved one that lost it differs. An approved file of no bytes was never approved: the
//! default reporter makes it for a missing one. Inline approvals (in the docstring) are shown only.

use std::collections::BTreeSet;

use super::plain_python::{node_id, pin_of, statements};
use super::pytest;
use super::{
    Amended, Artefact, Baseline, Content, FileChange, Framework, Oracle, OracleKind, Orphan, Pin, Recorded, Refusal,
    Step, digest_of,
};
use crate::code::{Arg, Expr, ExprKind, Stmt, StmtKind, Unit};
use crate::evaluate::worlds;
use crate::pins::sites::is_test;
use crate::pins::{Frame, Project, Site, is_test_file, module_files};
use crate::places::RelPath;
use crate::shelf::Read;
use crate::syntax::Language;

mod options;

use options::{Named, Options, Reader, own_extension};

pub struct ApprovalTests;

const ID: &str = "approvaltests";
const APPROVED: &str = ".approved.";
const RECEIVED: &str = ".received.";
/// Stands among the steps of a pin whose file is known, and need not be there.
const KNOWN: Step = Step::Serialised("nothing");
/// Most candidates of a name that is known in part.
const MOST: usize = 20;

fn starts_in_a_test(project: &Project, site: &Site) -> bool {
    site.frames.first().is_some_and(|frame| {
        project
            .unit(&frame.file)
            .and_then(|unit| Some((unit, unit.functions.get(frame.function?)?)))
            .is_some_and(|(unit, function)| is_test(unit, function))
    })
}

/// The call at the comparing frame and what approvaltests calls it.
fn verified<'a>(project: &'a Project, site: &Site) -> Option<(String, &'a [Arg])> {
    called_at(project, site.comparing())
}

/// A call of approvaltests at that frame: its name and arguments.
fn called_at<'a>(project: &'a Project, frame: &Frame) -> Option<(String, &'a [Arg])> {
    let unit = project.unit(&frame.file)?;
    let mut found = None;
    let mut see = |expr: &'a Expr| {
        if let ExprKind::Call { callee, args } = &expr.kind
            && expr.span == frame.at
            && found.is_none()
        {
            found = callee.dotted().map(|name| (name, args.as_slice()));
        }
    };
    body_of(unit, frame).iter().filter(|stmt| stmt.span.contains(frame.at)).for_each(|stmt| stmt.walk(&mut see));
    let (name, args) = found?;
    let path = imported(project, unit, &name, 3)?;
    let last = path.rsplit('.').next()?.to_string();
    path.starts_with("approvaltests.").then_some((last, args))
}

/// Namer and writer of `FileApprover.verify(namer, writer, …)`, which gives its result back.
fn by_hand<'a>(project: &'a Project, site: &Site, args: &'a [Arg]) -> Option<(&'a Expr, &'a Expr)> {
    let (callee, _) = pytest::call_at(project, site.comparing())?;
    let [namer, writer, ..] = args else { return None };
    let placed = namer.name.is_none() && writer.name.is_none() && !namer.spread && !writer.spread;
    let by_hand = callee.dotted().is_some_and(|name| name.ends_with("FileApprover.verify"));
    (placed && by_hand).then_some((&namer.value, &writer.value))
}

fn body_of<'a>(unit: &'a Unit, frame: &Frame) -> &'a [Stmt] {
    match frame.function.and_then(|index| unit.functions.get(index)) {
        Some(function) => &function.body,
        None => &unit.top,
    }
}

/// The call stands under `pytest.raises` or `assertRaises`: a comparison is not what the test is for.
fn expects_an_error(project: &Project, frame: &Frame) -> bool {
    let Some(unit) = project.unit(&frame.file) else { return false };
    let mut found = false;
    statements(body_of(unit, frame), frame.at, &mut |stmt| {
        if let StmtKind::With { items, .. } = &stmt.kind {
            found |= items.iter().any(|(item, _)| match &item.kind {
                ExprKind::Call { callee, .. } => match &callee.kind {
                    ExprKind::Name(name) | ExprKind::Attr(_, name) => {
                        matches!(name.as_str(), "raises" | "assertRaises" | "assertRaisesRegex")
                    }
                    _ => false,
                },
                _ => false,
            });
        }
    });
    found
}

/// Full path of a name that is imported, through modules that hand it on.
fn imported(project: &Project, unit: &Unit, dotted: &str, left: usize) -> Option<String> {
    let (first, rest) = dotted.split_once('.').map_or((dotted, None), |(first, rest)| (first, Some(rest)));
    let import = unit.imports.iter().rfind(|import| import.local == first).or_else(|| {
        unit.imports.iter().find(|import| import.local == "*" && import.path.starts_with("approvaltests"))
    })?;
    let path = match (import.local.as_str(), rest) {
        ("*", _) => format!("{}.{dotted}", import.path),
        (_, None) => import.path.clone(),
        (_, Some(rest)) => format!("{}.{rest}", import.path),
    };
    if path.starts_with("approvaltests.") || left == 0 {
        return Some(path);
    }
    let last = path.rsplit('.').next()?;
    let handed = module_files(&unit.path, &path, &project.shelf)
        .into_iter()
        .filter_map(|file| project.unit(&file))
        .find_map(|other| imported(project, other, last, left - 1));
    Some(handed.unwrap_or(path))
}

/// `<folder>/<owner>.<test>` of the outermost frame, with the folder that the configuration beside it names.
fn base(project: &Project, site: &Site) -> Option<RelPath> {
    let frame = site.frames.first()?;
    let unit = project.unit(&frame.file)?;
    let function = frame.function.and_then(|index| unit.functions.get(index))?;
    let owner = match function.params.first() {
        Some(first) if first.name == "self" => function.path.last()?.clone(),
        _ => frame.file.stem().to_string(),
    };
    folder(project, &frame.file.parent())?.join(&format!("{owner}.{}", function.name))
}

/// The folder of approved files of the tests in `tests`; `None` when its configuration cannot be read.
fn folder(project: &Project, tests: &RelPath) -> Option<RelPath> {
    let config = tests.join("approvaltests_config.json")?;
    match project.shelf.read(&config) {
        Read::Missing => Some(tests.clone()),
        Read::Refused(_) => None,
        Read::Bytes(bytes) => {
            let config: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
            match config.get("subdirectory") {
                None => Some(tests.clone()),
                Some(subdirectory) => tests.join(subdirectory.as_str()?),
            }
        }
    }
}

fn content_of(bytes: &[u8]) -> Content {
    let folded = folded(bytes);
    match String::from_utf8(folded) {
        Ok(text) => Content::Text(text),
        Err(err) => Content::Bytes(err.into_bytes()),
    }
}

fn folded(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, tail)) = rest.split_first() {
        if *first != b'\r' || tail.first() != Some(&b'\n') {
            out.push(*first);
        }
        rest = tail;
    }
    out
}

fn received(approved: &RelPath) -> Option<RelPath> {
    let name = approved.name();
    let at = name.rfind(APPROVED)?;
    approved.parent().join(&format!("{}{RECEIVED}{}", &name[..at], &name[at + APPROVED.len()..]))
}

fn oracle(kind: OracleKind) -> Oracle {
    Oracle {
        kind,
        path: None,
        entry: None,
        span: None,
        candidates: Vec::new(),
        steps: Vec::new(),
        shown_only: None,
        key: String::new(),
        tolerance: None,
    }
}

impl Framework for ApprovalTests {
    fn id(&self) -> &'static str {
        ID
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        let Some((name, args)) = verified(project, site) else { return Vec::new() };
        let Some((last, outer)) = site.frames.split_last() else { return Vec::new() };
        // The library's own way down from one of its calls is not a wrapper of the tests.
        if outer.iter().any(|frame| called_at(project, frame).is_some()) {
            return Vec::new();
        }
        // Who calls a helper that no test is seen to call is not known, nor the name then.
        let unreached = !starts_in_a_test(project, site);
        if unreached && !is_test_file(&site.frames[0].file) {
            return Vec::new();
        }
        let worlds = worlds(project, site);
        let raises = outer.iter().chain([last]).any(|frame| expects_an_error(project, frame));
        let tried = pytest::is_tried(project, site);
        let last = site.frames.len() - 1;
        let mut pins = Vec::new();
        for world in &worlds {
            let reader = Reader { project, site, world };
            let mut options = Options::default();
            let named = |name: &str| args.iter().find(|arg| arg.name.as_deref() == Some(name)).map(|arg| &arg.value);
            let positional = match name.as_str() {
                "verify" | "verify_with_namer" => args.get(if name == "verify" { 2 } else { 1 }),
                _ => None,
            };
            if let Some(given) = named("options") {
                reader.read(last, given, &mut options, 0);
            }
            options.elsewhere |= args.iter().any(|arg| arg.spread);
            let namer = named("namer").or(positional.filter(|arg| arg.name.is_none()).map(|arg| &arg.value));
            if let Some(namer) = namer
                && namer.kind != ExprKind::None
            {
                options.extension = None;
                options.parts.clear();
                reader.namer(last, namer, &mut options, 0);
            }
            options.elsewhere |= name == "verify_with_namer_and_writer";
            let by_hand = by_hand(project, site, args);
            if let Some((namer, writer)) = by_hand {
                options = Options::default();
                reader.namer(last, namer, &mut options, 0);
                options.elsewhere |= !reader.writes_text(last, writer);
            }
            own_extension(&reader, last, &name, args, &mut options);
            options.elsewhere |= unreached;
            let Some(mut pin) = pin_of(project, site, world, ID, approved(project, site, &options)) else { continue };
            pin.shared_site = worlds.len() > 1;
            // What is to fail, is tried, or approves by itself need have nothing recorded.
            let open = raises || by_hand.is_some() || (tried || options.automatic) && is_absent(project, &pin);
            if open && pin.oracle.kind == OracleKind::File {
                let path = pin.oracle.path.take();
                if path.is_some() {
                    pin.oracle.steps.push(KNOWN);
                }
                pin.oracle.candidates.extend(path.filter(|path| project.shelf.listed(path)));
            }
            if by_hand.is_some() {
                pin.oracle.shown_only = Some("the test looks at the result of the comparison itself".to_string());
            }
            if raises {
                pin.oracle.shown_only = Some("this call is to raise an error; nothing is approved".to_string());
            }
            pins.push(pin);
        }
        pins
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        let Some(path) = &pin.oracle.path else { return Baseline::Missing };
        if pin.oracle.kind == OracleKind::Inline {
            return inline_baseline(pin, project);
        }
        match project.shelf.read(path) {
            Read::Missing => Baseline::Missing,
            Read::Refused(why) => Baseline::Unreadable(why),
            Read::Bytes(bytes) if bytes.is_empty() => Baseline::Missing,
            Read::Bytes(bytes) => {
                let content = content_of(&bytes);
                let first_line = usize::from(matches!(content, Content::Text(_)));
                Baseline::Present(Recorded { content, first_line, file_digest: digest_of(&[&bytes]), preimage: None })
            }
        }
    }

    fn artefacts(&self, pin: &Pin, project: &Project) -> Vec<Artefact> {
        let Some(path) = pin.oracle.path.as_ref().filter(|_| pin.oracle.kind == OracleKind::File) else {
            return Vec::new();
        };
        let Some(path) = received(path) else { return Vec::new() };
        let content = match project.shelf.disk(&path) {
            Read::Missing => return Vec::new(),
            Read::Refused(why) => Err(why),
            Read::Bytes(bytes) => Ok(content_of(&bytes)),
        };
        vec![Artefact { path, content, compared_with: None, header: None, names: None, says_match: false }]
    }

    fn content(&self, _: &Pin, bytes: &[u8], _: &Project) -> Result<Content, String> {
        Ok(content_of(bytes))
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        artefact: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        if let Some(why) = &pin.oracle.shown_only {
            return Err(Refusal(format!("{}: {why}", pin.file)));
        }
        let Some(path) = pin.oracle.path.clone() else {
            return Err(Refusal(format!("{}: the approved file of {} is not known exactly", pin.file, pin.test)));
        };
        let before = match project.shelf.disk(&path) {
            Read::Missing => None,
            Read::Bytes(bytes) => Some(digest_of(&[&bytes])),
            Read::Refused(why) => return Err(Refusal(why)),
        };
        let mut artefacts = Vec::new();
        let after = match artefact {
            None => match observed {
                Content::Text(text) | Content::Value(text) => text.clone().into_bytes(),
                Content::Bytes(bytes) => bytes.clone(),
            },
            Some(artefact) => match project.shelf.disk(&artefact.path) {
                Read::Bytes(bytes) if content_of(&bytes) == *observed => {
                    artefacts.push(FileChange {
                        path: artefact.path.clone(),
                        before: Some(digest_of(&[&bytes])),
                        after: None,
                        edits: Vec::new(),
                    });
                    bytes.to_vec()
                }
                _ => {
                    return Err(Refusal(format!(
                        "{} is no longer what was shown; look at the new drift and decide again",
                        artefact.path
                    )));
                }
            },
        };
        if after.is_empty() {
            return Err(Refusal(format!(
                "{path}: an approved file of no bytes counts as never approved; nothing would be recorded"
            )));
        }
        Ok(Amended {
            oracle: vec![FileChange { path, before, after: Some(after), edits: Vec::new() }],
            artefacts,
            shown_after: None,
        })
    }

    fn orphans(&self, pins: &[Pin], project: &Project) -> Vec<Orphan> {
        orphans(pins, project)
    }
}

/// The oracle of a call with these options.
fn approved(project: &Project, site: &Site, options: &Options) -> Oracle {
    let function = site.frames.first().and_then(|frame| {
        let unit = project.unit(&frame.file)?;
        Some((unit, frame.function.and_then(|index| unit.functions.get(index))?))
    });
    if options.inline {
        let mut oracle = oracle(OracleKind::Inline);
        // Without a docstring nothing is approved yet, and nothing is made here.
        oracle.span = function.and_then(|(_, function)| function.doc.as_ref()).map(|doc| doc.span);
        oracle.path = function.filter(|_| oracle.span.is_some()).map(|(unit, _)| unit.path.clone());
        oracle.shown_only = Some("an inline approval stands in the docstring; change it there".to_string());
        return oracle;
    }
    let mut oracle = oracle(OracleKind::File);
    oracle.steps = vec![Step::CrlfToLf];
    if options.comparator {
        oracle.steps.push(Step::Unknown("a comparator of the test's own".to_string()));
        oracle.shown_only = Some("the test compares in its own way (with_comparator)".to_string());
    }
    let Some(base) = base(project, site).filter(|_| !options.elsewhere) else { return oracle };
    let extension = options.extension.as_deref().unwrap_or(".txt").trim_start_matches('.');
    if let Some(named) = &options.named {
        match (named, site.frames.first(), function) {
            (Named::Template(template), Some(frame), _) => {
                oracle.path = templated(project, template, &frame.file.parent(), base.name(), extension);
            }
            (Named::Pytest, Some(frame), Some((_, function))) => {
                let name = format!("{}.{}{APPROVED}{extension}", frame.file.stem(), function.name);
                // With parameters, or with pytest's own subdirectory, it is another.
                oracle.path = frame.file.parent().join(&name).filter(|path| holds(project, path));
            }
            _ => {}
        }
        return oracle;
    }
    if options.on_servers {
        let path = |part: &str| base.parent().join(&format!("{}{part}{APPROVED}{extension}", base.name()));
        oracle.candidates = ["", ".ci"].into_iter().filter_map(path).filter(|path| holds(project, path)).collect();
        return oracle;
    }
    let known: Option<String> = options.parts.iter().map(|part| part.as_ref().map(|part| format!(".{part}"))).collect();
    match known {
        Some(parts) => {
            let stem = format!("{}{parts}{APPROVED}", base.name());
            let exact = base.parent().join(&format!("{stem}{extension}"));
            let set = options.extension.is_some() || exact.as_ref().is_some_and(|exact| holds(project, exact));
            let beside = if set && !options.open_extension { None } else { beside(project, &base, &stem) };
            oracle.path = match beside {
                // A value that is verifiable by itself chooses its extension.
                Some(path) => Some(path),
                None if options.open_extension => None,
                None => exact,
            };
        }
        None => {
            let ending = format!("{APPROVED}{extension}");
            let beginning = format!("{}.", base.as_str());
            let fitting: Vec<RelPath> = project
                .shelf
                .below(&base.parent())
                .filter(|path| path.as_str().starts_with(&beginning) && path.as_str().ends_with(&ending))
                .take(MOST + 1)
                .cloned()
                .collect();
            if fitting.len() <= MOST {
                oracle.candidates = fitting;
            }
        }
    }
    oracle
}

/// The path that a template of `TemplatedCustomNamer` gives, where it begins with the test's own folder.
fn templated(
    project: &Project,
    template: &str,
    tests: &RelPath,
    owner_and_test: &str,
    extension: &str,
) -> Option<RelPath> {
    let (owner, test) = owner_and_test.split_once('.')?;
    let subdirectory = folder(project, tests)?;
    let subdirectory = subdirectory.as_str().get(tests.as_str().len()..).unwrap_or_default().trim_start_matches('/');
    let below = template.strip_prefix("{test_source_directory}/")?;
    let below = below
        .replace("{approved_or_received}", "approved")
        .replace("{test_file_name}", owner)
        .replace("{test_case_name}", test)
        .replace("{file_extension}", extension)
        .replace("{approvals_subdirectory}", subdirectory);
    let parts: Vec<&str> = below.split('/').filter(|part| !part.is_empty()).collect();
    if below.contains(['{', '}']) { None } else { tests.join(&parts.join("/")) }
}

/// The file is there and was approved: one of no bytes was not.
fn holds(project: &Project, path: &RelPath) -> bool {
    project.shelf.listed(path) && project.shelf.stamp(path).is_some_and(|stamp| stamp.size > 0)
}

fn is_absent(project: &Project, pin: &Pin) -> bool {
    pin.oracle.path.as_ref().is_some_and(|path| !holds(project, path))
}

/// The only approved file of that stem, whatever its extension.
fn beside(project: &Project, base: &RelPath, stem: &str) -> Option<RelPath> {
    let folder = base.parent();
    let mut fitting = project
        .shelf
        .below(&folder)
        .filter(|path| path.parent() == folder && path.name().starts_with(stem) && holds(project, path));
    let first = fitting.next()?;
    fitting.next().is_none().then(|| first.clone())
}

fn inline_baseline(pin: &Pin, project: &Project) -> Baseline {
    let unit = pin.oracle.path.as_ref().and_then(|path| project.unit(path));
    let Some((unit, span)) = unit.zip(pin.oracle.span) else { return Baseline::Missing };
    let doc = unit.functions.iter().filter_map(|function| function.doc.as_ref()).find(|doc| doc.span == span);
    let Some(doc) = doc else { return Baseline::Missing };
    Baseline::Present(Recorded {
        content: Content::Text(dedented(&doc.text)),
        first_line: 0,
        file_digest: unit.text.digest().to_string(),
        preimage: None,
    })
}

/// A docstring without its first line break and common indentation.
fn dedented(text: &str) -> String {
    let text = text.strip_prefix('\n').unwrap_or(text);
    let indent = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    let lines: Vec<&str> = text.split('\n').map(|line| line.get(indent..).unwrap_or("")).collect();
    lines.join("\n")
}

/// Approved files that no test can reach, in folders where every test's file is known exactly.
fn orphans(pins: &[Pin], project: &Project) -> Vec<Orphan> {
    let ours: Vec<&Pin> = pins.iter().filter(|pin| pin.framework == ID).collect();
    if ours.is_empty() {
        return Vec::new();
    }
    let claimed: BTreeSet<&RelPath> =
        pins.iter().flat_map(|pin| pin.oracle.path.iter().chain(&pin.oracle.candidates)).collect();
    let folders: BTreeSet<RelPath> = ours.iter().filter_map(|pin| folder(project, &pin.file.parent())).collect();
    let mut found = Vec::new();
    for path in project.shelf.files() {
        let Some(at) = path.name().rfind(APPROVED) else { continue };
        let stem = &path.name()[..at];
        if [".bak", ".orig", ".rej", "~"].iter().any(|copy| path.name().ends_with(copy)) {
            continue;
        }
        // A `/` in a part makes a folder below.
        let in_folder = folders.iter().any(|folder| path.parent() == *folder);
        if !in_folder || claimed.contains(path) || may_be_reached(path, stem, &ours, project) {
            continue;
        }
        found.push(Orphan { path: path.clone(), entry: None, line: 1, framework: ID.to_string() });
    }
    found
}

/// Whether something that is not known exactly might name this file.
fn may_be_reached(path: &RelPath, stem: &str, ours: &[&Pin], project: &Project) -> bool {
    let tests: Vec<RelPath> = ours
        .iter()
        .map(|pin| pin.file.parent())
        .filter(|tests| folder(project, tests).is_some_and(|folder| folder == path.parent()))
        .collect();
    let mut parts = stem.splitn(3, '.');
    let (Some(owner), Some(test)) = (parts.next(), parts.next()) else { return true };
    let unresolved = |pin: &&&Pin| {
        pin.oracle.kind == OracleKind::File
            && pin.oracle.path.is_none()
            && pin.oracle.candidates.is_empty()
            && !pin.oracle.steps.contains(&KNOWN)
    };
    // A namer that is not understood may name any file of its folder, and an open pattern its own test's.
    if ours.iter().filter(unresolved).any(|pin| tests.contains(&pin.file.parent())) {
        return true;
    }
    // The same name with another extension: a value may choose its own, so which one counts is not certain.
    let beginning = format!("{stem}{APPROVED}");
    let same_stem = |other: &RelPath| other.parent() == path.parent() && other.name().starts_with(&beginning);
    if ours.iter().any(|pin| pin.oracle.path.as_ref().is_some_and(same_stem)) {
        return true;
    }
    // A test of that name with a namer of its own may have used the plain name before.
    let elsewhere = |pin: &Pin| match &pin.oracle.path {
        Some(held) => held.parent() != path.parent() && tests.contains(&pin.file.parent()),
        None => true,
    };
    if ours.iter().any(|pin| elsewhere(pin) && pin.test_base().ends_with(&format!("::{test}"))) {
        return true;
    }
    for (file, facts) in project.files.iter() {
        let unit = &facts.unit;
        if unit.language != Language::Python {
            continue;
        }
        if tests.contains(&file.parent()) && (!unit.errors.is_empty() || !facts.troubles.is_empty()) {
            return true;
        }
        // A class of that name with tests from elsewhere.
        let inherits = |scope: &crate::code::Scope| {
            scope.name == owner
                && scope
                    .bases
                    .iter()
                    .any(|base| !matches!(base.dotted().as_deref(), Some("unittest.TestCase" | "TestCase" | "object")))
        };
        if unit.scopes.iter().any(inherits) {
            return true;
        }
        // A test of that name in which no call was found: it may verify in a way that is not seen.
        let unseen = unit.functions.iter().any(|function| {
            let its = function.name == test
                && match function.params.first() {
                    Some(first) if first.name == "self" => function.path.last().is_some_and(|class| class == owner),
                    _ => file.stem() == owner,
                };
            its && tests.contains(&file.parent())
                && !ours.iter().any(|pin| pin.file == *file && pin.test_base() == node_id(file, Some(function)))
        });
        if unseen {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;
