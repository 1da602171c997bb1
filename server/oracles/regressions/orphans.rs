//! Recorded files that no test can reach. Takes the pins of the plugin and the files of their data folders. Such a
//! folder holds input of tests too, so a file is named only when its name is one that the plugin makes for a test
//! that is not there, nothing in the module mentions it, and every pin of the module is known exactly.

use std::collections::{BTreeMap, BTreeSet};

use super::{ID, folded};
use crate::code::{ExprKind, Piece, Unit};
use crate::oracles::{Orphan, Pin};
use crate::pins::Project;
use crate::places::RelPath;

pub fn orphans(pins: &[Pin], project: &Project) -> Vec<Orphan> {
    let mut by_file: BTreeMap<&RelPath, Vec<&Pin>> = BTreeMap::new();
    for pin in pins.iter().filter(|pin| pin.framework == ID) {
        by_file.entry(&pin.file).or_default().push(pin);
    }
    let claimed: BTreeSet<&RelPath> =
        pins.iter().flat_map(|pin| pin.oracle.path.iter().chain(&pin.oracle.candidates)).collect();
    let mut found = Vec::new();
    for (file, ours) in by_file {
        let Some(facts) = project.files.get(file) else { continue };
        let unit = &facts.unit;
        let open = |pin: &&Pin| {
            pin.oracle.path.is_none() && pin.oracle.candidates.is_empty() && pin.oracle.shown_only.is_none()
        };
        let Some(folder) = file.parent().join(file.stem()) else { continue };
        if !unit.errors.is_empty() || !facts.troubles.is_empty() || ours.iter().any(open) || comes_from_elsewhere(unit)
        {
            continue;
        }
        // What the plugin writes here, by the extensions of the files that it does hold.
        let extensions: BTreeSet<&str> = ours
            .iter()
            .flat_map(|pin| pin.oracle.path.iter().chain(&pin.oracle.candidates))
            .filter(|path| path.parent() == folder)
            .filter_map(|path| path.name().rfind('.').map(|at| &path.name()[at..]))
            .collect();
        let mentioned = mentions(unit);
        for path in project.shelf.below(&folder).filter(|path| path.parent() == folder && !claimed.contains(path)) {
            let Some((stem, extension)) = path.name().rfind('.').map(|at| path.name().split_at(at)) else { continue };
            if !extensions.contains(extension) || !is_made(stem) || stem.contains(".obtained") {
                continue;
            }
            let of_a_test = unit.functions.iter().any(|function| stem_of(stem, &folded(&function.name)));
            let named =
                mentioned.iter().any(|text| text.contains(stem) || stem.contains(text.as_str()) && text.len() > 5);
            if !of_a_test && !named {
                found.push(Orphan { path: path.clone(), entry: None, line: 1, framework: ID.to_string() });
            }
        }
    }
    found
}

/// The name is one that the plugin makes of a test's: `test_x`, `TestClass_test_x`.
fn is_made(stem: &str) -> bool {
    let test = stem.starts_with("test") || stem.starts_with("Test") && stem.contains("_test");
    test && stem.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The test of that name, in a class or not, with parameters or not, may have recorded it.
fn stem_of(stem: &str, test: &str) -> bool {
    stem.match_indices(test).any(|(at, _)| {
        let before = at == 0 || stem[..at].ends_with('_');
        let after = &stem[at + test.len()..];
        before && (after.is_empty() || after.starts_with('_'))
    })
}

fn comes_from_elsewhere(unit: &Unit) -> bool {
    unit.imports.iter().any(|import| import.local == "*" || import.local.starts_with("test"))
        || unit.scopes.iter().any(|scope| {
            scope.bases.iter().any(|base| {
                !matches!(
                    base.dotted().as_deref(),
                    Some("unittest.TestCase" | "TestCase" | "object" | "ABC" | "abc.ABC")
                )
            })
        })
}

/// Texts of the module: a file that one of them names is not the plugin's to tell.
fn mentions(unit: &Unit) -> Vec<String> {
    let mut texts = Vec::new();
    let mut see = |expr: &crate::code::Expr| match &expr.kind {
        ExprKind::Str(text) => texts.push(text.clone()),
        ExprKind::Format(pieces) => texts.extend(pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.clone()),
            Piece::Hole(..) => None,
        })),
        _ => {}
    };
    for function in &unit.functions {
        function.marks.iter().for_each(|mark| mark.walk(&mut see));
        function.body.iter().for_each(|stmt| stmt.walk(&mut see));
    }
    unit.globals.iter().for_each(|global| global.value.walk(&mut see));
    unit.top.iter().for_each(|stmt| stmt.walk(&mut see));
    texts.retain(|text| text.len() < 200);
    texts
}
