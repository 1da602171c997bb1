//! What a name stands for: functions and constants of the same file, and through imports those of the
//! repository's other files. Takes a unit, the scope in which the name stands and the dotted name.
//! Never guesses: a name that could be two things is none.

use std::any::Any;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dashmap::DashMap;

use super::Project;
use super::macros::Wrappers;
use super::reach::{Reach, Readings};
use crate::code::{Binding, Function, Unit};
use crate::places::RelPath;
use crate::shelf::Shelf;
use crate::syntax::Language;
use crate::vocabulary::known_macro;

/// What was found.
#[derive(Debug, Clone, Copy)]
pub enum Named<'a> {
    /// A function, as its index in [`Unit::functions`].
    Function(&'a Unit, usize),
    Constant(&'a Unit, &'a Binding),
    /// A Python module.
    Module(&'a Unit),
}

/// Longest chain of imports and base classes that is followed.
const DEEPEST: usize = 8;

/// Where the functions and constants of each name are, of all Rust files. Made on the first question; of
/// files that were changed since the names are looked up in the files themselves.
#[derive(Default)]
pub struct Names {
    made: Arc<OnceLock<Index>>,
    reach: OnceLock<Arc<Reach>>,
    /// What the names of the project led to before some files were changed.
    before: Option<Arc<Reach>>,
    /// Files that are not as the index and `before` have them.
    changed: BTreeSet<RelPath>,
    /// What later steps have found out about a function of a file at no small cost, and the files that were
    /// listed then.
    kept: Mutex<HashMap<Key, Kept>>,
    /// Files of Python modules, by the folder of the importing file and the module's path.
    modules: DashMap<RelPath, HashMap<String, Option<RelPath>>>,
    pub(super) readings: Readings,
}

/// A file, a function of it and what was asked about it.
type Key = (RelPath, usize, String);
type Kept = (Shelf, Arc<dyn Any + Send + Sync>);

#[derive(Default)]
struct Index {
    /// By package and name.
    items: HashMap<RelPath, HashMap<String, Vec<Item>>>,
}

/// A function or constant of a Rust file, with what its path may name it by.
#[derive(Debug, Clone)]
struct Item {
    file: RelPath,
    at: usize,
    constant: bool,
    /// The type or inline module around it.
    around: Option<String>,
    /// Name of the file's module.
    module: Arc<str>,
}

/// Most changed files for which the old index is kept.
const MOST_CHANGED: usize = 50;

/// Most functions of which something is kept.
const MOST_KEPT: usize = 200;

impl Names {
    /// The names of the same project with one file changed, added or removed.
    pub fn changed(&self, file: &RelPath) -> Names {
        if self.changed.len() >= MOST_CHANGED {
            return Names::default();
        }
        let mut changed = self.changed.clone();
        changed.insert(file.clone());
        let made = self.made.get().map(|_| self.made.clone()).unwrap_or_default();
        let before = self.reach.get().or(self.before.as_ref()).cloned();
        Names {
            made,
            reach: OnceLock::new(),
            before,
            changed,
            kept: Mutex::default(),
            modules: DashMap::new(),
            readings: Readings::default(),
        }
    }

    /// What was kept of a function, if the same files are there.
    pub fn kept<T: Send + Sync + 'static>(
        &self,
        shelf: &Shelf,
        file: &RelPath,
        function: usize,
        asked: &str,
    ) -> Option<Arc<T>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (then, value) = kept.get(&(file.clone(), function, asked.to_string()))?;
        value.clone().downcast().ok().filter(|_| then.lists_as(shelf))
    }

    /// Keeps something about a function until a file changes.
    pub fn keep<T: Send + Sync + 'static>(
        &self,
        shelf: &Shelf,
        file: &RelPath,
        function: usize,
        asked: &str,
        value: Arc<T>,
    ) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert((file.clone(), function, asked.to_string()), (shelf.clone(), value));
    }

    /// What the names of the project lead to.
    pub fn reach(&self, project: &Project) -> &Reach {
        self.reach.get_or_init(|| {
            let wrappers = Wrappers::of(project, &known_macro);
            let before = self.before.as_deref().map(|reach| (reach, &self.changed));
            Arc::new(Reach::of(project, &wrappers.names(), before))
        })
    }

    fn index(&self, project: &Project) -> &Index {
        self.made.get_or_init(|| {
            let mut index = Index::default();
            for (path, facts) in project.files.iter().filter(|(_, facts)| facts.unit.language == Language::Rust) {
                let items = index.items.entry(package_of(project, path)).or_default();
                every_item(&facts.unit, &mut |name, item| match items.get_mut(name) {
                    Some(found) => found.push(item),
                    None => {
                        items.insert(name.to_string(), vec![item]);
                    }
                });
            }
            index
        })
    }

    /// The items of that name in a package.
    fn items<'a>(&'a self, project: &Project, package: &RelPath, name: &str) -> Vec<Cow<'a, Item>> {
        let made = self.index(project).items.get(package).and_then(|items| items.get(name));
        let made = made.into_iter().flatten().filter(|item| !self.changed.contains(&item.file));
        let mut found: Vec<Cow<Item>> = made.map(Cow::Borrowed).collect();
        for path in &self.changed {
            let Some(unit) = project.unit(path).filter(|unit| unit.language == Language::Rust) else { continue };
            if package_of(project, path) == *package {
                every_item(unit, &mut |other, item| {
                    if other == name {
                        found.push(Cow::Owned(item));
                    }
                });
            }
        }
        found
    }
}

