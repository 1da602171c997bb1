//! Specification tests that speak of the same call as a pin. Takes a case, gives what each expects and whether
//! the code does that. A call is the same when it is written the same, names of local variables followed.

use crate::code::{Expr, ExprKind, Function, Op, Stmt, StmtKind, Target, Unit};
use crate::oracles::{Content, literal};
use crate::pins::{self, Project, sites};
use crate::places::RelPath;
use crate::roles::{self, Role};
use crate::survey::{Case, Workspace};
use crate::text::{Span, one_line};

/// One expectation of a specification test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Specification {
    pub test: String,
    pub file: RelPath,
    /// 1-based.
    pub line: usize,
    /// As it is written, one line.
    pub expects: String,
    /// The code gives that; `None`: nothing was observed.
    pub holds: Option<bool>,
}

/// What specification tests expect of the call that a pin holds against a recorded value.
pub fn specifications(workspace: &Workspace, case: &Case) -> Vec<Specification> {
    let project = &workspace.project;
    let calls = calls_of(project, case);
    let observed = case.observation.as_ref().filter(|seen| !seen.stale).map(|seen| &seen.content);
    let mut found = Vec::new();
    if calls.is_empty() {
        return found;
    }
    let name = |call: &String| {
        call.split('(').next().unwrap_or_default().rsplit(['.', ':']).next().unwrap_or_default().to_string()
    };
    let names: Vec<String> = calls.iter().map(name).collect();
    let units = project.files.values().map(|facts| &facts.unit).filter(|unit| {
        unit.language == case.pin.language && names.iter().any(|name| unit.text.as_str().contains(name.as_str()))
    });
    for unit in units {
        for function in unit.functions.iter().filter(|function| sites::is_test(unit, function)) {
            let mut said: Vec<(Span, Content)> = Vec::new();
            for (side, other) in equals(function) {
                if let Some(content) = expected(unit, other).filter(|_| calls.contains(&written(unit, function, side)))
                {
                    said.push((other.span, content));
                }
            }
            if said.is_empty() || roles::labelled(unit, Some(function), &project.settings) != Some(Role::Specification)
            {
                continue;
            }
            let test = super::test_id(project, unit, function);
            for (span, content) in said {
                found.push(Specification {
                    test: test.clone(),
                    file: unit.path.clone(),
                    line: unit.text.line_of(span.start) + 1,
                    expects: one_line(unit.text.slice(span), 80),
                    holds: observed.map(|observed| *observed == content),
                });
            }
        }
    }
    found
}

/// What a reader should know of a specification whose value is the observed one: where it comes from.
pub(super) fn copied(workspace: &Workspace, case: &Case, proof: &str) -> Option<String> {
    let (unit, function) = super::function_of(&workspace.project, proof)?;
    let same = specifications(workspace, case).into_iter().any(|it| it.test == proof && it.holds == Some(true));
    let committed = workspace.git.as_deref().is_some_and(|git| git.tracked_unmodified(&unit.path));
    (same && !committed && !has_authority(unit, function)).then(|| {
        format!(
            "{proof} was written with this change, expects exactly what was observed and names no authority; say where the \
             value comes from (`pindrift reclassify {proof} --to specification --authority …`)"
        )
    })
}

/// The label says more than what kind of test it is.
fn has_authority(unit: &Unit, function: &Function) -> bool {
    let doc = function.doc.as_ref().map_or("", |doc| doc.text.as_str());
    let above = unit.text.slice(Span::new(function.span.start, function.def_span.start));
    let words = |text: &str| text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count();
    let rest = doc.to_lowercase().replace("specification", "").replace("test", "");
    (words(&rest) > 0 && !doc.contains('<')) || above.contains("authority")
}

