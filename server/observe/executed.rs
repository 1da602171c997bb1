//! Whether a passing test surely came to a place. Takes a function and a place in it, says yes only where no
//! condition, closure, empty loop or early return can lead around it. Never guesses.

use crate::code::{Expr, ExprKind, Function, Stmt, StmtKind, Unit};
use crate::oracles::Pin;
use crate::pins::Project;
use crate::switches;
use crate::text::Span;

/// A test that passed has compared what the pin holds.
pub fn surely(pin: &Pin, project: &Project) -> bool {
    let Some(unit) = project.unit(&pin.file) else { return false };
    let Some(test) = innermost(unit, pin.span) else { return false };
    if !in_body(&test.body, pin.span, unit) {
        return false;
    }
    let Some((file, span)) = &pin.asserted_in else { return true };
    let Some(there) = project.unit(file) else { return false };
    let Some(helper) = innermost(there, *span) else { return false };
    // Between the two stands nothing else: the seen place calls the helper itself.
    let called = calls(&test.body, pin.span);
    called.iter().any(|name| name.rsplit(['.', ':']).next() == Some(helper.name.as_str()))
        && in_body(&helper.body, *span, there)
}

fn innermost(unit: &Unit, span: Span) -> Option<&Function> {
    unit.functions
        .iter()
        .filter(|function| function.def_span.contains(span))
        .min_by_key(|it| it.def_span.end - it.def_span.start)
}

fn in_body(body: &[Stmt], at: Span, unit: &Unit) -> bool {
    for stmt in body {
        if !stmt.span.contains(at) {
            if stmt.span.start < at.start && returns(stmt, unit) {
                return false;
            }
            continue;
        }
        return match &stmt.kind {
            StmtKind::Bind { value, .. } | StmtKind::Expr(value) => in_expr(value, at),
            StmtKind::Assert { .. } => true,
            StmtKind::For { iter, body, .. } => {
                iter.span.contains(at)
                    || (matches!(&iter.kind, ExprKind::List(items) if !items.is_empty()) && in_body(body, at, unit))
            }
            StmtKind::With { items, body } => {
                items.iter().any(|(item, _)| item.span.contains(at)) || in_body(body, at, unit)
            }
            StmtKind::Block(parts) if parts.len() == 1 => parts.first().is_some_and(|part| in_body(part, at, unit)),
            _ => false,
        };
    }
    false
}

fn returns(stmt: &Stmt, unit: &Unit) -> bool {
    let all = |body: &[Stmt]| body.iter().any(|stmt| returns(stmt, unit));
    match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::With { body, .. } => all(body),
        // The branch that rewrites the baseline is not taken: its variable was kept from the run.
        StmtKind::If { cond, otherwise, .. } if switches::asks(unit.text.slice(cond.span)) => all(otherwise),
        StmtKind::If { then, otherwise, .. } => all(then) || all(otherwise),
        StmtKind::Block(parts) => parts.iter().any(|part| all(part)),
        _ => false,
    }
}

/// No closure and no branch of an expression stands between.
fn in_expr(expr: &Expr, at: Span) -> bool {
    let mut sure = true;
    expr.walk(&mut |inner| {
        let around = inner.span.contains(at) && inner.span != at;
        let branches = matches!(
            inner.kind,
            ExprKind::Closure { .. }
                | ExprKind::Cond(..)
                | ExprKind::Block(_)
                | ExprKind::Binary(crate::code::Op::And | crate::code::Op::Or, ..)
        );
        sure &= !(around && branches);
    });
    sure
}

/// Names of the calls at a place.
fn calls(body: &[Stmt], at: Span) -> Vec<String> {
    let mut found = Vec::new();
    for stmt in body.iter().filter(|stmt| stmt.span.contains(at)) {
        stmt.walk(&mut |expr| {
            if expr.span == at {
                match &expr.kind {
                    ExprKind::Call { callee, .. } => found.extend(match &callee.kind {
                        ExprKind::Attr(_, name) => Some(name.clone()),
                        _ => callee.dotted(),
                    }),
                    ExprKind::Macro { name, .. } => found.push(name.clone()),
                    _ => {}
                }
            }
        });
    }
    found
}
