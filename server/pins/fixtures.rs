//! Pytest's fixtures: which function of the project a parameter of a test names, and what that function gives.
//! Takes the unit and the classes in which a request stands, gives the definitions in pytest's order (class,
//! module, `conftest.py` from the test's folder up to the root, modules of `pytest_plugins`). A name without
//! a definition is a library's. Never evaluates; `evaluate::origin` follows a value through what stands here.
//! Rules of pytest 9.2: the nearest definition wins, and one that requests its own name gets the next one.

use std::collections::BTreeSet;

use super::Project;
use super::names::{self, Named};
use crate::code::{Arg, Expr, ExprKind, Function, Stmt, StmtKind, Unit};
use crate::places::RelPath;

/// Longest chain of fixtures, star imports and plugin modules that is followed.
const DEEPEST: usize = 8;

/// A definition of a fixture in a file of the project.
#[derive(Debug, Clone, Copy)]
pub struct Fixture<'a> {
    pub unit: &'a Unit,
    /// Index into [`Unit::functions`]; `None` where the name is made a fixture in a way that is not followed.
    pub function: Option<usize>,
}

impl<'a> Fixture<'a> {
    pub fn function(&self) -> Option<&'a Function> {
        self.unit.functions.get(self.function?)
    }

    fn same(&self, unit: &Unit, function: &Function) -> bool {
        self.unit.path == unit.path && self.function().is_some_and(|own| own.span == function.span)
    }
}

/// Arguments of the mark that makes a function a fixture; `None` when it is none.
fn mark(function: &Function) -> Option<&[Arg]> {
    function.marks.iter().find_map(|mark| {
        let (callee, args) = match &mark.kind {
            ExprKind::Call { callee, args } => (&**callee, args.as_slice()),
            _ => (mark, [].as_slice()),
        };
        let name = callee.dotted()?;
        (name == "fixture" || name.ends_with(".fixture") || name == "yield_fixture" || name.ends_with(".yield_fixture"))
            .then_some(args)
    })
}

pub fn is_fixture(function: &Function) -> bool {
    mark(function).is_some()
}

/// Name by which a fixture is requested: its `name=`, else its own. `None` for other functions and for a
/// name that is not a literal.
pub fn name_of(function: &Function) -> Option<&str> {
    match mark(function)?.iter().find(|arg| arg.name.as_deref() == Some("name")).map(|arg| &arg.value.kind) {
        None | Some(ExprKind::None) => Some(&function.name),
        Some(ExprKind::Str(name)) => Some(name),
        Some(_) => None,
    }
}

/// Definitions of the fixture `name` for a request in `unit`, inside the classes of `path` (functions in it
/// are passed over), nearest first. Empty: the fixture is a library's, or there is none.
pub fn definitions<'a>(project: &'a Project, unit: &'a Unit, path: &[String], name: &str) -> Vec<Fixture<'a>> {
    let mut found = Vec::new();
    for depth in (1..=path.len()).rev() {
        let around = &path[..depth];
        let own = unit.functions.iter().enumerate().rfind(|(_, f)| f.path == around && name_of(f) == Some(name));
        if let Some((index, _)) = own {
            found.push(Fixture { unit, function: Some(index) });
            continue;
        }
        let mut inside = around.to_vec();
        inside.push(String::new());
        if let Some(Named::Function(unit, index)) = names::find(project, unit, &inside, &format!("self.{name}"))
            && unit.functions.get(index).is_some_and(is_fixture)
        {
            found.push(Fixture { unit, function: Some(index) });
        }
    }
    let modules = modules(project, unit);
    let mut looked = BTreeSet::new();
    for module in &modules {
        if looked.insert(&module.path) {
            found.extend(in_module(project, module, name, DEEPEST));
        }
    }
    let mut plugins = Vec::new();
    modules.iter().for_each(|module| self::plugins(project, module, &mut plugins, DEEPEST));
    for plugin in plugins {
        if looked.insert(&plugin.path) {
            found.extend(in_module(project, plugin, name, DEEPEST));
        }
    }
    found
}

/// The module itself and the `conftest.py` files that pytest loads for it, nearest first.
fn modules<'a>(project: &'a Project, unit: &'a Unit) -> Vec<&'a Unit> {
    let mut modules = vec![unit];
    let mut folder = unit.path.parent();
    loop {
        modules.extend(folder.join("conftest.py").and_then(|file| project.unit(&file)));
        if folder.as_str().is_empty() {
            return modules;
        }
        folder = folder.parent();
    }
}

