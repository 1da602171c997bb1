//! Where a value comes from: an expression followed back through locals, the arguments that helpers get,
//! parameter rows and pytest's fixtures to the name that no file of the project defines. Takes an expression
//! in a frame of a site, gives the [`Root`] and what was applied to it on the way, nearest the root first.
//! A framework reads its own calls in that list; nothing here knows one.

use std::rc::Rc;

use super::scope::{Eval, Local, Place};
use super::{Value, World};
use crate::code::{Arg, Expr, ExprKind, Function, Unit};
use crate::pins::fixtures;
use crate::pins::names::{self, Named};
use crate::pins::{Project, Site};

/// Longest chain of names that is followed.
const DEEPEST: usize = 24;

/// The name at the beginning.
#[derive(Debug, Clone, PartialEq)]
pub enum Root<'a> {
    /// A fixture that no file of the project defines: a plugin's, such as `snapshot`.
    Fixture(&'a str),
    /// An imported name, by its full path (`inline_snapshot.snapshot`): a library's, or a function of another
    /// file.
    Import(&'a str),
    /// A name that nothing in the file binds (`open`).
    Free(&'a str),
    /// A value of its own: a literal, an operator, a function of the project.
    Value(&'a Expr),
    /// It cannot be followed.
    Unknown,
}

/// One step from the root towards the value.
#[derive(Debug, Clone)]
pub struct Applied<'a> {
    pub what: Application<'a>,
    /// The call, attribute or index itself, with what it is applied to.
    pub node: &'a Expr,
    pub place: Where<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Application<'a> {
    /// `.name`
    Attr(&'a str),
    /// `(…)`
    Call(&'a [Arg]),
    /// `[…]`
    Index(&'a Expr),
}

/// Where an expression stands.
#[derive(Debug, Clone)]
pub struct Where<'a> {
    pub unit: &'a Unit,
    pub function: Option<&'a Function>,
    /// Frame of the site, where it is one.
    pub frame: Option<usize>,
    /// The whole expression that holds the step.
    pub expr: &'a Expr,
    at: usize,
}

#[derive(Debug, Clone)]
pub struct Origin<'a> {
    pub root: Root<'a>,
    pub applied: Vec<Applied<'a>>,
}

impl<'a> Where<'a> {
    /// Value of an expression that stands here.
    pub fn value(&self, project: &'a Project, site: &'a Site, world: &'a World, expr: &'a Expr) -> Value {
        let eval = Eval::new(project, Some(site), Some(world));
        eval.value(&self.place(), expr, 0)
    }

    /// Origin of another expression that stands here: an argument, say.
    pub fn origin(&self, project: &'a Project, site: &'a Site, world: &'a World, expr: &'a Expr) -> Origin<'a> {
        origin(&Eval::new(project, Some(site), Some(world)), self.place(), expr)
    }

    fn place(&self) -> Place<'a> {
        Place {
            unit: self.unit,
            function: self.function,
            within: &[],
            at: self.at,
            frame: self.frame,
            args: Rc::default(),
        }
    }
}

impl World {
    /// Where the value of an expression in frame `frame` comes from.
    pub fn origin<'a>(&'a self, project: &'a Project, site: &'a Site, frame: usize, expr: &'a Expr) -> Origin<'a> {
        let eval = Eval::new(project, Some(site), Some(self));
        match eval.frame(frame) {
            Some(mut place) => {
                if expr.span.end > 0 && place.function.is_some_and(|f| f.span.contains(expr.span)) {
                    place.at = expr.span.start.max(1);
                }
                origin(&eval, place, expr)
            }
            None => Origin { root: Root::Unknown, applied: Vec::new() },
        }
    }
}

fn origin<'a>(eval: &Eval<'a>, place: Place<'a>, expr: &'a Expr) -> Origin<'a> {
    let mut applied = Vec::new();
    let root = follow(eval, place, expr, &mut applied, &mut Vec::new());
    applied.reverse();
    Origin { root, applied }
}

/// `applied` is gathered from the value towards the root; `requests` are the fixtures on the way.
fn follow<'a>(
    eval: &Eval<'a>,
    mut place: Place<'a>,
    expr: &'a Expr,
    applied: &mut Vec<Applied<'a>>,
    requests: &mut Vec<(&'a Unit, &'a Function)>,
) -> Root<'a> {
    let mut expr = expr;
    for _ in 0..DEEPEST {
        let here = Where { unit: place.unit, function: place.function, frame: place.frame, expr, at: place.at };
        let add = |node, what, applied: &mut Vec<Applied<'a>>| {
            applied.push(Applied { what, node, place: here.clone() });
        };
        let mut base = expr;
        let name = loop {
            match &base.kind {
                ExprKind::Call { callee, args } if is_cast(callee) && args.len() == 2 => base = &args[1].value,
                ExprKind::Call { callee, args } => {
                    add(base, Application::Call(args), applied);
                    base = callee;
                }
                ExprKind::Attr(inner, name) => {
                    add(base, Application::Attr(name), applied);
                    base = inner;
                }
                ExprKind::Index(inner, key) => {
                    add(base, Application::Index(key), applied);
                    base = inner;
                }
                ExprKind::Name(name) => break name.as_str(),
                _ => return Root::Value(base),
            }
        };
        match step(eval, &place, base, name, requests) {
            Step::Next(next, at) => (expr, place) = (next, at),
            Step::Root(root) => return root,
        }
    }
    Root::Unknown
}

