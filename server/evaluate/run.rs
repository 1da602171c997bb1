//! Functions of the project carried out with what is known: loops over known lists, conditions, appended
//! and yielded items, texts read line by line. Takes a function and the values of its parameters, gives the
//! value that it returns; bounded. What an unknown condition changes is unknown; of a function that reads
//! one file and makes something of it, that file's content is known and what was made of it is not.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::scope::{Eval, Place, part_of, truth};
use super::{Step, Value};
use crate::code::{Arg, Expr, ExprKind, Function, Op, Stmt, StmtKind, Target, Unit};
use crate::syntax::Language;

/// Longest list that is made.
pub(super) const LONGEST: usize = 20_000;
/// Most steps of one function within a question.
const STEPS: usize = 800;
/// Longest body of a function that reads nothing and is carried out all the same, in statements.
const SHORT: usize = 12;

/// Where the statements after this one go on.
enum Flow {
    On,
    Break,
    Continue,
    Return(Value),
    Raised,
}

#[derive(Default)]
struct Run {
    yields: Option<Vec<Value>>,
    /// What was returned where it is not known whether that was reached.
    perhaps: Option<Value>,
    /// Something cannot be followed: nothing is known of the whole.
    lost: bool,
}

/// One of two values.
fn either(a: Value, b: Value) -> Value {
    match (a, b) {
        (a, b) if a == b => a,
        (Value::None, content @ Value::Content { .. }) | (content @ Value::Content { .. }, Value::None) => content,
        (Value::List(a), Value::List(b)) if a.len() == b.len() => {
            Value::List(a.into_iter().zip(b).map(|(a, b)| either(a, b)).collect())
        }
        (a, b) => match (beginning(&a), beginning(&b)) {
            (Some(a), Some(b)) => {
                let same: String = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
                if same.is_empty() { Value::Unknown } else { Value::Pattern(vec![Some(same), None]) }
            }
            _ => Value::Unknown,
        },
    }
}

/// What a text is known to begin with.
fn beginning(value: &Value) -> Option<&str> {
    match value {
        Value::Str(text) => Some(text),
        Value::Pattern(parts) => parts.first()?.as_deref(),
        _ => None,
    }
}

impl<'a> Eval<'a> {
    /// Whether carrying a function out may tell more than its returned expression: it reads or lists files,
    /// or is short and has branches.
    pub(super) fn is_worth_running(&self, unit: &Unit, index: usize) -> bool {
        let Some(function) = unit.functions.get(index) else { return false };
        self.project.names.reach(self.project).gives(&function.name) || function.body.len() <= SHORT
    }

    /// The value that a function returns, or the list of what it yields.
    pub(super) fn run(
        &self,
        unit: &'a Unit,
        function: &'a Function,
        values: HashMap<String, Value>,
        depth: usize,
    ) -> Value {
        let fuel = self.fuel.get();
        let granted = if fuel > 10 * STEPS { fuel } else { fuel.min(STEPS) };
        self.fuel.set(granted);
        let read = self.opened.borrow().len();
        let place = Place {
            unit,
            function: Some(function),
            within: &[],
            at: 0,
            frame: None,
            args: Rc::new(RefCell::new(values)),
        };
        let yields = unit.language == Language::Python && unit.text.slice(function.span).contains("yield");
        let mut run = Run { yields: yields.then(Vec::new), ..Run::default() };
        let flow = self.statements(&place, &function.body, &mut run, depth);
        self.fuel.set(fuel - (granted - self.fuel.get()));
        let value = match (flow, run.yields) {
            _ if run.lost => Value::Unknown,
            (_, Some(items)) => Value::List(items),
            (Flow::Return(value), _) => value,
            (Flow::Raised, _) => run.perhaps.clone().unwrap_or(Value::Unknown),
            _ => Value::None,
        };
        let value = match run.perhaps {
            Some(other) if !run.lost => either(other, value),
            _ => value,
        };
        if run.lost {
            return value;
        }
        // What is made of one file's content in a way that is not understood is known to come from it.
        let opened = self.opened.borrow();
        let mut files = opened.get(read..).unwrap_or_default().iter();
        match files.next() {
            Some(file) if files.all(|other| other == file) => made_of(value, file, &function.name),
            _ => value,
        }
    }

