//! The two sides of an assertion, in both languages. Takes the frame that compares, gives the expressions
//! as they stand. Never values them.

use crate::code::{Expr, ExprKind, Op, Stmt, StmtKind, Unit};
use crate::pins::{Frame, Project, updates};
use crate::text::Span;

/// `left` is held to be equal to `right`.
#[derive(Debug, Clone, Copy)]
pub struct Comparison<'a> {
    pub left: &'a Expr,
    pub right: &'a Expr,
    /// The sides are paths of files whose bytes are compared.
    pub files: bool,
    /// The function that says whether they are equal, where it is not `==`.
    pub by: Option<&'a Expr>,
}

/// The comparison at the frame's place, if it demands equality of two sides.
pub fn comparison<'a>(project: &'a Project, frame: &Frame) -> Option<Comparison<'a>> {
    let unit = project.unit(&frame.file)?;
    if let Some(function) = frame.function.and_then(|index| unit.functions.get(index)) {
        return in_body(&function.body, frame.at);
    }
    if frame.is_macro {
        return in_macros(unit, frame.at);
    }
    in_body(&unit.top, frame.at)
}

/// What the assertion at the frame's place demands to be empty: `assert not d`, `assert d == []`.
pub fn empty_side<'a>(project: &'a Project, frame: &Frame) -> Option<&'a Expr> {
    let unit = project.unit(&frame.file)?;
    let function = unit.functions.get(frame.function?)?;
    empty_in(&function.body, frame.at)
}

fn empty_in(body: &[Stmt], at: Span) -> Option<&Expr> {
    body.iter().filter(|stmt| stmt.span.contains(at)).find_map(|stmt| match &stmt.kind {
        StmtKind::Assert { cond, .. } => match &cond.kind {
            ExprKind::Not(inner) => Some(&**inner),
            ExprKind::Binary(Op::Eq, left, right) => match &right.kind {
                ExprKind::List(items) if items.is_empty() => Some(&**left),
                ExprKind::Str(text) if text.is_empty() => Some(&**left),
                _ => None,
            },
            _ => None,
        },
        StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::With { body, .. } => empty_in(body, at),
        StmtKind::If { then, otherwise, .. } => empty_in(then, at).or_else(|| empty_in(otherwise, at)),
        StmtKind::Block(parts) => parts.iter().find_map(|part| empty_in(part, at)),
        _ => None,
    })
}

fn in_macros(unit: &Unit, at: Span) -> Option<Comparison<'_>> {
    let mut found = None;
    for call in unit.macros.iter().flat_map(|rules| &rules.arms).flat_map(|arm| &arm.calls) {
        call.walk(&mut |expr| {
            if expr.span == at && found.is_none() {
                found = of_expr(expr);
            }
        });
    }
    found
}

fn in_body(body: &[Stmt], at: Span) -> Option<Comparison<'_>> {
    for stmt in body.iter().filter(|stmt| stmt.span.contains(at) || at.contains(stmt.span)) {
        let found = match &stmt.kind {
            StmtKind::Assert { cond, .. } => of_condition(cond),
            StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::With { body, .. } => {
                in_body(body, at)
            }
            StmtKind::If { cond, then, .. } if stmt.span == at => {
                unequal(cond).filter(|_| fails(then)).or_else(|| updated(cond, then))
            }
            StmtKind::If { then, otherwise, .. } => in_body(then, at).or_else(|| in_body(otherwise, at)),
            StmtKind::Block(parts) => parts.iter().find_map(|part| in_body(part, at)),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
        let mut inside = None;
        if !matches!(stmt.kind, StmtKind::Assert { .. }) {
            stmt.walk(&mut |expr| {
                if inside.is_none() && expr.span == at {
                    inside = of_expr(expr);
                }
            });
        }
        if inside.is_some() {
            return inside;
        }
    }
    None
}

/// A condition that compares, and a branch that writes the file where it differs.
fn updated<'a>(cond: &'a Expr, then: &[Stmt]) -> Option<Comparison<'a>> {
    let (left, right) = updates::unequal(cond)?;
    let by = match &cond.kind {
        ExprKind::Not(inner) => match &inner.kind {
            ExprKind::Call { callee, .. } => Some(&**callee),
            _ => None,
        },
        _ => None,
    };
    then.iter().any(updates::writes).then_some(Comparison { left, right, files: false, by })
}

/// The branch ends the test: `panic!`, `pytest.fail`, `raise`.
fn fails(then: &[Stmt]) -> bool {
    let mut found = false;
    for stmt in then {
        stmt.walk(&mut |expr| {
            let name = match &expr.kind {
                ExprKind::Macro { name, .. } => name.clone(),
                ExprKind::Call { callee, .. } => callee.dotted().unwrap_or_default(),
                _ => return,
            };
            let last = name.rsplit(['.', ':']).next().unwrap_or_default();
            found |= matches!(last, "panic" | "fail" | "AssertionError" | "bail");
        });
    }
    found
}

fn unequal(cond: &Expr) -> Option<Comparison<'_>> {
    match &cond.kind {
        ExprKind::Binary(Op::Ne, left, right) => Some(Comparison { left, right, files: false, by: None }),
        ExprKind::Not(inner) => of_condition(inner),
        _ => None,
    }
}

/// A condition that must be true.
fn of_condition(cond: &Expr) -> Option<Comparison<'_>> {
    match &cond.kind {
        ExprKind::Binary(Op::Eq, left, right) => Some(Comparison { left, right, files: false, by: None }),
        ExprKind::Not(inner) => match &inner.kind {
            ExprKind::Binary(Op::Ne, left, right) => Some(Comparison { left, right, files: false, by: None }),
            _ => None,
        },
        ExprKind::Call { callee, args } => {
            let name = callee.dotted()?;
            let plain: Vec<&Expr> = args.iter().filter(|arg| arg.name.is_none()).map(|arg| &arg.value).collect();
            match (name.as_str(), plain.as_slice()) {
                ("filecmp.cmp" | "cmp", [left, right, ..]) => Some(Comparison { left, right, files: true, by: None }),
                _ => None,
            }
        }
        _ => None,
    }
}

/// An assertion that is a call or a macro.
fn of_expr(expr: &Expr) -> Option<Comparison<'_>> {
    let (name, args) = match &expr.kind {
        ExprKind::Call { callee, args } => match &callee.kind {
            ExprKind::Attr(_, name) | ExprKind::Name(name) => (name.as_str(), args),
            _ => return None,
        },
        ExprKind::Macro { name, args, .. } => (name.rsplit("::").next().unwrap_or(name), args),
        _ => return None,
    };
    let plain: Vec<&Expr> = args.iter().filter(|arg| !arg.spread).map(|arg| &arg.value).collect();
    match (name, plain.as_slice()) {
        (
            "assertEqual"
            | "assertEquals"
            | "assertMultiLineEqual"
            | "assertDictEqual"
            | "assertListEqual"
            | "assertTupleEqual"
            | "assertSequenceEqual"
            | "assertSetEqual"
            | "assert_equal"
            | "assert_equals"
            | "eq_"
            | "assert_eq"
            | "debug_assert_eq"
            | "assert_str_eq"
            | "prop_assert_eq",
            [left, right, ..],
        ) => Some(Comparison { left, right, files: false, by: None }),
        ("assertTrue" | "assert_" | "assert" | "debug_assert", [cond, ..]) => of_condition(cond),
        ("cmp", [left, right, ..]) => Some(Comparison { left, right, files: true, by: None }),
        _ => None,
    }
}
