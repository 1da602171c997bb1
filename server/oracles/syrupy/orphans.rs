//! Entries and files of `__snapshots__` that no test can reach, by syrupy's naming rule. Takes all pins, gives
//! only what leaves no room: a test that still exists and uses its snapshot in a way that is not understood,
//! doctests, tests that are imported or inherited from elsewhere, classes that name files themselves keep
//! everything that could be theirs.

use std::collections::{BTreeMap, BTreeSet};

use super::extension::Extension;
use super::pins::NOTHING;
use super::{ID, read};
use crate::code::{ExprKind, Function, Unit};
use crate::oracles::{OracleKind, Orphan, Pin, signs, textual};
use crate::pins::sites::is_test;
use crate::pins::{Project, is_test_file};
use crate::places::RelPath;

/// Extensions that syrupy's own classes write.
const OWN: &[&str] = &["ambr", "raw", "json"];

pub fn orphans(pins: &[Pin], project: &Project) -> Vec<Orphan> {
    let ours: Vec<&Pin> = pins.iter().filter(|pin| pin.framework == ID || pin.framework == textual::ID).collect();
    let amber = |path: &&RelPath| path.name().ends_with(".ambr");
    if ours.is_empty() && project.shelf.files().find(amber).is_none() {
        return Vec::new();
    }
    let mut look = Look { project, used: BTreeSet::new(), open: Vec::new(), by_file: BTreeMap::new() };
    for pin in &ours {
        match &pin.oracle.path {
            Some(path) => {
                let entry = pin.oracle.entry.as_deref().filter(|_| pin.oracle.kind == OracleKind::Entry);
                look.used.insert((path, entry));
            }
            None if pin.oracle.steps == [NOTHING] => {}
            None => look.open.push(pin),
        }
        look.by_file.entry(&pin.file).or_default().push(pin);
    }
    let mut found = Vec::new();
    for path in project.shelf.files() {
        let parent = path.parent();
        let orphan =
            |entry: Option<String>, line: usize| Orphan { path: path.clone(), entry, line, framework: ID.to_string() };
        if path.name().ends_with(".ambr") && look.is_folder(&parent) {
            let Some(module) = parent.parent().join(&format!("{}.py", path.stem())) else { continue };
            let Ok(Some(file)) = read(project, path) else { continue };
            if look.is_open(path, &module) {
                continue;
            }
            for entry in &file.amber.entries {
                if !look.used.contains(&(path, Some(entry.name.as_str()))) && look.unreachable(&module, &entry.name) {
                    found.push(orphan(Some(entry.name.clone()), entry.first_line.saturating_sub(1).max(1)));
                }
            }
            if file.amber.entries.is_empty() && !project.shelf.listed(&module) && look.unreachable(&module, "") {
                found.push(orphan(None, 1));
            }
            continue;
        }
        let folder = parent.parent();
        if !look.is_folder(&folder) || look.used.contains(&(path, None)) {
            continue;
        }
        let Some(module) = folder.parent().join(&format!("{}.py", parent.name())) else { continue };
        let Some((stem, suffix)) = path.name().rsplit_once('.') else { continue };
        let same_kind = look.used.iter().any(|(used, _)| used.parent() == parent && used.name().ends_with(suffix));
        let screenshots = ours.iter().any(|pin| {
            let held = pin.oracle.path.as_ref().is_some_and(|held| held.parent() == parent);
            pin.framework == textual::ID && held && suffix == "svg"
        });
        let known = same_kind || OWN.contains(&suffix) && signs::of(project).syrupy;
        if known && !look.is_open(path, &module) && look.unreachable(&module, stem) {
            let framework = if screenshots { textual::ID } else { ID }.to_string();
            found.push(Orphan { framework, ..orphan(None, 1) });
        }
    }
    found
}

struct Look<'a> {
    project: &'a Project,
    used: BTreeSet<(&'a RelPath, Option<&'a str>)>,
    /// Pins of which the file or entry is not known.
    open: Vec<&'a Pin>,
    by_file: BTreeMap<&'a RelPath, Vec<&'a Pin>>,
}