    fn statements(&self, place: &Place<'a>, body: &'a [Stmt], run: &mut Run, depth: usize) -> Flow {
        for stmt in body {
            if self.fuel.get() == 0 {
                run.lost = true;
            }
            if run.lost {
                return Flow::On;
            }
            match self.statement(place, stmt, run, depth) {
                Flow::On => {}
                other => return other,
            }
        }
        Flow::On
    }

    fn statement(&self, place: &Place<'a>, stmt: &'a Stmt, run: &mut Run, depth: usize) -> Flow {
        match &stmt.kind {
            StmtKind::Bind { target, value } => {
                let added = self.added(place, stmt, target, value, depth);
                let value = added.unwrap_or_else(|| self.value(place, value, depth));
                self.assign(place, target, value);
                Flow::On
            }
            StmtKind::Expr(expr) => self.effect(place, stmt, expr, run, depth),
            StmtKind::Return(value) => {
                Flow::Return(value.as_ref().map_or(Value::None, |value| self.value(place, value, depth)))
            }
            StmtKind::Raise => Flow::Raised,
            StmtKind::Break => Flow::Break,
            StmtKind::Continue => Flow::Continue,
            StmtKind::If { cond, then, otherwise } => match truth(&self.value(place, cond, depth)) {
                Some(true) => self.statements(place, then, run, depth),
                Some(false) => self.statements(place, otherwise, run, depth),
                None => self.forked(place, &[then, otherwise], run, depth),
            },
            StmtKind::For { target, iter, body } => {
                let items = match self.value(place, iter, depth) {
                    Value::List(items) => items,
                    Value::Dict(items) => items.into_iter().map(|(key, _)| key).collect(),
                    Value::None => Vec::new(),
                    other => {
                        self.unknown_after(place, target, body, &other, run);
                        return Flow::On;
                    }
                };
                for item in items {
                    self.assign(place, target, item);
                    match self.statements(place, body, run, depth) {
                        Flow::On | Flow::Continue => {}
                        Flow::Break => break,
                        other => return other,
                    }
                    if run.lost {
                        break;
                    }
                }
                Flow::On
            }
            StmtKind::While { cond, body } => {
                if truth(&self.value(place, cond, depth)) != Some(false) {
                    self.unknown_after(place, &Target::Other, body, &Value::Unknown, run);
                }
                Flow::On
            }
            StmtKind::With { items, body } => {
                for (item, target) in items {
                    let value = self.value(place, item, depth);
                    if let Some(target) = target {
                        self.assign(place, target, value);
                    }
                }
                self.statements(place, body, run, depth)
            }
            StmtKind::Block(parts) => match parts.as_slice() {
                [only] => self.statements(place, only, run, depth),
                parts => {
                    let parts: Vec<&'a Vec<Stmt>> = parts.iter().collect();
                    self.forked(place, &parts, run, depth)
                }
            },
            StmtKind::Assert { .. } | StmtKind::Def(_) | StmtKind::Other => Flow::On,
        }
    }