fn every_item(unit: &Unit, add: &mut dyn FnMut(&str, Item)) {
    let module: Arc<str> = module_name(&unit.path).into();
    let item = |at: usize, around: Option<&String>, constant: bool| Item {
        file: unit.path.clone(),
        at,
        constant,
        around: around.cloned(),
        module: module.clone(),
    };
    for (at, function) in unit.functions.iter().enumerate() {
        add(&function.name, item(at, function.path.last(), false));
    }
    for (at, binding) in unit.globals.iter().enumerate() {
        add(&binding.name, item(at, binding.path.last(), true));
    }
}

impl Item {
    fn named<'a>(&self, project: &'a Project) -> Option<Named<'a>> {
        let unit = project.unit(&self.file)?;
        match self.constant {
            true => unit.globals.get(self.at).map(|binding| Named::Constant(unit, binding)),
            false => unit.functions.get(self.at).map(|_| Named::Function(unit, self.at)),
        }
    }
}

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("Names")
    }
}

/// Scopes in which the code of a function stands: its own path and its name.
pub fn scope_of(function: Option<&Function>) -> Vec<String> {
    function.map_or_else(Vec::new, |function| {
        let mut scope = function.path.clone();
        scope.push(function.name.clone());
        scope
    })
}

/// What `dotted` (`check`, `support.check`, `self.check`, `common::check` with `.`) stands for in `scope`.
pub fn find<'a>(project: &'a Project, unit: &'a Unit, scope: &[String], dotted: &str) -> Option<Named<'a>> {
    let parts: Vec<&str> = dotted.split('.').collect();
    match unit.language {
        Language::Python => python(project, unit, scope, &parts, DEEPEST),
        Language::Rust => rust(project, unit, scope, &parts),
    }
}

fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.next().is_none().then_some(first)
}

fn python<'a>(
    project: &'a Project,
    unit: &'a Unit,
    scope: &[String],
    parts: &[&str],
    left: usize,
) -> Option<Named<'a>> {
    let left = left.checked_sub(1)?;
    let (first, rest) = parts.split_first()?;
    if matches!(*first, "self" | "cls") {
        let [member] = rest else { return None };
        let class =
            (1..=scope.len()).rev().find_map(|depth| class_at(unit, &scope[..depth]).then_some(&scope[..depth]));
        return python_member(project, unit, class?, member, left);
    }
    for depth in (0..=scope.len()).rev() {
        let around = &scope[..depth];
        if depth > 0 && depth < scope.len() && class_at(unit, around) {
            continue;
        }
        // The last definition of a name is the one that counts in Python.
        let function = unit.functions_named(first).rfind(|(_, f)| f.path == around);
        if let (Some((function, _)), []) = (function, rest) {
            return Some(Named::Function(unit, function));
        }
        let mut constants = unit.globals_named(first).map(|(_, b)| b).filter(|b| b.path == around);
        if rest.is_empty()
            && let Some(constant) = constants.next()
        {
            return constants
                .all(|other| other.value.kind == constant.value.kind)
                .then_some(Named::Constant(unit, constant));
        }
        if unit.scopes.iter().any(|s| s.name == *first && s.path == around) {
            let [member] = rest else { return None };
            let mut class = around.to_vec();
            class.push(first.to_string());
            return python_member(project, unit, &class, member, left);
        }
        let imported = unit.imports_named(first).rfind(|i| i.scope == around);
        if let Some(import) = imported {
            return python_import(project, unit, &import.path, rest, left);
        }
    }
    unit.imports_named("*")
        .find_map(|import| python_import(project, unit, import.path.trim_end_matches(".*"), parts, left))
}

