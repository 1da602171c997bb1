//! Golden files that no test reads, in three values: a file is called an orphan only when every reader of
//! its folder is known exactly. Any pattern that could match, any listing of the folder, any mention of the
//! name in a source leaves it unknown, and nothing is said.

use std::collections::{BTreeMap, BTreeSet};

use super::by_path;
use super::held::in_recorded_folder;
use crate::code::{Expr, ExprKind, Unit};
use crate::evaluate::{self, Value};
use crate::oracles::{OracleKind, Orphan, Pin, digest};
use crate::pins::Project;
use crate::places::RelPath;
use crate::shelf::{Read, is_artefact_name};
use crate::syntax::Language;
use crate::text::Span;

/// Most unread files that are looked for in the sources; more than that is a folder of another kind.
const MOST: usize = 200;
/// Largest source that is searched for a name, in bytes.
const LARGEST: u64 = 1 << 20;

/// Files of golden folders that no pin reaches.
pub fn orphans(pins: &[Pin], project: &Project) -> Vec<Orphan> {
    let golden: Vec<&Pin> = pins
        .iter()
        .filter(|pin| matches!(pin.oracle.kind, OracleKind::File | OracleKind::Digest) && ours(pin, project))
        .collect();
    // A pin of which not even the possible files are known may read any of them.
    if golden.iter().any(|pin| pin.oracle.path.is_none() && pin.oracle.candidates.is_empty()) {
        return Vec::new();
    }
    let reached = by_path(pins.iter());
    let possible: BTreeSet<&RelPath> = pins.iter().flat_map(|pin| &pin.oracle.candidates).collect();
    let mut folders: BTreeMap<RelPath, String> = BTreeMap::new();
    for pin in &golden {
        if let Some(path) = pin.oracle.path.as_ref().filter(|path| in_recorded_folder(path)) {
            folders.entry(path.parent()).or_insert_with(|| "golden-file".to_string());
        }
    }
    let mut found = Vec::new();
    for (folder, framework) in folders {
        let unread: Vec<&RelPath> = project
            .shelf
            .below(&folder)
            .filter(|path| path.parent() == folder)
            .filter(|path| !reached.contains_key(path) && !possible.contains(path))
            .filter(|path| !path.name().starts_with('.') && !path.stem().eq_ignore_ascii_case("readme"))
            .filter(|path| !is_artefact_name(path.name()))
            .filter(|path| project.unit(path).is_none())
            .filter(|path| !behind_a_digest(path, &golden, project))
            .collect();
        if unread.is_empty() || unread.len() > MOST || read_as_a_whole(project, &folder) {
            continue;
        }
        for path in unread.into_iter().filter(|path| !mentioned(project, path)) {
            let framework = match evaluate::algorithm(path.name().rsplit('.').next().unwrap_or_default()) {
                Some(_) => "digest".to_string(),
                None => framework.clone(),
            };
            found.push(Orphan { path: path.clone(), entry: None, line: 1, framework });
        }
    }
    found.extend(unpaired(&golden, &reached, &possible, project));
    found
}

/// Files that lie among the baselines of a framework without a naming rule of its own, and that nothing names:
/// a folder most of whose files of that kind are its baselines, all of them known exactly.
pub fn beside(pins: &[Pin], project: &Project, framework: &str) -> Vec<Orphan> {
    among(pins, project, framework, &|pin| pin.framework == framework && pin.oracle.kind == OracleKind::File)
}

/// The same of Rust tests that run for each file of a folder, and find the recorded one by its name.
pub fn per_file(pins: &[Pin], project: &Project) -> Vec<Orphan> {
    among(pins, project, "golden-file", &|pin| {
        let each = pin.language == Language::Rust && pin.case.is_some() && pin.test_base() != pin.test;
        each && pin.framework == "golden-file" && !pin.test.ends_with(']')
    })
}

fn among(pins: &[Pin], project: &Project, framework: &str, is_mine: &dyn Fn(&Pin) -> bool) -> Vec<Orphan> {
    let mine = || pins.iter().filter(|pin| is_mine(pin));
    if mine().any(|pin| pin.oracle.path.is_none() && pin.oracle.candidates.is_empty()) {
        return Vec::new();
    }
    let reached = by_path(pins.iter());
    let possible: BTreeSet<&RelPath> = pins.iter().flat_map(|pin| &pin.oracle.candidates).collect();
    let mut folders: BTreeMap<RelPath, BTreeSet<&RelPath>> = BTreeMap::new();
    for path in mine().filter_map(|pin| pin.oracle.path.as_ref()) {
        folders.entry(path.parent()).or_default().insert(path);
    }
    let ending = |path: &RelPath| path.name().rsplit_once('.').map(|(_, ending)| ending.to_string());
    let mut found = Vec::new();
    for (folder, known) in folders {
        let endings: BTreeSet<Option<String>> = known.iter().map(|path| ending(path)).collect();
        let unread: Vec<&RelPath> = project
            .shelf
            .below(&folder)
            .filter(|path| path.parent() == folder && endings.contains(&ending(path)))
            .filter(|path| !reached.contains_key(path) && !possible.contains(path))
            .filter(|path| !path.name().starts_with('.') && !path.stem().eq_ignore_ascii_case("readme"))
            .filter(|path| !is_artefact_name(path.name()) && project.unit(path).is_none())
            .collect();
        if unread.is_empty() || unread.len() > known.len() || read_as_a_whole(project, &folder) {
            continue;
        }
        let framework = framework.to_string();
        found.extend(unread.into_iter().filter(|path| !mentioned(project, path)).map(|path| Orphan {
            path: path.clone(),
            entry: None,
            line: 1,
            framework: framework.clone(),
        }));
    }
    found
}

