//! How much a test sees of what it holds against a recorded value. Takes a pin in its project, gives what makes
//! it see less: marks that keep the test from running, conditions around the comparison, tolerances, and what
//! stands between the value and the comparison, through the tests' own helpers. What is not understood is left
//! out: of a call of the product nothing is said, nor of the values that go into it.

mod reached;
mod tools;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use crate::code::{self, Arg, Expr, ExprKind, Function, Op, Stmt, StmtKind, Target, Unit};
use crate::oracles::Pin;
use crate::pins::names::{self, Named};
use crate::pins::{self, Project, fixtures, sites, testing};
use crate::places::RelPath;
use crate::syntax::Language;
use crate::text::{Span, one_line};

pub use words::{absent, nearly};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The test, or its pin, is kept from running or from failing.
    Off,
    /// The same, under a condition.
    OffIf,
    /// The comparison stands under a condition, or its failure is caught.
    Guard,
    Tolerance,
    /// Something is taken away before the comparison.
    Filter,
}

/// One thing that makes a test see less.
#[derive(Debug, Clone, PartialEq)]
pub struct Slack {
    pub kind: Kind,
    /// What it does, in a word that stays the same when it is written in another way.
    pub effect: String,
    /// Of a tolerance: how loose, larger being looser. `None`: not known.
    pub amount: Option<f64>,
    /// Of a filter: the pattern that it takes away.
    pub pattern: Option<String>,
    pub file: RelPath,
    pub at: Span,
    /// As it stands in the source, one line.
    pub shown: String,
}

/// Most expressions that are looked at for one pin.
const MOST: usize = 4000;
/// Deepest chain of calls and bindings that is followed.
const DEEPEST: usize = 24;

/// Everything that makes the test of a pin see less; `None` when its function cannot be read.
pub fn slack(project: &Project, pin: &Pin) -> Option<Vec<Slack>> {
    let unit = project.unit(&pin.file)?;
    let mut look = Look { project, frames: Vec::new(), found: Vec::new(), scanned: BTreeSet::new(), left: MOST };
    let function = unit.functions.iter().find(|function| Some(function.span) == pin.test_span);
    look.marks(unit, function);
    look.frames.push(Frame { unit, function, given: BTreeMap::new(), from: 0 });
    let body = function.map_or(unit.top.as_slice(), |function| function.body.as_slice());
    if let Some(function) = function {
        look.scan(unit, function, 0);
        for param in &function.params {
            let defined = fixtures::definitions(project, unit, &function.path, &param.name);
            if let Some((unit, function)) = defined.first().and_then(|it| Some((it.unit, it.function()?))) {
                look.scan(unit, function, 0);
            }
        }
    }
    look.way(unit, body, pin.span);
    let mut found = look.found;
    found.sort_by(|a, b| (a.kind, &a.effect, &a.file, a.at.start).cmp(&(b.kind, &b.effect, &b.file, b.at.start)));
    found.dedup();
    Some(found)
}

/// A function on the way, with what was passed for its parameters by the frame `from`.
struct Frame<'a> {
    unit: &'a Unit,
    function: Option<&'a Function>,
    given: BTreeMap<String, Expr>,
    from: usize,
}

struct Look<'a> {
    project: &'a Project,
    frames: Vec<Frame<'a>>,
    found: Vec<Slack>,
    /// Functions whose calls were looked through.
    scanned: BTreeSet<(RelPath, usize)>,
    left: usize,
}

impl<'a> Look<'a> {
    fn add(&mut self, unit: &Unit, kind: Kind, effect: &str, at: Span) {
        let words: Vec<&str> = unit.text.slice(at).split_whitespace().collect();
        let shown = one_line(&words.join(" "), 80);
        let file = unit.path.clone();
        self.found.push(Slack { kind, effect: effect.into(), amount: None, pattern: None, file, at, shown });
    }

    /// A statement that compares.
    fn statement(&mut self, stmt: &'a Stmt, depth: usize) {
        match &stmt.kind {
            StmtKind::Assert { cond, .. } => self.condition(cond, depth),
            StmtKind::Expr(expr) | StmtKind::Return(Some(expr)) | StmtKind::Bind { value: expr, .. } => {
                self.comparing(expr, depth);
            }
            _ => {}
        }
    }

