//! snapshottest 0.6.0: whether the `snapshot` of a test is its fixture.

use crate::pins::{Project, Site};
use crate::places::RelPath;

/// Where snapshottest keeps the entries of a test module.
pub fn module_of(tests: &RelPath) -> Option<RelPath> {
    tests.parent().join(&format!("snapshots/snap_{}.py", tests.stem()))
}

/// Signs of snapshottest for the test that a reader sees: its module of entries, or an import.
pub fn is_used_for(project: &Project, site: &Site) -> bool {
    let Some(unit) = site.frames.first().and_then(|frame| project.unit(&frame.file)) else { return false };
    unit.imports.iter().any(|import| import.path == "snapshottest" || import.path.starts_with("snapshottest."))
        || module_of(&unit.path).is_some_and(|file| project.shelf.listed(&file))
}