/// Fewest recorded files of a folder that make it one of pairs.
const FEWEST: usize = 3;

/// Files of a folder in which each recorded file stands beside the input of its case, that have no input: a
/// walk over the inputs never comes to them.
fn unpaired(
    golden: &[&Pin],
    reached: &BTreeMap<&RelPath, Vec<&Pin>>,
    possible: &BTreeSet<&RelPath>,
    project: &Project,
) -> Vec<Orphan> {
    let mut folders: BTreeMap<(RelPath, String), BTreeSet<&RelPath>> = BTreeMap::new();
    for path in golden.iter().filter(|pin| pin.shared_site).filter_map(|pin| pin.oracle.path.as_ref()) {
        let group = (path.parent(), ending(path).to_string());
        if !group.1.is_empty() && !in_recorded_folder(path) && project.shelf.listed(path) {
            folders.entry(group).or_default().insert(path);
        }
    }
    let mut found = Vec::new();
    for ((folder, end), files) in folders.into_iter().filter(|(_, files)| files.len() >= FEWEST) {
        let here: Vec<&RelPath> = project.shelf.below(&folder).filter(|path| path.parent() == folder).collect();
        let beside = |path: &RelPath| -> BTreeSet<&str> {
            let others = here.iter().filter(|other| other.stem() == path.stem() && other.name() != path.name());
            others.map(|other| ending(other)).collect()
        };
        let inputs = files.iter().map(|path| beside(path)).reduce(|a, b| a.intersection(&b).copied().collect());
        let Some(inputs) = inputs.filter(|inputs| !inputs.is_empty()) else { continue };
        let alone: Vec<&&RelPath> = here
            .iter()
            .filter(|path| ending(path) == end && !path.stem().is_empty() && beside(path).is_empty())
            .filter(|path| !reached.contains_key(**path) && !possible.contains(**path))
            .filter(|path| project.unit(path).is_none())
            .collect();
        if alone.is_empty() || alone.len() > files.len() || lists_by(project, &folder, &end, &inputs) {
            continue;
        }
        for path in alone.into_iter().filter(|path| !named(project, path)) {
            let framework = "golden-file".to_string();
            found.push(Orphan { path: (**path).clone(), entry: None, line: 1, framework });
        }
    }
    found
}

/// What stands behind the last dot of a name.
fn ending(path: &RelPath) -> &str {
    path.name().rsplit_once('.').map_or("", |(_, end)| end)
}

/// Some function may list the folder for files of that ending without asking for an input.
fn lists_by(project: &Project, folder: &RelPath, end: &str, inputs: &BTreeSet<&str>) -> bool {
    let writes = |text: &str, end: &str| {
        text.match_indices(end).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + end.len()..].chars().next();
            before.is_some_and(|c| matches!(c, '.' | '"' | '\''))
                && after.is_none_or(|c| !c.is_alphanumeric() && c != '_')
        })
    };
    project.files.values().any(|facts| {
        let unit = &facts.unit;
        if !LISTING.iter().any(|word| unit.text.as_str().contains(word)) {
            return false;
        }
        let mut parts: Vec<Span> = unit.functions.iter().map(|function| function.span).collect();
        parts.extend(unit.globals.iter().map(|binding| binding.span));
        parts.extend(unit.top.iter().map(|stmt| stmt.span));
        parts.into_iter().any(|part| {
            let text = unit.text.slice(part);
            let asks = inputs.iter().any(|input| writes(text, input));
            LISTING.iter().any(|word| text.contains(word)) && !asks && {
                // Code far from the tests lists much; only what speaks of the ending can mean these files.
                let speaks = writes(text, end);
                let mut covers = false;
                let mut see = |expr: &Expr| {
                    covers |= part.contains(expr.span)
                        && match lists(project, unit, folder, expr) {
                            Lists::No => false,
                            Lists::Yes => true,
                            Lists::Perhaps => speaks,
                        };
                };
                unit.functions.iter().filter(|function| part.contains(function.span)).for_each(|function| {
                    function.marks.iter().for_each(|mark| mark.walk(&mut see));
                    function.body.iter().for_each(|stmt| stmt.walk(&mut see));
                });
                unit.globals.iter().for_each(|binding| binding.value.walk(&mut see));
                unit.top.iter().for_each(|stmt| stmt.walk(&mut see));
                covers
            }
        })
    })
}