    fn condition(&mut self, cond: &Expr, depth: usize) {
        match &cond.kind {
            ExprKind::Binary(Op::Or, left, right) => {
                let unit = self.frame().unit;
                self.add(unit, Kind::Guard, "or", cond.span);
                self.condition(left, depth);
                self.condition(right, depth);
            }
            ExprKind::Binary(Op::And, left, right) => {
                self.condition(left, depth);
                self.condition(right, depth);
            }
            ExprKind::Not(inner) => self.condition(inner, depth),
            ExprKind::Binary(Op::Order, left, right) => {
                self.bound(cond, left, right);
                self.value(left, depth);
                self.value(right, depth);
            }
            ExprKind::Call { .. } | ExprKind::Macro { .. } => self.comparing(cond, depth),
            ExprKind::Binary(_, left, right) => {
                self.value(left, depth);
                self.value(right, depth);
            }
            _ => self.value(cond, depth),
        }
    }

    /// `(a - b).abs() < 1e-6`.
    fn bound(&mut self, whole: &Expr, left: &Expr, right: &Expr) {
        let distance = |expr: &Expr| {
            let mut found = false;
            expr.walk(&mut |part| {
                if let ExprKind::Call { callee, .. } = &part.kind {
                    found |= matches!(&callee.kind, ExprKind::Attr(_, name) | ExprKind::Name(name) if name == "abs");
                }
            });
            found
        };
        let limit = match (distance(left), distance(right)) {
            (true, false) => right,
            (false, true) => left,
            _ => return,
        };
        let amount = self.number(limit, 0);
        if self.frames.len() == 1 {
            // In the pin itself the bound is what is recorded.
            return;
        }
        let unit = self.frame().unit;
        self.add(unit, Kind::Tolerance, "bound", whole.span);
        if let Some(last) = self.found.last_mut() {
            last.amount = amount;
        }
    }

