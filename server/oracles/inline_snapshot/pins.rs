//! From the sites of one test to its pins: assertions with a side that comes from `snapshot(…)`, `external(…)` or
//! `external_file(…)`, then the calls of these in the test that no assertion was seen to use.

use std::collections::BTreeSet;

use super::{ID, external};
use crate::code::{Arg, Expr, ExprKind, Op, Stmt, StmtKind, Unit};
use crate::evaluate::origin::{Application, Applied, Origin, Root};
use crate::evaluate::{Value, World, worlds};
use crate::oracles::literal_python::{self, Names};
use crate::oracles::plain_python::statements;
use crate::oracles::{Oracle, OracleKind, Pin, pytest, seen, signs};
use crate::pins::sites::is_test;
use crate::pins::{Project, Site};
use crate::text::Span;

struct Operand<'a> {
    sides: [&'a Expr; 2],
    op: Op,
}

pub fn of_test(project: &Project, sites: &[&Site]) -> Vec<Vec<Pin>> {
    let mut pins: Vec<Vec<Pin>> = sites.iter().map(|_| Vec::new()).collect();
    if !signs::of(project).inline_snapshot {
        return pins;
    }
    let mut used: BTreeSet<(String, Span)> = BTreeSet::new();
    let mut known: BTreeSet<(String, usize, Option<Span>, Option<String>)> = BTreeSet::new();
    for (at, site) in sites.iter().enumerate().filter(|(_, site)| site.found.framework != ID) {
        let last = site.frames.len() - 1;
        let operands = operands(project, site);
        let blank = World::empty(site);
        let ours =
            |expr: &Expr| call_of(&blank.origin(project, site, last, expr)).is_some() || is_open(project, site, expr);
        let operands: Vec<Operand> =
            operands.into_iter().filter(|operand| operand.sides.iter().any(|side| ours(side))).collect();
        if operands.is_empty() {
            continue;
        }
        let worlds = worlds(project, site);
        for world in &worlds {
            for operand in &operands {
                for side in operand.sides {
                    let origin = world.origin(project, site, last, side);
                    let Some(call) = call_of(&origin) else { continue };
                    used.insert((call.applied.place.unit.path.to_string(), call.applied.node.span));
                    let Some(oracle) = call.oracle(project, site, world, operand.op) else { continue };
                    let Some(mut pin) = seen::pin(project, site, world, ID) else { continue };
                    pin.oracle = unless_to_fail(project, site, oracle);
                    pin.shared_site = worlds.len() > 1;
                    let path = pin.oracle.path.as_ref().map(ToString::to_string);
                    if known.insert((pin.test.clone(), at, pin.oracle.span, path)) {
                        pins[at].push(pin);
                    }
                }
            }
        }
    }
    for (at, site) in sites.iter().enumerate().filter(|(_, site)| site.found.framework == ID) {
        let frame = site.comparing();
        // A snapshot of an external file is one pin.
        let inside = |(path, span): &(String, Span)| *path == *frame.file.as_str() && span.contains(site.found.span);
        if used.iter().any(inside) {
            continue;
        }
        let world = World::empty(site);
        let Some((unit, call)) = call_at(project, site) else { continue };
        let last = site.frames.len() - 1;
        let origin = world.origin(project, site, last, call);
        let Some(found) = call_of(&origin) else { continue };
        if !asserts(project, site, unit) {
            continue;
        }
        let Some(oracle) = found.oracle(project, site, &world, Op::Other) else { continue };
        if let Some(mut pin) = seen::pin(project, site, &world, ID) {
            pin.oracle = unless_to_fail(project, site, oracle);
            pins[at].push(pin);
        }
    }
    pins
}

/// That nothing is recorded yet is no fault where the test is to fail.
fn unless_to_fail(project: &Project, site: &Site, mut oracle: Oracle) -> Oracle {
    let empty = oracle.span.is_some_and(|span| span.start == span.end);
    if empty && pytest::is_to_fail(project, site) {
        oracle.path = None;
    }
    oracle
}

/// A call that no assertion uses is a pin in a test; elsewhere only where it is used on the spot, since what a
/// fixture or helper gives is held in the tests that get it.
fn asserts(project: &Project, site: &Site, unit: &Unit) -> bool {
    let frame = &site.frames[0];
    let function = frame.function.and_then(|index| project.unit(&frame.file)?.functions.get(index));
    let Some(function) = function else { return false };
    if is_test(unit, function) {
        return true;
    }
    let mut on_the_spot = false;
    statements(&function.body, frame.at, &mut |stmt| match &stmt.kind {
        StmtKind::Assert { .. } => on_the_spot = true,
        StmtKind::Expr(expr) => {
            on_the_spot |=
                !matches!(&expr.kind, ExprKind::Call { callee, .. } if callee.dotted().as_deref() == Some("yield"));
        }
        StmtKind::With { items, .. } => {
            on_the_spot |= items.iter().any(|(item, _)| item.span.contains(frame.at));
        }
        _ => {}
    });
    on_the_spot
}

