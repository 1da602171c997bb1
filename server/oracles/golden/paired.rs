//! Golden files found from their own side: a helper that compares a file and, behind a switch, writes it,
//! names the file in a way that is not known, but the test hands it the inputs, and the helper names the
//! folders. `tests/source/a.rs` then stands beside `tests/target/a.rs`. Takes such a site, gives the files;
//! an input without a partner says nothing.

use std::collections::BTreeSet;

use super::held::{Held, RECORDED, written_by};
use crate::code::{Expr, ExprKind, Function, Stmt, StmtKind, Unit};
use crate::evaluate::{Step, Value, World};
use crate::pins::names::{self, Named};
use crate::pins::{Project, Site};
use crate::places::RelPath;

/// Most files that one call of a helper is taken to be given.
const MOST: usize = 20_000;
/// Folders of recorded files that are named so only beside one of inputs.
const BESIDE: [&str; 2] = ["target", "output"];

/// The recorded files of a site whose helper compares or writes.
pub fn held(project: &Project, site: &Site, world: &World) -> Vec<Held> {
    let Some(comparing) = function(project, site, site.frames.len() - 1) else { return Vec::new() };
    if site.frames.len() < 2 || !compares_or_writes(comparing) {
        return Vec::new();
    }
    let inputs = inputs(project, site, world);
    if inputs.is_empty() {
        return Vec::new();
    }
    let words = words(project, site);
    let made =
        |path: RelPath, step: Step| Held { path: Value::Path(path), steps: vec![step], digest: None, switched: true };
    let mut pairs: Vec<Vec<RelPath>> = Vec::new();
    for from in &words {
        for to in words.iter().filter(|to| *to != from && is_recorded(to)) {
            let found: Vec<RelPath> = inputs.iter().filter_map(|input| partner(project, input, from, to)).collect();
            if !found.is_empty() && !pairs.contains(&found) {
                pairs.push(found);
            }
        }
    }
    let most = pairs.iter().map(Vec::len).max().unwrap_or(0);
    pairs.retain(|found| found.len() == most);
    match pairs.pop() {
        Some(found) if pairs.is_empty() => {
            return found.into_iter().map(|path| made(path, Step::Made(comparing.name.clone()))).collect();
        }
        Some(_) => return Vec::new(),
        None => {}
    }
    let recorded =
        |input: &RelPath| input.parent().as_str().split('/').any(|part| words.contains(part) && is_recorded(part));
    match inputs.iter().all(recorded) {
        true => inputs.into_iter().map(|path| made(path, Step::Itself)).collect(),
        false => Vec::new(),
    }
}

/// A folder of that name may hold recorded files.
fn is_recorded(name: &str) -> bool {
    RECORDED.contains(&name.to_lowercase().as_str()) || BESIDE.contains(&name)
}

fn function<'a>(project: &'a Project, site: &Site, frame: usize) -> Option<&'a Function> {
    let frame = site.frames.get(frame)?;
    project.unit(&frame.file)?.functions.get(frame.function?)
}

/// The function reads a file by a name that it also writes by, under a condition.
fn compares_or_writes(function: &Function) -> bool {
    let mut read: Vec<String> = Vec::new();
    function.body.iter().for_each(|stmt| {
        stmt.walk(&mut |expr| read.extend(read_by(expr).and_then(Expr::dotted)));
    });
    fn written(body: &[Stmt], within: bool, names: &mut Vec<String>) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::If { then, otherwise, .. } => {
                    written(then, true, names);
                    written(otherwise, true, names);
                }
                StmtKind::For { body, .. } | StmtKind::While { body, .. } => written(body, within, names),
                StmtKind::With { items, body } => {
                    let mut see =
                        |expr: &Expr| names.extend(written_by(expr).and_then(Expr::dotted).filter(|_| within));
                    items.iter().for_each(|(item, _)| item.walk(&mut see));
                    written(body, within, names);
                }
                StmtKind::Block(parts) => parts.iter().for_each(|part| written(part, within, names)),
                _ if within => stmt.walk(&mut |expr| names.extend(written_by(expr).and_then(Expr::dotted))),
                _ => {}
            }
        }
    }
    let mut names = Vec::new();
    written(&function.body, false, &mut names);
    names.iter().any(|name| read.contains(name))
}