    /// Parts of which one runs, and nobody knows which.
    fn forked(&self, place: &Place<'a>, parts: &[&'a Vec<Stmt>], run: &mut Run, depth: usize) -> Flow {
        let before = place.args.borrow().clone();
        let yielded = run.yields.as_ref().map(Vec::len);
        let mut after: Option<HashMap<String, Value>> = None;
        let mut returned: Option<Value> = None;
        for part in parts {
            *place.args.borrow_mut() = before.clone();
            let flow = self.statements(place, part, run, depth);
            if run.yields.as_ref().map(Vec::len) != yielded {
                run.lost = true;
            }
            match flow {
                Flow::On => {
                    let here = place.args.borrow().clone();
                    after = Some(match after {
                        None => here,
                        Some(other) => merged(other, here),
                    });
                }
                Flow::Return(value) => {
                    returned = Some(match returned {
                        None => value,
                        Some(other) => either(other, value),
                    });
                }
                Flow::Raised => {}
                Flow::Break | Flow::Continue => run.lost = true,
            }
            if run.lost {
                return Flow::On;
            }
        }
        match (after, returned) {
            (Some(after), returned) => {
                *place.args.borrow_mut() = after;
                if let Some(value) = returned {
                    run.perhaps = Some(match run.perhaps.take() {
                        None => value,
                        Some(other) => either(other, value),
                    });
                }
                Flow::On
            }
            (None, Some(value)) => Flow::Return(value),
            (None, None) => Flow::Raised,
        }
    }

    /// What a loop over something unknown may bind or change is not known; over a file's content it is made
    /// of that.
    fn unknown_after(&self, place: &Place<'a>, target: &Target, body: &'a [Stmt], over: &Value, run: &mut Run) {
        let mut names: Vec<String> = Vec::new();
        bound_by(target, &mut names);
        changed(body, &mut names);
        let left = body.iter().any(leaves);
        let mut env = place.args.borrow_mut();
        for name in names {
            env.insert(name, Value::Unknown);
        }
        drop(env);
        let mut yields = false;
        for stmt in body {
            stmt.walk(&mut |expr| yields |= is_yield(expr));
        }
        match over {
            Value::Content { .. } => {
                if left {
                    run.perhaps = Some(Value::Unknown);
                }
            }
            _ => run.lost |= left,
        }
        run.lost |= yields;
    }

    /// `list += more`.
    fn added(&self, place: &Place<'a>, stmt: &Stmt, target: &Target, value: &'a Expr, depth: usize) -> Option<Value> {
        let (Target::Name(name, _), ExprKind::Block(inner)) = (target, &value.kind) else { return None };
        let [Stmt { kind: StmtKind::Expr(more), .. }] = inner.as_slice() else { return None };
        let source = place.unit.text.slice(stmt.span);
        if !source.strip_prefix(name.as_str())?.trim_start().starts_with("+=") {
            return None;
        }
        let old = place.args.borrow().get(name).cloned()?;
        let more = self.value(place, more, depth);
        Some(match (old, more) {
            (Value::List(a), Value::List(b)) => Value::List(a.into_iter().chain(b).take(LONGEST).collect()),
            (Value::Int(a), Value::Int(b)) => a.checked_add(b).map_or(Value::Unknown, Value::Int),
            (Value::Str(a), Value::Str(b)) => Value::Str(a + &b),
            _ => Value::Unknown,
        })
    }

    fn assign(&self, place: &Place<'a>, target: &Target, value: Value) {
        match target {
            Target::Name(name, _) => {
                place.args.borrow_mut().insert(name.clone(), value);
            }
            Target::Tuple(targets) => {
                for (at, target) in targets.iter().enumerate() {
                    self.assign(place, target, part_of(value.clone(), &at));
                }
            }
            Target::Member(_) | Target::Other => {}
        }
    }

    /// A statement that is an expression: it yields, ends the function, or changes a name in place.
    fn effect(&self, place: &Place<'a>, stmt: &Stmt, expr: &'a Expr, run: &mut Run, depth: usize) -> Flow {
        match &expr.kind {
            ExprKind::Macro { name, .. } => {
                let ends = ["panic", "unreachable", "todo", "unimplemented"];
                return if ends.contains(&crate::pins::macros::last(name)) { Flow::Raised } else { Flow::On };
            }
            ExprKind::Call { callee, args } => {
                if is_yield(expr) {
                    let value = args.first().map_or(Value::None, |arg| self.value(place, &arg.value, depth));
                    let many = place.unit.text.slice(stmt.span).trim_start_matches("yield").trim_start();
                    match (many.starts_with("from "), value, &mut run.yields) {
                        (false, value, Some(items)) if items.len() < LONGEST => items.push(value),
                        (true, Value::List(more), Some(items)) => items.extend(more.into_iter().take(LONGEST)),
                        _ => run.lost = true,
                    }
                    return Flow::On;
                }
                let dotted = callee.dotted().unwrap_or_default();
                if matches!(dotted.as_str(), "pytest.skip" | "pytest.fail" | "pytest.exit" | "sys.exit" | "exit") {
                    return Flow::Raised;
                }
                if let Some((reader, name)) = read_into(expr) {
                    let value = self.value(place, reader, depth).decoded();
                    place.args.borrow_mut().insert(name.to_string(), value);
                    return Flow::On;
                }
                if let ExprKind::Attr(base, method) = &callee.kind
                    && let ExprKind::Name(name) = &base.kind
                    && place.args.borrow().contains_key(name)
                {
                    self.change(place, name, method, args, depth);
                }
            }
            _ => {}
        }
        Flow::On
    }

    /// `items.append(x)` and its like on a name that is bound here.
    fn change(&self, place: &Place<'a>, name: &str, method: &str, args: &'a [Arg], depth: usize) {
        let first = || args.first().map_or(Value::Unknown, |arg| self.value(place, &arg.value, depth));
        let held = || place.args.borrow().get(name).cloned().unwrap_or(Value::Unknown);
        let list = matches!(place.args.borrow().get(name), Some(Value::List(_)));
        let push = |more: Vec<Value>| {
            if let Some(Value::List(items)) = place.args.borrow_mut().get_mut(name)
                && items.len() + more.len() <= LONGEST
            {
                items.extend(more);
                return true;
            }
            false
        };
        let rust = place.unit.language == Language::Rust;
        let known = match method {
            "push" if rust && !list => {
                let value = self.method(place.unit.language, held(), "join", &[first()]);
                place.args.borrow_mut().insert(name.to_string(), value);
                true
            }
            "append" if rust => match first() {
                Value::List(more) => push(more),
                _ => false,
            },
            "append" | "push" | "add" | "push_back" if list => push(vec![first()]),
            "extend" | "update" if list => match first() {
                Value::List(more) => push(more),
                _ => false,
            },
            "sort" | "sort_unstable" if list && args.is_empty() => {
                let sorted = super::known::sorted(match held() {
                    Value::List(items) => items,
                    _ => Vec::new(),
                });
                let known = sorted != Value::Unknown;
                place.args.borrow_mut().insert(name.to_string(), sorted);
                known
            }
            "extend" | "insert" | "remove" | "clear" | "sort" | "reverse" | "update" | "pop" | "truncate"
            | "retain" | "dedup" | "append" | "push" | "add" | "setdefault" | "discard" | "sort_by" | "sort_by_key"
            | "set_extension" | "set_file_name" | "push_str" | "write" | "drain" => false,
            _ => true,
        };
        if !known {
            place.args.borrow_mut().insert(name.to_string(), Value::Unknown);
        }
    }

    /// A name's value after statements of its module.
    pub(super) fn filled(
        &self,
        unit: &'a Unit,
        name: &str,
        start: Value,
        statements: impl Iterator<Item = &'a Stmt>,
        depth: usize,
    ) -> Value {
        let args = Rc::new(RefCell::new(HashMap::from([(name.to_string(), start)])));
        let place = Place { args, ..self.module(unit) };
        let mut run = Run::default();
        for stmt in statements {
            self.statement(&place, stmt, &mut run, depth);
        }
        let value = place.args.borrow().get(name).cloned();
        value.filter(|_| !run.lost).unwrap_or(Value::Unknown)
    }

    /// The list that a comprehension makes; anything else in a block is not valued.
    pub(super) fn comprehended(&self, place: &Place<'a>, body: &'a [Stmt], depth: usize) -> Value {
        let [Stmt { kind: StmtKind::For { .. }, .. }] = body else { return Value::Unknown };
        if place.unit.language != Language::Python {
            return Value::Unknown;
        }
        let inner = Place { args: Rc::new(RefCell::new(place.args.borrow().clone())), ..place.clone() };
        let mut run = Run { yields: Some(Vec::new()), ..Run::default() };
        self.statements(&inner, body, &mut run, depth);
        match run.yields {
            Some(items) if !run.lost => Value::List(items),
            _ => Value::Unknown,
        }
    }

    /// What a closure or function gives for these arguments.
    pub(super) fn applied(&self, place: &Place<'a>, callable: &'a Expr, given: &[Value], depth: usize) -> Value {
        if self.fuel.get() == 0 {
            return Value::Unknown;
        }
        match &callable.kind {
            ExprKind::Closure { params, body } => {
                let inner = Place { args: Rc::new(RefCell::new(place.args.borrow().clone())), ..place.clone() };
                for (param, value) in params.iter().zip(given) {
                    self.assign(&inner, param, value.clone());
                }
                let mut run = Run::default();
                match self.statements(&inner, body, &mut run, depth) {
                    Flow::Return(value) if !run.lost && run.perhaps.is_none() => value,
                    _ => Value::Unknown,
                }
            }
            _ => self.called(place, callable, given, depth),
        }
    }

    /// `a == b`, `a in b`, `a and b` of known values.
    pub(super) fn condition(&self, place: &Place<'a>, op: Op, left: &'a Expr, right: &'a Expr, depth: usize) -> Value {
        let a = self.value(place, left, depth);
        if let (Op::And | Op::Or, Some(yes)) = (op, truth(&a)) {
            let decided = yes == (op == Op::Or);
            return if decided { a } else { self.value(place, right, depth) };
        }
        let yes = match op {
            Op::In | Op::NotIn => {
                let within = |items: &Value| match (items, &a) {
                    (Value::List(items), a) if settled(a) => match items.contains(a) {
                        true => Some(true),
                        false => items.iter().all(settled).then_some(false),
                    },
                    (Value::Str(text), Value::Str(part)) => Some(text.contains(part.as_str())),
                    (Value::Dict(items), a) if settled(a) => Some(items.iter().any(|(key, _)| key == a)),
                    _ => None,
                };
                let here = match &right.kind {
                    ExprKind::Name(name) => place.args.borrow().get(name).map(within),
                    _ => None,
                };
                here.unwrap_or_else(|| within(&self.value(place, right, depth))).map(|yes| yes == (op == Op::In))
            }
            Op::Eq | Op::Ne | Op::Is | Op::IsNot => {
                let b = self.value(place, right, depth);
                (settled(&a) && settled(&b)).then(|| same(&a, &b) == matches!(op, Op::Eq | Op::Is))
            }
            Op::And | Op::Or => match truth(&self.value(place, right, depth)) {
                Some(yes) if yes == (op == Op::Or) => Some(yes),
                _ => None,
            },
            _ => None,
        };
        yes.map_or(Value::Unknown, Value::Bool)
    }
}