impl Look<'_> {
    /// The folder in which syrupy keeps the snapshots of the tests beside it.
    fn is_folder(&self, folder: &RelPath) -> bool {
        !folder.as_str().is_empty()
            && Extension::default_of(self.project, folder)
                .and_then(|extension| extension.dirname)
                .is_some_and(|dirname| dirname == folder.name())
    }

    /// A pin that may be held against the file, without being known to.
    fn is_open(&self, path: &RelPath, module: &RelPath) -> bool {
        self.open.iter().any(|pin| {
            pin.file != *module
                && (pin.oracle.candidates.contains(path)
                    || pin.oracle.candidates.is_empty() && pin.file.parent() == module.parent())
        })
    }

    /// No test of the module can have that entry or file.
    fn unreachable(&self, module: &RelPath, entry: &str) -> bool {
        let Some(unit) = self.project.unit(module) else {
            // A module that is gone; one that is there and was not read may hold anything.
            let beside = ["txt", "md", "rst", "pyi", "ipynb"].iter().any(|ending| {
                let file = module.parent().join(&format!("{}.{ending}", module.stem()));
                file.is_some_and(|file| self.project.shelf.listed(&file))
            });
            return !self.project.shelf.listed(module) && !beside && is_test_file(module);
        };
        if unit.text.as_str().contains(">>>") || !unit.errors.is_empty() {
            return false;
        }
        let dynamic = |name: &str| unit.text.as_str().contains(name);
        if dynamic("pytest_generate_tests") || dynamic("exec(") || dynamic("globals()") || dynamic("setattr(") {
            return false;
        }
        let head = entry.split('[').next().unwrap_or(entry);
        let mut parts: Vec<&str> = head.split('.').collect();
        if parts.len() > 1 && parts.last().is_some_and(|last| last.bytes().all(|b| b.is_ascii_digit())) {
            parts.pop();
        }
        let Some((name, classes)) = parts.split_last() else { return false };
        let path: Vec<String> = classes.iter().map(|class| class.to_string()).collect();
        let own = unit.functions_named(name).map(|(_, f)| f).filter(|f| f.path == path).collect::<Vec<_>>();
        if let Some(function) = own.last() {
            return own.len() == 1 && is_test(unit, function) && self.all_known(unit, function);
        }
        if unit.imports.iter().any(|import| import.local == "*" || import.local == *parts[0]) {
            return false;
        }
        // A class of the project names the snapshots of the module in its own way, or is not understood.
        let own_way =
            |pin: &&&Pin| pin.file == *module && (pin.oracle.steps.is_empty() || pin.oracle.shown_only.is_some());
        if self.open.iter().any(|pin| own_way(&pin)) {
            return false;
        }
        if path.is_empty() {
            return true;
        }
        // What a class inherits may have that name.
        let mut heir = false;
        for depth in 1..=path.len() {
            match unit.scopes.iter().find(|scope| scope.name == path[depth - 1] && scope.path == path[..depth - 1]) {
                Some(class) => heir |= !class.bases.is_empty(),
                None => break,
            }
        }
        !heir
    }

    /// Every use of a snapshot in the test is a pin whose entry is known.
    fn all_known(&self, unit: &Unit, function: &Function) -> bool {
        let pins: Vec<&&Pin> = self
            .by_file
            .get(&unit.path)
            .into_iter()
            .flatten()
            .filter(|pin| pin.test_span == Some(function.span))
            .collect();
        if pins.is_empty() || pins.iter().any(|pin| pin.oracle.path.is_none()) {
            return false;
        }
        let inside = |outer: &[String], name: &str| {
            let mut path = outer.to_vec();
            path.push(name.to_string());
            path
        };
        let nested = inside(&function.path, &function.name);
        let bodies = unit.functions.iter().filter(|f| f.path.starts_with(&nested)).chain([function]);
        let mut known = true;
        for body in bodies.map(|function| &function.body) {
            for stmt in body {
                stmt.walk(&mut |expr| {
                    if let ExprKind::Name(name) = &expr.kind
                        && function.params.iter().any(|param| param.name == *name)
                        && !pins.iter().any(|pin| pin.span.contains(expr.span))
                        && self.may_be_snapshot(unit, function, name)
                    {
                        known = false;
                    }
                });
            }
        }
        known
    }

    /// A parameter that is, or may be made from, the plugin's fixture.
    fn may_be_snapshot(&self, unit: &Unit, function: &Function, name: &str) -> bool {
        let mut wanted = vec![name.to_string()];
        let mut seen = BTreeSet::new();
        while let Some(name) = wanted.pop() {
            if !seen.insert(name.clone()) || seen.len() > 100 {
                continue;
            }
            if name == "snapshot" {
                return true;
            }
            for fixture in crate::pins::fixtures::definitions(self.project, unit, &function.path, &name) {
                match fixture.function() {
                    Some(function) => wanted.extend(function.params.iter().map(|param| param.name.clone())),
                    None => return true,
                }
            }
        }
        false
    }
}