fn class_at(unit: &Unit, path: &[String]) -> bool {
    let Some((name, around)) = path.split_last() else { return false };
    unit.scopes.iter().any(|s| s.name == *name && s.path == around)
}

fn python_member<'a>(
    project: &'a Project,
    unit: &'a Unit,
    class: &[String],
    member: &str,
    left: usize,
) -> Option<Named<'a>> {
    let left = left.checked_sub(1)?;
    if let Some((function, _)) = unit.functions_named(member).rfind(|(_, f)| f.path == class) {
        return Some(Named::Function(unit, function));
    }
    if let Some((_, constant)) = unit.globals_named(member).rfind(|(_, b)| b.path == class) {
        return Some(Named::Constant(unit, constant));
    }
    let (name, around) = class.split_last()?;
    let scope = unit.scopes.iter().find(|s| s.name == *name && s.path == around)?;
    scope.bases.iter().find_map(|base| {
        let mut dotted = base.dotted()?;
        if dotted.rsplit('.').next() == Some(name) && dotted == *name {
            return None;
        }
        dotted.push('.');
        dotted.push_str(member);
        let parts: Vec<&str> = dotted.split('.').collect();
        python(project, unit, around, &parts, left)
    })
}

fn python_import<'a>(
    project: &'a Project,
    unit: &'a Unit,
    path: &str,
    rest: &[&str],
    left: usize,
) -> Option<Named<'a>> {
    let dots = path.len() - path.trim_start_matches('.').len();
    let (dots, path) = path.split_at(dots);
    let full: Vec<&str> = path.split('.').filter(|part| !part.is_empty()).chain(rest.iter().copied()).collect();
    let first = if dots.is_empty() { 1 } else { 0 };
    for cut in (first..=full.len()).rev() {
        let Some(module) = python_module(project, unit, dots.len(), &full[..cut]) else { continue };
        return match &full[cut..] {
            [] => Some(Named::Module(module)),
            rest if module.path == unit.path && cut == full.len() => python(project, module, &[], rest, left),
            rest => python(project, module, &[], rest, left),
        };
    }
    None
}

/// The module that an import path in `unit` names, where the project has it.
pub fn module<'a>(project: &'a Project, unit: &Unit, path: &str) -> Option<&'a Unit> {
    let dots = path.len() - path.trim_start_matches('.').len();
    let parts: Vec<&str> = path[dots..].split('.').filter(|part| !part.is_empty()).collect();
    if dots == 0 && parts.is_empty() {
        return None;
    }
    python_module(project, unit, dots, &parts)
}

/// The file of a module: relative to the importing file's package, or from the nearest folder above the
/// importing file (or its `src`) that has it.
fn python_module<'a>(project: &'a Project, from: &Unit, dots: usize, parts: &[&str]) -> Option<&'a Unit> {
    let at = |base: &RelPath| -> Option<&'a Unit> {
        let joined = parts.join("/");
        let file = if joined.is_empty() { None } else { base.join(&format!("{joined}.py")) };
        let package = base.join(&format!("{joined}/__init__.py"));
        file.and_then(|file| project.unit(&file)).or_else(|| project.unit(&package?))
    };
    let mut folder = from.path.parent();
    if dots == 0 {
        let module = parts.join("/");
        if let Some(known) = project.names.modules.get(&folder).and_then(|known| known.get(&module).cloned()) {
            return project.unit(&known?);
        }
        let found = nearest_module(&at, folder.clone());
        let path = found.map(|unit| unit.path.clone());
        project.names.modules.entry(folder).or_default().insert(module, path);
        return found;
    }
    for _ in 1..dots {
        if folder.as_str().is_empty() {
            return None;
        }
        folder = folder.parent();
    }
    at(&folder)
}

fn nearest_module<'a>(at: &dyn Fn(&RelPath) -> Option<&'a Unit>, mut folder: RelPath) -> Option<&'a Unit> {
    loop {
        if let Some(unit) = at(&folder).or_else(|| at(&folder.join("src")?)) {
            return Some(unit);
        }
        if folder.as_str().is_empty() {
            return None;
        }
        folder = folder.parent();
    }
}

/// Folder of the Cargo package that a Rust file belongs to; the root where there is none.
pub fn package_of(project: &Project, file: &RelPath) -> RelPath {
    project.crates.package_of(file).map(|package| package.dir.clone()).unwrap_or_default()
}