/// Reader and name of `reader.read_to_string(&mut name)`, whatever is called on what that returns.
pub(super) fn read_into(expr: &Expr) -> Option<(&Expr, &str)> {
    let mut expr = expr;
    for _ in 0..6 {
        let ExprKind::Call { callee, args } = &expr.kind else { return None };
        let ExprKind::Attr(base, method) = &callee.kind else { return None };
        match (method.as_str(), args.as_slice()) {
            ("read_to_string" | "read_to_end", [Arg { value: Expr { kind: ExprKind::Name(into), .. }, .. }]) => {
                return Some((base, into));
            }
            _ => expr = base,
        }
    }
    None
}

/// All of it is known, and compares by that.
fn settled(value: &Value) -> bool {
    match value {
        Value::Unknown
        | Value::Pattern(_)
        | Value::Paths(_)
        | Value::Content { .. }
        | Value::Digest(_)
        | Value::Float(_)
        | Value::Bytes(_) => false,
        Value::List(items) => items.iter().all(settled),
        Value::Dict(items) => items.iter().all(|(key, value)| settled(key) && settled(value)),
        _ => true,
    }
}

/// A path and its text are the same name.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Path(path), Value::Str(text)) | (Value::Str(text), Value::Path(path)) => path.as_str() == text,
        _ => a == b,
    }
}

