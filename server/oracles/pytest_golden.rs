//! pytest-golden 1.0.2: `assert value == golden.out["key"]` against that key of a YAML file, in a test that
//! `@pytest.mark.golden_test("golden/*.yml")` runs once for each file, or with `golden.open("file.yml")`. Takes
//! comparisons, gives pins, the values, and for a text in a block of its own or a plain number the bytes that
//! `--update-goldens` writes.

use std::collections::BTreeSet;

use super::comparing;
use super::literal_python::{self, Names, Py};
use super::pytest;
use super::{
    Amended, Artefact, Baseline, Content, FileChange, Framework, OracleKind, Orphan, Pin, Recorded, Refusal, digest_of,
    seen,
};
use crate::code::python;
use crate::code::{Arg, Expr, ExprKind, Function, Unit};
use crate::evaluate::origin::{Application, Origin, Root};
use crate::evaluate::{self, Value, World, worlds};
use crate::pins::{Project, Site};
use crate::places::RelPath;
use crate::shelf::Read;

pub mod yaml;

pub struct PytestGolden;

const ID: &str = "pytest-golden";

impl Framework for PytestGolden {
    fn id(&self) -> &'static str {
        ID
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        if !pytest::requests(project, site) {
            return Vec::new();
        }
        let Some(found) = comparing::comparison(project, site.comparing()) else { return Vec::new() };
        let last = site.frames.len() - 1;
        let Some((unit, function)) = pytest::function_of(project, &site.frames[0]) else { return Vec::new() };
        let blank = World::empty(site);
        let mut sides = [found.left, found.right].into_iter();
        if !sides.any(|side| output(&blank.origin(project, site, last, side)).is_some()) {
            return Vec::new();
        }
        let worlds = worlds(project, site);
        let mut pins = Vec::new();
        for world in &worlds {
            for side in [found.left, found.right] {
                let origin = world.origin(project, site, last, side);
                let Some((opened, key)) = output(&origin) else { continue };
                let key = match key {
                    Key::Index(key) => world.value(project, site, last, key),
                    Key::Get(args) => match pytest::argument(args, 0, "key") {
                        Some(key) => world.value(project, site, last, key),
                        None => Value::Unknown,
                    },
                };
                let files = match opened {
                    Some(args) => opened_file(project, site, world, unit, args),
                    None => marked(project, unit, function),
                };
                pins.extend(entries(project, site, world, &files, key));
            }
        }
        let shared = pins.len() > 1;
        pins.iter_mut().for_each(|pin| pin.shared_site = shared);
        pins
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        let (Some(path), Some(entry)) = (&pin.oracle.path, &pin.oracle.entry) else { return Baseline::Missing };
        let bytes = match project.shelf.disk(path) {
            Read::Missing => return Baseline::Missing,
            Read::Refused(why) => return Baseline::Unreadable(why),
            Read::Bytes(bytes) => bytes,
        };
        let text = match std::str::from_utf8(&bytes) {
            Ok(text) => text,
            Err(_) => return Baseline::Unreadable(format!("{path} is not UTF-8 text; save it as UTF-8")),
        };
        match yaml::entry(text, entry) {
            Err(why) => Baseline::Unreadable(format!("{path}: {why}")),
            Ok(None) => Baseline::Missing,
            Ok(Some(found)) => Baseline::Present(Recorded {
                content: found.value.content(),
                first_line: found.first_line,
                file_digest: digest_of(&[&bytes]),
                preimage: None,
            }),
        }
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        _artefact: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        let refuse = |why: &str| Err(Refusal(format!("{}: {why}; nothing was written", pin.oracle.key)));
        let (Some(path), Some(entry)) = (&pin.oracle.path, &pin.oracle.entry) else {
            return refuse("which entry it is held against is not known exactly");
        };
        let Read::Bytes(bytes) = project.shelf.disk(path) else { return refuse("the file cannot be read") };
        let Ok(text) = std::str::from_utf8(&bytes) else { return refuse("the file is not UTF-8 text") };
        let value = match observed {
            Content::Text(text) => Some(Py::Str(text.clone())),
            Content::Value(source) => {
                python::expression(&format!("({source}\n)")).and_then(|expr| literal_python::value(&expr, Names::Repr))
            }
            Content::Bytes(_) => None,
        };
        let written = value.as_ref().and_then(|value| yaml::replaced(text, entry, value));
        let Some(after) = written else {
            return refuse(
                "how pytest-golden lays out the observed value is not certain; run the test with `--update-goldens`, \
                 then explain the change",
            );
        };
        match yaml::entry(&after, entry) {
            Ok(Some(back)) if back.value.content() == *observed => {}
            _ => return refuse("the observed value would not read back equal from the YAML file"),
        }
        let change = FileChange {
            path: path.clone(),
            before: Some(digest_of(&[&bytes])),
            after: Some(after.into_bytes()),
            edits: Vec::new(),
        };
        Ok(Amended { oracle: vec![change], ..Amended::default() })
    }

    fn orphans(&self, pins: &[Pin], project: &Project) -> Vec<Orphan> {
        orphans(pins, project)
    }
}

