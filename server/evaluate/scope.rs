//! The evaluator: names through local bindings, parameters, enclosing functions, classes, modules and
//! imports; operators; functions of one returned expression. Bounded in depth and in steps.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::parts::Parts;
use super::{Step, Value, World};
use crate::code::{Arg, Binding, Expr, ExprKind, Function, Op, Piece, Stmt, StmtKind, Target, Unit};
use crate::pins::fixtures;
use crate::pins::names::{self, Named};
use crate::pins::{Project, Site};
use crate::syntax::Language;
use crate::text::Span;

/// Values of names.
pub(super) type Env = Rc<RefCell<HashMap<String, Value>>>;

const DEEPEST: usize = 60;
/// Steps of one question, and how deep functions of the project are followed.
const STEPS: usize = 2_000;
const FOLLOWED: usize = 4;
/// The same for lists of cases: folders in folders.
const LISTED: usize = 16;
/// Steps of one list of cases.
const LISTING_STEPS: usize = 2_000_000;

/// Where an expression stands.
#[derive(Clone)]
pub(super) struct Place<'a> {
    pub unit: &'a Unit,
    pub function: Option<&'a Function>,
    /// Classes or modules around, where it is not in a function.
    pub within: &'a [String],
    /// Bindings that begin before this byte count.
    pub at: usize,
    /// Frame of the site, where it is one: its parameters and loop variables are known to the world.
    pub frame: Option<usize>,
    /// Parameters of a function that is followed, and the names that it binds where it is carried out.
    pub args: Env,
}

impl Place<'_> {
    pub fn scope(&self) -> Vec<String> {
        if self.function.is_some() { names::scope_of(self.function) } else { self.within.to_vec() }
    }
}

pub(super) struct Eval<'a> {
    pub project: &'a Project,
    pub site: Option<&'a Site>,
    pub world: Option<&'a World>,
    pub(super) fuel: Cell<usize>,
    pub(super) following: Cell<usize>,
    /// Files of which the content was taken, in order.
    pub(super) opened: RefCell<Vec<Value>>,
    /// Values of names and calls met before, by expression and place: one local used twice is valued once.
    met: RefCell<HashMap<Met, Value>>,
}

/// Expression, function, position and frame.
type Met = (usize, usize, usize, Option<usize>);

/// The last thing that a straight walk to a place bound to a name.
pub(super) enum Local<'a> {
    Not,
    /// The expression, the part of it that a tuple target takes, and where it stands.
    Is(&'a Expr, Vec<usize>, usize),
    Unknown,
}

