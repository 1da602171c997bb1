//! Whether the comparison of a test is reached: marks that keep the test from running or from failing, calls that
//! end it, conditions that the comparison stands under.

use super::{Kind, Look};
use crate::code::{self, Arg, Expr, ExprKind, Function, Stmt, StmtKind, Target, Unit};
use crate::pins;
use crate::syntax::Language;
use crate::text::Span;

impl<'a> Look<'a> {
    /// Marks of the test, of what stands around it and of its module.
    pub(super) fn marks(&mut self, unit: &'a Unit, function: Option<&'a Function>) {
        let own = function.into_iter().flat_map(|function| &function.marks);
        let around = function.into_iter().flat_map(|function| unit.scopes_at(function.span)).flat_map(|it| &it.marks);
        let module = unit.globals.iter().filter(|global| {
            let inside = || function.is_some_and(|function| function.path.starts_with(&global.path));
            global.name == "pytestmark" && (global.path.is_empty() || inside())
        });
        for mark in own.chain(around).chain(module.map(|global| &global.value)) {
            self.mark(unit, mark);
        }
        for stmt in &unit.top {
            stmt.walk(&mut |expr| self.leaves(unit, expr));
        }
        for stmt in function.into_iter().flat_map(|function| &function.body) {
            stmt.walk(&mut |expr| self.leaves(unit, expr));
        }
    }

    fn mark(&mut self, unit: &Unit, mark: &Expr) {
        if unit.language == Language::Rust {
            let name = match &mark.kind {
                ExprKind::Macro { name, .. } => name.clone(),
                ExprKind::Call { callee, .. } => callee.dotted().unwrap_or_default(),
                _ => mark.dotted().unwrap_or_default(),
            };
            let text: String = unit.text.slice(mark.span).chars().filter(|c| !c.is_whitespace()).collect();
            match name.as_str() {
                "ignore" | "should_panic" => self.add(unit, Kind::Off, &name, mark.span),
                "cfg" if text != "cfg(test)" => self.add(unit, Kind::OffIf, &text, mark.span),
                "cfg_attr" if text.contains("ignore") => self.add(unit, Kind::OffIf, &text, mark.span),
                _ => {}
            }
            return;
        }
        let mut met: Vec<Span> = Vec::new();
        mark.walk(&mut |expr| {
            let (name, args) = match &expr.kind {
                ExprKind::Call { callee, args } => (callee.dotted(), args.as_slice()),
                _ => (expr.dotted(), [].as_slice()),
            };
            let name = name.unwrap_or_default();
            let last = name.rsplit('.').next().unwrap_or_default();
            let known = matches!(last, "skip" | "skipif" | "skipIf" | "skipUnless" | "xfail" | "expectedFailure");
            let imported = || imports(unit, last, &["unittest.skip", "unittest.case.skip"]);
            if !known
                || (last == "skip" && name == last && !imported())
                || met.iter().any(|span| span.contains(expr.span))
            {
                return;
            }
            met.push(expr.span);
            let conditions: Vec<&Arg> =
                args.iter().filter(|arg| arg.name.is_none() || arg.name.as_deref() == Some("condition")).collect();
            let holds = |wanted: bool| {
                conditions.first().is_some_and(|arg| matches!(arg.value.kind, ExprKind::Bool(value) if value == wanted))
            };
            let kind = match last {
                "skipif" | "skipIf" if !holds(true) => Kind::OffIf,
                "skipUnless" if !holds(false) => Kind::OffIf,
                "xfail" if !conditions.is_empty() && !holds(true) => Kind::OffIf,
                _ => Kind::Off,
            };
            let effect = match last {
                "skipif" | "skipIf" | "skipUnless" | "skip" => "skip",
                _ => "xfail",
            };
            self.add(unit, kind, effect, expr.span);
        });
    }

    /// A call that ends the test where it stands.
    fn leaves(&mut self, unit: &Unit, expr: &Expr) {
        let ExprKind::Call { callee, .. } = &expr.kind else { return };
        let name = callee.dotted().unwrap_or_default();
        let last = name.rsplit('.').next().unwrap_or_default();
        let bare = matches!(last, "skip" | "xfail" | "importorskip") && name == last;
        let of_pytest = matches!(name.as_str(), "pytest.skip" | "pytest.xfail" | "pytest.importorskip")
            || bare && imports(unit, last, &[&format!("pytest.{last}")]);
        if of_pytest || matches!(last, "skipTest" | "SkipTest") {
            self.add(unit, Kind::OffIf, "skip in the test", expr.span);
        }
    }

