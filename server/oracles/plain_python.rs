//! Plain Python literals: `assert value == literal` either way round and the `assertEqual` family of unittest.
//! Takes a site, gives one pin for each case, at the literal that holds the recorded value: beside the
//! assertion, in a constant, in a cell of `parametrize`, in the tuple of a loop or in the call of a helper.
//! Which side is recorded is decided by which one is a literal. A comparison that has no value to accept
//! (`!=`, `in` …) is shown and never amended.

use super::golden::held;
use super::literal_python::{self, Names, Py, render};
use super::{Amended, Baseline, Content, FileChange, Oracle, OracleKind, Pin, Recorded, Refusal, digest_of};
use crate::code::python::{self, strings};
use crate::code::{self, Arg, Expr, ExprKind, Function, Op, Stmt, StmtKind, Target, Unit};
use crate::evaluate::{World, worlds};
use crate::pins::names::{self, Named};
use crate::pins::{Project, Site};
use crate::places::RelPath;
use crate::roles::Role;
use crate::syntax::Language;
use crate::text::Span;

/// Longest chain of names from an assertion to its literal.
const DEEPEST: usize = 8;

/// Node id of a test as pytest prints it, without a parameter id.
pub fn node_id(file: &RelPath, function: Option<&Function>) -> String {
    let mut id = file.to_string();
    if let Some(function) = function {
        for part in function.path.iter().chain([&function.name]) {
            id.push_str("::");
            id.push_str(part);
        }
    }
    id
}

/// A pin of a Python site in one of its worlds, its oracle still to be filled in.
pub(super) fn pin_of(project: &Project, site: &Site, world: &World, framework: &str, oracle: Oracle) -> Option<Pin> {
    let frame = site.frames.first()?;
    let function = frame.function.and_then(|index| project.unit(&frame.file)?.functions.get(index));
    let id = node_id(&frame.file, function);
    let comparing = site.comparing();
    Some(Pin {
        file: frame.file.clone(),
        span: frame.at,
        test: world.case.as_ref().map_or(id.clone(), |case| format!("{id}[{case}]")),
        case: world.case.clone(),
        nth: 0,
        language: Language::Python,
        framework: framework.to_string(),
        role: Role::Unlabelled,
        asserted_in: (site.frames.len() > 1).then(|| (comparing.file.clone(), comparing.at)),
        test_span: function.map(|function| function.span),
        oracle,
        shared_site: false,
    })
}

/// What a pin holds two sides to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Demand {
    Equal,
    /// Equal up to places, a delta or the order of items.
    Close,
    /// Anything but equality: there is no value to accept.
    Other(&'static str),
}

struct Comparison<'a> {
    left: &'a Expr,
    right: &'a Expr,
    demand: Demand,
    tolerance: Option<String>,
}

/// The pins of a site under the word of `framework` (`plain` or `unittest`).
pub fn pins(project: &Project, site: &Site, framework: &str) -> Vec<Pin> {
    let is_unittest = site.found.property("pin.form") == Some("unittest");
    if is_unittest != (framework == "unittest") {
        return Vec::new();
    }
    let frame = site.comparing();
    let Some(unit) = project.unit(&frame.file) else { return Vec::new() };
    let Some(function) = frame.function.and_then(|index| unit.functions.get(index)) else { return Vec::new() };
    let mut comparisons = Vec::new();
    if is_unittest {
        calls_at(&function.body, frame.at, &mut |args, method| {
            comparisons.extend(of_method(unit, method, args));
        });
    } else {
        asserts_at(&function.body, frame.at, &mut |cond| of_condition(cond, &mut comparisons));
    }
    if comparisons.is_empty() {
        return Vec::new();
    }
    let worlds = worlds(project, site);
    let reads = project.names.reach(project).reads(project, site);
    let mut pins = Vec::new();
    for world in &worlds {
        let search = Search { project, site, world };
        for comparison in &comparisons {
            let Some(found) = search.recorded(comparison, reads) else { continue };
            let mut oracle = found.oracle;
            if let Demand::Other(why) = comparison.demand {
                oracle.shown_only = Some(format!("`{why}` has no recorded value that could be accepted"));
            }
            oracle.tolerance = oracle.tolerance.or_else(|| comparison.tolerance.clone());
            if let Some(mut pin) = pin_of(project, site, world, framework, oracle) {
                pin.shared_site = worlds.len() > 1;
                pins.push(pin);
            }
        }
    }
    pins
}

fn asserts_at<'a>(body: &'a [Stmt], at: Span, see: &mut dyn FnMut(&'a Expr)) {
    statements(body, at, &mut |stmt| {
        if let StmtKind::Assert { cond, .. } = &stmt.kind
            && stmt.span == at
        {
            see(cond);
        }
    });
}