/// Name by which other files call this one's module; `crate` for the root of a target.
fn module_name(path: &RelPath) -> String {
    match path.stem() {
        "mod" => path.parent().name().to_string(),
        "lib" | "main" => "crate".into(),
        stem => stem.to_string(),
    }
}

fn rust<'a>(project: &'a Project, unit: &'a Unit, scope: &[String], parts: &[&str]) -> Option<Named<'a>> {
    let (last, qualifiers) = parts.split_last()?;
    let qualifiers: Vec<&str> =
        qualifiers.iter().copied().filter(|q| !matches!(*q, "self" | "crate" | "super")).collect();
    if qualifiers.is_empty() {
        if (parts.len() == 1 || matches!(parts[0], "self" | "super"))
            && let Some(own) = rust_own(unit, scope, last, parts.len() > 1)
        {
            return Some(own);
        }
        let import = unit.imports_named(last).find(|import| visible(&import.scope, scope));
        if let (Some(import), 1) = (import, parts.len()) {
            let path: Vec<&str> = import.path.split('.').collect();
            let (last, qualifiers) = path.split_last()?;
            let qualifiers: Vec<&str> = qualifiers.to_vec();
            return rust_qualified(project, unit, &qualifiers, last);
        }
        let globbed = unit.imports_named("*").filter(|import| visible(&import.scope, scope));
        let globbed = globbed.filter_map(|import| {
            let path: Vec<&str> = import.path.split('.').filter(|part| *part != "*").collect();
            rust_qualified(project, unit, &path, last)
        });
        return only(globbed);
    }
    let mut path: Vec<&str> = qualifiers.clone();
    let alias = unit.imports_named(qualifiers[0]).find(|import| visible(&import.scope, scope));
    if let Some(import) = alias {
        path.splice(0..1, import.path.split('.'));
    } else if qualifiers[0] == "Self" {
        let owner = scope.len().checked_sub(2).and_then(|at| scope.get(at));
        path.splice(0..1, owner.map(String::as_str));
    }
    rust_qualified(project, unit, &path, last)
}

fn visible(inner: &[String], scope: &[String]) -> bool {
    scope.starts_with(inner)
}

fn rust_own<'a>(unit: &'a Unit, scope: &[String], name: &str, method: bool) -> Option<Named<'a>> {
    if unit.functions_named(name).next().is_none() && unit.globals_named(name).next().is_none() {
        return None;
    }
    for depth in (0..=scope.len()).rev() {
        let around = &scope[..depth];
        let mut functions = unit.functions_named(name).filter(|(_, f)| f.path == around);
        if let Some((function, _)) = functions.next() {
            return functions.next().is_none().then_some(Named::Function(unit, function));
        }
        let mut constants = unit.globals_named(name).map(|(_, b)| b).filter(|b| b.path == around);
        if !method && let Some(constant) = only(&mut constants) {
            return Some(Named::Constant(unit, constant));
        }
    }
    None
}

/// An item by the module or type that its path names last, within the package.
fn rust_qualified<'a>(project: &'a Project, unit: &Unit, path: &[&str], name: &str) -> Option<Named<'a>> {
    let package = package_of(project, &unit.path);
    let owner = path.iter().rev().find(|part| !matches!(**part, "crate" | "self" | "super")).copied();
    let crate_name = package.name().replace('-', "_");
    let fits = |item: &Item| match (owner, &item.around) {
        (None, None) => item.file == unit.path || &*item.module == "crate",
        (None, Some(_)) => false,
        (Some(owner), Some(around)) => around == owner,
        (Some(owner), None) => &*item.module == owner || &*item.module == "crate" && owner == crate_name,
    };
    let items = project.names.items(project, &package, name);
    let mut found: Vec<Named<'a>> =
        items.iter().filter(|item| fits(item)).filter_map(|item| item.named(project)).collect();
    if found.len() > 1 {
        let folder = unit.path.parent();
        let near = |named: &Named| match named {
            Named::Function(at, _) | Named::Constant(at, _) | Named::Module(at) => at.path.starts_with(&folder),
        };
        found.retain(near);
    }
    match found.as_slice() {
        [one] => Some(*one),
        _ => None,
    }
}

/// A method by its name alone, where only one function of the package has it and takes `self`.
pub fn method<'a>(project: &'a Project, unit: &Unit, name: &str) -> Option<Named<'a>> {
    if unit.language != Language::Rust {
        return None;
    }
    let package = package_of(project, &unit.path);
    let items = project.names.items(project, &package, name);
    only(items.iter().filter(|item| !item.constant))?.named(project)
}