    fn frame(&self) -> &Frame<'a> {
        &self.frames[self.frames.len() - 1]
    }

    /// The call or macro call that compares: all that is passed is compared, unless it is a helper of the tests.
    fn comparing(&mut self, expr: &Expr, depth: usize) {
        match &expr.kind {
            ExprKind::Call { callee, args } => {
                let name = last(callee);
                if self.enter(callee, args, depth) {
                    return;
                }
                self.told(expr, &name, args);
                if let Some(effect) = words::effect(&name).filter(|_| name.starts_with("assert") || name == "unordered")
                {
                    let unit = self.frame().unit;
                    self.add(unit, Kind::Filter, effect, expr.span);
                }
                // What the method stands on compares, or is what is tried out: not a value on its way.
                for arg in args {
                    self.value(&arg.value, depth + 1);
                }
            }
            ExprKind::Macro { name, args, tokens } => {
                let name = pins::macros::last(name).to_string();
                self.told(expr, &name, args);
                if name.starts_with("assert") && args.len() > 1 {
                    self.selectors(*tokens);
                }
                let first_only = matches!(name.as_str(), "assert" | "debug_assert");
                for (nth, arg) in args.iter().enumerate() {
                    match (first_only, nth) {
                        (true, 0) => self.condition(&arg.value, depth + 1),
                        (true, _) => {}
                        (false, _) => self.value(&arg.value, depth + 1),
                    }
                }
            }
            _ => self.value(expr, depth),
        }
    }

    /// What the arguments of a comparison tell it to overlook.
    fn told(&mut self, whole: &Expr, name: &str, args: &[Arg]) {
        let unit = self.frame().unit;
        if words::nearly(name) {
            self.add(unit, Kind::Tolerance, name, whole.span);
        }
        let mut plain = 0;
        for arg in args {
            let place = match &arg.name {
                Some(_) => None,
                None => {
                    plain += 1;
                    words::at_place(name, plain - 1)
                }
            };
            let Some(word) = place.or(arg.name.as_deref()).map(str::to_string) else { continue };
            if words::option(&word) && !matches!(arg.value.kind, ExprKind::None | ExprKind::Bool(false)) {
                self.add(unit, Kind::Filter, &word, arg.value.span);
            }
            self.tolerance(&format!("{name} {word}"), &word, &arg.value);
            if let ExprKind::Dict(items) = &arg.value.kind {
                for (key, value) in items {
                    if let ExprKind::Str(key) = &key.kind {
                        self.tolerance(&format!("{name} {key}"), key, value);
                    }
                }
            }
            if let ExprKind::Call { callee, args } = &arg.value.kind
                && last(callee) == "dict"
            {
                for arg in args {
                    if let Some(key) = &arg.name {
                        self.tolerance(&format!("{name} {key}"), key, &arg.value);
                    }
                }
            }
        }
    }

    fn tolerance(&mut self, effect: &str, argument: &str, value: &Expr) {
        if words::looseness(argument, 0.0).is_none() || value.kind == ExprKind::None {
            return;
        }
        let amount = self.number(value, 0).and_then(|number| words::looseness(argument, number));
        let unit = self.frame().unit;
        self.add(unit, Kind::Tolerance, effect, value.span);
        if let Some(last) = self.found.last_mut() {
            last.amount = amount;
        }
    }

    /// A number as far as it is written down.
    fn number(&self, expr: &Expr, depth: usize) -> Option<f64> {
        if depth > 8 {
            return None;
        }
        match &expr.kind {
            ExprKind::Int(text) | ExprKind::Float(text) => text.parse().ok(),
            ExprKind::Neg(inner) => Some(-self.number(inner, depth + 1)?),
            ExprKind::Name(name) => {
                let frame = self.frame();
                let local = bound(frame.function.map_or(&[], |function| &function.body), name);
                match local.as_slice() {
                    [one] => return self.number(one, depth + 1),
                    [] => {}
                    _ => return None,
                }
                match names::find(self.project, frame.unit, &names::scope_of(frame.function), name)? {
                    Named::Constant(_, binding) => self.number(&binding.value, depth + 1),
                    _ => None,
                }
            }
            ExprKind::Attr(base, name) if name == "EPSILON" => {
                let base = base.dotted()?;
                Some(if base.ends_with("f32") { f64::from(f32::EPSILON) } else { f64::EPSILON })
            }
            ExprKind::Binary(op, left, right) => {
                let between = left.span.end..right.span.start;
                let (left, right) = (self.number(left, depth + 1)?, self.number(right, depth + 1)?);
                let between = self.frame().unit.text.as_str().get(between).unwrap_or_default();
                match op {
                    Op::Other if between.trim() == "**" => Some(left.powf(right)),
                    Op::Mul => Some(left * right),
                    Op::Div => Some(left / right),
                    Op::Add => Some(left + right),
                    Op::Sub => Some(left - right),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The function of the tests that a callee names.
    fn of_tests(&self, callee: &Expr) -> Option<(&'a Unit, &'a Function)> {
        let frame = self.frame();
        let dotted = callee.dotted()?;
        let Named::Function(unit, index) =
            names::find(self.project, frame.unit, &names::scope_of(frame.function), &dotted)?
        else {
            return None;
        };
        let function = unit.functions.get(index)?;
        let helps = match unit.language {
            Language::Python => pins::is_of_tests(&unit.path),
            Language::Rust => testing::of_tests(self.project, unit, function),
        };
        (helps || words::says_so(&function.name)).then_some((unit, function))
    }

    /// Follows a call into a helper of the tests: what it compares and what it gives back.
    fn enter(&mut self, callee: &Expr, args: &[Arg], depth: usize) -> bool {
        let Some((unit, function)) = self.of_tests(callee) else { return false };
        let inside = |frame: &Frame| {
            frame.unit.path == unit.path && frame.function.is_some_and(|other| other.span == function.span)
        };
        if depth >= DEEPEST || self.frames.iter().any(inside) {
            return true;
        }
        let given = sites::given(unit.language, function, callee, args);
        let from = self.frames.len() - 1;
        self.frames.push(Frame { unit, function: Some(function), given, from });
        self.scan(unit, function, depth);
        self.within(&function.body, depth + 1);
        self.frames.pop();
        true
    }

    fn within(&mut self, body: &'a [Stmt], depth: usize) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Assert { .. } => self.statement(stmt, depth),
                StmtKind::Return(Some(value)) if !compares(value) => self.value(value, depth),
                StmtKind::Expr(expr) | StmtKind::Return(Some(expr)) => match &expr.kind {
                    ExprKind::Call { callee, .. } if is_comparer(&last(callee)) || self.of_tests(callee).is_some() => {
                        self.comparing(expr, depth);
                    }
                    ExprKind::Macro { name, .. } if is_comparer(pins::macros::last(name)) => {
                        self.comparing(expr, depth)
                    }
                    _ => {}
                },
                StmtKind::If { cond, then, otherwise } => {
                    if matches!(cond.kind, ExprKind::Binary(Op::Eq | Op::Ne, ..)) {
                        self.condition(cond, depth);
                    }
                    self.within(then, depth);
                    self.within(otherwise, depth);
                }
                StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::With { body, .. } => {
                    self.within(body, depth);
                }
                StmtKind::Block(parts) => parts.iter().for_each(|part| self.within(part, depth)),
                _ => {}
            }
        }
    }

    /// A value on its way to the comparison.
    fn value(&mut self, expr: &Expr, depth: usize) {
        let Some(left) = self.left.checked_sub(1).filter(|_| depth < DEEPEST) else { return };
        self.left = left;
        match &expr.kind {
            ExprKind::Name(name) => self.named(name, expr, depth),
            ExprKind::Attr(base, _) => self.value(base, depth + 1),
            ExprKind::Index(base, part) => {
                let unit = self.frame().unit;
                if unit.language == Language::Python && leaves_out(part) {
                    self.add(unit, Kind::Filter, "items", expr.span);
                }
                self.value(base, depth + 1);
            }
            ExprKind::Call { callee, args } => self.call(expr, callee, args, depth),
            ExprKind::Block(body) => self.inside(body, depth),
            ExprKind::Closure { .. } => {}
            _ => {
                let mut parts: Vec<&Expr> = Vec::new();
                expr.parts(&mut |part| parts.push(part));
                // The borrow of `self` begins after the parts are known.
                for part in parts {
                    self.value(part, depth + 1);
                }
            }
        }
    }

    /// A comprehension, or a block that ends in a value.
    fn inside(&mut self, body: &[Stmt], depth: usize) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::For { iter, body, .. } => {
                    self.value(iter, depth + 1);
                    self.inside(body, depth);
                }
                StmtKind::If { cond, then, otherwise } => {
                    let unit = self.frame().unit;
                    if unit.language == Language::Python {
                        self.add(unit, Kind::Filter, "items", cond.span);
                    }
                    self.inside(then, depth);
                    self.inside(otherwise, depth);
                }
                StmtKind::Expr(expr) | StmtKind::Return(Some(expr)) => self.value(expr, depth + 1),
                _ => {}
            }
        }
    }

    fn named(&mut self, name: &str, at: &Expr, depth: usize) {
        let frame = self.frame();
        let (unit, function, from) = (frame.unit, frame.function, frame.from);
        let body: &'a [Stmt] = function.map_or(&[], |function| &function.body);
        for change in changes(body, name) {
            if let ExprKind::Call { callee, args } = &change.kind {
                self.taken(change, &last(callee), callee, args);
            }
        }
        let values: Vec<&'a Expr> = bound(body, name);
        if !values.is_empty() {
            // One that is made from itself comes round no second time.
            for value in values.into_iter().filter(|value| !value.span.contains(at.span)) {
                self.value(value, depth + 1);
            }
            return;
        }
        if let Some(given) = frame_given(&self.frames, name) {
            let kept = self.frames.split_off(from + 1);
            self.value(&given, depth + 1);
            self.frames.extend(kept);
            return;
        }
        if let Some(function) = function.filter(|function| function.params.iter().any(|param| param.name == name)) {
            let fixture = fixtures::definitions(self.project, unit, &function.path, name);
            if let Some((unit, function)) = fixture.first().and_then(|it| Some((it.unit, it.function()?)))
                && let Some(gives) = fixtures::gives(function)
                && !self.frames.iter().any(|frame| frame.function.is_some_and(|it| it.span == function.span))
            {
                let from = self.frames.len() - 1;
                self.frames.push(Frame { unit, function: Some(function), given: BTreeMap::new(), from });
                self.value(gives, depth + 1);
                self.frames.pop();
            }
            return;
        }
        if let Some(Named::Constant(unit, binding)) = names::find(self.project, unit, &names::scope_of(function), name)
        {
            let from = self.frames.len() - 1;
            self.frames.push(Frame { unit, function: None, given: BTreeMap::new(), from });
            self.value(&binding.value, depth + 1);
            self.frames.pop();
        }
    }

    fn call(&mut self, whole: &Expr, callee: &Expr, args: &[Arg], depth: usize) {
        let name = last(callee);
        if self.enter(callee, args, depth + 1) {
            return;
        }
        self.told(whole, &name, args);
        let operands = |this: &mut Self| {
            let skipped = usize::from(matches!(callee.dotted().as_deref(), Some("re.sub" | "re.subn")));
            for arg in args.iter().skip(2 * skipped) {
                this.value(&arg.value, depth + 1);
            }
        };
        if self.taken(whole, &name, callee, args) || words::hands_on(&name) || words::nearly(&name) {
            if let ExprKind::Attr(base, _) = &callee.kind {
                self.value(base, depth + 1);
            }
            operands(self);
        }
    }

    /// The call takes something away.
    fn taken(&mut self, whole: &Expr, name: &str, callee: &Expr, args: &[Arg]) -> bool {
        let method = matches!(callee.kind, ExprKind::Attr(..));
        let effect = match words::effect(name) {
            Some("items") if !method && name != "filter" => return false,
            // `set()` is a value.
            Some(_) if !method && args.is_empty() => return false,
            Some(effect) => effect,
            None if words::says_so(name) => "normaliser",
            None => return false,
        };
        let unit = self.frame().unit;
        self.add(unit, Kind::Filter, effect, whole.span);
        let pattern = match (effect, args.first().map(|arg| &arg.value.kind)) {
            ("text", Some(ExprKind::Str(pattern))) if callee.dotted().is_some_and(|name| name.starts_with("re.")) => {
                Some(pattern.clone())
            }
            _ => None,
        };
        if let Some(last) = self.found.last_mut() {
            last.pattern = pattern;
        }
        true
    }
}