fn plugins<'a>(project: &'a Project, unit: &'a Unit, into: &mut Vec<&'a Unit>, left: usize) {
    let Some(left) = left.checked_sub(1) else { return };
    let Some((_, plugins)) = unit.globals_named("pytest_plugins").next_back() else { return };
    let listed = match &plugins.value.kind {
        ExprKind::List(items) | ExprKind::Tuple(items) | ExprKind::Set(items) => items.as_slice(),
        _ => std::slice::from_ref(&plugins.value),
    };
    for item in listed {
        let ExprKind::Str(path) = &item.kind else { continue };
        if let Some(plugin) = names::module(project, unit, path)
            && !into.iter().any(|known| known.path == plugin.path)
        {
            into.push(plugin);
            self::plugins(project, plugin, into, left);
        }
    }
}

/// What a module's name is as a fixture: defined there, imported by name, or with a star.
fn in_module<'a>(project: &'a Project, unit: &'a Unit, name: &str, left: usize) -> Option<Fixture<'a>> {
    let left = left.checked_sub(1)?;
    let own = unit.functions.iter().enumerate().rfind(|(_, f)| f.path.is_empty() && name_of(f) == Some(name));
    if let Some((index, _)) = own {
        return Some(Fixture { unit, function: Some(index) });
    }
    let mut made = unit.globals_named(name).filter(|(_, binding)| binding.path.is_empty());
    if made.any(|(_, binding)| makes_a_fixture(&binding.value)) {
        return Some(Fixture { unit, function: None });
    }
    if unit.imports_named(name).any(|import| import.scope.is_empty())
        && let Some(Named::Function(unit, index)) = names::find(project, unit, &[], name)
    {
        let function = unit.functions.get(index)?;
        return (name_of(function) == Some(name)).then_some(Fixture { unit, function: Some(index) });
    }
    unit.imports_named("*").filter(|import| import.scope.is_empty()).find_map(|import| {
        let module = names::module(project, unit, import.path.trim_end_matches(".*"))?;
        in_module(project, module, name, left)
    })
}

fn makes_a_fixture(value: &Expr) -> bool {
    let mut found = false;
    value.walk(&mut |expr| {
        found |= matches!(&expr.kind, ExprKind::Name(name) | ExprKind::Attr(_, name) if name == "fixture");
    });
    found
}

/// The definition that counts where `function` requests `name`: the nearest one, or behind the function's own
/// when a fixture requests its own name. `item` is the test for which it is asked, `None` when it is not known.
pub fn requested<'a>(
    project: &'a Project,
    item: Option<(&'a Unit, &Function)>,
    unit: &'a Unit,
    function: &Function,
    name: &str,
) -> Option<Fixture<'a>> {
    let (seen_from, path) = item.map_or((unit, &function.path), |(unit, test)| (unit, &test.path));
    let found = definitions(project, seen_from, path, name);
    let own = name_of(function) == Some(name);
    match found.iter().position(|fixture| own && fixture.same(unit, function)) {
        Some(at) => found.get(at + 1).copied(),
        None => found.first().copied(),
    }
}

/// The one expression that a fixture returns or yields; `None` when there are several.
pub fn gives(function: &Function) -> Option<&Expr> {
    fn gather<'b>(body: &'b [Stmt], found: &mut Vec<Option<&'b Expr>>) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Return(value) => found.extend(value.as_ref().map(Some)),
                StmtKind::Expr(value) | StmtKind::Bind { value, .. } => {
                    if let ExprKind::Call { callee, args } = &value.kind
                        && matches!(&callee.kind, ExprKind::Name(name) if name == "yield")
                    {
                        found.push(args.first().map(|arg| &arg.value));
                    }
                }
                StmtKind::With { body, .. } | StmtKind::For { body, .. } | StmtKind::While { body, .. } => {
                    gather(body, found);
                }
                StmtKind::If { then, otherwise, .. } => {
                    gather(then, found);
                    gather(otherwise, found);
                }
                StmtKind::Block(parts) => parts.iter().for_each(|part| gather(part, found)),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    gather(&function.body, &mut found);
    match found.as_slice() {
        [Some(one)] => Some(one),
        _ => None,
    }
}

/// The function around a nested one.
pub fn around<'a>(unit: &'a Unit, function: &Function) -> Option<&'a Function> {
    let (name, path) = function.path.split_last()?;
    unit.functions_named(name).map(|(_, f)| f).rfind(|f| f.path == path && f.span.contains(function.span))
}

