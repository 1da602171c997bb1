//! The cases in which a site is reached: parameter rows of the test and the items of literal loops around
//! each call, as one [`World`] a combination.

use std::sync::Arc;

use super::lists::literal;
use super::parametrize::{Row, rows_with};
use super::scope::{Eval, Place};
use super::{Value, World};
use crate::code::{Arg, Expr, ExprKind, Function, Stmt, StmtKind, Target, Unit};
use crate::pins::names::{self, Named};
use crate::pins::{Project, Site};
use crate::syntax::Language;
use crate::text::Span;

/// Most worlds of one site.
const MOST: usize = 6_000;

/// So many rows of one test are not made twice.
const MANY: usize = 100;

/// The worlds of a site, in the order in which the runner meets them; one with nothing bound when there
/// are no cases. At most 6,000; beyond that one more with nothing bound stands for the rest.
pub fn worlds(project: &Project, site: &Site) -> Vec<World> {
    let empty = World::empty(site);
    let mut worlds = rows(project, site, &empty);
    for index in 0..site.frames.len() {
        let Some(place) = Eval::new(project, Some(site), None).frame(index) else { continue };
        let Some(function) = place.function else { continue };
        let mut loops = Vec::new();
        around(&function.body, place.at, &mut loops);
        for (target, iter) in loops {
            let mut next = Vec::new();
            for world in &worlds {
                let eval = Eval::patient(project, Some(site), Some(world));
                let items = eval.items(&place, iter, 0).or_else(|| match eval.value(&place, iter, 0) {
                    Value::List(items) => Some(items.iter().map(|item| literal(item, 0)).collect()),
                    _ => None,
                });
                let in_round = |round: Option<usize>| {
                    let mut world = world.clone();
                    if let Some(rounds) = world.rounds.get_mut(index) {
                        rounds.push(round);
                    }
                    world
                };
                match items {
                    None => next.push(in_round(None)),
                    Some(items) => {
                        for (round, item) in items.into_iter().take(MOST + 1).enumerate() {
                            let mut world = in_round(Some(round));
                            if let Some(bound) = world.bound.get_mut(index) {
                                bind(target, item, bound);
                            }
                            next.push(world);
                        }
                    }
                }
                if next.len() > MOST {
                    break;
                }
            }
            if next.len() > MOST {
                next.truncate(MOST);
                next.push(empty.clone());
                return next;
            }
            match next.is_empty() {
                false => worlds = next,
                true => worlds.iter_mut().filter_map(|world| world.rounds.get_mut(index)).for_each(|r| r.push(None)),
            }
        }
    }
    worlds
}

/// One world for each parameter row of the test; the empty one when it has none.
fn rows(project: &Project, site: &Site, empty: &World) -> Vec<World> {
    let eval = Eval::new(project, Some(site), None);
    let Some(place) = eval.frame(0) else { return vec![empty.clone()] };
    let Some(function) = place.function else { return vec![empty.clone()] };
    let elsewhere = |expr: &Expr| {
        let found = names::find(project, place.unit, &[], &expr.dotted()?)?;
        let Named::Constant(unit, binding) = found else { return None };
        if std::ptr::eq(unit, place.unit) {
            return Some(binding.value.clone());
        }
        let other = Place { within: &binding.path, ..eval.module(unit) };
        Some(eval.carried(&other, &binding.value, 0))
    };
    let index = site.frames[0].function.unwrap_or_default();
    let kept = project.names.kept::<Vec<Row>>(&project.shelf, &place.unit.path, index, "rows");
    let rows = kept.unwrap_or_else(|| {
        let rows = Arc::new(match place.unit.language {
            Language::Python => {
                rows_with(place.unit, function, &elsewhere, &|expr| listed(project, place.unit, function, expr))
            }
            Language::Rust => super::files::rows(project, place.unit, function)
                .unwrap_or_else(|| super::cases::rows(place.unit, function)),
        });
        if rows.len() > MANY {
            project.names.keep(&project.shelf, &place.unit.path, index, "rows", rows.clone());
        }
        rows
    });
    if rows.is_empty() {
        return vec![empty.clone()];
    }
    let world = |row: &Row| {
        let mut world = empty.clone();
        world.case.clone_from(&row.case);
        if let Some(first) = world.bound.first_mut() {
            first.clone_from(&row.bindings);
        }
        world
    };
    rows.iter().take(MOST).map(world).collect()
}