/// The calls that the pin's statement holds against what is recorded.
fn calls_of(project: &Project, case: &Case) -> Vec<String> {
    let pin = &case.pin;
    let Some(unit) = project.unit(&pin.file) else { return Vec::new() };
    let function = unit.functions.iter().find(|function| Some(function.span) == pin.test_span);
    let Some(function) = function else { return Vec::new() };
    let mut calls: Vec<String> = Vec::new();
    for (side, other) in equals(function) {
        let within = |expr: &Expr| pin.span.contains(expr.span);
        if within(side) && within(other) {
            calls.push(written(unit, function, side));
        }
    }
    // What is passed to a helper that compares, or stands in a macro.
    each(&function.body, &mut |stmt| {
        stmt.walk(&mut |expr| {
            if expr.span == pin.span {
                match &expr.kind {
                    ExprKind::Call { args, .. } | ExprKind::Macro { args, .. } => {
                        calls.extend(args.iter().map(|arg| written(unit, function, &arg.value)));
                    }
                    _ => {}
                }
            }
        });
    });
    let literal = pin.oracle.span.map(|span| unit.text.slice(span).to_string());
    calls.retain(|call| {
        call.contains('(')
            && Some(call) != literal.as_ref()
            && !call.contains("read_text(")
            && !call.contains("snapshot(")
    });
    calls.sort();
    calls.dedup();
    calls
}

/// Both sides of each equal comparison of a test, each first once.
pub(super) fn equals(function: &Function) -> Vec<(&Expr, &Expr)> {
    let mut found: Vec<(&Expr, &Expr)> = Vec::new();
    each(&function.body, &mut |stmt| {
        if let StmtKind::Assert { cond, .. } = &stmt.kind
            && let ExprKind::Binary(Op::Eq, left, right) = &cond.kind
        {
            found.extend([(&**left, &**right), (&**right, &**left)]);
        }
        if let StmtKind::Expr(expr) | StmtKind::Return(Some(expr)) = &stmt.kind {
            let args = match &expr.kind {
                ExprKind::Macro { name, args, .. } if pins::macros::last(name) == "assert_eq" => args,
                ExprKind::Call { callee, args }
                    if callee.dotted().is_some_and(|name| name.ends_with("assertEqual")) =>
                {
                    args
                }
                _ => return,
            };
            if let [left, right, ..] = args.as_slice() {
                found.extend([(&left.value, &right.value), (&right.value, &left.value)]);
            }
        }
    });
    found
}

fn expected(unit: &Unit, expr: &Expr) -> Option<Content> {
    let plain = matches!(
        expr.kind,
        ExprKind::Str(_)
            | ExprKind::Bytes(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Bool(_)
            | ExprKind::None
            | ExprKind::Neg(_)
            | ExprKind::List(_)
            | ExprKind::Tuple(_)
            | ExprKind::Dict(_)
            | ExprKind::Set(_)
            | ExprKind::Char(_)
    ) || matches!(&expr.kind, ExprKind::Call { callee, .. } if callee.dotted().is_some_and(|name| name.ends_with("Decimal")));
    plain.then(|| literal(unit.language, unit.text.slice(expr.span))).flatten()
}

/// An expression as it is written, without blanks, quotes of one kind, a local variable as what it is bound to.
fn written(unit: &Unit, function: &Function, expr: &Expr) -> String {
    let mut expr = expr;
    for _ in 0..8 {
        let ExprKind::Name(name) = &expr.kind else { break };
        let mut bound: Vec<&Expr> = Vec::new();
        each(&function.body, &mut |stmt| {
            if let StmtKind::Bind { target: Target::Name(own, _), value } = &stmt.kind
                && own == name
            {
                bound.push(value);
            }
        });
        match bound.as_slice() {
            [one] => expr = one,
            _ => break,
        }
    }
    let text = unit.text.slice(expr.span);
    let text: String = text.chars().filter(|c| !c.is_whitespace()).map(|c| if c == '\'' { '"' } else { c }).collect();
    text.trim_start_matches('&').to_string()
}

fn each<'b>(body: &'b [Stmt], see: &mut dyn FnMut(&'b Stmt)) {
    for stmt in body {
        see(stmt);
        match &stmt.kind {
            StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::With { body, .. } => each(body, see),
            StmtKind::If { then, otherwise, .. } => {
                each(then, see);
                each(otherwise, see);
            }
            StmtKind::Block(parts) => parts.iter().for_each(|part| each(part, see)),
            _ => {}
        }
    }
}
