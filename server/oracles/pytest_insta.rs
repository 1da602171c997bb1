//! pytest-insta 0.4.1: `assert snapshot() == value`, `snapshot("json")`, `snapshot("name.txt")` against
//! `<folder>/snapshots/<module>__[<Class>__]<test>__<N or name>.<ext>`, each part without `test_`, every run of
//! characters that are no word characters one `_`. N counts from 0 the calls of a test without a name. Takes
//! comparisons, gives pins, contents, what `--insta record` left below `.pytest_cache/d/insta`, and its move over
//! the snapshot, as a review does it.
//!
//! A text is read with universal newlines and written as it is, so one with a carriage return never holds again.

use std::collections::{BTreeMap, BTreeSet};

use super::comparing;
use super::pytest::{self, Id, Ids};
use super::{
    Amended, Artefact, Baseline, Content, FileChange, Framework, Orphan, Pin, Recorded, Refusal, Step, digest_of,
    reading, seen,
};
use crate::code::{Arg, ExprKind};
use crate::evaluate::origin::{Application, Root};
use crate::evaluate::{Value, World, worlds};
use crate::pins::{Project, Site, sites};
use crate::places::RelPath;
use crate::shelf::Read;

pub struct PytestInsta;

const ID: &str = "pytest-insta";
const FORMATS: &[&str] = &[".txt", ".bin", ".hexdump", ".json", ".pickle"];
const CACHE: &str = ".pytest_cache/d/insta";

impl Framework for PytestInsta {
    fn id(&self) -> &'static str {
        ID
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        self.of_test(project, &[site]).pop().unwrap_or_default()
    }

    fn of_test(&self, project: &Project, sites: &[&Site]) -> Vec<Vec<Pin>> {
        let mut counted = BTreeMap::new();
        sites.iter().map(|site| pins(project, site, &mut counted)).collect()
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        let Some(path) = &pin.oracle.path else { return Baseline::Missing };
        match project.shelf.disk(path) {
            Read::Missing => Baseline::Missing,
            Read::Refused(why) => Baseline::Unreadable(why),
            Read::Bytes(bytes) => match reading::content(&bytes, &pin.oracle.steps) {
                Err(why) => Baseline::Unreadable(format!("{path}: {why}")),
                Ok(content) => Baseline::Present(Recorded {
                    first_line: reading::first_line(&bytes, &pin.oracle.steps, &content),
                    content,
                    file_digest: digest_of(&[&bytes]),
                    preimage: None,
                }),
            },
        }
    }

    fn artefacts(&self, pin: &Pin, project: &Project) -> Vec<Artefact> {
        let Some(path) = &pin.oracle.path else { return Vec::new() };
        let mut found = Vec::new();
        for recorded in recorded(path) {
            let content = match project.shelf.disk(&recorded) {
                Read::Missing => continue,
                Read::Refused(why) => Err(why),
                Read::Bytes(bytes) => raw(&bytes, &pin.oracle.steps).map_err(|why| format!("{recorded}: {why}")),
            };
            found.push(Artefact {
                path: recorded,
                content,
                compared_with: None,
                header: None,
                names: None,
                says_match: false,
            });
        }
        found
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        artefact: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        let refuse = |why: &str| Err(Refusal(format!("{}: {why}; nothing was written", pin.test)));
        let Some(path) = &pin.oracle.path else {
            return refuse("which snapshot it is held against is not known exactly");
        };
        let old = match project.shelf.disk(path) {
            Read::Bytes(bytes) => Some(bytes),
            Read::Missing => None,
            Read::Refused(why) => return Err(Refusal(why)),
        };
        let mut artefacts = Vec::new();
        let after = match (artefact, observed) {
            (Some(artefact), _) => match project.shelf.disk(&artefact.path) {
                Read::Bytes(bytes) if raw(&bytes, &pin.oracle.steps).as_ref() == Ok(observed) => {
                    let before = Some(digest_of(&[&bytes]));
                    let gone = FileChange { path: artefact.path.clone(), before, after: None, edits: Vec::new() };
                    artefacts.push(gone);
                    bytes.to_vec()
                }
                _ => {
                    return refuse(
                        "what was recorded is no longer what was shown; look at the new drift and decide again",
                    );
                }
            },
            (None, Content::Text(text)) if pin.oracle.steps == [Step::UniversalNewlines] => text.clone().into_bytes(),
            (None, Content::Bytes(bytes)) if pin.oracle.steps == [Step::Bytes] => bytes.clone(),
            (None, Content::Text(text)) if pin.oracle.steps == [Step::Bytes] => text.clone().into_bytes(),
            _ => {
                return refuse(
                    "how pytest-insta writes the value is not certain; run the test with `--insta record`, then accept",
                );
            }
        };
        if reading::content(&after, &pin.oracle.steps).as_ref() != Ok(observed) {
            return refuse(
                "the observed text holds a carriage return, which pytest-insta reads as a line feed, so it would never \
                 match; record bytes (`snapshot(\"bin\")`), or normalise line ends in the test",
            );
        }
        let before = old.as_deref().map(|old| digest_of(&[old]));
        let change = FileChange { path: path.clone(), before, after: Some(after), edits: Vec::new() };
        Ok(Amended { oracle: vec![change], artefacts, shown_after: None })
    }

    fn orphans(&self, pins: &[Pin], project: &Project) -> Vec<Orphan> {
        orphans(pins, project)
    }
}