/// The items of a list that code of the project makes, for an expression of the module: a name, or a call
/// that stands in the function's marks or at module level.
fn listed(project: &Project, unit: &Unit, function: &Function, expr: &Expr) -> Option<Vec<Expr>> {
    let eval = Eval::patient(project, None, None);
    let place = eval.module(unit);
    let value = match &expr.kind {
        ExprKind::Name(name) => eval.name(&place, name, 0),
        ExprKind::Attr(..) => eval.named(names::find(project, unit, &[], &expr.dotted()?), 0),
        _ => {
            let mut found: Option<&Expr> = None;
            let roots = function
                .marks
                .iter()
                .chain(unit.scopes.iter().flat_map(|scope| &scope.marks))
                .chain(unit.globals.iter().map(|binding| &binding.value))
                .filter(|root| root.span.contains(expr.span));
            for root in roots {
                root.walk(&mut |other| {
                    if found.is_none() && other.span == expr.span && other == expr {
                        found = Some(other);
                    }
                });
            }
            eval.value(&place, found?, 0)
        }
    };
    match value {
        Value::List(items) => Some(items.iter().map(|item| literal(item, 0)).collect()),
        Value::Dict(items) => Some(items.iter().map(|(key, _)| literal(key, 0)).collect()),
        _ => None,
    }
}

/// The loops around a place, outermost first.
fn around<'a>(body: &'a [Stmt], at: usize, loops: &mut Vec<(&'a Target, &'a Expr)>) {
    for stmt in body.iter().filter(|stmt| stmt.span.holds(at)) {
        match &stmt.kind {
            StmtKind::For { target, iter, body } => {
                if body.iter().any(|stmt| stmt.span.holds(at)) {
                    loops.push((target, iter));
                }
                around(body, at, loops);
            }
            StmtKind::While { body, .. } | StmtKind::With { body, .. } => around(body, at, loops),
            StmtKind::If { then, otherwise, .. } => {
                around(then, at, loops);
                around(otherwise, at, loops);
            }
            StmtKind::Block(parts) => parts.iter().for_each(|part| around(part, at, loops)),
            _ => {}
        }
    }
}

fn bind(target: &Target, item: Expr, bound: &mut Vec<(String, Expr)>) {
    match (target, item.kind) {
        (Target::Name(name, _), kind) => bound.push((name.clone(), Expr::new(item.span, kind))),
        (Target::Tuple(targets), ExprKind::Tuple(items) | ExprKind::List(items)) if targets.len() == items.len() => {
            targets.iter().zip(items).for_each(|(target, item)| bind(target, item, bound));
        }
        (Target::Tuple(targets), _) => {
            targets.iter().for_each(|target| bind(target, Expr::opaque(Span::default()), bound));
        }
        (Target::Member(_) | Target::Other, _) => {}
    }
}

