//! What an expression of a test calls, written so that two tests can be held against each other. Takes an
//! expression and the function it stands in, gives a text in which each name is what it stands for. What a reader
//! cannot know without running the test (a parameter, a name bound twice, a world that was arranged before) makes
//! the call uncertain, never another one.

use crate::code::{self, Expr, ExprKind, Function, Stmt, StmtKind, Target, Unit};
use crate::pins::names::{self, Named};
use crate::pins::{Project, macros};
use crate::syntax::Language;
use crate::text::Span;

/// Deepest chain of names bound to names, and the longest text that comes of it, in bytes.
const DEEPEST: usize = 8;
const LONGEST: usize = 10_000;

/// A call as it is compared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Call {
    /// Without blanks, quotes of one kind, functions by the file that defines them.
    pub text: String,
    /// Nothing in it depends on what only a run knows.
    pub certain: bool,
}

/// One test, in which expressions are read.
pub(super) struct Reading<'a> {
    project: &'a Project,
    unit: &'a Unit,
    function: &'a Function,
    scope: Vec<String>,
}

impl<'a> Reading<'a> {
    pub fn of(project: &'a Project, unit: &'a Unit, function: &'a Function) -> Reading<'a> {
        Reading { project, unit, function, scope: names::scope_of(Some(function)) }
    }

    pub fn call(&self, expr: &Expr) -> Call {
        let mut certain = !self.arranged(expr.span);
        let text = self.text(expr, DEEPEST, &mut certain);
        Call { text: text.trim_start_matches('&').to_string(), certain }
    }

    fn text(&self, expr: &Expr, left: usize, certain: &mut bool) -> String {
        let mut parts: Vec<(Span, String)> = Vec::new();
        self.parts(expr, left, certain, &mut parts);
        parts.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
        let blankless = |from: usize, to: usize| -> String {
            self.unit.text.slice(Span::new(from, to)).chars().filter(|c| !c.is_whitespace()).collect()
        };
        let (mut text, mut at) = (String::new(), expr.span.start);
        for (span, part) in parts {
            if span.start < at || span.end > expr.span.end {
                continue;
            }
            text.push_str(&blankless(at, span.start));
            text.push_str(&part);
            at = span.end;
            if text.len() > LONGEST {
                *certain = false;
                return text;
            }
        }
        text.push_str(&blankless(at, expr.span.end));
        text
    }

    /// What stands instead of the names and texts of an expression.
    fn parts(&self, expr: &Expr, left: usize, certain: &mut bool, parts: &mut Vec<(Span, String)>) {
        match &expr.kind {
            ExprKind::Str(text) => parts.push((expr.span, format!("{text:?}"))),
            ExprKind::Bytes(bytes) => parts.push((expr.span, format!("b{bytes:?}"))),
            ExprKind::Format(_) => {
                *certain = false;
                parts.push((expr.span, self.unit.text.slice(expr.span).to_string()));
            }
            ExprKind::Name(name) => {
                let text = self.name(name, left, certain);
                parts.push((expr.span, text));
            }
            ExprKind::Attr(base, _) => match self.path(expr) {
                Some(text) => parts.push((expr.span, text)),
                None => self.parts(base, left, certain, parts),
            },
            _ => expr.parts(&mut |part| self.parts(part, left, certain, parts)),
        }
    }

    /// A function or constant behind a dotted path that begins with no name of the test's own.
    fn path(&self, expr: &Expr) -> Option<String> {
        let dotted = expr.dotted()?;
        let first = dotted.split('.').next()?;
        if self.is_own(first) {
            return None;
        }
        self.found(&dotted)
    }

    fn found(&self, dotted: &str) -> Option<String> {
        match names::find(self.project, self.unit, &self.scope, dotted)? {
            Named::Function(unit, at) => {
                let function = unit.functions.get(at)?;
                let path: String = function.path.iter().map(|part| format!("{part}.")).collect();
                Some(format!("{}::{path}{}", unit.path, function.name))
            }
            Named::Constant(unit, binding) => Some(format!("{}::{}", unit.path, binding.name)),
            Named::Module(unit) => Some(unit.path.to_string()),
        }
    }

    fn name(&self, name: &str, left: usize, certain: &mut bool) -> String {
        if self.is_own(name) {
            return match (self.bound(name), left.checked_sub(1)) {
                (Some(value), Some(left)) => {
                    let text = self.text(value, left, certain);
                    match value.kind {
                        ExprKind::Binary(..) | ExprKind::Cond(..) | ExprKind::Not(_) => format!("({text})"),
                        _ => text,
                    }
                }
                _ => {
                    *certain = false;
                    name.to_string()
                }
            };
        }
        if let Some(found) = self.found(name) {
            return found;
        }
        match self.unit.imports_named(name).next_back() {
            Some(import) if import.path.starts_with('.') => {
                format!("{}/{}", self.unit.path.parent(), import.path)
            }
            Some(import) => import.path.clone(),
            // A name of the language, or one that this file alone can explain.
            None if self.unit.language == Language::Python && self.unit.imports_named("*").next().is_none() => {
                match self.unit.scopes.iter().any(|scope| scope.name == name) {
                    true => format!("{}::{name}", self.unit.path),
                    false => name.to_string(),
                }
            }
            None => format!("{}::{name}", self.unit.path),
        }
    }

    /// A parameter or a name that the test binds.
    fn is_own(&self, name: &str) -> bool {
        let mut own = self.function.params.iter().any(|param| param.name.trim_start_matches('*') == name);
        code::each(&self.function.body, &mut |stmt| {
            own |= match &stmt.kind {
                StmtKind::Bind { target, .. } | StmtKind::For { target, .. } => binds(target, name),
                StmtKind::With { items, .. } => {
                    items.iter().filter_map(|(_, target)| target.as_ref()).any(|target| binds(target, name))
                }
                _ => false,
            };
        });
        own
    }

    /// What a name is bound to, where that is one expression and always done.
    fn bound(&self, name: &str) -> Option<&'a Expr> {
        if self.function.params.iter().any(|param| param.name.trim_start_matches('*') == name) {
            return None;
        }
        let mut times = 0;
        code::each(&self.function.body, &mut |stmt| match &stmt.kind {
            StmtKind::Bind { target, .. } | StmtKind::For { target, .. } => times += usize::from(binds(target, name)),
            StmtKind::With { items, .. } => {
                times += items.iter().filter_map(|it| it.1.as_ref()).filter(|target| binds(target, name)).count();
            }
            _ => {}
        });
        let own = |stmt: &'a Stmt| match &stmt.kind {
            StmtKind::Bind { target: Target::Name(own, _), value } if own == name => Some(value),
            _ => None,
        };
        let value = self.function.body.iter().find_map(own);
        value.filter(|_| times == 1)
    }

    /// Before the expression, or around it, the test does what no comparison and no value of it shows.
    fn arranged(&self, at: Span) -> bool {
        let mut arranged = !self.function.params.is_empty() && self.function.marks.iter().any(is_patch);
        code::each(&self.function.body, &mut |stmt| {
            if stmt.span.start >= at.start {
                return;
            }
            arranged |= match &stmt.kind {
                StmtKind::Expr(expr) => !stmt.span.contains(at) && does_something(expr),
                StmtKind::Bind { target, .. } => matches!(target, Target::Member(_) | Target::Other),
                StmtKind::With { .. } | StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::If { .. } => true,
                StmtKind::Block(_) => true,
                _ => false,
            };
        });
        arranged
    }
}

fn binds(target: &Target, name: &str) -> bool {
    match target {
        Target::Name(own, _) => own == name,
        Target::Tuple(parts) => parts.iter().any(|part| binds(part, name)),
        Target::Member(_) | Target::Other => false,
    }
}

fn is_patch(mark: &Expr) -> bool {
    let mut found = false;
    mark.walk(&mut |expr| found |= expr.dotted().is_some_and(|name| name.split('.').any(|part| part == "patch")));
    found
}

/// A statement that is more than a comparison or a text.
fn does_something(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Macro { name, .. } => {
            !macros::last(name).contains("assert") && !matches!(macros::last(name), "println" | "eprintln" | "dbg")
        }
        ExprKind::Call { callee, .. } => {
            let name = callee.dotted().unwrap_or_default();
            let last = name.rsplit('.').next().unwrap_or_default();
            last != "print" && !last.starts_with("assert")
        }
        ExprKind::Str(_) | ExprKind::Ellipsis => false,
        _ => true,
    }
}