/// Calls `see` for each statement that holds `at`, outermost first.
pub(super) fn statements<'a>(body: &'a [Stmt], at: Span, see: &mut dyn FnMut(&'a Stmt)) {
    for stmt in body.iter().filter(|stmt| stmt.span.contains(at)) {
        see(stmt);
        match &stmt.kind {
            StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::With { body, .. } => {
                statements(body, at, see);
            }
            StmtKind::If { then, otherwise, .. } => {
                statements(then, at, see);
                statements(otherwise, at, see);
            }
            StmtKind::Block(parts) => parts.iter().for_each(|part| statements(part, at, see)),
            _ => {}
        }
    }
}

fn calls_at<'a>(body: &'a [Stmt], at: Span, see: &mut dyn FnMut(&'a [Arg], &'a str)) {
    for stmt in body.iter().filter(|stmt| stmt.span.contains(at)) {
        stmt.walk(&mut |expr| {
            if let ExprKind::Call { callee, args } = &expr.kind
                && expr.span == at
                && let ExprKind::Attr(_, method) = &callee.kind
            {
                see(args, method);
            }
        });
    }
}

fn of_condition<'a>(cond: &'a Expr, found: &mut Vec<Comparison<'a>>) {
    let mut add = |left, right, demand| found.push(Comparison { left, right, demand, tolerance: None });
    match &cond.kind {
        ExprKind::Binary(Op::Eq, left, right) => add(left, right, Demand::Equal),
        ExprKind::Binary(Op::Ne, left, right) => add(left, right, Demand::Other("!=")),
        ExprKind::Binary(Op::In, left, right) => add(left, right, Demand::Other("in")),
        ExprKind::Binary(Op::NotIn, left, right) => add(left, right, Demand::Other("not in")),
        ExprKind::Binary(Op::And, left, right) => {
            of_condition(left, found);
            of_condition(right, found);
        }
        ExprKind::Not(inner) => match &inner.kind {
            ExprKind::Binary(Op::Eq, left, right) => add(left, right, Demand::Other("not ==")),
            ExprKind::Binary(Op::Ne, left, right) => add(left, right, Demand::Equal),
            _ => {}
        },
        _ => {}
    }
}

fn of_method<'a>(unit: &Unit, method: &str, args: &'a [Arg]) -> Option<Comparison<'a>> {
    let plain: Vec<&Expr> = args.iter().filter(|arg| arg.name.is_none() && !arg.spread).map(|arg| &arg.value).collect();
    let named = |name: &str| args.iter().find(|arg| arg.name.as_deref() == Some(name)).map(|arg| &arg.value);
    let left = plain.first().copied().or_else(|| named("first"))?;
    let right = plain.get(1).copied().or_else(|| named("second"))?;
    let demand = match method {
        "assertAlmostEqual" | "assertCountEqual" => Demand::Close,
        "assertNotEqual" | "assertNotAlmostEqual" => Demand::Other("assertNotEqual"),
        "assertIn" => Demand::Other("assertIn"),
        "assertNotIn" => Demand::Other("assertNotIn"),
        _ => Demand::Equal,
    };
    let tolerance = match method {
        "assertAlmostEqual" => {
            let places = named("places")
                .or(plain.get(2).copied())
                .map(|places| format!("places={}", unit.text.slice(places.span)));
            let delta = named("delta").map(|delta| format!("delta={}", unit.text.slice(delta.span)));
            Some(delta.or(places).unwrap_or_else(|| "places=7".to_string()))
        }
        "assertCountEqual" => Some("in any order".to_string()),
        _ => None,
    };
    Some(Comparison { left, right, demand, tolerance })
}

/// A literal that was found, and how far from the assertion.
struct Found {
    oracle: Oracle,
    distance: usize,
    /// Of the site's frames, the one that the literal was found from.
    frame: usize,
}

struct Search<'a> {
    project: &'a Project,
    site: &'a Site,
    world: &'a World,
}

impl<'a> Search<'a> {
    /// The side that is a literal. None where the other side is a recorded file (looked for if the site `reads`
    /// any).
    fn recorded(&self, comparison: &Comparison, reads: bool) -> Option<Found> {
        let last = self.site.frames.len() - 1;
        let side = |expr| self.literal(last, expr, 0).map(|found| (found.distance, found));
        let (found, own, other) = super::plain::nearer(side, comparison.left, comparison.right)?;
        let handed = found.frame < last;
        let observed = reads && held::is_observed(self.project, self.site, self.world, (own, handed), other);
        (!observed).then_some(found)
    }