impl<'a> Eval<'a> {
    /// The items of a loop as expressions of that frame; `None` when they are not known.
    pub(super) fn items(&self, place: &Place<'a>, iter: &Expr, depth: usize) -> Option<Vec<Expr>> {
        if depth > 16 {
            return None;
        }
        match &iter.kind {
            ExprKind::List(items) | ExprKind::Tuple(items) | ExprKind::Set(items) => Some(items.clone()),
            ExprKind::Macro { name, args, .. } if name == "vec" => {
                Some(args.iter().map(|arg| arg.value.clone()).collect())
            }
            ExprKind::Dict(items) => Some(items.iter().map(|(key, _)| key.clone()).collect()),
            ExprKind::Call { callee, args } => self.call_items(place, callee, args, depth + 1),
            ExprKind::Name(_) | ExprKind::Attr(..) => {
                let (found, other) = self.resolve(place, iter, depth + 1)?;
                let items = self.items(&other, &found, depth + 1)?;
                let same = other.frame == place.frame && std::ptr::eq(other.unit, place.unit);
                let constant = other.function.is_none() && std::ptr::eq(other.unit, place.unit);
                if same || constant {
                    return Some(items);
                }
                // From another place: only what is a value there can be carried here.
                Some(items.iter().map(|item| self.carried(&other, item, 0)).collect())
            }
            _ => None,
        }
    }

    /// The expression that a name is bound to and the place where it stands.
    fn resolve(&self, place: &Place<'a>, expr: &Expr, depth: usize) -> Option<(Expr, Place<'a>)> {
        if depth > 16 {
            return None;
        }
        if let ExprKind::Name(name) = &expr.kind {
            if let Some((_, bound)) = self
                .world
                .and_then(|world| world.bound.get(place.frame?))
                .and_then(|bound| bound.iter().rfind(|(bound, _)| bound == name))
            {
                return Some((bound.clone(), place.clone()));
            }
            if let Some((expr, place)) = self.binding(place, name) {
                return Some((expr.clone(), place));
            }
        }
        let dotted = expr.dotted()?;
        match names::find(self.project, place.unit, &place.scope(), &dotted)? {
            Named::Constant(unit, binding) => {
                Some((binding.value.clone(), Place { within: &binding.path, ..self.module(unit) }))
            }
            _ => None,
        }
    }

    fn call_items(&self, place: &Place<'a>, callee: &Expr, args: &[Arg], depth: usize) -> Option<Vec<Expr>> {
        let arg = |at: usize| args.get(at).filter(|arg| !arg.spread).map(|arg| &arg.value);
        let nowhere = |kind| Expr::new(Span::default(), kind);
        let number = |at: i64| nowhere(ExprKind::Int(at.to_string()));
        let pairs = |items: Vec<Expr>, others: Vec<Expr>| {
            items.into_iter().zip(others).map(|(a, b)| nowhere(ExprKind::Tuple(vec![a, b]))).collect::<Vec<_>>()
        };
        match &callee.kind {
            ExprKind::Name(name) => match name.as_str() {
                "sorted" | "list" | "tuple" | "reversed" | "set" | "iter" if args.len() == 1 => {
                    let mut items = self.items(place, arg(0)?, depth)?;
                    match name.as_str() {
                        "reversed" => items.reverse(),
                        "sorted" => {
                            let key = |item: &Expr| match &item.kind {
                                ExprKind::Str(text) => Some(text.clone()),
                                _ => None,
                            };
                            if items.iter().all(|item| key(item).is_some()) {
                                items.sort_by_key(key);
                            }
                        }
                        _ => {}
                    }
                    Some(items)
                }
                "enumerate" => {
                    let items = self.items(place, arg(0)?, depth)?;
                    let start = match args.get(1).map(|arg| &arg.value.kind) {
                        None => 0,
                        Some(ExprKind::Int(text)) => text.parse().ok()?,
                        Some(_) => return None,
                    };
                    let numbers = (start..).take(items.len()).map(number).collect();
                    Some(pairs(numbers, items))
                }
                "zip" if args.len() == 2 => {
                    Some(pairs(self.items(place, arg(0)?, depth)?, self.items(place, arg(1)?, depth)?))
                }
                "range" => {
                    let eval = Eval::new(self.project, self.site, self.world);
                    let whole = Expr::new(
                        Span::default(),
                        ExprKind::Call { callee: Box::new(callee.clone()), args: args.to_vec() },
                    );
                    let numbers = match eval.owned(place, &whole) {
                        Value::List(items) => items,
                        _ => return None,
                    };
                    numbers.into_iter().map(|n| if let Value::Int(n) = n { Some(number(n)) } else { None }).collect()
                }
                _ => None,
            },
            ExprKind::Attr(base, name) => match name.as_str() {
                "items" | "values" | "keys" => {
                    let found = match &base.kind {
                        ExprKind::Dict(items) => items.clone(),
                        _ => {
                            let (found, other) = self.resolve(place, base, depth)?;
                            let ExprKind::Dict(items) = found.kind else { return None };
                            if std::ptr::eq(other.unit, place.unit) {
                                items
                            } else {
                                let carry = |e: &Expr| self.carried(&other, e, 0);
                                items.iter().map(|(key, value)| (carry(key), carry(value))).collect()
                            }
                        }
                    };
                    Some(match name.as_str() {
                        "items" => {
                            found.into_iter().map(|(key, value)| nowhere(ExprKind::Tuple(vec![key, value]))).collect()
                        }
                        "values" => found.into_iter().map(|(_, value)| value).collect(),
                        _ => found.into_iter().map(|(key, _)| key).collect(),
                    })
                }
                "iter" | "into_iter" | "copied" | "cloned" | "iter_mut" | "to_vec" | "as_slice" | "copy" | "as_ref" => {
                    self.items(place, base, depth)
                }
                "enumerate" => {
                    let items = self.items(place, base, depth)?;
                    let numbers = (0..).take(items.len()).map(number).collect();
                    Some(pairs(numbers, items))
                }
                "zip" => Some(pairs(self.items(place, base, depth)?, self.items(place, arg(0)?, depth)?)),
                _ => None,
            },
            _ => None,
        }
    }