enum Key<'a> {
    Index(&'a Expr),
    Get(&'a [Arg]),
}

/// `golden.out["key"]`, `golden.out.get("key")`, `golden.open("file").out["key"]`: what was opened, and the key.
fn output<'a>(origin: &Origin<'a>) -> Option<(Option<&'a [Arg]>, Key<'a>)> {
    let Root::Fixture("golden") = origin.root else { return None };
    let steps: Vec<Application> = origin.applied.iter().map(|step| step.what).collect();
    let (opened, rest) = match steps.as_slice() {
        [Application::Attr("open"), Application::Call(args), rest @ ..] => (Some(*args), rest),
        rest => (None, rest),
    };
    match rest {
        [Application::Attr("out"), Application::Index(key)] => Some((opened, Key::Index(key))),
        [Application::Attr("out"), Application::Attr("get"), Application::Call(args)] => Some((opened, Key::Get(args))),
        _ => None,
    }
}

/// The files of a test: with the id under which it runs, where it runs once for each.
enum Files {
    Each(Vec<(RelPath, String)>),
    One(RelPath),
    Unknown,
}

fn opened_file(project: &Project, site: &Site, world: &World, unit: &Unit, args: &[Arg]) -> Files {
    let Some(path) = pytest::argument(args, 0, "path") else { return Files::Unknown };
    match world.value(project, site, site.frames.len() - 1, path) {
        Value::Str(name) => unit.path.parent().join(&name).map_or(Files::Unknown, Files::One),
        Value::Path(path) => Files::One(path),
        _ => Files::Unknown,
    }
}

/// The files that the nearest `golden_test` mark names: of the function, its classes, the module.
fn marked(project: &Project, unit: &Unit, function: &Function) -> Files {
    let mark = |expr: &Expr| match &expr.kind {
        ExprKind::Call { callee, args } if callee.dotted().is_some_and(|name| name.ends_with("mark.golden_test")) => {
            Some(args.clone())
        }
        _ => None,
    };
    let found = pytest::marks(unit, function).into_iter().find_map(mark);
    let Some(args) = found else { return Files::Unknown };
    let folder = unit.path.parent();
    let mut files: Vec<RelPath> = Vec::new();
    for arg in &args {
        let Value::Str(pattern) = evaluate::alone(project, unit, &arg.value) else { return Files::Unknown };
        let Ok(glob) = globset::GlobBuilder::new(&pattern).literal_separator(true).build() else {
            return Files::Unknown;
        };
        let glob = glob.compile_matcher();
        for path in project.shelf.below(&folder) {
            let below = path.as_str().get(folder.as_str().len()..).unwrap_or("").trim_start_matches('/');
            if glob.is_match(below) && !files.contains(path) {
                files.push(path.clone());
            }
        }
    }
    let below =
        |path: &RelPath| path.as_str().get(folder.as_str().len()..).unwrap_or("").trim_start_matches('/').to_string();
    let bare = |name: &str| name.strip_prefix("test_").unwrap_or(name).to_string();
    // A folder with the test's own name is left out of the ids.
    let own = files.iter().all(|path| below(path).split('/').next().map(bare) == Some(bare(&function.name)));
    Files::Each(
        files
            .into_iter()
            .map(|path| {
                let name = below(&path);
                let id = if own { name.split_once('/').map_or("", |(_, rest)| rest).to_string() } else { name };
                (path, id)
            })
            .collect(),
    )
}