    fn unit(&self, frame: usize) -> Option<&'a Unit> {
        self.project.unit(&self.site.frames.get(frame)?.file)
    }

    fn literal(&self, frame: usize, expr: &Expr, distance: usize) -> Option<Found> {
        if distance > DEEPEST {
            return None;
        }
        let unit = self.unit(frame)?;
        if let Some(found) = in_unit(unit, expr, distance, frame) {
            return Some(found);
        }
        let ExprKind::Name(name) = &expr.kind else {
            let dotted = expr.dotted()?;
            return self.constant(frame, unit, &dotted, distance);
        };
        if let Some((_, bound)) = self.world.bound.get(frame)?.iter().rfind(|(bound, _)| bound == name) {
            return self.literal(frame, bound, distance + 1);
        }
        let at = &self.site.frames[frame];
        if let Some(given) = at.given.get(name) {
            return self.literal(frame.checked_sub(1)?, given, distance + 1);
        }
        let function = at.function.and_then(|index| unit.functions.get(index));
        if let Some(function) = function {
            if function.params.iter().any(|param| param.name == *name) {
                return None;
            }
            match local(function, name, at.at) {
                Local::Bound(value) => return self.literal(frame, value, distance + 1),
                Local::Unclear => return None,
                Local::None => {}
            }
        }
        self.constant(frame, unit, name, distance)
    }

    fn constant(&self, frame: usize, unit: &'a Unit, dotted: &str, distance: usize) -> Option<Found> {
        let function = self.site.frames[frame].function.and_then(|index| unit.functions.get(index));
        match names::find(self.project, unit, &names::scope_of(function), dotted)? {
            Named::Constant(unit, binding) => in_unit(unit, &binding.value, distance + 2, frame),
            _ => None,
        }
    }
}

pub(super) enum Local<'a> {
    Bound(&'a Expr),
    /// Bound in several places, or changed after it was bound.
    Unclear,
    None,
}

/// The one binding of a local name.
pub(super) fn local<'a>(function: &'a Function, name: &str, before: Span) -> Local<'a> {
    let mut found: Vec<(&Expr, usize)> = Vec::new();
    let mut unclear = false;
    code::each(&function.body, &mut |stmt| match &stmt.kind {
        StmtKind::Bind { target: Target::Name(bound, _), value } if bound == name => {
            found.push((value, stmt.span.start));
        }
        StmtKind::Bind { target, .. } | StmtKind::For { target, .. } => unclear |= binds(target, name),
        StmtKind::With { items, .. } => unclear |= items.iter().flat_map(|(_, target)| target).any(|t| binds(t, name)),
        _ => {}
    });
    match found.as_slice() {
        [] if unclear => Local::Unclear,
        [] => Local::None,
        [(value, at)] if !unclear && *at < before.start => {
            let mutable =
                matches!(value.kind, ExprKind::List(_) | ExprKind::Dict(_) | ExprKind::Set(_) | ExprKind::Call { .. });
            if mutable && touched(function, name) { Local::Unclear } else { Local::Bound(value) }
        }
        _ => Local::Unclear,
    }
}

fn binds(target: &Target, name: &str) -> bool {
    match target {
        Target::Name(bound, _) => bound == name,
        Target::Tuple(targets) => targets.iter().any(|target| binds(target, name)),
        Target::Member(_) | Target::Other => false,
    }
}

/// The name is used as more than an operand: a method is called on it, it is indexed or handed on.
fn touched(function: &Function, name: &str) -> bool {
    let is_it = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(found) if found == name);
    let mut touched = false;
    for stmt in &function.body {
        stmt.walk(&mut |expr| match &expr.kind {
            ExprKind::Attr(base, _) | ExprKind::Index(base, _) => touched |= is_it(base),
            ExprKind::Call { args, .. } => touched |= args.iter().any(|arg| is_it(&arg.value)),
            _ => {}
        });
    }
    touched
}

/// The oracle of an expression that is a literal of this unit, perhaps inside `approx`.
fn in_unit(unit: &Unit, expr: &Expr, distance: usize, frame: usize) -> Option<Found> {
    let (inner, tolerance) = match approximate(unit, expr) {
        Some((inner, tolerance)) => (inner, Some(tolerance)),
        None => (expr, None),
    };
    literal_python::value(inner, Names::Of(unit))?;
    let placed = inner.span.end > inner.span.start;
    let oracle = Oracle {
        kind: OracleKind::Literal,
        path: Some(unit.path.clone()),
        entry: None,
        span: placed.then_some(inner.span),
        candidates: Vec::new(),
        steps: Vec::new(),
        shown_only: (!placed).then(|| "the recorded value is computed; there is no literal to change".to_string()),
        key: String::new(),
        tolerance,
    };
    Some(Found { oracle, distance, frame })
}

