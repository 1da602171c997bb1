//! Specification tests that speak of the same call as a pin. Takes a case, gives what each expects and whether
//! the code does that. A call is the same when it stands for the same: see [`super::calls`]. Only what compares as
//! it is recorded is judged.

use super::calls::{Call, Reading};
use crate::code::{self, Expr, ExprKind, Function, Op, StmtKind, Unit};
use crate::oracles::{Content, OracleKind, Pin, Step, literal};
use crate::pins::{self, Project, sites};
use crate::places::RelPath;
use crate::roles::{self, Role};
use crate::survey::{Case, Workspace};
use crate::syntax::Language;
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
    /// The code gives that; `None`: nothing was observed, or nobody can say without running it.
    pub holds: Option<bool>,
}

/// What specification tests expect of the call that a pin holds against a recorded value.
pub fn specifications(workspace: &Workspace, case: &Case) -> Vec<Specification> {
    let project = &workspace.project;
    let calls = calls_of(project, case);
    let observed = case.observation.as_ref().filter(|seen| !seen.stale && !seen.lossy && is_plain(&case.pin));
    let observed = observed.map(|seen| &seen.content);
    let mut found = Vec::new();
    if calls.is_empty() {
        return found;
    }
    let name = |call: &Call| {
        call.text.split('(').next().unwrap_or_default().rsplit(['.', ':']).next().unwrap_or_default().to_string()
    };
    let names: Vec<String> = calls.iter().map(name).collect();
    let units = project.files.values().map(|facts| &facts.unit).filter(|unit| {
        unit.language == case.pin.language && names.iter().any(|name| unit.text.as_str().contains(name.as_str()))
    });
    for unit in units {
        for function in unit.functions.iter().filter(|function| sites::is_test(unit, function)) {
            let mut said: Vec<(Span, Content, bool)> = Vec::new();
            let reading = Reading::of(project, unit, function);
            for (side, other) in equals(function) {
                let Some(content) = expected(unit, other) else { continue };
                let call = reading.call(side);
                if let Some(own) = calls.iter().find(|own| own.text == call.text) {
                    said.push((other.span, content, own.certain && call.certain));
                }
            }
            if said.is_empty() || roles::labelled(unit, Some(function), &project.settings) != Some(Role::Specification)
            {
                continue;
            }
            let test = super::test_id(project, unit, function);
            for (span, content, certain) in said {
                found.push(Specification {
                    test: test.clone(),
                    file: unit.path.clone(),
                    line: unit.text.line_of(span.start) + 1,
                    expects: one_line(unit.text.slice(span), 80),
                    holds: observed
                        .and_then(|observed| same(observed, &content, unit.language))
                        .filter(|it| *it || certain),
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
fn calls_of(project: &Project, case: &Case) -> Vec<Call> {
    let pin = &case.pin;
    let Some(unit) = project.unit(&pin.file) else { return Vec::new() };
    let function = unit.functions.iter().find(|function| Some(function.span) == pin.test_span);
    let Some(function) = function else { return Vec::new() };
    let reading = Reading::of(project, unit, function);
    let mut sides: Vec<&Expr> = Vec::new();
    for (side, other) in equals(function) {
        let within = |expr: &Expr| pin.span.contains(expr.span);
        if within(side) && within(other) {
            sides.push(side);
        }
    }
    // What is passed to a helper that compares, or stands in a macro.
    code::each(&function.body, &mut |stmt| {
        stmt.walk(&mut |expr| {
            if expr.span == pin.span {
                match &expr.kind {
                    ExprKind::Call { args, .. } | ExprKind::Macro { args, .. } => {
                        sides.extend(args.iter().map(|arg| &arg.value));
                    }
                    _ => {}
                }
            }
        });
    });
    sides.retain(|side| pin.oracle.span != Some(side.span));
    let mut calls: Vec<Call> = sides.into_iter().map(|side| reading.call(side)).collect();
    calls.retain(|call| {
        call.text.contains('(') && !call.text.contains("read_text(") && !call.text.contains("snapshot(")
    });
    calls.sort();
    calls.dedup_by(|later, first| later.text == first.text);
    calls
}

/// What is recorded is the compared value itself, in no spelling of a framework's own.
fn is_plain(pin: &Pin) -> bool {
    let whole = pin.oracle.tolerance.is_none() && pin.oracle.shown_only.is_none();
    whole
        && match pin.oracle.kind {
            OracleKind::Literal => pin.oracle.steps.is_empty(),
            OracleKind::File => {
                pin.framework == "golden-file"
                    && pin.oracle.steps.iter().all(|step| matches!(step, Step::UniversalNewlines | Step::CrlfToLf))
            }
            OracleKind::Inline | OracleKind::Entry | OracleKind::Digest => false,
        }
}

/// Whether two values are equal; `None` where their spelling does not say.
fn same(observed: &Content, expected: &Content, language: Language) -> Option<bool> {
    match (observed, expected) {
        _ if observed == expected => Some(true),
        (Content::Value(a), Content::Value(b)) => match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(a), Ok(b)) => Some(a == b),
            // `Decimal('2.50')`, `True` and `1.0` may equal what is spelled otherwise.
            _ => (may_be_told(a) && may_be_told(b)).then_some(false),
        },
        (Content::Text(_), Content::Text(_)) | (Content::Bytes(_), Content::Bytes(_)) => Some(false),
        // Two types that compare with each other in Rust have an equality of their own.
        (Content::Text(_), Content::Value(value)) | (Content::Value(value), Content::Text(_)) => {
            (language == Language::Python && may_be_told(value)).then_some(false)
        }
        _ => None,
    }
}

/// A value whose only spelling is this one: whole numbers and texts, alone or in a collection.
fn may_be_told(value: &str) -> bool {
    let mut quote = None;
    value.chars().all(|c| match quote {
        Some(open) => {
            if c == open {
                quote = None;
            }
            c != '\\'
        }
        None if matches!(c, '"' | '\'') => {
            quote = Some(c);
            true
        }
        None => c.is_ascii_digit() || matches!(c, '-' | '[' | ']' | '(' | ')' | '{' | '}' | ',' | ':' | ' '),
    }) || value == "None"
}

/// Both sides of each equal comparison of a test, each first once.
pub(super) fn equals(function: &Function) -> Vec<(&Expr, &Expr)> {
    let mut found: Vec<(&Expr, &Expr)> = Vec::new();
    code::each(&function.body, &mut |stmt| {
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