/// The function that has a parameter of that name: this one or one around it.
pub fn with_param<'a>(unit: &'a Unit, function: &'a Function, name: &str) -> Option<&'a Function> {
    let mut function = function;
    for _ in 0..DEEPEST {
        if function.params.iter().any(|param| param.name == name) {
            return Some(function);
        }
        function = around(unit, function)?;
    }
    None
}

/// What a call of `callee` in `caller` runs, where its first name is a parameter: the function that a fixture
/// gives, or a method of the object that it gives. The outer `None`: it is no parameter.
pub fn callee<'a>(
    project: &'a Project,
    unit: &'a Unit,
    caller: &'a Function,
    callee: &Expr,
) -> Option<Option<(&'a Unit, usize)>> {
    let dotted = callee.dotted()?;
    let (first, rest) = dotted.split_once('.').map_or((dotted.as_str(), ""), |(first, rest)| (first, rest));
    if matches!(first, "self" | "cls") {
        return None;
    }
    let requesting = with_param(unit, caller, first)?;
    let runs = is_fixture(requesting) || super::sites::is_test(unit, requesting);
    let fixture = runs.then(|| requested(project, None, unit, requesting, first)).flatten();
    Some(fixture.and_then(|fixture| given_function(project, fixture, rest, DEEPEST)))
}

fn given_function<'a>(
    project: &'a Project,
    fixture: Fixture<'a>,
    rest: &str,
    left: usize,
) -> Option<(&'a Unit, usize)> {
    let left = left.checked_sub(1)?;
    let function = fixture.function()?;
    let scope = names::scope_of(Some(function));
    let found = match &gives(function)?.kind {
        ExprKind::Name(name) if rest.is_empty() => {
            let nested = fixture.unit.functions_named(name).rfind(|(_, nested)| nested.path == scope);
            if let Some((index, _)) = nested {
                return Some((fixture.unit, index));
            }
            if function.params.iter().any(|param| param.name == *name) {
                let inner = requested(project, None, fixture.unit, function, name)?;
                return given_function(project, inner, rest, left);
            }
            names::find(project, fixture.unit, &scope, name)
        }
        ExprKind::Name(name) if function.params.iter().any(|param| param.name == *name) => {
            let inner = requested(project, None, fixture.unit, function, name)?;
            return given_function(project, inner, rest, left);
        }
        ExprKind::Call { callee, .. } if !rest.is_empty() => {
            names::find(project, fixture.unit, &scope, &format!("{}.{rest}", callee.dotted()?))
        }
        _ => None,
    };
    match found? {
        Named::Function(unit, index) => Some((unit, index)),
        _ => None,
    }
}

/// Whether fixtures or hooks give a test parameter ids that its own file does not tell: a fixture of another
/// file with `params=` that it requests in some way, or `pytest_generate_tests`.
pub fn parametrised_elsewhere(project: &Project, unit: &Unit, function: &Function) -> bool {
    let has = |function: &Function, key: &str| {
        mark(function).is_some_and(|args| args.iter().any(|arg| arg.name.as_deref() == Some(key) || arg.spread))
    };
    let modules = modules(project, unit);
    let mut wanted: Vec<String> = function.params.iter().map(|param| param.name.clone()).collect();
    for module in &modules {
        if module.functions_named("pytest_generate_tests").next().is_some() {
            return true;
        }
        for used in module.functions.iter().filter(|f| has(f, "autouse") && function.path.starts_with(&f.path)) {
            wanted.extend(name_of(used).map(str::to_string));
        }
    }
    let marks = function.marks.iter().chain(unit.scopes_at(function.span).flat_map(|scope| &scope.marks));
    for mark in marks {
        if let ExprKind::Call { callee, args } = &mark.kind
            && callee.dotted().is_some_and(|name| name.ends_with("usefixtures"))
        {
            wanted.extend(args.iter().filter_map(|arg| match &arg.value.kind {
                ExprKind::Str(name) => Some(name.clone()),
                _ => None,
            }));
        }
    }
    let mut seen: BTreeSet<(RelPath, usize)> = BTreeSet::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    while let Some(name) = wanted.pop() {
        if !known.insert(name.clone()) || known.len() > 200 {
            continue;
        }
        for fixture in definitions(project, unit, &function.path, &name) {
            let (Some(index), Some(own)) = (fixture.function, fixture.function()) else { continue };
            if seen.insert((fixture.unit.path.clone(), index)) {
                if has(own, "params") && fixture.unit.path != unit.path {
                    return true;
                }
                wanted.extend(own.params.iter().map(|param| param.name.clone()));
            }
        }
    }
    false
}