/// A slice that has a beginning or an end.
fn leaves_out(part: &Expr) -> bool {
    let ExprKind::Call { callee, args } = &part.kind else { return false };
    callee.dotted().as_deref() == Some("slice") && args.iter().take(2).any(|arg| arg.value.kind != ExprKind::None)
}

fn frame_given(frames: &[Frame], name: &str) -> Option<Expr> {
    frames.last()?.given.get(name).cloned()
}

fn compares(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call { callee, .. } => is_comparer(&last(callee)),
        ExprKind::Macro { name, .. } => is_comparer(pins::macros::last(name)),
        _ => false,
    }
}

/// The name of a call says that it compares.
pub fn is_comparer(name: &str) -> bool {
    name.starts_with("assert") || name.starts_with("check") || name.starts_with("verify") || name.starts_with("compare")
}

/// The last part of what is called.
pub fn last(callee: &Expr) -> String {
    match &callee.kind {
        ExprKind::Name(name) | ExprKind::Attr(_, name) => name.rsplit("::").next().unwrap_or(name).to_string(),
        _ => String::new(),
    }
}

/// What a name is bound to in a function.
fn bound<'b>(body: &'b [Stmt], name: &str) -> Vec<&'b Expr> {
    fn holds(target: &Target, name: &str) -> bool {
        match target {
            Target::Name(own, _) => own == name,
            Target::Tuple(targets) => targets.iter().any(|target| holds(target, name)),
            _ => false,
        }
    }
    let mut found = Vec::new();
    code::each(body, &mut |stmt| match &stmt.kind {
        StmtKind::Bind { target, value } if holds(target, name) => found.push(value),
        StmtKind::For { target, iter, .. } if holds(target, name) => found.push(iter),
        StmtKind::With { items, .. } => {
            let of_name = items.iter().filter(|(_, target)| target.as_ref().is_some_and(|it| holds(it, name)));
            found.extend(of_name.map(|(item, _)| item));
        }
        _ => {}
    });
    found
}

/// Statements that change what a name holds: `rows.sort()`.
fn changes<'b>(body: &'b [Stmt], name: &str) -> Vec<&'b Expr> {
    let mut found = Vec::new();
    code::each(body, &mut |stmt| {
        if let StmtKind::Expr(expr) = &stmt.kind
            && let ExprKind::Call { callee, .. } = &expr.kind
            && let ExprKind::Attr(base, method) = &callee.kind
            && matches!(&base.kind, ExprKind::Name(own) if own == name)
            && matches!(words::effect(method), Some("order" | "items" | "repetition" | "text"))
        {
            found.push(expr);
        }
    });
    found
}
