//! pytest-snapshot 0.9.0: `snapshot.assert_match(value, name)` against the file
//! `<folder>/snapshots/<module>/<test>[/<parameters>]/<name>`, `assert_match_dir` against a folder of files, or both
//! below the folder that the test assigns to `snapshot.snapshot_dir`. Takes sites, gives pins, contents and the
//! bytes that `--snapshot-update` writes. A failing run leaves nothing, so there are no artefacts.
//!
//! Class names are no part of the path. A `str` is compared after universal newlines and cannot hold a carriage
//! return; `bytes` are compared as they are. Files of a folder that have no value any more are deleted only with
//! `--allow-snapshot-deletion`; here such a change is refused.

use std::collections::BTreeSet;

use super::literal_python::{self, Names, Py};
use super::pytest::{self, Call, Id, Ids, Kind, Place};
use super::{
    Amended, Artefact, Baseline, Content, FileChange, Framework, Orphan, Pin, Recorded, Refusal, Step, digest_of,
    reading, seen,
};
use crate::code::python;
use crate::code::{Expr, Stmt, StmtKind, Unit};
use crate::evaluate::{self, Value, World, worlds};
use crate::pins::{Project, Site, fixtures};
use crate::places::RelPath;
use crate::shelf::Read;

mod orphans;

pub struct PytestSnapshot;

const ID: &str = "pytest-snapshot";
const FIXTURE: &str = "snapshot";
/// How a folder of files is read: as one dictionary.
const FOLDER: &str = "folder";
/// Most files of one folder.
const MOST_FILES: usize = 2_000;

impl Framework for PytestSnapshot {
    fn id(&self) -> &'static str {
        ID
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        let Some(call) = Call::at(project, site.comparing()) else { return Vec::new() };
        let folder = call.method == "assert_match_dir";
        let value = call.arg(0, if folder { "dir_dict" } else { "value" });
        let name = call.arg(1, if folder { "snapshot_dir_name" } else { "snapshot_name" });
        let (Some(value), Some(name)) = (value, name) else { return Vec::new() };
        let worlds = worlds(project, site);
        let Some(first) = worlds.first() else { return Vec::new() };
        if !is_ours(project, site, first, &call) {
            return Vec::new();
        }
        let to_fail = pytest::is_to_fail(project, site);
        let aside = pytest::is_set_aside(project, site);
        let ids = Ids::of(project, site);
        let mut pins = Vec::new();
        let mut known = BTreeSet::new();
        for world in &worlds {
            let id = ids.id(world);
            let name = world.value(project, site, site.frames.len() - 1, name);
            let steps = match (folder, pytest::kind_of(project, site, world, value)) {
                (true, _) => vec![Step::Serialised(FOLDER)],
                (false, Kind::Str) => vec![Step::UniversalNewlines],
                (false, Kind::Bytes) => vec![Step::Bytes],
                (false, Kind::Open) => Vec::new(),
            };
            for place in places(project, site, world, &id, &name) {
                let Some(mut pin) = seen::pin(project, site, world, ID) else { continue };
                if matches!(id, Id::Part(_)) {
                    pin.case = None;
                    pin.test = super::plain_python::node_id(
                        &pin.file,
                        pytest::function_of(project, &site.frames[0]).map(|f| f.1),
                    );
                }
                if !known.insert((pin.case.clone(), place.clone())) {
                    continue;
                }
                pin.oracle.steps = steps.clone();
                pytest::hold(&mut pin, place, &|path| is_there(project, path), aside, to_fail);
                pins.push(pin);
            }
        }
        let shared = pins.len() > 1;
        pins.iter_mut().for_each(|pin| pin.shared_site = shared);
        pins
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        let Some(path) = &pin.oracle.path else { return Baseline::Missing };
        if is_folder(pin) {
            return folder_baseline(path, project);
        }
        reading::whole(path, project, |bytes| reading::content(bytes, steps(pin)))
    }

    fn observed(&self, pin: &Pin, value: Content) -> Content {
        if !is_folder(pin) {
            return reading::observed(value, steps(pin));
        }
        match &value {
            Content::Value(source) => files_of(source).map_or(value, |files| folder_content(&files)),
            _ => value,
        }
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        _artefact: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        let Some(path) = &pin.oracle.path else {
            return Err(Refusal(format!(
                "{}: which snapshot file it is held against is known only up to a pattern; nothing was written",
                pin.test
            )));
        };
        if is_folder(pin) {
            return amend_folder(path, observed, project);
        }
        let old = match project.shelf.disk(path) {
            Read::Bytes(bytes) => Some(bytes),
            Read::Missing => None,
            Read::Refused(why) => return Err(Refusal(format!("{why}; nothing was written"))),
        };
        // `bytes` may hold anything, where the call shows that they are; a text with a carriage return never holds.
        if pin.oracle.steps != [Step::Bytes]
            && let Content::Text(text) = observed
            && text.contains('\r')
        {
            return Err(no_return(path));
        }
        let after = reading::bytes(observed, steps(pin), old.as_deref())?;
        Ok(Amended { oracle: vec![change(path, old.as_deref(), after)], ..Amended::default() })
    }

    fn orphans(&self, pins: &[Pin], project: &Project) -> Vec<Orphan> {
        orphans::orphans(pins, project)
    }
}