fn merged(a: HashMap<String, Value>, b: HashMap<String, Value>) -> HashMap<String, Value> {
    let mut b = b;
    let mut all: HashMap<String, Value> = HashMap::with_capacity(a.len());
    for (name, value) in a {
        let other = b.remove(&name);
        all.insert(name, other.map_or(Value::Unknown, |other| either(value, other)));
    }
    all.extend(b.into_keys().map(|name| (name, Value::Unknown)));
    all
}

fn bound_by(target: &Target, names: &mut Vec<String>) {
    match target {
        Target::Name(name, _) => names.push(name.clone()),
        Target::Tuple(targets) => targets.iter().for_each(|target| bound_by(target, names)),
        Target::Member(_) | Target::Other => {}
    }
}

/// Names that statements bind, or call a method of.
fn changed(body: &[Stmt], names: &mut Vec<String>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Bind { target, .. } => bound_by(target, names),
            StmtKind::For { target, body, .. } => {
                bound_by(target, names);
                changed(body, names);
            }
            StmtKind::While { body, .. } => changed(body, names),
            StmtKind::With { items, body } => {
                items.iter().filter_map(|(_, target)| target.as_ref()).for_each(|target| bound_by(target, names));
                changed(body, names);
            }
            StmtKind::If { then, otherwise, .. } => {
                changed(then, names);
                changed(otherwise, names);
            }
            StmtKind::Block(parts) => parts.iter().for_each(|part| changed(part, names)),
            StmtKind::Expr(expr) => expr.walk(&mut |expr| {
                if let ExprKind::Call { callee, .. } = &expr.kind
                    && let ExprKind::Attr(base, _) = &callee.kind
                    && let ExprKind::Name(name) = &base.kind
                {
                    names.push(name.clone());
                }
            }),
            _ => {}
        }
    }
}

