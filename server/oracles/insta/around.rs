//! What stands around an insta assertion and changes the snapshot's name or place: `with_settings!`,
//! `allow_duplicates!`, `glob!`, a `Settings` value that is bound, loops and branches. Takes the frames of a
//! site, gives expressions that are to be evaluated in their frame.

use std::collections::HashMap;

use crate::code::{Arg, Expr, ExprKind, Function, Stmt, StmtKind, Target};
use crate::pins::macros::last;
use crate::pins::{Frame, Project, Site};
use crate::text::Span;

/// `glob!` around an assertion.
#[derive(Debug, Clone, PartialEq)]
pub struct Glob {
    pub frame: usize,
    /// Folder from the source file's, where three arguments are given.
    pub base: Option<Expr>,
    pub pattern: Expr,
}

/// A setting that is an expression of some frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    pub frame: usize,
    pub value: Expr,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Around {
    pub suffix: Option<Setting>,
    pub path: Option<Setting>,
    pub prepend: Option<Setting>,
    pub duplicates: bool,
    pub glob: Option<Glob>,
    /// Loops around the assertion in its own function; a `glob!` is none.
    pub loops: Vec<Span>,
    /// Branches around the assertion in its own function: it may not run.
    pub branches: Vec<Span>,
    /// A setting was changed in a way that is not followed.
    pub unknown: bool,
}

#[derive(Debug, Clone, Default)]
struct Changes {
    suffix: Option<Option<Setting>>,
    path: Option<Setting>,
    prepend: Option<Setting>,
    fresh: bool,
}

impl Around {
    /// Everything around the assertion, from the test down to it.
    pub fn of(project: &Project, site: &Site) -> Around {
        let mut around = Around::default();
        for (nth, frame) in site.frames.iter().enumerate() {
            around.enter(project, nth, frame);
        }
        around
    }

    /// Only what stands in one function.
    pub fn within(function: &Function, frame: usize, at: Span) -> Around {
        let mut around = Around::default();
        let mut walk = Walk { around: &mut around, frame, at, settings: HashMap::new() };
        walk.stmts(&function.body);
        around
    }

    fn enter(&mut self, project: &Project, nth: usize, frame: &Frame) {
        let Some(unit) = project.unit(&frame.file) else { return };
        if !frame.is_macro {
            self.loops.clear();
            self.branches.clear();
        }
        let mut walk = Walk { around: self, frame: nth, at: frame.at, settings: HashMap::new() };
        match frame.function.and_then(|index| unit.functions.get(index)) {
            Some(function) => walk.stmts(&function.body),
            None if frame.is_macro => {
                for arm in unit.macros.iter().flat_map(|rules| &rules.arms).filter(|arm| arm.body.contains(frame.at)) {
                    for call in arm.calls.iter().filter(|call| call.span.contains(frame.at)) {
                        walk.expr(call);
                    }
                }
            }
            None => walk.stmts(&unit.top),
        }
    }
}

const ITERATES: [&str; 9] =
    ["for_each", "map", "flat_map", "filter_map", "any", "all", "fold", "try_for_each", "inspect"];

struct Walk<'a> {
    around: &'a mut Around,
    frame: usize,
    at: Span,
    settings: HashMap<String, Changes>,
}