fn entries(project: &Project, site: &Site, world: &World, files: &Files, key: Value) -> Vec<Pin> {
    let Some(blank) = seen::pin(project, site, world, ID) else { return Vec::new() };
    let entry = |path: &RelPath, id: Option<&String>| {
        let mut pin = blank.clone();
        if let Some(id) = id {
            pin.test = format!("{}[{id}]", blank.test_base());
            pin.case = Some(id.clone());
        }
        pin.oracle.kind = OracleKind::Entry;
        match &key {
            Value::Str(key) => {
                pin.oracle.path = Some(path.clone());
                pin.oracle.entry = Some(key.clone());
            }
            _ => pin.oracle.candidates = vec![path.clone()],
        }
        pin
    };
    match files {
        Files::Each(files) => files.iter().map(|(path, id)| entry(path, Some(id))).collect(),
        Files::One(path) => vec![entry(path, None)],
        Files::Unknown => {
            let mut pin = blank.clone();
            pin.oracle.kind = OracleKind::Entry;
            vec![pin]
        }
    }
}

/// YAML files beside those that tests use, which no mark and no `open` names.
fn orphans(pins: &[Pin], project: &Project) -> Vec<Orphan> {
    let ours: Vec<&Pin> = pins.iter().filter(|pin| pin.framework == ID).collect();
    if ours.is_empty() || ours.iter().any(|pin| pin.oracle.path.is_none() && pin.oracle.candidates.is_empty()) {
        return Vec::new();
    }
    let claimed: BTreeSet<&RelPath> =
        pins.iter().flat_map(|pin| pin.oracle.path.iter().chain(&pin.oracle.candidates)).collect();
    let held = ours.iter().filter_map(|pin| pin.oracle.path.as_ref());
    let folders: BTreeSet<RelPath> = held.map(RelPath::parent).collect();
    let tests: BTreeSet<RelPath> = ours.iter().map(|pin| pin.file.parent()).collect();
    let mut found = Vec::new();
    for folder in folders.iter().filter(|folder| !tests.contains(folder)) {
        for path in project.shelf.below(folder).filter(|path| path.parent() == *folder) {
            let is_yaml = path.name().ends_with(".yml") || path.name().ends_with(".yaml");
            if is_yaml && !claimed.contains(path) && !is_mentioned(project, path) {
                found.push(Orphan { path: path.clone(), entry: None, line: 1, framework: ID.to_string() });
            }
        }
    }
    found
}

/// A source names the file, or a `golden_test` mark or `open` anywhere may mean it.
fn is_mentioned(project: &Project, path: &RelPath) -> bool {
    project.files.values().any(|facts| {
        let text = facts.unit.text.as_str();
        text.contains(path.name())
            || facts.unit.functions.iter().any(|function| match marked(project, &facts.unit, function) {
                Files::Each(files) => files.iter().any(|(file, _)| file == path),
                Files::One(file) => file == *path,
                Files::Unknown => function.marks.iter().any(|mark| match &mark.kind {
                    ExprKind::Call { callee, .. } => callee.dotted().is_some_and(|name| name.ends_with("golden_test")),
                    _ => false,
                }),
            })
    })
}

#[cfg(test)]
mod tests;