fn no_return(path: &RelPath) -> Refusal {
    Refusal(format!(
        "{path}: the observed text holds a carriage return, which pytest-snapshot refuses to record in a `str`; pass \
         `bytes` to `assert_match` in the test, or keep the recorded value"
    ))
}

fn change(path: &RelPath, old: Option<&[u8]>, after: Vec<u8>) -> FileChange {
    FileChange { path: path.clone(), before: old.map(|old| digest_of(&[old])), after: Some(after), edits: Vec::new() }
}

/// The receiver is the plugin's `snapshot`; the shape of the call tells it from other plugins' fixture of that name.
fn is_ours(project: &Project, site: &Site, world: &World, call: &Call) -> bool {
    let fixture = pytest::plain_fixture(project, site, world, call.receiver) == Some(FIXTURE)
        || pytest::kept_fixture(project, site.comparing(), call.receiver, FIXTURE);
    fixture && !super::snapshottest::is_used_for(project, site)
}

/// Where the snapshot lies. With parameters whose ids are not known, in each folder that is there.
fn places(project: &Project, site: &Site, world: &World, id: &Id, name: &Value) -> Vec<Place> {
    let unclear = vec![Place::Among(Vec::new())];
    let Some((unit, function)) = site.frames.first().and_then(|frame| pytest::function_of(project, frame)) else {
        return unclear;
    };
    let (base, id) = match assigned_folder(project, site, world) {
        Assigned::Never => {
            let default = unit.path.parent().join(&format!("snapshots/{}/{}", unit.path.stem(), function.name));
            (default, id.clone())
        }
        Assigned::To(value) => {
            let value = match value {
                Value::Str(_) => world.file(project, site, 0, value),
                value => value,
            };
            match value {
                Value::Path(path) => (Some(path), Id::None),
                value => {
                    let below = [Some("/".to_string())].into_iter().chain(parts(name)).collect::<Vec<_>>();
                    let all: Vec<_> = parts(&value).into_iter().chain(below).collect();
                    return vec![Place::Among(evaluate::candidates(project, &Value::Paths(all)))];
                }
            }
        }
        Assigned::Unclear => return unclear,
    };
    let Some(base) = base else { return unclear };
    let within = |base: &RelPath| match name {
        Value::Str(text) => base.join(text).filter(|path| path.starts_with(base) && path != base),
        Value::Path(path) => Some(path.clone()).filter(|path| path.starts_with(base) && path != base),
        _ => None,
    };
    let open = |base: &RelPath| {
        let all = [Some(format!("{base}/"))].into_iter().chain(parts(name)).collect();
        Place::Among(evaluate::candidates(project, &Value::Paths(all)))
    };
    let at = |base: RelPath| match within(&base) {
        Some(path) => Place::Known(path),
        None => open(&base),
    };
    match id {
        Id::None => vec![at(base)],
        Id::Known(id) => base.join(&clean(&id)).map(at).into_iter().collect(),
        Id::Part(part) => {
            let part = part.map(|part| clean(&part)).unwrap_or_default();
            let mut found: Vec<Place> = subfolders(project, &base)
                .into_iter()
                .chain([base.clone()])
                .filter(|folder| *folder == base || folder.name().contains(&part))
                .filter_map(|folder| within(&folder))
                .filter(|path| is_there(project, path))
                .map(Place::Known)
                .collect();
            if found.is_empty() {
                found.push(open(&base));
            }
            found
        }
    }
}

/// The snapshot, a file or a folder of files, exists.
fn is_there(project: &Project, path: &RelPath) -> bool {
    project.shelf.listed(path) || project.shelf.below(path).any(|other| other != path)
}