impl<'a> Eval<'a> {
    pub fn new(project: &'a Project, site: Option<&'a Site>, world: Option<&'a World>) -> Eval<'a> {
        Eval {
            project,
            site,
            world,
            fuel: Cell::new(STEPS),
            following: Cell::new(0),
            opened: RefCell::default(),
            met: RefCell::default(),
        }
    }

    /// One with more steps, for a list that many cases come from.
    pub fn patient(project: &'a Project, site: Option<&'a Site>, world: Option<&'a World>) -> Eval<'a> {
        let eval = Eval::new(project, site, world);
        eval.fuel.set(LISTING_STEPS);
        eval
    }

    /// Place of a frame of the site.
    pub fn frame(&self, index: usize) -> Option<Place<'a>> {
        let frame = self.site?.frames.get(index)?;
        let unit = self.project.unit(&frame.file)?;
        let function = frame.function.and_then(|f| unit.functions.get(f));
        Some(Place { unit, function, within: &[], at: frame.at.start, frame: Some(index), args: Env::default() })
    }

    pub fn module(&self, unit: &'a Unit) -> Place<'a> {
        Place { unit, function: None, within: &[], at: usize::MAX, frame: None, args: Rc::default() }
    }

    pub fn value(&self, place: &Place<'a>, expr: &'a Expr, depth: usize) -> Value {
        let fuel = self.fuel.get();
        if depth >= DEEPEST || fuel == 0 {
            return Value::Unknown;
        }
        self.fuel.set(fuel - 1);
        let again = matches!(expr.kind, ExprKind::Name(_) | ExprKind::Call { .. } | ExprKind::Attr(..));
        if !again || !place.args.borrow().is_empty() {
            return self.value_of(place, expr, depth + 1);
        }
        let function = place.function.map_or(0, |function| std::ptr::from_ref(function) as usize);
        let met: Met = (std::ptr::from_ref(expr) as usize, function, place.at, place.frame);
        if let Some(value) = self.met.borrow().get(&met) {
            return value.clone();
        }
        let value = self.value_of(place, expr, depth + 1);
        // A value that is unknown because the steps ran out may be known from elsewhere.
        if self.fuel.get() > 0 {
            self.met.borrow_mut().insert(met, value.clone());
        }
        value
    }

    fn value_of(&self, place: &Place<'a>, expr: &'a Expr, depth: usize) -> Value {
        match &expr.kind {
            ExprKind::Str(text) => Value::Str(text.clone()),
            ExprKind::Char(c) => Value::Str(c.to_string()),
            ExprKind::Bytes(bytes) => Value::Bytes(bytes.clone()),
            ExprKind::Int(text) => text.parse().map_or(Value::Unknown, Value::Int),
            ExprKind::Float(text) => Value::Float(text.clone()),
            ExprKind::Bool(yes) => Value::Bool(*yes),
            ExprKind::None => Value::None,
            ExprKind::Name(name) => self.name(place, name, depth),
            ExprKind::Format(pieces) => self.format(place, pieces, depth),
            ExprKind::Neg(inner) => match self.value(place, inner, depth) {
                Value::Int(number) => number.checked_neg().map_or(Value::Unknown, Value::Int),
                Value::Float(text) => Value::Float(format!("-{text}")),
                _ => Value::Unknown,
            },
            ExprKind::Binary(op, left, right) => self.binary(place, *op, left, right, depth),
            ExprKind::Not(inner) => match self.value(place, inner, depth) {
                Value::Bool(yes) => Value::Bool(!yes),
                value => truth(&value).map_or(Value::Unknown, |yes| Value::Bool(!yes)),
            },
            ExprKind::File(path) => Value::Path(path.clone()),
            ExprKind::Block(body) => self.comprehended(place, body, depth),
            ExprKind::List(items) | ExprKind::Tuple(items) | ExprKind::Set(items) => {
                Value::List(items.iter().map(|item| self.value(place, item, depth)).collect())
            }
            ExprKind::Dict(items) => Value::Dict(
                items
                    .iter()
                    .map(|(key, value)| (self.value(place, key, depth), self.value(place, value, depth)))
                    .collect(),
            ),
            ExprKind::Index(base, key) => self.index(place, base, key, depth),
            ExprKind::Attr(base, name) => self.attribute(place, expr, base, name, depth),
            ExprKind::Call { callee, args } => self.call(place, expr, callee, args, depth),
            ExprKind::Macro { name, args, .. } => self.macro_call(place, name, args, depth),
            ExprKind::At(inner) => self.value(place, inner, depth),
            ExprKind::Cond(cond, then, otherwise) => {
                if let Some(yes) = truth(&self.value(place, cond, depth)) {
                    return self.value(place, if yes { then } else { otherwise }, depth);
                }
                let (then, otherwise) = (self.value(place, then, depth), self.value(place, otherwise, depth));
                if then == otherwise { then } else { Value::Unknown }
            }
            _ => Value::Unknown,
        }
    }

    fn format(&self, place: &Place<'a>, pieces: &'a [Piece], depth: usize) -> Value {
        let mut all = Parts::text("");
        for piece in pieces {
            let part = match piece {
                Piece::Text(text) => Parts::text(text.clone()),
                Piece::Hole(expr, spec) => match self.value(place, expr, depth) {
                    value if spec.is_empty() || matches!(spec.as_str(), "!s" | "{}" | ":") => Parts::of(&value),
                    Value::Digest(alg) if pieces.len() == 1 => return Value::Digest(alg),
                    Value::Int(number) => padded(number, spec).map_or(Parts::unknown(), Parts::text),
                    _ => Parts::unknown(),
                },
            };
            if let ([Piece::Hole(hole, _)], true) = (pieces, part.parts == [None]) {
                let value = self.value(place, hole, depth);
                if matches!(value, Value::Digest(_)) {
                    return value;
                }
            }
            all = all.then(part);
        }
        all.value()
    }

    fn binary(&self, place: &Place<'a>, op: Op, left: &'a Expr, right: &'a Expr, depth: usize) -> Value {
        if matches!(op, Op::Eq | Op::Ne | Op::In | Op::NotIn | Op::And | Op::Or | Op::Is | Op::IsNot) {
            return self.condition(place, op, left, right, depth);
        }
        let (a, b) = (self.value(place, left, depth), self.value(place, right, depth));
        match (op, &a, &b) {
            (Op::Add, Value::Int(x), Value::Int(y)) => x.checked_add(*y).map_or(Value::Unknown, Value::Int),
            (Op::Sub, Value::Int(x), Value::Int(y)) => x.checked_sub(*y).map_or(Value::Unknown, Value::Int),
            (Op::Mul, Value::Int(x), Value::Int(y)) => x.checked_mul(*y).map_or(Value::Unknown, Value::Int),
            (Op::Add, Value::List(x), Value::List(y)) => Value::List(x.iter().chain(y).cloned().collect()),
            // `read + "\n"`: the comparison sees more than the file holds.
            (Op::Add, Value::Content { .. }, Value::Str(more)) => {
                a.clone().stepped(Step::Unknown(format!("adds {more:?}")))
            }
            (Op::Add, ..)
                if is_text(&a) && (is_text(&b) || b == Value::Unknown) || a == Value::Unknown && is_text(&b) =>
            {
                Parts::of(&a).then(Parts::of(&b)).value()
            }
            (Op::Div, ..) if is_text(&a) || is_text(&b) => Parts::of(&a).join(Parts::of(&b)).value(),
            (Op::Mod, Value::Str(format), _) if place.unit.language == Language::Python => percent(format, &b).value(),
            _ => Value::Unknown,
        }
    }

    fn index(&self, place: &Place<'a>, base: &'a Expr, key: &'a Expr, depth: usize) -> Value {
        if let ExprKind::Attr(owner, name) = &base.kind
            && name == "parents"
        {
            let Value::Int(up) = self.value(place, key, depth) else { return Value::Unknown };
            let start = self.value(place, owner, depth);
            return (0..=up.clamp(0, 32)).fold(start, |path, _| super::parts::parent(&path));
        }
        if let ExprKind::Call { callee, args } = &key.kind
            && matches!(&callee.kind, ExprKind::Name(name) if name == "slice")
        {
            let bounds: Vec<Value> = args.iter().map(|arg| self.value(place, &arg.value, depth)).collect();
            return sliced(self.value(place, base, depth), &bounds);
        }
        let key = self.value(place, key, depth);
        match (self.value(place, base, depth), key) {
            (Value::List(items), Value::Int(at)) => {
                let at = if at < 0 { at + items.len() as i64 } else { at };
                usize::try_from(at).ok().and_then(|at| items.get(at).cloned()).unwrap_or(Value::Unknown)
            }
            (Value::Dict(items), key) if key != Value::Unknown => {
                items.into_iter().rfind(|(k, _)| *k == key).map_or(Value::Unknown, |(_, value)| value)
            }
            _ => Value::Unknown,
        }
    }

    /// Value of a name: the nearest binding that a straight walk reaches.
    pub fn name(&self, place: &Place<'a>, name: &str, depth: usize) -> Value {
        if place.unit.language == Language::Python && name == "__file__" {
            return Value::Path(place.unit.path.clone());
        }
        if let Some(value) = self.variable(place, name, depth) {
            return value;
        }
        let scope = place.scope();
        self.named(names::find(self.project, place.unit, &scope, name), depth)
    }

    pub fn named(&self, found: Option<Named<'a>>, depth: usize) -> Value {
        match found {
            Some(Named::Constant(unit, binding)) => {
                let place = Place { within: &binding.path, ..self.module(unit) };
                match self.at_import(&place, binding, depth + 1) {
                    Some(value) => value,
                    None => self.value(&place, &binding.value, depth + 1),
                }
            }
            _ => Value::Unknown,
        }
    }

    /// Value of a parameter, a loop variable or a local binding, here or in a function around.
    fn variable(&self, place: &Place<'a>, name: &str, depth: usize) -> Option<Value> {
        if let Some(value) = place.args.borrow().get(name) {
            return Some(value.clone());
        }
        if let Some(given) = self.given(place, name) {
            return Some(given.map_or(Value::Unknown, |(given, outer)| self.value(&outer, given, depth + 1)));
        }
        let function = place.function?;
        match self.local(&function.body, place.at, name) {
            Local::Is(expr, part, at) => {
                let inner = Place { at, ..place.clone() };
                let value = self.value(&inner, expr, depth + 1);
                let value = part.iter().fold(value, part_of);
                return Some(self.mutated(&function.body, (at, place.at), name, value, place, depth));
            }
            Local::Unknown => {
                return Some(self.bound(place, name, depth).unwrap_or(Value::Unknown));
            }
            Local::Not => {}
        }
        if let Some(value) = self.bound(place, name, depth) {
            return Some(value);
        }
        if let Some(param) = function.params.iter().find(|p| p.name.trim_start_matches('*') == name) {
            if let Some(frame) = place.frame.filter(|frame| *frame > 0)
                && let Some(given) = self.site.and_then(|site| site.frames.get(frame)?.given.get(name))
                && let Some(outer) = self.frame(frame - 1)
            {
                return Some(self.value(&outer, given, depth + 1));
            }
            if place.unit.language == Language::Python
                && (place.frame == Some(0) || fixtures::is_fixture(function))
                && let Some(value) = self.fixture(place.unit, function, name, depth)
            {
                return Some(value);
            }
            return Some(match &param.default {
                Some(default) if place.frame != Some(0) => self.value(&self.module(place.unit), default, depth + 1),
                _ => Value::Unknown,
            });
        }
        // A function inside a function sees the outer one's names.
        let (outer_name, outer_path) = function.path.split_last()?;
        let outer = place.unit.functions.iter().find(|f| f.name == *outer_name && f.path == outer_path)?;
        let same = self.site.and_then(|site| {
            site.frames.iter().position(|frame| {
                frame.file == place.unit.path
                    && frame.function.and_then(|f| place.unit.functions.get(f)).is_some_and(|f| f.span == outer.span)
            })
        });
        let outer = Place {
            unit: place.unit,
            function: Some(outer),
            within: &[],
            at: function.span.start,
            frame: same,
            args: Rc::default(),
        };
        self.variable(&outer, name, depth + 1)
    }

    /// What the fixture that a test or a fixture requests is worth.
    fn fixture(&self, unit: &'a Unit, function: &'a Function, name: &str, depth: usize) -> Option<Value> {
        let item = self.frame(0).and_then(|place| Some((place.unit, place.function?)));
        let found = fixtures::requested(self.project, item, unit, function, name)?;
        let function = found.function()?;
        let given = fixtures::gives(function)?;
        let place = Place {
            unit: found.unit,
            function: Some(function),
            within: &[],
            at: given.span.start,
            frame: None,
            args: Rc::default(),
        };
        Some(self.value(&place, given, depth + 1))
    }

    /// What the world binds in that frame.
    fn bound(&self, place: &Place<'a>, name: &str, depth: usize) -> Option<Value> {
        let bound = self.world?.bound.get(place.frame?)?;
        let (_, expr) = bound.iter().rfind(|(bound, _)| bound == name)?;
        let function = place.function;
        // Parameter rows stand at the module's level, loop items before the loop.
        let at = if expr.span.end == 0 { usize::MAX } else { expr.span.start };
        let outer = Place { at, args: Rc::default(), function, ..place.clone() };
        if matches!(&expr.kind, ExprKind::Name(other) if other == name) {
            return Some(self.named(names::find(self.project, place.unit, &[], name), depth + 1));
        }
        Some(self.value(&outer, expr, depth + 1))
    }

    /// What a macro's `$x` stands for, and where that stands.
    fn given(&self, place: &Place<'a>, name: &str) -> Option<Option<(&'a Expr, Place<'a>)>> {
        if !name.starts_with('$') {
            return None;
        }
        let frame = place.frame.filter(|frame| *frame > 0);
        Some(frame.and_then(|frame| Some((self.site?.frames.get(frame)?.given.get(name)?, self.frame(frame - 1)?))))
    }

    /// The expression that a local name or a parameter is bound to, and the place where it stands.
    pub fn binding(&self, place: &Place<'a>, name: &str) -> Option<(&'a Expr, Place<'a>)> {
        if let Some(given) = self.given(place, name) {
            return given;
        }
        let function = place.function?;
        match self.local(&function.body, place.at, name) {
            Local::Is(expr, part, at) if part.is_empty() => return Some((expr, Place { at, ..place.clone() })),
            Local::Not => {}
            _ => return None,
        }
        let frame = place.frame.filter(|frame| *frame > 0)?;
        let given = self.site?.frames.get(frame)?.given.get(name)?;
        Some((given, self.frame(frame - 1)?))
    }

    pub(super) fn local(&self, body: &'a [Stmt], at: usize, name: &str) -> Local<'a> {
        let mut found = Local::Not;
        for stmt in body {
            if stmt.span.start >= at {
                break;
            }
            let inside = stmt.span.holds(at);
            match &stmt.kind {
                // A name is not bound while its own value is computed.
                StmtKind::Bind { .. } if inside => {}
                StmtKind::Bind { target, value } => {
                    let mut part = Vec::new();
                    if target_part(target, name, &mut part) {
                        found = Local::Is(value, part, stmt.span.start);
                    }
                }
                StmtKind::With { items, body } => {
                    for (item, target) in items {
                        let mut part = Vec::new();
                        if target.as_ref().is_some_and(|target| target_part(target, name, &mut part))
                            && item.span.end <= at
                        {
                            found = Local::Is(item, part, item.span.start);
                        }
                    }
                    match self.local(body, at, name) {
                        Local::Not => {}
                        inner => found = inner,
                    }
                }
                StmtKind::For { target, body, .. } => {
                    let mut part = Vec::new();
                    if target_part(target, name, &mut part) {
                        found = Local::Unknown;
                    }
                    self.branch(&[body], inside, at, name, &mut found);
                }
                StmtKind::While { body, .. } => self.branch(&[body], inside, at, name, &mut found),
                StmtKind::If { then, otherwise, .. } => self.branch(&[then, otherwise], inside, at, name, &mut found),
                StmtKind::Expr(expr) if inside => {
                    if let Some(body) = closure_around(expr, at) {
                        match self.local(body, at, name) {
                            Local::Not => {}
                            inner => found = inner,
                        }
                    }
                }
                StmtKind::Block(parts) => {
                    let parts: Vec<&'a [Stmt]> = parts.iter().map(Vec::as_slice).collect();
                    self.branch(&parts, inside, at, name, &mut found);
                }
                _ => {}
            }
        }
        found
    }

    /// Parts of which any may have run.
    fn branch<P: AsRef<[Stmt]> + ?Sized>(
        &self,
        parts: &[&'a P],
        inside: bool,
        at: usize,
        name: &str,
        found: &mut Local<'a>,
    ) {
        for part in parts {
            let part: &'a [Stmt] = (*part).as_ref();
            let here = part.iter().any(|stmt| stmt.span.holds(at));
            match self.local(part, if here { at } else { usize::MAX }, name) {
                Local::Not => {}
                inner if here => *found = inner,
                _ if inside && part.first().is_some_and(|stmt| stmt.span.start > at) => {}
                _ => *found = Local::Unknown,
            }
        }
    }

    /// A value after the statements that change it in place (`path.push("x")`, `items.append(…)`).
    fn mutated(
        &self,
        body: &'a [Stmt],
        between: (usize, usize),
        name: &str,
        value: Value,
        place: &Place<'a>,
        depth: usize,
    ) -> Value {
        let mut value = value;
        for stmt in body {
            if stmt.span.start <= between.0 || stmt.span.start >= between.1 {
                continue;
            }
            let StmtKind::Expr(expr) = &stmt.kind else {
                if super::run::mutates(stmt, name) {
                    value = Value::Unknown;
                }
                continue;
            };
            if let Some((read, into)) = super::run::read_into(expr)
                && into == name
            {
                let inner = Place { at: stmt.span.start, ..place.clone() };
                value = self.value(&inner, read, depth + 1).decoded();
                continue;
            }
            let ExprKind::Call { callee, args } = &expr.kind else { continue };
            let ExprKind::Attr(base, method) = &callee.kind else { continue };
            if !matches!(&base.kind, ExprKind::Name(base) if base == name) {
                continue;
            }
            let inner = Place { at: stmt.span.start, ..place.clone() };
            let arg = args.first().map_or(Value::Unknown, |arg| self.value(&inner, &arg.value, depth + 1));
            value = match (method.as_str(), &value) {
                ("push", Value::Str(_) | Value::Path(_) | Value::Paths(_) | Value::Pattern(_)) => {
                    Parts::of(&value).join(Parts::of(&arg)).value()
                }
                ("pop", Value::Path(_) | Value::Paths(_)) => super::parts::parent(&value),
                ("set_extension" | "set_file_name", _) => self.method(place.unit.language, value, method, &[arg]),
                ("push_str", _) if is_text(&value) => Parts::of(&value).then(Parts::of(&arg)).value(),
                ("append" | "push", Value::List(items)) => Value::List(items.iter().cloned().chain([arg]).collect()),
                (
                    "extend" | "insert" | "remove" | "clear" | "sort" | "reverse" | "update" | "pop" | "truncate"
                    | "retain" | "dedup" | "read_to_string" | "read_to_end",
                    _,
                ) => Value::Unknown,
                _ => value,
            };
        }
        value
    }

    /// `self.x` that the test has bound before, or that a method which runs before the tests binds.
    pub(super) fn member(&self, place: &Place<'a>, dotted: &str, depth: usize) -> Option<Value> {
        const BEFORE: [&str; 6] = ["setUp", "setUpClass", "setup_method", "setup_class", "__init__", "asyncSetUp"];
        let member = dotted.strip_prefix("self.").or_else(|| dotted.strip_prefix("cls."))?;
        if place.unit.language != Language::Python || member.contains('.') {
            return None;
        }
        let wanted = format!("self.{member}");
        if let Some(function) = place.function {
            match self.local(&function.body, place.at, &wanted) {
                Local::Is(expr, part, at) => {
                    let value = self.value(&Place { at, ..place.clone() }, expr, depth + 1);
                    return Some(part.iter().fold(value, part_of));
                }
                Local::Unknown => return Some(Value::Unknown),
                Local::Not => {}
            }
        }
        BEFORE.iter().find_map(|name| {
            let found = names::find(self.project, place.unit, &place.scope(), &format!("self.{name}"))?;
            let Named::Function(unit, index) = found else { return None };
            let function = unit.functions.get(index)?;
            let Local::Is(expr, part, at) = self.local(&function.body, usize::MAX, &wanted) else { return None };
            let inner = Place { function: Some(function), at, ..self.module(unit) };
            Some(part.iter().fold(self.value(&inner, expr, depth + 1), part_of))
        })
    }

    /// The value that a constant has once its module is imported, where statements beside its own make it:
    /// one name of several, or a list that a loop fills.
    fn at_import(&self, place: &Place<'a>, binding: &'a Binding, depth: usize) -> Option<Value> {
        let unit = place.unit;
        if !binding.path.is_empty() || unit.language != Language::Python {
            return None;
        }
        if binding.value.kind == ExprKind::Opaque {
            let mut part = Vec::new();
            let value = unit.top.iter().rev().find_map(|stmt| match &stmt.kind {
                StmtKind::Bind { target: target @ Target::Tuple(_), value } => {
                    part.clear();
                    target_part(target, &binding.name, &mut part).then_some(value)
                }
                _ => None,
            })?;
            let value = self.value(place, value, depth);
            return Some(part.iter().fold(value, part_of));
        }
        if !matches!(&binding.value.kind, ExprKind::List(_) | ExprKind::Dict(_) | ExprKind::Call { .. }) {
            return None;
        }
        let fills = |stmt: &Stmt| {
            let mut found = false;
            stmt.walk(&mut |expr| {
                if let ExprKind::Call { callee, .. } = &expr.kind
                    && let ExprKind::Attr(base, _) = &callee.kind
                {
                    found |= matches!(&base.kind, ExprKind::Name(name) if *name == binding.name);
                }
            });
            found && stmt.span.start > binding.span.end
        };
        if !unit.top.iter().any(fills) {
            return None;
        }
        let start = self.value(place, &binding.value, depth);
        let statements = unit.top.iter().filter(|stmt| fills(stmt));
        Some(self.filled(unit, &binding.name, start, statements, depth))
    }

    /// Value of a call of one of the project's functions: its returned expression, or what carrying it out
    /// gives. `given` are the values of `args`.
    pub fn follow(
        &self,
        place: &Place<'a>,
        callee: &'a Expr,
        args: &'a [Arg],
        given: &[Value],
        depth: usize,
    ) -> Option<Value> {
        if self.following.get() >= if self.fuel.get() > 10 * STEPS { LISTED } else { FOLLOWED } {
            return None;
        }
        if given.contains(&Value::Unknown) && args.iter().any(|arg| arg.spread) {
            return None;
        }
        let handed = match (place.unit.language, place.function) {
            (Language::Python, Some(caller)) => fixtures::callee(self.project, place.unit, caller, callee),
            _ => None,
        };
        let (unit, index) = match handed {
            Some(found) => found?,
            None => match names::find(self.project, place.unit, &place.scope(), &callee.dotted()?)? {
                Named::Function(unit, index) => (unit, index),
                _ => return None,
            },
        };
        let function = unit.functions.get(index)?;
        let mut values = HashMap::new();
        for (param, expr) in crate::pins::sites::given(unit.language, function, callee, args) {
            let valued = |expr: &Expr| {
                let at = args.iter().position(|arg| arg.value.span == expr.span);
                at.and_then(|at| given.get(at).cloned()).unwrap_or(Value::Unknown)
            };
            let value = match &expr.kind {
                // What a parameter with a star takes.
                ExprKind::Tuple(rest) if expr.span == Span::default() => Value::List(rest.iter().map(valued).collect()),
                _ => valued(&expr),
            };
            values.insert(param, value);
        }
        // One list of many cases is asked for by every test, and by every framework of each.
        let many = self.fuel.get() > 10 * STEPS && self.following.get() == 0;
        let asked = if many { asked(&values) } else { None };
        if let Some(asked) = &asked
            && let Some(kept) = self.project.names.kept::<Value>(&self.project.shelf, &unit.path, index, asked)
        {
            return Some((*kept).clone());
        }
        self.following.set(self.following.get() + 1);
        let straight = single_return(&function.body).map_or(Value::Unknown, |result| {
            let inner = Place {
                unit,
                function: Some(function),
                within: &[],
                at: result.span.start,
                frame: None,
                args: Rc::new(RefCell::new(values.clone())),
            };
            self.value(&inner, result, depth)
        });
        let value = match straight {
            value if !is_hollow(&value) || !self.is_worth_running(unit, index) => value,
            _ => self.run(unit, function, values, depth),
        };
        self.following.set(self.following.get().saturating_sub(1));
        if let (Some(asked), Value::List(_)) = (&asked, &value) {
            let kept = std::sync::Arc::new(value.clone());
            self.project.names.keep(&self.project.shelf, &unit.path, index, asked, kept);
        }
        Some(value)
    }
}

/// Arguments as a text, where all of them are known and short.
fn asked(values: &HashMap<String, Value>) -> Option<String> {
    let mut texts: Vec<String> = Vec::new();
    for (name, value) in values {
        if !matches!(value, Value::Str(_) | Value::Path(_) | Value::Bool(_) | Value::Int(_) | Value::None) {
            return None;
        }
        texts.push(format!("{name}={value:?}"));
    }
    texts.sort();
    Some(texts.join(",")).filter(|text| text.len() < 1_000)
}

/// The one expression that a function returns, reached straight; `None` when there are several.
fn single_return(body: &[Stmt]) -> Option<&Expr> {
    fn gather<'b>(body: &'b [Stmt], straight: bool, found: &mut Vec<Option<&'b Expr>>) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Return(value) => found.push(value.as_ref().filter(|_| straight)),
                StmtKind::With { body, .. } => gather(body, straight, found),
                StmtKind::For { body, .. } | StmtKind::While { body, .. } => gather(body, false, found),
                StmtKind::If { then, otherwise, .. } => {
                    gather(then, false, found);
                    gather(otherwise, false, found);
                }
                StmtKind::Block(parts) => {
                    parts.iter().for_each(|part| gather(part, parts.len() == 1 && straight, found))
                }
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    gather(body, true, &mut found);
    match found.as_slice() {
        [Some(one)] => Some(one),
        _ => None,
    }
}

/// The body of the outermost closure in an expression that holds that place.
fn closure_around(expr: &Expr, at: usize) -> Option<&[Stmt]> {
    if !expr.span.holds(at) {
        return None;
    }
    if let ExprKind::Closure { body, .. } = &expr.kind {
        return Some(body);
    }
    let mut found = None;
    expr.parts(&mut |part| {
        if found.is_none() {
            found = closure_around(part, at);
        }
    });
    found
}

/// One item of a value that is taken apart; a part of what a function made of a file is made of it too.
pub(super) fn part_of(value: Value, at: &usize) -> Value {
    match value {
        Value::List(items) => items.into_iter().nth(*at).unwrap_or(Value::Unknown),
        Value::Content { ref steps, .. } if matches!(steps.last(), Some(Step::Made(_))) => value,
        _ => Value::Unknown,
    }
}

/// `value[a:b]` of a list or text.
fn sliced(value: Value, bounds: &[Value]) -> Value {
    let (from, to) = match bounds {
        [from] => (from, &Value::None),
        [from, to] | [from, to, Value::None] => (from, to),
        _ => return Value::Unknown,
    };
    let cut = |length: usize| {
        let at = |bound: &Value, open: usize| match bound {
            Value::None => Some(open),
            Value::Int(at) if *at < 0 => Some((at + length as i64).max(0) as usize),
            Value::Int(at) => Some((*at as usize).min(length)),
            _ => None,
        };
        let (from, to) = (at(from, 0)?, at(to, length)?);
        Some(from.min(to)..to)
    };
    match value {
        Value::List(items) => cut(items.len())
            .and_then(|range| items.get(range))
            .map_or(Value::Unknown, |part| Value::List(part.to_vec())),
        Value::Str(text) => {
            let letters: Vec<char> = text.chars().collect();
            cut(letters.len())
                .and_then(|range| letters.get(range))
                .map_or(Value::Unknown, |part| Value::Str(part.iter().collect()))
        }
        _ => Value::Unknown,
    }
}

/// Nothing is known of it, or of some of its parts.
fn is_hollow(value: &Value) -> bool {
    match value {
        Value::Unknown => true,
        Value::List(items) => items.iter().take(16).any(is_hollow),
        _ => false,
    }
}

/// What a value says as a condition; `None` where that is not known.
pub(super) fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(yes) => Some(*yes),
        Value::None => Some(false),
        Value::Int(number) => Some(*number != 0),
        Value::Str(text) => Some(!text.is_empty()),
        Value::Path(_) => Some(true),
        Value::List(items) => Some(!items.is_empty()),
        Value::Dict(items) => Some(!items.is_empty()),
        _ => None,
    }
}

/// Whether a target binds `name`; the way to it through tuples.
fn target_part(target: &Target, name: &str, part: &mut Vec<usize>) -> bool {
    match target {
        Target::Name(bound, _) => bound == name,
        Target::Tuple(targets) => targets.iter().enumerate().any(|(i, target)| {
            part.push(i);
            let found = target_part(target, name, part);
            if !found {
                part.pop();
            }
            found
        }),
        Target::Member(member) => name.strip_prefix("self.") == Some(member),
        Target::Other => false,
    }
}

pub(super) fn is_text(value: &Value) -> bool {
    matches!(value, Value::Str(_) | Value::Path(_) | Value::Pattern(_) | Value::Paths(_))
}

/// `03`, `:03d` of a whole number; `None` for other formats.
fn padded(number: i64, spec: &str) -> Option<String> {
    let spec = spec.trim_start_matches(':').trim_end_matches('d');
    let width: usize = spec.strip_prefix('0').unwrap_or(spec).parse().ok().filter(|width| *width <= 64)?;
    Some(if spec.starts_with('0') { format!("{number:0width$}") } else { format!("{number:width$}") })
}

/// Python's `"…%s…" % value`, for `%s` and `%d`.
fn percent(format: &str, value: &Value) -> Parts {
    let values: Vec<Value> = match value {
        Value::List(items) => items.clone(),
        one => vec![one.clone()],
    };
    let mut values = values.into_iter();
    let mut all = Parts::text("");
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        all = all.then(Parts::text(&rest[..at]));
        let code: String = rest[at + 1..].chars().take(1).collect();
        rest = &rest[at + 1 + code.len()..];
        all = all.then(match code.as_str() {
            "%" => Parts::text("%"),
            "s" | "d" | "i" => values.next().map_or(Parts::unknown(), |value| Parts::of(&value)),
            _ => return Parts::unknown(),
        });
    }
    all.then(Parts::text(rest))
}
