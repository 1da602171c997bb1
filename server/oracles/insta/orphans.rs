//! Snapshot files that no assertion can reach, by insta's naming rules. Claimed only where every assertion
//! that could name a file of the folder is known exactly; otherwise nothing is said.

use std::collections::HashSet;

use super::snap;
use crate::oracles::{OracleKind, Orphan, Pin};
use crate::pins::Project;
use crate::places::RelPath;
use crate::shelf::Read;

/// Header file of a snapshot: a binary oracle names the data file.
fn header_of(path: &RelPath) -> Option<RelPath> {
    match path.name().rfind(".snap.") {
        Some(at) => path.parent().join(&path.name()[..at + ".snap".len()]),
        None => Some(path.clone()),
    }
}

pub fn orphans(pins: &[Pin], project: &Project) -> Vec<Orphan> {
    let mut reached: HashSet<RelPath> = HashSet::new();
    // Folders of sources some of whose snapshots are known only up to a pattern, or not at all.
    let mut open: HashSet<RelPath> = HashSet::new();
    // Packages in which a snapshot's folder is not known.
    let mut open_packages: HashSet<RelPath> = HashSet::new();
    let package = |file: &RelPath| project.crates.package_of(file).map(|package| package.dir.clone());
    for pin in pins.iter().filter(|pin| pin.framework == "insta") {
        let home = pin.asserted_in.as_ref().map_or(&pin.file, |(file, _)| file);
        match (&pin.oracle.path, pin.oracle.kind) {
            (_, OracleKind::Inline) => {}
            (Some(path), _) => reached.extend(header_of(path)),
            (None, _) if !pin.oracle.candidates.is_empty() => {
                reached.extend(pin.oracle.candidates.iter().filter_map(header_of));
            }
            (None, _) => {
                open.insert(home.parent());
                open.insert(pin.file.parent());
                open_packages.extend(package(home));
            }
        }
    }
    for (file, facts) in project.files.iter().filter(|(file, _)| file.name().ends_with(".rs")) {
        // A file that could not be read in full may hold assertions that are not known.
        if !facts.unit.errors.is_empty() || !facts.troubles.is_empty() {
            open.insert(file.parent());
        }
    }
    let claimed_folders: HashSet<RelPath> = reached.iter().map(RelPath::parent).collect();
    let mut found = Vec::new();
    for path in project.shelf.files().filter(|path| path.name().ends_with(".snap") && !reached.contains(path)) {
        let folder = path.parent();
        let Some(package) = package(path) else { continue };
        if open_packages.contains(&package) || open.contains(&folder.parent()) || open.contains(&folder) {
            continue;
        }
        // Elsewhere than beside a source or where an assertion is known to write: not ours to judge.
        if folder.name() != "snapshots" && !claimed_folders.contains(&folder) {
            continue;
        }
        let Read::Bytes(bytes) = project.shelf.read(path) else { continue };
        let Ok(text) = std::str::from_utf8(&bytes) else { continue };
        if !snap::is_snap(text) || !made_beside(text, &folder, project) {
            continue;
        }
        found.push(Orphan { path: path.clone(), entry: None, line: 1, framework: "insta".to_string() });
    }
    found
}

/// Whether the source that the header names lies beside the folder, or is gone: a snapshot whose source
/// lies elsewhere came there by a setting that may not be understood.
fn made_beside(text: &str, folder: &RelPath, project: &Project) -> bool {
    let Ok(snap) = snap::Snap::read(text) else { return false };
    let Some(source) = snap.key("source").or(snap.key("Source")) else { return true };
    let mut parts: Vec<&str> = source.split(['/', '\\']).collect();
    let Some(name) = parts.pop() else { return true };
    let there = folder.parent().join(name).is_some_and(|path| project.shelf.listed(&path));
    let anywhere = project.shelf.files().any(|path| path.as_str().ends_with(source));
    there || !anywhere
}