    /// The statements down to the pin, with the conditions that it stands under.
    pub(super) fn way(&mut self, unit: &'a Unit, body: &'a [Stmt], pin: Span) {
        for stmt in body {
            let head = |span: Span| {
                let line = unit.text.line_span(unit.text.line_of(span.start));
                Span::new(span.start, line.end.clamp(span.start, span.end.max(span.start)))
            };
            if !stmt.span.contains(pin) {
                if stmt.span.end <= pin.start {
                    let mut returns: Vec<Span> = Vec::new();
                    code::each(std::slice::from_ref(stmt), &mut |inner| {
                        if matches!(inner.kind, StmtKind::Return(_)) {
                            returns.push(stmt.span);
                        }
                    });
                    returns.into_iter().for_each(|span| self.add(unit, Kind::Guard, "return", head(span)));
                }
                continue;
            }
            match &stmt.kind {
                StmtKind::If { then, otherwise, .. } => {
                    self.add(unit, Kind::Guard, "if", head(stmt.span));
                    self.way(unit, then, pin);
                    self.way(unit, otherwise, pin);
                }
                StmtKind::For { iter: over, body, .. } | StmtKind::While { cond: over, body } => {
                    if never(over, matches!(stmt.kind, StmtKind::For { .. })) {
                        self.add(unit, Kind::Guard, "loop", head(stmt.span));
                    }
                    self.way(unit, body, pin);
                }
                StmtKind::With { items, body } => {
                    for (item, _) in items {
                        let ExprKind::Call { callee, .. } = &item.kind else { continue };
                        let name = callee.dotted().unwrap_or_default();
                        let last = name.rsplit('.').next().unwrap_or_default();
                        if matches!(last, "suppress" | "raises" | "assertRaises" | "assertRaisesRegex") {
                            self.add(unit, Kind::Guard, "caught", item.span);
                        }
                    }
                    self.way(unit, body, pin);
                }
                StmtKind::Block(parts) => {
                    if unit.language == Language::Python && catches(unit, stmt.span, parts) {
                        self.add(unit, Kind::Guard, "caught", head(stmt.span));
                    }
                    parts.iter().for_each(|part| self.way(unit, part, pin));
                }
                _ => {
                    self.dropped(unit, stmt, pin);
                    self.statement(stmt, 0);
                }
            }
        }
    }

    /// A comparison in a closure that nobody calls, whose panic is thrown away, or that a release build leaves out.
    fn dropped(&mut self, unit: &Unit, stmt: &Stmt, pin: Span) {
        if unit.language != Language::Rust {
            return;
        }
        let (value, thrown_away) = match &stmt.kind {
            StmtKind::Bind { target: Target::Name(name, _), value } => (value, name == "_"),
            StmtKind::Bind { target: Target::Other, value } => {
                (value, unit.text.slice(stmt.span).trim_start_matches("let").trim_start().starts_with("_ "))
            }
            StmtKind::Expr(value) => (value, unit.text.slice(stmt.span).trim_end().ends_with(';')),
            _ => return,
        };
        if let ExprKind::Macro { name, .. } = &value.kind
            && pins::macros::last(name).starts_with("debug_assert")
        {
            self.add(unit, Kind::Guard, "debug", value.span);
        }
        let catching = |callee: &Expr| super::last(callee) == "catch_unwind";
        match &value.kind {
            ExprKind::Closure { .. } if thrown_away && value.span.contains(pin) => {
                self.add(unit, Kind::Guard, "uncalled", stmt.span);
            }
            ExprKind::Call { callee, .. } if thrown_away && catching(callee) && value.span.contains(pin) => {
                self.add(unit, Kind::Guard, "caught", stmt.span);
            }
            _ => {}
        }
    }
}

/// The unit binds the bare word to one of these.
fn imports(unit: &Unit, word: &str, paths: &[&str]) -> bool {
    unit.imports.iter().any(|import| import.local == word && paths.contains(&import.path.as_str()))
}

/// A loop that never runs: over nothing, or while what is false.
fn never(over: &Expr, each: bool) -> bool {
    match &over.kind {
        ExprKind::List(items) | ExprKind::Tuple(items) => each && items.is_empty(),
        ExprKind::Dict(items) => each && items.is_empty(),
        ExprKind::Str(text) => text.is_empty(),
        ExprKind::Bool(value) => !each && !value,
        ExprKind::None => !each,
        ExprKind::Int(text) => !each && text == "0",
        ExprKind::Call { callee, args } if each && callee.dotted().as_deref() == Some("range") => {
            matches!(args.as_slice(), [only] if only.value.kind == ExprKind::Int("0".into()))
        }
        _ => false,
    }
}

/// A `try` with a handler after which the test goes on.
fn catches(unit: &Unit, whole: Span, parts: &[Vec<Stmt>]) -> bool {
    let text = unit.text.slice(whole);
    if !text.starts_with("try") {
        return false;
    }
    let is_handler =
        |line: &str| line.strip_prefix("except").is_some_and(|rest| rest.starts_with([':', ' ', '*', '(']));
    let lines = unit.text.line_span(unit.text.line_of(whole.start));
    let indent = whole.start.saturating_sub(lines.start);
    let heads = |text: &str| -> Vec<bool> {
        let own = |line: &&str| line.len() - line.trim_start().len() == indent && !line.trim_start().starts_with('#');
        text.lines().skip(1).filter(own).map(|line| is_handler(line.trim_start())).collect()
    };
    let handlers = text.lines().filter(|line| is_handler(line.trim_start())).count();
    let raising = parts.iter().filter(|part| {
        let before = part.first().map(|first| unit.text.slice(Span::new(whole.start, first.span.start)));
        before.is_some_and(|before| heads(before).last() == Some(&true)) && raises(unit, part)
    });
    handlers > raising.count()
}

/// A handler that ends in a failure of the test, whatever happens in it.
fn raises(unit: &Unit, handler: &[Stmt]) -> bool {
    let mut leaves = false;
    code::each(handler, &mut |stmt| {
        leaves |= matches!(stmt.kind, StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue);
    });
    !leaves
        && handler
            .last()
            .is_some_and(|last| matches!(last.kind, StmtKind::Raise) && unit.text.slice(last.span) == "raise")
}