/// A side that is a parameter of the test or a loop variable: what it is shows in each case.
fn is_open(project: &Project, site: &Site, expr: &Expr) -> bool {
    let mut base = expr;
    while let ExprKind::Index(inner, _) | ExprKind::Attr(inner, _) = &base.kind {
        base = inner;
    }
    let ExprKind::Name(_) = &base.kind else { return false };
    let frame = &site.frames[0];
    let function = frame.function.and_then(|index| project.unit(&frame.file)?.functions.get(index));
    function.is_some_and(|function| !function.marks.is_empty() || !function.path.is_empty() || has_loop(&function.body))
}

fn has_loop(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        StmtKind::For { .. } => true,
        StmtKind::With { body, .. } => has_loop(body),
        _ => false,
    })
}

fn operands<'a>(project: &'a Project, site: &Site) -> Vec<Operand<'a>> {
    let frame = site.comparing();
    let Some(unit) = project.unit(&frame.file) else { return Vec::new() };
    let Some(function) = frame.function.and_then(|index| unit.functions.get(index)) else { return Vec::new() };
    let mut found = Vec::new();
    let mut seen = false;
    let mut within = |root: &'a Expr| {
        root.walk(&mut |expr| match &expr.kind {
            ExprKind::Binary(op @ (Op::Eq | Op::Ne | Op::Order | Op::In | Op::NotIn), left, right) => {
                found.push(Operand { sides: [left, right], op: *op });
            }
            ExprKind::Call { callee, args } if expr.span == frame.at => {
                if let (ExprKind::Attr(_, name), [left, right, ..]) = (&callee.kind, args.as_slice())
                    && name.starts_with("assert")
                {
                    let op = if name.contains("Equal") { Op::Eq } else { Op::Other };
                    found.push(Operand { sides: [&left.value, &right.value], op });
                }
            }
            _ => {}
        });
    };
    statements(&function.body, frame.at, &mut |stmt| {
        if let StmtKind::Assert { cond, .. } = &stmt.kind
            && stmt.span == frame.at
        {
            seen = true;
            within(cond);
        }
    });
    if !seen {
        let mut root = None;
        for stmt in function.body.iter().filter(|stmt| stmt.span.contains(frame.at)) {
            stmt.walk(&mut |expr| {
                if expr.span == frame.at && root.is_none() {
                    root = Some(expr);
                }
            });
        }
        root.into_iter().for_each(&mut within);
    }
    found
}

/// The call expression of a site of the query, in the body or the decorators of its function.
fn call_at<'a>(project: &'a Project, site: &Site) -> Option<(&'a Unit, &'a Expr)> {
    let frame = site.comparing();
    let unit = project.unit(&frame.file)?;
    let mut found = None;
    let mut see = |expr: &'a Expr| {
        if expr.span == site.found.span && matches!(expr.kind, ExprKind::Call { .. }) && found.is_none() {
            found = Some(expr);
        }
    };
    match frame.function.and_then(|index| unit.functions.get(index)) {
        Some(function) => {
            function.marks.iter().for_each(|mark| mark.walk(&mut see));
            function.body.iter().for_each(|stmt| stmt.walk(&mut see));
        }
        None => unit.top.iter().for_each(|stmt| stmt.walk(&mut see)),
    }
    Some((unit, found?))
}

/// The innermost statement or binding that holds a place.
pub fn statement(unit: &Unit, at: Span) -> Option<Span> {
    let mut found: Option<Span> = None;
    let mut narrow = |span: Span| {
        if span.contains(at) && found.is_none_or(|known| known.contains(span)) {
            found = Some(span);
        }
    };
    for function in unit.functions.iter().filter(|function| function.span.contains(at)) {
        function.marks.iter().for_each(|mark| narrow(mark.span));
        statements(&function.body, at, &mut |stmt| {
            // Of a block only its first line is laid out with what stands in it.
            let span = match &stmt.kind {
                StmtKind::With { body, .. } | StmtKind::For { body, .. } | StmtKind::While { body, .. } => {
                    let end = body.first().map_or(stmt.span.end, |first| first.span.start);
                    Span::new(stmt.span.start, end)
                }
                StmtKind::If { then, .. } => {
                    Span::new(stmt.span.start, then.first().map_or(stmt.span.end, |first| first.span.start))
                }
                StmtKind::Block(_) => return,
                _ => stmt.span,
            };
            narrow(span);
        });
    }
    unit.globals.iter().for_each(|binding| narrow(Span::new(binding.span.start, binding.value.span.end)));
    unit.top.iter().for_each(|stmt| narrow(stmt.span));
    found
}