/// Some source names the file with its ending, or its stem as a text of its own.
fn named(project: &Project, path: &RelPath) -> bool {
    let (name, stem) = (path.name(), path.stem());
    let quoted = [format!("\"{stem}\""), format!("'{stem}'"), format!("/{stem}\""), format!("/{stem}'")];
    let names = |text: &str| text.contains(name) || quoted.iter().any(|quoted| text.contains(quoted.as_str()));
    project.files.values().any(|facts| names(facts.unit.text.as_str()))
}

fn ours(pin: &Pin, project: &Project) -> bool {
    matches!(pin.framework.as_str(), "golden-file" | "digest")
        || project.settings.helpers.iter().any(|helper| helper.id == pin.framework)
}

/// The text behind a digest that some test reads.
fn behind_a_digest(path: &RelPath, pins: &[&Pin], project: &Project) -> bool {
    digest::siblings(path, project).any(|sibling| {
        pins.iter().any(|pin| pin.oracle.kind == OracleKind::Digest && pin.oracle.path.as_ref() == Some(&sibling))
    })
}

/// Functions that list folders.
const LISTING: &[&str] =
    &["listdir", "scandir", "iterdir", "glob", "iglob", "rglob", "walk", "read_dir", "WalkDir", "cmpfiles", "dircmp"];

#[derive(PartialEq)]
enum Lists {
    No,
    /// The folder itself, or one around or in it.
    Yes,
    /// What is listed is not known.
    Perhaps,
}

/// Whether an expression lists the folder.
fn lists(project: &Project, unit: &Unit, folder: &RelPath, expr: &Expr) -> Lists {
    let (name, base, first) = match &expr.kind {
        ExprKind::Call { callee, args } => match &callee.kind {
            ExprKind::Attr(base, name) => (name.as_str(), Some(&**base), args.first()),
            ExprKind::Name(name) => (name.as_str(), None, args.first()),
            _ => return Lists::No,
        },
        ExprKind::Macro { name, args, .. } => (name.rsplit("::").next().unwrap_or(name), None, args.first()),
        _ => return Lists::No,
    };
    let owner = base.and_then(Expr::dotted).unwrap_or_default();
    let walks = name == "new" && owner.ends_with("WalkDir");
    if !(LISTING.contains(&name) || walks) || owner.starts_with("tmp") || owner.starts_with("temp") {
        return Lists::No;
    }
    let values = [base, first.map(|arg| &arg.value)];
    let values = values.into_iter().flatten().map(|expr| evaluate::alone(project, unit, expr));
    let (mut known, mut listed) = (false, false);
    for value in values {
        match value {
            Value::Path(path) => {
                known = true;
                listed |= folder.starts_with(&path) || path.starts_with(folder);
            }
            Value::Paths(parts) => {
                known = true;
                let start = parts.first().cloned().flatten().unwrap_or_default();
                listed |= folder.as_str().starts_with(&start) || start.starts_with(folder.as_str());
            }
            _ => {}
        }
    }
    match (listed, known) {
        (true, _) => Lists::Yes,
        (false, true) => Lists::No,
        (false, false) => Lists::Perhaps,
    }
}

/// Some code lists the folder or one around it (`iterdir`, `glob`, `read_dir` …), or may do so.
fn read_as_a_whole(project: &Project, folder: &RelPath) -> bool {
    project.files.values().any(|facts| {
        let unit = &facts.unit;
        if !LISTING.iter().any(|word| unit.text.as_str().contains(word)) {
            return false;
        }
        let mut listed = false;
        let mut see = |expr: &Expr| listed |= lists(project, unit, folder, expr) != Lists::No;
        for function in &unit.functions {
            function.marks.iter().for_each(|mark| mark.walk(&mut see));
            function.body.iter().for_each(|stmt| stmt.walk(&mut see));
        }
        unit.globals.iter().for_each(|binding| binding.value.walk(&mut see));
        unit.top.iter().for_each(|stmt| stmt.walk(&mut see));
        listed
    })
}

/// Some source names the file, or its stem as a word of its own.
pub fn mentioned(project: &Project, path: &RelPath) -> bool {
    let stem = path.stem();
    let names = |text: &str| {
        text.match_indices(stem).any(|(at, _)| {
            let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-');
            !word(text[..at].chars().next_back()) && !word(text[at + stem.len()..].chars().next())
        })
    };
    if project.files.values().any(|facts| names(facts.unit.text.as_str())) {
        return true;
    }
    const SOURCES: &[&str] = &[
        "py", "rs", "sh", "toml", "cfg", "ini", "yml", "yaml", "mk", "js", "ts", "pyi", "bash", "ps1", "cmake", "bzl",
    ];
    project
        .shelf
        .files()
        .filter(|file| {
            let extension = file.name().rsplit_once('.').map_or("", |(_, extension)| extension);
            (SOURCES.contains(&extension) || matches!(file.name(), "Makefile" | "justfile" | "Dockerfile"))
                && !project.files.contains_key(*file)
                && !in_recorded_folder(file)
        })
        .any(|file| {
            let small = project.shelf.stamp(file).is_some_and(|stamp| stamp.size <= LARGEST);
            match project.shelf.read(file) {
                Read::Bytes(bytes) if small => std::str::from_utf8(&bytes).is_ok_and(names),
                _ => false,
            }
        })
}
