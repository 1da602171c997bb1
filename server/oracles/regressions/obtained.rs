//! What a run left: `<base temp>/<test>N/<basename>.obtained<extension>`, of any base temporary folder that lies in
//! the workspace. Takes a pin, gives the obtained files that can only be its own; where another test may have left
//! them there are none. Older versions put the folder of the module between.
//!
//! The folder is the test's name with its parameters, folded, its first 30 characters, and a number (pytest 9.2,
//! `tmp_path`). Beside the obtained file lies a copy of the recorded one: what the run compared with.

use std::collections::BTreeMap;

use super::{ID, comparing, content, folded, format};
use crate::code::Unit;
use crate::oracles::{Artefact, Content, Pin};
use crate::pins::{Project, sites};
use crate::places::RelPath;
use crate::shelf::Read;
use crate::syntax::Language;

/// Longest beginning of a test's name in the name of its folder, in characters.
const LONGEST: usize = 30;

/// The obtained file's name for a recorded one's: `Path.with_suffix(".obtained" + extension)`.
fn obtained_name(recorded: &str, extension: &str) -> String {
    let stem = match recorded.rfind('.') {
        Some(at) if at > 0 && at + 1 < recorded.len() => &recorded[..at],
        _ => recorded,
    };
    format!("{stem}.obtained{extension}")
}

/// Extensions that a recorded file's name may have been given: every ending that begins with a dot, and none.
fn extensions(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('.').filter(|(at, _)| *at > 0).map(|(at, _)| &name[at..]).chain([""])
}

pub fn artefacts(pin: &Pin, project: &Project) -> Vec<Artefact> {
    let (Some(path), true) = (&pin.oracle.path, pin.oracle.shown_only.is_none()) else { return Vec::new() };
    let Some(unit) = project.unit(&pin.file) else { return Vec::new() };
    let node = folded(pin.test.strip_prefix(pin.test_base()).unwrap_or(""));
    let function = pin.test_base().rsplit("::").next().unwrap_or_default();
    let node = format!("{}{node}", folded(function));
    let own = path.parent().name() == unit.path.stem();
    let mut names: Vec<String> =
        extensions(path.name()).map(|extension| obtained_name(path.name(), extension)).collect();
    if !own {
        // With `fullpath` the obtained file is named after the test.
        names.extend(extensions(path.name()).map(|extension| format!("{node}.obtained{extension}")));
    }
    names.dedup();
    let mut found: BTreeMap<RelPath, Vec<RelPath>> = BTreeMap::new();
    for obtained in names.iter().flat_map(|name| project.shelf.named(name)) {
        let mut folder = obtained.parent();
        let mut told = false;
        if folder.name() == unit.path.stem() && !is_of(folder.name(), &node) {
            folder = folder.parent();
            told = true;
        }
        if is_of(folder.name(), &node) && !others(project, unit, function, told) {
            found.entry(folder.parent()).or_default().push(obtained.clone());
        }
    }
    found.into_values().flat_map(|files| of_one_run(pin, path, &files, project)).collect()
}

/// `folder` is the temporary folder of a test with that folded name.
fn is_of(folder: &str, node: &str) -> bool {
    let beginning: String = node.chars().take(LONGEST).collect();
    folder.strip_prefix(&beginning).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// Another module has a test of that name that records with this plugin. `told`: the module's name is known.
fn others(project: &Project, unit: &Unit, function: &str, told: bool) -> bool {
    project.files.iter().any(|(path, facts)| {
        *path != unit.path
            && facts.unit.language == Language::Python
            && (!told || path.stem() == unit.path.stem())
            && facts.unit.functions_named(function).any(|(_, other)| sites::is_test(&facts.unit, other))
            && facts.matches.iter().any(|found| found.framework == ID)
    })
}

/// Several obtained files of one run speak for the pin only when they agree.
fn of_one_run(pin: &Pin, path: &RelPath, files: &[RelPath], project: &Project) -> Vec<Artefact> {
    let mut found: Vec<(Artefact, Vec<u8>)> = Vec::new();
    for file in files {
        let (artefact, bytes) = match project.shelf.disk(file) {
            Read::Missing => continue,
            Read::Refused(why) => (Err(why), Vec::new()),
            Read::Bytes(bytes) => (content(&bytes, &pin.oracle.steps), bytes.to_vec()),
        };
        let compared_with =
            file.parent().join(path.name()).map(|copy| project.shelf.disk(&copy)).and_then(|copy| match copy {
                Read::Bytes(bytes) => content(&bytes, &pin.oracle.steps).ok(),
                _ => None,
            });
        let artefact = Artefact {
            path: file.clone(),
            content: artefact,
            compared_with,
            header: None,
            names: None,
            says_match: false,
        };
        found.push((artefact, bytes));
    }
    if found.windows(2).any(|pair| pair[0].1 != pair[1].1) {
        return Vec::new();
    }
    let Some((mut artefact, bytes)) = found.into_iter().next() else { return Vec::new() };
    if artefact.content.is_ok() {
        match equal(pin, path, &bytes, project) {
            Some(true) => artefact.says_match = true,
            Some(false) => {}
            None => return Vec::new(),
        }
    }
    vec![artefact]
}

/// Whether the check takes the obtained file as equal to the recorded one.
fn equal(pin: &Pin, path: &RelPath, obtained: &[u8], project: &Project) -> Option<bool> {
    let Read::Bytes(recorded) = project.shelf.disk(path) else { return Some(false) };
    let format = format(&pin.oracle.steps);
    let alike = |bytes: &[u8]| content(bytes, &pin.oracle.steps);
    match (alike(obtained), alike(&recorded)) {
        (Ok(Content::Text(a)), Ok(Content::Text(b))) if a == b => Some(true),
        _ => comparing::equal(format, pin.oracle.tolerance.as_deref(), obtained, &recorded),
    }
}