/// A call of the library's in a chain.
struct Found<'a> {
    name: &'a str,
    args: &'a [Arg],
    applied: &'a Applied<'a>,
    rest: &'a [Applied<'a>],
}

fn call_of<'a>(origin: &'a Origin<'a>) -> Option<Found<'a>> {
    let Root::Import(path) = origin.root else { return None };
    let inner = path.strip_prefix("inline_snapshot")?;
    let (name, steps) = match inner {
        "" => match origin.applied.split_first()? {
            (Applied { what: Application::Attr(name), .. }, rest) => (*name, rest),
            _ => return None,
        },
        inner if inner.starts_with('.') => (inner.rsplit('.').next()?, origin.applied.as_slice()),
        _ => return None,
    };
    let (applied, rest) = steps.split_first()?;
    let Application::Call(args) = applied.what else { return None };
    matches!(name, "snapshot" | "external" | "external_file").then_some(Found { name, args, applied, rest })
}

impl<'a> Found<'a> {
    fn oracle(&self, project: &'a Project, site: &'a Site, world: &'a World, op: Op) -> Option<Oracle> {
        let place = &self.applied.place;
        let file = &place.unit.path;
        let text = |arg: &'a Expr| match place.value(project, site, world, arg) {
            Value::Str(text) => Some(text),
            _ => None,
        };
        let positional = self.args.iter().find(|arg| arg.name.is_none() && !arg.spread).map(|arg| &arg.value);
        match self.name {
            "external" => {
                let name = positional.map_or(Some(String::new()), text)?;
                return Some(external::of_name(project, file, &name));
            }
            "external_file" => {
                let format = self.args.iter().find(|arg| arg.name.as_deref() == Some("format"));
                let format = match format {
                    Some(format) => Some(text(&format.value)?),
                    None => None,
                };
                return Some(external::of_path(file, &text(positional?)?, format.as_deref()));
            }
            _ => {}
        }
        let mut oracle = Oracle {
            kind: OracleKind::Inline,
            path: Some(file.clone()),
            entry: None,
            span: None,
            candidates: Vec::new(),
            steps: Vec::new(),
            shown_only: None,
            key: String::new(),
            tolerance: None,
        };
        let Some(value) = positional.filter(|value| value.kind != ExprKind::Ellipsis) else {
            // Between the brackets, or over the `...`.
            let end = self.applied.node.span.end.checked_sub(1)?;
            oracle.span = Some(match positional {
                Some(dots) => dots.span,
                None => Span::new(end, end),
            });
            if positional.is_some() {
                oracle.shown_only = Some("the snapshot is not filled in; let inline-snapshot create it".to_string());
            } else if !self.rest.is_empty() || matches!(op, Op::In | Op::NotIn) {
                oracle.shown_only =
                    Some("a part of the snapshot is missing; let inline-snapshot create it".to_string());
            }
            return Some(oracle);
        };
        let mut held = value;
        for step in self.rest {
            let Application::Index(key) = step.what else { return None };
            let key = literal(&step.place.value(project, site, world, key));
            let (ExprKind::Dict(items), Some(key)) = (&held.kind, key) else {
                oracle.span = Some(value.span);
                oracle.shown_only = Some("which part of the snapshot is compared is not known".to_string());
                return Some(oracle);
            };
            let part =
                items.iter().rfind(|(own, _)| literal_python::value(own, Names::Of(place.unit)) == Some(key.clone()));
            match part {
                Some((_, part)) => held = part,
                None => {
                    oracle.span = Some(value.span);
                    oracle.shown_only =
                        Some("the snapshot has no part of that key yet; let inline-snapshot create it".to_string());
                    return Some(oracle);
                }
            }
        }
        if let ExprKind::Call { callee, args } = &held.kind {
            let inner = place.origin(project, site, world, held);
            if call_of(&inner).is_some_and(|inner| inner.name == "external")
                && let (Some(_), [Arg { value, .. }, ..]) = (callee.dotted(), args.as_slice())
            {
                return Some(external::of_name(project, file, &text(value)?));
            }
        }
        oracle.span = Some(held.span);
        if literal_python::value(held, Names::Of(place.unit)).is_none() {
            oracle.shown_only =
                Some("parts of the recorded value are computed; let inline-snapshot write the new one".to_string());
        } else if matches!(op, Op::In | Op::NotIn | Op::Ne) {
            oracle.shown_only = Some("the comparison is none of equality: there is no one value to accept".to_string());
        } else if op == Op::Order {
            oracle.tolerance = Some("a bound".to_string());
        }
        Some(oracle)
    }
}

/// A value as a literal's.
fn literal(value: &Value) -> Option<literal_python::Py> {
    use literal_python::Py;
    Some(match value {
        Value::Str(text) => Py::Str(text.clone()),
        Value::Int(number) => Py::Int(number.to_string()),
        Value::Bool(yes) => Py::Bool(*yes),
        Value::None => Py::None,
        _ => return None,
    })
}