fn is_cast(callee: &Expr) -> bool {
    callee.dotted().is_some_and(|name| name == "cast" || name == "typing.cast")
}

enum Step<'a> {
    Next(&'a Expr, Place<'a>),
    Root(Root<'a>),
}

fn step<'a>(
    eval: &Eval<'a>,
    place: &Place<'a>,
    base: &'a Expr,
    name: &'a str,
    requests: &mut Vec<(&'a Unit, &'a Function)>,
) -> Step<'a> {
    let unknown = Step::Root(Root::Unknown);
    let mut place = place.clone();
    while let Some(function) = place.function {
        let bound = place.frame.and_then(|frame| eval.world?.bound.get(frame));
        let bound = bound.and_then(|bound| bound.iter().rfind(|(bound, _)| bound == name));
        // A row of a parametrised fixture says nothing of what the fixture gives.
        if let Some((_, bound)) = bound.filter(|(_, bound)| bound.kind != ExprKind::Opaque) {
            if std::ptr::eq(bound, base) {
                return unknown;
            }
            // Parameter rows stand at the module's level.
            let outside = !function.body.iter().any(|stmt| stmt.span.contains(bound.span));
            let at = if bound.span.end == 0 || outside { usize::MAX } else { bound.span.start };
            let at = Place { at, function: place.function.filter(|_| !outside), ..place };
            return Step::Next(bound, at);
        }
        match eval.local(&function.body, place.at, name) {
            Local::Is(expr, part, at) if part.is_empty() => {
                return Step::Next(expr, Place { at: at.max(1), ..place });
            }
            Local::Not => {}
            _ => return unknown,
        }
        if function.params.iter().any(|param| param.name.trim_start_matches('*') == name) {
            let given = place.frame.filter(|frame| *frame > 0);
            if let Some((expr, outer)) = given.and_then(|frame| {
                let expr = eval.site?.frames.get(frame)?.given.get(name)?;
                Some((expr, eval.frame(frame - 1)?))
            }) {
                return Step::Next(expr, outer);
            }
            let is_fixture = fixtures::is_fixture(function);
            if place.frame != Some(0) && !is_fixture || name == "self" {
                return unknown;
            }
            return fixture(eval, place.unit, function, name, requests);
        }
        let Some(outer) = fixtures::around(place.unit, function) else { break };
        let frame = eval.site.and_then(|site| {
            site.frames.iter().position(|frame| {
                frame.file == place.unit.path
                    && frame.function.and_then(|f| place.unit.functions.get(f)).is_some_and(|f| f.span == outer.span)
            })
        });
        place = Place { function: Some(outer), at: function.span.start, frame, args: Rc::default(), ..place };
    }
    let scope = place.scope();
    match names::find(eval.project, place.unit, &scope, name) {
        Some(Named::Constant(unit, binding)) => {
            Step::Next(&binding.value, Place { within: &binding.path, ..eval.module(unit) })
        }
        found => {
            let import = place.unit.imports_named(name).rfind(|import| scope.starts_with(&import.scope));
            Step::Root(match import {
                Some(import) => Root::Import(&import.path),
                None if matches!(found, Some(Named::Function(..))) => Root::Value(base),
                None if place.unit.globals_named(name).next().is_some() => Root::Unknown,
                None => Root::Free(name),
            })
        }
    }
}

fn fixture<'a>(
    eval: &Eval<'a>,
    unit: &'a Unit,
    function: &'a Function,
    name: &'a str,
    requests: &mut Vec<(&'a Unit, &'a Function)>,
) -> Step<'a> {
    let item = eval.frame(0).and_then(|place| Some((place.unit, place.function?)));
    let (seen_from, path) = item.map_or((unit, &function.path), |(unit, test)| (unit, &test.path));
    // A fixture that requests its own name gets the next one: those on the way are passed over.
    if fixtures::is_fixture(function) {
        requests.push((unit, function));
    }
    let found = fixtures::definitions(eval.project, seen_from, path, name).into_iter().find(|found| {
        !requests.iter().any(|(unit, on_the_way)| {
            unit.path == found.unit.path
                && found.function().is_some_and(|function| function.span == on_the_way.span)
                && fixtures::name_of(on_the_way) == Some(name)
        })
    });
    let Some(found) = found else { return Step::Root(Root::Fixture(name)) };
    let Some(function) = found.function() else { return Step::Root(Root::Unknown) };
    match fixtures::gives(function) {
        Some(expr) => Step::Next(
            expr,
            Place {
                unit: found.unit,
                function: Some(function),
                within: &[],
                at: expr.span.start,
                frame: None,
                args: Rc::default(),
            },
        ),
        None => Step::Root(Root::Unknown),
    }
}

#[cfg(test)]
mod tests;
