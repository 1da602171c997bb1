//! What of a project shows which Python frameworks its tests use: imports, files, requirements, and the fixtures
//! that are made of the plugins' `snapshot`. Takes a project, gives the signs, worked out once for each of its
//! states. Too many rather than too few: what a test really uses is for the framework to say.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::{Arc, Weak};

use crate::pins::{Facts, Project, fixtures};
use crate::places::RelPath;
use crate::syntax::Language;

#[derive(Debug, Default)]
pub struct Signs {
    /// An import, an amber file or a requirement of syrupy.
    pub syrupy: bool,
    /// A file imports inline-snapshot.
    pub inline_snapshot: bool,
    /// `snapshot`, the fixture that pytest-textual-snapshot makes of it, and those that request one in some way.
    pub snapshots: BTreeSet<String>,
}

type Files = BTreeMap<RelPath, Arc<Facts>>;

thread_local! {
    /// The state that was asked for last.
    static LAST: RefCell<Option<(Weak<Files>, Rc<Signs>)>> = const { RefCell::new(None) };
}

pub fn of(project: &Project) -> Rc<Signs> {
    let same = |of: &Weak<Files>| std::ptr::eq(of.as_ptr(), Arc::as_ptr(&project.files));
    let known = LAST.with_borrow(|last| last.as_ref().filter(|(of, _)| same(of)).map(|(_, signs)| signs.clone()));
    known.unwrap_or_else(|| {
        let signs = Rc::new(read(project));
        LAST.set(Some((Arc::downgrade(&project.files), signs.clone())));
        signs
    })
}

fn read(project: &Project) -> Signs {
    let mut signs = Signs::default();
    let mut requests: Vec<(&str, Vec<&str>)> = Vec::new();
    for facts in project.files.values().filter(|facts| facts.unit.language == Language::Python) {
        for import in &facts.unit.imports {
            let first = import.path.split('.').next().unwrap_or_default();
            signs.syrupy |= first == "syrupy";
            signs.inline_snapshot |= first == "inline_snapshot";
        }
        for function in &facts.unit.functions {
            if let Some(name) = fixtures::name_of(function) {
                requests.push((name, function.params.iter().map(|param| param.name.as_str()).collect()));
            }
        }
    }
    signs.syrupy = signs.syrupy
        || project.shelf.files().any(|file| file.name().ends_with(".ambr"))
        || project
            .shelf
            .files()
            .filter(|file| is_manifest(file.name()))
            .any(|file| project.shelf.text(file).is_some_and(|text| text.as_str().contains("syrupy")));
    signs.snapshots.extend(["snapshot", "snap_compare"].map(str::to_string));
    loop {
        let before = signs.snapshots.len();
        for (name, params) in &requests {
            if params.iter().any(|param| signs.snapshots.contains(*param)) {
                signs.snapshots.insert(name.to_string());
            }
        }
        if signs.snapshots.len() == before {
            return signs;
        }
    }
}

fn is_manifest(name: &str) -> bool {
    matches!(name, "pyproject.toml" | "setup.py" | "setup.cfg" | "tox.ini" | "Pipfile")
        || name.contains("requirements") && name.ends_with(".txt")
}