/// The value behind a file, without what only reading a snapshot does to it.
fn raw(bytes: &[u8], steps: &[Step]) -> Result<Content, String> {
    match steps {
        [Step::UniversalNewlines] => reading::content(bytes, &[]),
        steps => reading::content(bytes, steps),
    }
}

/// Where `--insta record` may have left the value of a snapshot: in the cache of the folder from which pytest ran.
fn recorded(path: &RelPath) -> Vec<RelPath> {
    let tests = path.parent().parent();
    let mut found = Vec::new();
    let mut top = tests.clone();
    loop {
        let below = tests.as_str().get(top.as_str().len()..).unwrap_or("").trim_start_matches('/');
        found.extend(top.join(&format!("{CACHE}/{below}/{}", path.name())));
        if top.as_str().is_empty() {
            return found;
        }
        top = top.parent();
    }
}

/// The arguments of the snapshot that is compared.
fn compared<'a>(project: &'a Project, site: &'a Site, world: &'a World) -> Option<&'a [Arg]> {
    let found = comparing::comparison(project, site.comparing())?;
    [found.left, found.right].into_iter().find_map(|side| {
        let origin = world.origin(project, site, site.frames.len() - 1, side);
        match (&origin.root, origin.applied.as_slice()) {
            (Root::Fixture("snapshot"), [only]) => match only.what {
                Application::Call(args) => Some(args),
                _ => None,
            },
            _ => None,
        }
    })
}

/// Signs of pytest-insta: where the project says what it needs or how pytest is called.
fn is_used(project: &Project) -> bool {
    [
        "pyproject.toml",
        "pytest.ini",
        "tox.ini",
        "setup.cfg",
        "setup.py",
        "requirements.txt",
        "requirements-dev.txt",
        "uv.lock",
        "poetry.lock",
    ]
    .iter()
    .filter_map(|name| RelPath::new(name).filter(|file| project.shelf.listed(file)))
    .filter_map(|file| project.shelf.text(&file))
    .any(|text| ["pytest-insta", "pytest_insta", "--insta"].iter().any(|sign| text.as_str().contains(sign)))
}

fn pins(project: &Project, site: &Site, counted: &mut BTreeMap<Option<String>, Option<usize>>) -> Vec<Pin> {
    if !pytest::requests(project, site) {
        return Vec::new();
    }
    let blank = World::empty(site);
    let Some(args) = compared(project, site, &blank) else { return Vec::new() };
    let plain = args.iter().all(|arg| !arg.spread && arg.name.as_deref().is_none_or(|name| name == "spec"));
    let Some((unit, function)) = pytest::function_of(project, &site.frames[0]).filter(|_| plain && args.len() < 2)
    else {
        return Vec::new();
    };
    let mut owner = vec![normal(unit.path.name())];
    owner.extend(function.path.iter().map(|class| normal(class)));
    let beginning = owner.join("__");
    let Some(folder) = unit.path.parent().join("snapshots") else { return Vec::new() };
    let recorded_here = project
        .shelf
        .below(&folder)
        .any(|path| path.parent() == folder && path.name().starts_with(&format!("{beginning}__")));
    if !recorded_here && !is_used(project) {
        return Vec::new();
    }
    let worlds = worlds(project, site);
    let (ids, perhaps) = (Ids::of(project, site), pytest::is_perhaps(project, site));
    let mut pins: Vec<Pin> = Vec::new();
    for world in &worlds {
        let Some(mut pin) = seen::pin(project, site, world, ID) else { continue };
        let node = match ids.id(world) {
            Id::None => Some(function.name.clone()),
            Id::Known(id) => Some(format!("{}[{id}]", function.name)),
            Id::Part(_) => None,
        };
        let spec = match args.first().map(|arg| world.value(project, site, site.frames.len() - 1, &arg.value)) {
            None => Some(".txt".to_string()),
            Some(Value::Str(spec)) => Some(spec),
            Some(_) => None,
        };
        let told = spec.as_deref().and_then(format);
        let count = counted.entry(world.case.clone()).or_insert(Some(0));
        let name = match told {
            Some((Some(name), _)) => Some(name.to_string()),
            Some((None, extension)) => {
                let open = perhaps || world.rounds.iter().flatten().any(Option::is_none);
                let name = count.filter(|_| !open).map(|count| format!("{count}{extension}"));
                *count = count.filter(|_| !open).map(|count| count + 1);
                name
            }
            None => {
                *count = None;
                None
            }
        };
        if let Some((_, extension)) = told {
            pin.oracle.steps = match extension {
                ".txt" | ".hexdump" => vec![Step::UniversalNewlines],
                ".json" => vec![Step::Json],
                _ => vec![Step::Bytes],
            };
        }
        if let (Some(node), Some(name)) = (node, name) {
            pin.oracle.path = folder.join(&format!("{beginning}__{}__{name}", normal(&node)));
        } else {
            let start = format!("{beginning}__{}", normal(&function.name));
            let fits = |path: &&RelPath| path.parent() == folder && path.name().starts_with(&start);
            let fitting: Vec<RelPath> = project.shelf.below(&folder).filter(fits).take(21).cloned().collect();
            pin.oracle.candidates = if fitting.len() > 20 { Vec::new() } else { fitting };
        }
        pins.push(pin);
    }
    let shared = pins.len() > 1;
    pins.iter_mut().for_each(|pin| pin.shared_site = shared);
    pins
}