/// The value inside `approx(value, …)` and the tolerance as written.
fn approximate<'a>(unit: &Unit, expr: &'a Expr) -> Option<(&'a Expr, String)> {
    let ExprKind::Call { callee, args } = &expr.kind else { return None };
    let name = callee.dotted()?;
    let (first, rest) = name.split_once('.').unwrap_or((&name, ""));
    let import = unit.imports.iter().rfind(|import| import.local == first)?;
    let path = if rest.is_empty() { import.path.clone() } else { format!("{}.{rest}", import.path) };
    if path != "pytest.approx" {
        return None;
    }
    let value = args.iter().find(|arg| !arg.spread && matches!(arg.name.as_deref(), None | Some("expected")))?;
    let others: Vec<String> = args
        .iter()
        .filter(|arg| !std::ptr::eq(*arg, value))
        .map(|arg| {
            let name = arg.name.as_ref().map_or(String::new(), |name| format!("{name}="));
            format!("{name}{}", unit.text.slice(arg.value.span))
        })
        .collect();
    let tolerance = if others.is_empty() { "rel=1e-6".to_string() } else { others.join(", ") };
    Some((&value.value, tolerance))
}

/// The literal of a pin with the unit that holds it. Spans count in the unit.
pub(super) fn held<'a>(pin: &Pin, project: &'a Project) -> Option<(&'a Unit, Expr)> {
    let unit = project.unit(pin.oracle.path.as_ref()?)?;
    let span = pin.oracle.span?;
    let source = unit.text.slice(span);
    // Behind an opening bracket, so that adjacent strings may stand on several lines.
    let mut expr = python::expression(&format!("({source}\n)"))?;
    shift(&mut expr, span.start.wrapping_sub(1));
    Some((unit, expr))
}

fn shift(expr: &mut Expr, by: usize) {
    expr.span = Span { start: expr.span.start.wrapping_add(by), end: expr.span.end.wrapping_add(by) };
    match &mut expr.kind {
        ExprKind::List(items) | ExprKind::Tuple(items) | ExprKind::Set(items) => {
            items.iter_mut().for_each(|item| shift(item, by));
        }
        ExprKind::Dict(items) => items.iter_mut().for_each(|(key, value)| {
            shift(key, by);
            shift(value, by);
        }),
        ExprKind::Neg(inner) | ExprKind::Attr(inner, _) => shift(inner, by),
        ExprKind::Call { callee, args } => {
            shift(callee, by);
            args.iter_mut().for_each(|arg| shift(&mut arg.value, by));
        }
        _ => {}
    }
}

/// The recorded value of a literal.
pub fn baseline(pin: &Pin, project: &Project) -> Baseline {
    let Some((unit, expr)) = held(pin, project) else { return Baseline::Missing };
    let Some(content) = literal_python::content(&expr, Names::Of(unit)) else { return Baseline::Missing };
    let first = unit.line(expr.span.start);
    let opens = strings::parts(unit.text.slice(expr.span)).and_then(|parts| {
        let part = parts.first()?;
        Some(
            part.form.quote.len() == 3
                && !part.form.raw
                && part.body.starts_with(['\\'])
                && part.body[1..].starts_with(['\n', '\r']),
        )
    });
    Baseline::Present(Recorded {
        content,
        first_line: first + usize::from(opens == Some(true)),
        file_digest: unit.text.digest().to_string(),
        preimage: None,
    })
}

/// The edits that make `observed` the value of the literal.
pub fn amend(pin: &Pin, observed: &Content, project: &Project) -> Result<Amended, Refusal> {
    let (Some((unit, old)), Some(path)) = (held(pin, project), &pin.oracle.path) else {
        return Err(Refusal(format!("{}: the literal is no longer there; look again", pin.file)));
    };
    let new = match observed {
        Content::Text(text) => Py::Str(text.clone()),
        Content::Bytes(bytes) => Py::Bytes(bytes.clone()),
        Content::Value(source) => python::expression(&format!("({source}\n)"))
            .and_then(|expr| literal_python::value(&expr, Names::Repr))
            .ok_or_else(|| {
                Refusal(format!(
                    "the observed value `{}` is not one that a literal can hold; change the assertion by hand",
                    source.chars().take(80).collect::<String>()
                ))
            })?,
    };
    let (edits, shown) = render::edits(unit, &old, &new)?;
    let source = unit.text.as_str();
    let mut after = String::with_capacity(source.len() + 64);
    let mut at = 0;
    for (span, text) in &edits {
        after.push_str(source.get(at..span.start).unwrap_or(""));
        after.push_str(text);
        at = span.end;
    }
    after.push_str(source.get(at..).unwrap_or(""));
    Ok(Amended {
        oracle: vec![FileChange {
            path: path.clone(),
            before: Some(digest_of(&[source.as_bytes()])),
            after: Some(after.into_bytes()),
            edits,
        }],
        artefacts: Vec::new(),
        shown_after: Some(shown),
    })
}

#[cfg(test)]
mod tests;