/// The path that a call reads from.
fn read_by(expr: &Expr) -> Option<&Expr> {
    let ExprKind::Call { callee, args } = &expr.kind else { return None };
    if written_by(expr).is_some() {
        return None;
    }
    let first = args.iter().find(|arg| arg.name.is_none()).map(|arg| &arg.value);
    match &callee.kind {
        ExprKind::Name(name) if name == "open" || name == "read_to_string" => first,
        ExprKind::Attr(base, name) => match name.as_str() {
            "read_text" | "read_bytes" => Some(base),
            "open" if base.dotted().is_some_and(|owner| owner.ends_with("File")) => first,
            "read_to_string" | "read" if base.dotted().is_some_and(|owner| owner.ends_with("fs")) => first,
            _ => None,
        },
        _ => None,
    }
}

/// The files that the test hands on, by name or in a list.
fn inputs(project: &Project, site: &Site, world: &World) -> Vec<RelPath> {
    let mut found: BTreeSet<RelPath> = BTreeSet::new();
    let mut add = |value: Value| {
        if let Value::Path(path) = world.file(project, site, 0, value)
            && project.shelf.listed(&path)
            && found.len() < MOST
        {
            found.insert(path);
        }
    };
    for given in site.frames[1].given.values() {
        match world.listed(project, site, 0, given) {
            Value::List(items) => items.into_iter().for_each(&mut add),
            value => add(value),
        }
    }
    found.into_iter().collect()
}

/// Names of folders that the helper and the functions that it calls write out.
fn words(project: &Project, site: &Site) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut looked: Vec<(&RelPath, usize)> = Vec::new();
    let gather = |function: &Function, words: &mut BTreeSet<String>| {
        let mut see = |expr: &Expr| {
            if let ExprKind::Str(text) = &expr.kind
                && !text.is_empty()
                && text.len() < 40
                && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
            {
                words.insert(text.clone());
            }
        };
        function.body.iter().for_each(|stmt| stmt.walk(&mut see));
    };
    for frame in site.frames.iter().skip(1) {
        let Some(unit) = project.unit(&frame.file) else { continue };
        let Some(index) = frame.function else { continue };
        let Some(function) = unit.functions.get(index) else { continue };
        gather(function, &mut words);
        for (unit, index) in called(project, unit, function) {
            if looked.len() < 40 && !looked.contains(&(&unit.path, index)) {
                looked.push((&unit.path, index));
                if let Some(function) = unit.functions.get(index) {
                    gather(function, &mut words);
                }
            }
        }
    }
    words
}

fn called<'a>(project: &'a Project, unit: &'a Unit, function: &Function) -> Vec<(&'a Unit, usize)> {
    let scope = names::scope_of(Some(function));
    let mut found = Vec::new();
    let mut see = |expr: &Expr| {
        if let ExprKind::Call { callee, .. } = &expr.kind
            && let Some(dotted) = callee.dotted()
            && let Some(Named::Function(unit, index)) = names::find(project, unit, &scope, &dotted)
        {
            found.push((unit, index));
        }
    };
    function.body.iter().for_each(|stmt| stmt.walk(&mut see));
    found
}

/// The file of the same place below the folder `to` as the input has below `from`, with another ending where
/// that is the only one.
fn partner(project: &Project, input: &RelPath, from: &str, to: &str) -> Option<RelPath> {
    let folder = input.parent();
    let parts: Vec<&str> = folder.as_str().split('/').collect();
    let at = parts.iter().position(|part| *part == from)?;
    let mut parts: Vec<&str> = parts;
    parts[at] = to;
    let folder = RelPath::new(&parts.join("/"))?;
    let same = folder.join(input.name())?;
    if project.shelf.listed(&same) {
        return Some(same);
    }
    let mut others = project.shelf.below(&folder).filter(|path| path.parent() == folder && path.stem() == input.stem());
    let only = others.next()?;
    others.next().is_none().then(|| only.clone())
}