    fn owned(&self, place: &Place<'a>, expr: &Expr) -> Value {
        // Only what needs no expression of the place's own lifetime: numbers and names in them.
        match &expr.kind {
            ExprKind::Int(text) => text.parse().map_or(Value::Unknown, Value::Int),
            ExprKind::Str(text) => Value::Str(text.clone()),
            ExprKind::Bool(yes) => Value::Bool(*yes),
            ExprKind::Float(text) => Value::Float(text.clone()),
            ExprKind::Name(name) => self.name(place, name, 0),
            ExprKind::Call { args, .. } => {
                let numbers: Option<Vec<i64>> = args
                    .iter()
                    .map(|arg| if let Value::Int(n) = self.owned(place, &arg.value) { Some(n) } else { None })
                    .collect();
                match numbers.as_deref() {
                    Some([end]) => list(0, *end),
                    Some([start, end]) => list(*start, *end),
                    _ => Value::Unknown,
                }
            }
            _ => Value::Unknown,
        }
    }

    /// An expression of another place as a literal without a place.
    fn carried(&self, place: &Place<'a>, expr: &Expr, depth: usize) -> Expr {
        let nowhere = |kind| Expr::new(Span::default(), kind);
        if depth > 8 {
            return nowhere(ExprKind::Opaque);
        }
        match &expr.kind {
            ExprKind::Tuple(items) => {
                nowhere(ExprKind::Tuple(items.iter().map(|i| self.carried(place, i, depth + 1)).collect()))
            }
            ExprKind::List(items) => {
                nowhere(ExprKind::List(items.iter().map(|i| self.carried(place, i, depth + 1)).collect()))
            }
            _ => match self.owned(place, expr) {
                Value::Str(text) => nowhere(ExprKind::Str(text)),
                Value::Int(number) if number >= 0 => nowhere(ExprKind::Int(number.to_string())),
                Value::Bool(yes) => nowhere(ExprKind::Bool(yes)),
                Value::Float(text) => nowhere(ExprKind::Float(text)),
                _ => nowhere(ExprKind::Opaque),
            },
        }
    }
}

fn list(start: i64, end: i64) -> Value {
    Value::List((start..end.min(start.saturating_add(MOST as i64 + 1))).map(Value::Int).collect())
}