fn parts(value: &Value) -> Vec<Option<String>> {
    match value {
        Value::Str(text) => vec![Some(text.clone())],
        Value::Path(path) => vec![Some(path.to_string())],
        Value::Pattern(parts) | Value::Paths(parts) => parts.clone(),
        _ => vec![None],
    }
}

fn subfolders(project: &Project, base: &RelPath) -> BTreeSet<RelPath> {
    project
        .shelf
        .below(base)
        .filter_map(|path| {
            let rest = path.as_str().strip_prefix(base.as_str())?.strip_prefix('/')?;
            base.join(rest.split_once('/')?.0)
        })
        .collect()
}

/// A parameter id as the name of a folder (`get_valid_filename`).
fn clean(id: &str) -> String {
    let kept: String = id
        .trim()
        .chars()
        .map(|c| if c == ' ' { '_' } else { c })
        .filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
        .collect();
    match kept.as_str() {
        "" => "empty".into(),
        "." => "dot".into(),
        ".." => "dotdot".into(),
        _ => kept,
    }
}

enum Assigned {
    Never,
    To(Value),
    Unclear,
}

/// What `snapshot.snapshot_dir` was set to last before the comparison: on the way down from the test, or in a
/// fixture that gives or prepares the snapshot.
fn assigned_folder(project: &Project, site: &Site, world: &World) -> Assigned {
    for (index, frame) in site.frames.iter().enumerate().rev() {
        let Some((unit, function)) = pytest::function_of(project, frame) else { continue };
        let mut found: Vec<(&Expr, bool)> = Vec::new();
        assignments(unit, &function.body, frame.at.start, true, &mut found);
        match found.last() {
            Some((value, true)) => return Assigned::To(world.value(project, site, index, value)),
            Some(_) => return Assigned::Unclear,
            None => {}
        }
    }
    let Some((unit, test)) = site.frames.first().and_then(|frame| pytest::function_of(project, frame)) else {
        return Assigned::Unclear;
    };
    let mut found = Vec::new();
    for (path, facts) in project.files.iter() {
        let visible = *path == unit.path || path.name() == "conftest.py" && unit.path.starts_with(&path.parent());
        if !visible || !facts.unit.text.as_str().contains("snapshot_dir") {
            continue;
        }
        for fixture in facts.unit.functions.iter().filter(|function| fixtures::is_fixture(function)) {
            let mut here = Vec::new();
            assignments(&facts.unit, &fixture.body, usize::MAX, true, &mut here);
            found.extend(here.into_iter().map(|(value, plain)| (&facts.unit, fixture, value, plain)));
        }
    }
    let counts = |fixture: &crate::code::Function| {
        let requested = fixtures::name_of(fixture).is_some_and(|name| test.params.iter().any(|p| p.name == name));
        let auto = fixture.marks.iter().any(|mark| match &mark.kind {
            crate::code::ExprKind::Call { args, .. } => args.iter().any(|arg| arg.name.as_deref() == Some("autouse")),
            _ => false,
        });
        requested || auto
    };
    match found.as_slice() {
        [] => Assigned::Never,
        [(unit, fixture, value, true)] if counts(fixture) => Assigned::To(evaluate::alone(project, unit, value)),
        all if all.iter().any(|(_, fixture, ..)| counts(fixture)) => Assigned::Unclear,
        _ => Assigned::Never,
    }
}

/// Assignments to `….snapshot_dir` that begin before `at`; `plain`: they run whenever the function does.
fn assignments<'a>(unit: &Unit, body: &'a [Stmt], at: usize, plain: bool, found: &mut Vec<(&'a Expr, bool)>) {
    for stmt in body.iter().filter(|stmt| stmt.span.start < at) {
        match &stmt.kind {
            StmtKind::Bind { value, .. }
                if pytest::assigned(unit, stmt, value).is_some_and(|target| target.ends_with(".snapshot_dir")) =>
            {
                found.push((value, plain));
            }
            StmtKind::With { body, .. } => assignments(unit, body, at, plain, found),
            StmtKind::For { body, .. } | StmtKind::While { body, .. } => assignments(unit, body, at, false, found),
            StmtKind::If { then, otherwise, .. } => {
                assignments(unit, then, at, false, found);
                assignments(unit, otherwise, at, false, found);
            }
            StmtKind::Block(parts) => parts.iter().for_each(|part| assignments(unit, part, at, false, found)),
            _ => {}
        }
    }
}

/// How the file is read. A value of which the call does not show whether it is `str` or `bytes` is read as it is.
fn steps(pin: &Pin) -> &[Step] {
    if pin.oracle.steps.is_empty() { &[Step::Bytes] } else { &pin.oracle.steps }
}