/// `Fmt.from_spec`: the explicit name, if there is one, and the extension.
fn format(spec: &str) -> Option<(Option<&str>, &'static str)> {
    let dotted = |extension: &&&str| **extension == spec || extension.strip_prefix('.') == Some(spec);
    if let Some(extension) = FORMATS.iter().find(dotted) {
        return Some((None, extension));
    }
    let file = spec.rsplit('/').next().unwrap_or(spec);
    let extension = FORMATS.iter().find(|extension| file.len() > extension.len() && file.ends_with(**extension))?;
    Some((Some(spec), extension))
}

/// `normalize_node_name`.
fn normal(name: &str) -> String {
    let mut name = name;
    while let Some(rest) = ["tests_", "tests/", "test_", "test/"].iter().find_map(|start| name.strip_prefix(start)) {
        name = rest;
    }
    if let Some(at) = name.rfind('.')
        && at + 1 < name.len()
        && name[at + 1..].chars().all(is_word)
    {
        name = &name[..at];
    }
    while let Some(rest) = ["_tests", "/tests", "_test", "/test"].iter().find_map(|end| name.strip_suffix(end)) {
        name = rest;
    }
    let mut out = String::new();
    for c in name.chars() {
        if is_word(c) {
            out.push(c);
        } else if !out.ends_with('\0') {
            out.push('\0');
        }
    }
    out.replace('\0', "_").trim_matches('_').to_string()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Snapshots of a module whose tests have other names, where every snapshot of the module is known.
fn orphans(pins: &[Pin], project: &Project) -> Vec<Orphan> {
    let ours: Vec<&Pin> = pins.iter().filter(|pin| pin.framework == ID).collect();
    let claimed: BTreeSet<&RelPath> =
        ours.iter().flat_map(|pin| pin.oracle.path.iter().chain(&pin.oracle.candidates)).collect();
    let files: BTreeSet<&RelPath> = ours.iter().map(|pin| &pin.file).collect();
    let mut found = Vec::new();
    for file in files {
        let (Some(facts), Some(folder)) = (project.files.get(file), file.parent().join("snapshots")) else { continue };
        let unit = &facts.unit;
        let base = |expr: &crate::code::Expr| matches!(&expr.kind, ExprKind::Name(name) if name == "object");
        let inherits = unit.scopes.iter().any(|scope| !scope.bases.iter().all(base));
        if !unit.errors.is_empty()
            || !facts.troubles.is_empty()
            || inherits
            || unit.imports.iter().any(|i| i.local == "*")
        {
            continue;
        }
        let beginning = format!("{}__", normal(file.name()));
        let tests: Vec<String> = unit
            .functions
            .iter()
            .filter(|function| sites::is_test(unit, function))
            .map(|function| {
                let classes: String = function.path.iter().map(|class| format!("{}__", normal(class))).collect();
                format!("{beginning}{classes}{}", normal(&function.name))
            })
            .collect();
        for path in project.shelf.below(&folder).filter(|path| path.parent() == folder) {
            let own = path.name().starts_with(&beginning) && FORMATS.iter().any(|format| path.name().ends_with(format));
            // A parameter id may follow the test's name.
            let room = tests.iter().any(|test| path.name().starts_with(test.as_str()));
            if own && !room && !claimed.contains(path) {
                found.push(Orphan { path: path.clone(), entry: None, line: 1, framework: ID.to_string() });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
