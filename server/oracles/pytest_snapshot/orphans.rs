//! Snapshots that no test can reach. Takes the pins of the plugin and the files below `snapshots/<module>/<test>`;
//! a file is named only where its module is read whole, holds no test of that name that could have written it,
//! and every pin that could reach it is known exactly.

use std::collections::BTreeSet;

use super::ID;
use crate::code::Unit;
use crate::oracles::{Orphan, Pin};
use crate::pins::Project;
use crate::places::RelPath;
use crate::syntax::Language;

pub fn orphans(pins: &[Pin], project: &Project) -> Vec<Orphan> {
    let ours: Vec<&Pin> = pins.iter().filter(|pin| pin.framework == ID).collect();
    if ours.is_empty() {
        return Vec::new();
    }
    let claimed: BTreeSet<&RelPath> =
        pins.iter().flat_map(|pin| pin.oracle.path.iter().chain(&pin.oracle.candidates)).collect();
    // Where a pin's folder is not known it may be any.
    let open: Vec<&Pin> = ours.iter().copied().filter(|pin| pin.oracle.path.is_none()).collect();
    let folders: BTreeSet<RelPath> = ours.iter().filter_map(|pin| pin.file.parent().join("snapshots")).collect();
    let mut found = Vec::new();
    for folder in &folders {
        for path in project.shelf.below(folder) {
            let rest = path.as_str().get(folder.as_str().len() + 1..).unwrap_or("");
            let mut parts = rest.split('/');
            let (Some(module), Some(test), Some(_)) = (parts.next(), parts.next(), parts.next()) else { continue };
            let inside = |claim: &&RelPath| path == *claim || path.starts_with(claim);
            let (Some(file), false) = (folder.parent().join(&format!("{module}.py")), claimed.iter().any(inside))
            else {
                continue;
            };
            let reaches = |pin: &&&Pin| {
                let name = pin.test_base().rsplit("::").next().unwrap_or_default();
                pin.file.parent() == file.parent()
                    && (name == test || pin.oracle.shown_only.is_none() && !resolved(pin))
            };
            if open.iter().any(|pin| reaches(&pin)) || may_be_written(project, &file, test) {
                continue;
            }
            found.push(Orphan { path: path.clone(), entry: None, line: 1, framework: ID.to_string() });
        }
    }
    found
}

fn resolved(pin: &Pin) -> bool {
    pin.oracle.path.is_some() || !pin.oracle.candidates.is_empty()
}

/// Whether a test of that name in that module may write there in a way that is not seen.
fn may_be_written(project: &Project, file: &RelPath, test: &str) -> bool {
    let facts = project.files.get(file);
    let listed = project.shelf.listed(file);
    let Some(facts) = facts.filter(|_| listed) else {
        // A module that is there and was not read holds nothing that looks like a snapshot.
        return false;
    };
    let unit = &facts.unit;
    if !unit.errors.is_empty() || !facts.troubles.is_empty() || unit.text.is_empty() {
        return true;
    }
    // What a test of that name recorded with other parameters, or under other names, is its own to tell.
    unit.functions_named(test).next().is_some() || inherits(unit, test) && defined_somewhere(project, test)
}

/// Tests may come into the module from elsewhere.
fn inherits(unit: &Unit, test: &str) -> bool {
    unit.imports.iter().any(|import| import.local == "*" || import.local == test)
        || unit.globals_named(test).next().is_some()
        || unit.scopes.iter().any(|scope| {
            scope.bases.iter().any(|base| {
                !matches!(
                    base.dotted().as_deref(),
                    Some("unittest.TestCase" | "TestCase" | "object" | "ABC" | "abc.ABC")
                )
            })
        })
}

fn defined_somewhere(project: &Project, test: &str) -> bool {
    project
        .files
        .values()
        .any(|facts| facts.unit.language == Language::Python && facts.unit.functions_named(test).next().is_some())
}