impl Walk<'_> {
    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            if stmt.span.end <= self.at.start {
                self.before(stmt);
            } else if stmt.span.contains(self.at) {
                self.stmt(stmt);
                return;
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::For { iter, body, .. } => {
                if iter.span.contains(self.at) {
                    self.expr(iter);
                } else {
                    self.around.loops.push(stmt.span);
                    self.stmts(body);
                }
            }
            StmtKind::While { cond, body } => {
                self.around.loops.push(stmt.span);
                self.expr(cond);
                self.stmts(body);
            }
            StmtKind::If { cond, then, otherwise } => {
                if cond.span.contains(self.at) {
                    self.expr(cond);
                    return;
                }
                let inside = |part: &[Stmt]| part.iter().any(|stmt| stmt.span.contains(self.at));
                let part = if inside(then) { then } else { otherwise };
                let span = |part: &[Stmt]| match (part.first(), part.last()) {
                    (Some(first), Some(last)) => Span::new(first.span.start, last.span.end),
                    _ => stmt.span,
                };
                self.around.branches.push(span(part));
                self.stmts(part);
            }
            StmtKind::Block(parts) => {
                if let Some(part) = parts.iter().find(|part| part.iter().any(|stmt| stmt.span.contains(self.at))) {
                    if parts.len() > 1
                        && let (Some(first), Some(last)) = (part.first(), part.last())
                    {
                        self.around.branches.push(Span::new(first.span.start, last.span.end));
                    }
                    self.stmts(part);
                }
            }
            StmtKind::Bind { value, .. } => {
                // A named closure may be called any number of times.
                if matches!(value.kind, ExprKind::Closure { .. }) {
                    self.around.loops.push(value.span);
                }
                self.expr(value);
            }
            StmtKind::Expr(expr) | StmtKind::Return(Some(expr)) => self.expr(expr),
            _ => {}
        }
    }

    /// Applies what the expressions around the assertion set, outermost first.
    fn expr(&mut self, expr: &Expr) {
        let mut inside: Vec<&Expr> = Vec::new();
        expr.walk(&mut |expr| {
            if expr.span.contains(self.at) {
                inside.push(expr);
            }
        });
        // A closure is run once, unless it is handed to something that iterates.
        let mut iterated = false;
        for expr in inside {
            match &expr.kind {
                ExprKind::Macro { name, args, .. } if expr.span != self.at => match last(name) {
                    "with_settings" => self.with_settings(args),
                    "allow_duplicates" => self.around.duplicates = true,
                    "glob" => self.glob(args),
                    _ => {}
                },
                ExprKind::Call { callee, .. } => {
                    if let ExprKind::Attr(base, method) = &callee.kind {
                        iterated = ITERATES.contains(&method.as_str());
                        if let ExprKind::Name(name) = &base.kind
                            && matches!(method.as_str(), "bind" | "bind_async")
                        {
                            self.apply(name);
                        }
                    }
                }
                ExprKind::Closure { body, .. } => {
                    if iterated {
                        self.around.loops.push(expr.span);
                    }
                    self.stmts(body);
                    return;
                }
                ExprKind::Block(body) => {
                    self.stmts(body);
                    return;
                }
                ExprKind::Cond(..) => self.around.branches.push(expr.span),
                _ => {}
            }
        }
    }

    fn setting(&self, value: &Expr) -> Setting {
        Setting { frame: self.frame, value: value.clone() }
    }

    fn with_settings(&mut self, args: &[Arg]) {
        let Some(ExprKind::Dict(pairs)) = args.first().map(|arg| &arg.value.kind) else { return };
        for (key, value) in pairs {
            match key.dotted().as_deref() {
                Some("snapshot_suffix") => self.around.suffix = Some(self.setting(value)),
                Some("snapshot_path") => self.around.path = Some(self.setting(value)),
                Some("prepend_module_to_snapshot") => self.around.prepend = Some(self.setting(value)),
                _ => {}
            }
        }
    }

    fn glob(&mut self, args: &[Arg]) {
        let value = |nth: usize| args.get(nth).map(|arg| arg.value.clone());
        let glob = match args.len() {
            2 => value(0).map(|pattern| Glob { frame: self.frame, base: None, pattern }),
            3 => value(1).map(|pattern| Glob { frame: self.frame, base: value(0), pattern }),
            _ => None,
        };
        match glob {
            Some(glob) => {
                self.around.glob = Some(glob);
                self.around.suffix = None;
            }
            None => self.around.unknown = true,
        }
    }

    fn apply(&mut self, name: &str) {
        let Some(changes) = self.settings.get(name).cloned() else { return };
        if changes.fresh {
            self.around.suffix = None;
            self.around.path = None;
            self.around.prepend = None;
        }
        if let Some(suffix) = changes.suffix {
            self.around.suffix = suffix;
        }
        if let Some(path) = changes.path {
            self.around.path = Some(path);
        }
        if let Some(prepend) = changes.prepend {
            self.around.prepend = Some(prepend);
        }
    }

    /// A statement that ran before the assertion, in the same block.
    fn before(&mut self, stmt: &Stmt) {
        let (target, expr) = match &stmt.kind {
            StmtKind::Bind { target: Target::Name(name, _), value } => (Some(name), value),
            StmtKind::Bind { value, .. } => (None, value),
            StmtKind::Expr(expr) => (None, expr),
            _ => return,
        };
        match &expr.kind {
            ExprKind::Macro { name, args, .. }
                if name.ends_with("set_snapshot_suffix") && last(name) == "set_snapshot_suffix" =>
            {
                let kind = crate::code::rust::formatted(args).unwrap_or(ExprKind::Opaque);
                self.around.suffix = Some(Setting { frame: self.frame, value: Expr::new(expr.span, kind) });
            }
            ExprKind::Call { callee, args } => {
                let dotted = callee.dotted().unwrap_or_default();
                if let Some(target) = target
                    && (dotted.ends_with("Settings.clone_current") || dotted.ends_with("Settings.new"))
                {
                    let fresh = dotted.ends_with("new");
                    self.settings.insert(target.clone(), Changes { fresh, ..Changes::default() });
                    return;
                }
                let ExprKind::Attr(base, method) = &callee.kind else { return };
                let ExprKind::Name(name) = &base.kind else { return };
                let value = args.first().map(|arg| self.setting(&arg.value));
                if method == "bind_to_scope" {
                    self.apply(name);
                    return;
                }
                let Some(changes) = self.settings.get_mut(name) else { return };
                match method.as_str() {
                    "set_snapshot_suffix" | "_private_set_snapshot_suffix" => changes.suffix = Some(value),
                    "remove_snapshot_suffix" => changes.suffix = Some(None),
                    "set_snapshot_path" => changes.path = value,
                    "set_prepend_module_to_snapshot" => changes.prepend = value,
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

/// Every macro call in a function's body that is not inside a nested function.
pub fn macros_of(function: &Function) -> Vec<&Expr> {
    let mut found = Vec::new();
    for stmt in &function.body {
        stmt.walk(&mut |expr| {
            if matches!(expr.kind, ExprKind::Macro { .. }) {
                found.push(expr);
            }
        });
    }
    found
}