fn is_folder(pin: &Pin) -> bool {
    pin.oracle.steps == [Step::Serialised(FOLDER)]
}

type Files = Vec<(String, Vec<u8>)>;

/// The files of a folder as one value: a dictionary of their names. What no `str` can have given is `bytes`.
fn folder_content(files: &Files) -> Content {
    let value = |bytes: &Vec<u8>| match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\r') => Py::Str(text.to_string()),
        _ => Py::Bytes(bytes.clone()),
    };
    Py::Dict(files.iter().map(|(name, bytes)| (Py::Str(name.clone()), value(bytes))).collect()).content()
}

/// The files of a dictionary's source, nested ones by their path; `None` when it is not one of names and texts.
fn files_of(source: &str) -> Option<Files> {
    fn flat(value: Py, before: &str, files: &mut Files, depth: usize) -> Option<()> {
        match value {
            Py::Dict(items) if depth < 20 => {
                for (key, value) in items {
                    let Py::Str(key) = key else { return None };
                    let plain = key.split('/').all(|part| !matches!(part, "" | "." | ".."));
                    if !plain || key.contains(['\\', ':', '*', '?', '"', '<', '>', '|', '\0']) {
                        return None;
                    }
                    flat(value, &if before.is_empty() { key } else { format!("{before}/{key}") }, files, depth + 1)?;
                }
            }
            Py::Str(text) if !text.contains('\r') => files.push((before.to_string(), text.into_bytes())),
            Py::Bytes(bytes) => files.push((before.to_string(), bytes)),
            _ => return None,
        }
        Some(())
    }
    let value = literal_python::value(&python::expression(&format!("({source}\n)"))?, Names::Repr)?;
    let mut files = Files::new();
    matches!(value, Py::Dict(_)).then_some(())?;
    flat(value, "", &mut files, 0)?;
    files.sort();
    Some(files)
}

/// What is in a folder; an error is what cannot be read.
fn read_folder(folder: &RelPath, project: &Project) -> Result<Files, String> {
    let mut files = Files::new();
    for path in project.shelf.below(folder).filter(|path| *path != folder) {
        if files.len() == MOST_FILES {
            return Err(format!("{folder} holds more than {MOST_FILES} files; it is not compared"));
        }
        let Some(name) = path.as_str().get(folder.as_str().len() + 1..) else { continue };
        match project.shelf.disk(path) {
            Read::Bytes(bytes) => files.push((name.to_string(), bytes.to_vec())),
            Read::Missing => {}
            Read::Refused(why) => return Err(why),
        }
    }
    Ok(files)
}

fn folder_baseline(folder: &RelPath, project: &Project) -> Baseline {
    match read_folder(folder, project) {
        Err(why) => Baseline::Unreadable(why),
        Ok(files) if files.is_empty() => Baseline::Missing,
        Ok(files) => {
            let content = folder_content(&files);
            let file_digest = content.digest();
            Baseline::Present(Recorded { content, first_line: 0, file_digest, preimage: None })
        }
    }
}

fn amend_folder(folder: &RelPath, observed: &Content, project: &Project) -> Result<Amended, Refusal> {
    let refuse = |why: String| Err(Refusal(format!("{folder}: {why}; nothing was written")));
    let new = match observed {
        Content::Value(source) => files_of(source),
        _ => None,
    };
    let Some(new) = new else {
        return refuse(
            "the observed value is not a dictionary of file names and texts (a `str` with a carriage return is none)"
                .into(),
        );
    };
    let old = match read_folder(folder, project) {
        Ok(old) => old,
        Err(why) => return Err(Refusal(why)),
    };
    if let Some((name, _)) = old.iter().find(|(name, _)| !new.iter().any(|(kept, _)| kept == name)) {
        return refuse(format!(
            "{name} has no value any more, and an accept deletes nothing; delete the file if it is no longer wanted, \
             then accept"
        ));
    }
    let mut changes = Vec::new();
    for (name, bytes) in &new {
        let before = old.iter().find(|(other, _)| other == name).map(|(_, bytes)| bytes.as_slice());
        if before == Some(bytes.as_slice()) {
            continue;
        }
        match folder.join(name).filter(|path| path.starts_with(folder)) {
            Some(path) => changes.push(change(&path, before, bytes.clone())),
            None => return refuse(format!("{name:?} is no name of a file in it")),
        }
    }
    Ok(Amended { oracle: changes, ..Amended::default() })
}

#[cfg(test)]
mod tests;