/// Methods that change a list, text or path in place.
const CHANGING: &[&str] = &[
    "append",
    "push",
    "add",
    "extend",
    "insert",
    "remove",
    "clear",
    "sort",
    "reverse",
    "update",
    "pop",
    "truncate",
    "retain",
    "dedup",
    "push_str",
    "push_back",
    "setdefault",
    "discard",
    "drain",
    "set_extension",
    "set_file_name",
    "write",
];

/// Whether something inside the statement changes the name's value in place.
pub(super) fn mutates(stmt: &Stmt, name: &str) -> bool {
    let mut found = false;
    stmt.walk(&mut |expr| {
        if let ExprKind::Call { callee, .. } = &expr.kind
            && let ExprKind::Attr(base, method) = &callee.kind
            && matches!(&base.kind, ExprKind::Name(base) if base == name)
        {
            found |= CHANGING.contains(&method.as_str());
        }
        found |= read_into(expr).is_some_and(|(_, into)| into == name);
    });
    found
}

/// Whether a statement may leave the function.
fn leaves(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::With { body, .. } => {
            body.iter().any(leaves)
        }
        StmtKind::If { then, otherwise, .. } => then.iter().chain(otherwise).any(leaves),
        StmtKind::Block(parts) => parts.iter().flatten().any(leaves),
        _ => false,
    }
}

fn is_yield(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call { callee, .. } if matches!(&callee.kind, ExprKind::Name(name) if name == "yield"))
}

/// The value with the file's content, changed by that function, in the place of what is unknown.
fn made_of(value: Value, file: &Value, by: &str) -> Value {
    match value {
        Value::Unknown if *file != Value::Unknown => {
            Value::Content { path: Box::new(file.clone()), steps: vec![Step::Made(by.to_string())] }
        }
        Value::List(items) => {
            let parts = items.len() <= 8;
            Value::List(items.into_iter().map(|item| if parts { made_of(item, file, by) } else { item }).collect())
        }
        value => value,
    }
}
