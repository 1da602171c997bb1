//! Plain Rust assertions: `assert_eq!` and its kin of std, pretty_assertions 1.4 and similar-asserts 2.0, and
//! the expected values of `#[test_case(… => v)]`. Takes a site, gives one pin for each case whose recorded
//! side is a literal: beside the assertion, in a local, a constant, a case's attribute, a loop's list or a
//! helper's call. What has no value to accept (`assert_ne!`, `contains`, an order) is shown and never amended.

use super::golden::held;
use super::insta::{blank_pin, call};
use super::literal_rust::{self, Literal};
use super::{Amended, Baseline, Content, FileChange, OracleKind, Pin, Recorded, Refusal, digest_of, seen};
use crate::code::{Expr, ExprKind, Op, Unit};
use crate::evaluate::{World, worlds};
use crate::pins::names::{self, Named};
use crate::pins::{Project, Site};
use crate::text::Span;

/// Longest chain of names from an assertion to its literal.
const DEEPEST: usize = 8;

/// One side against another.
struct Comparison<'a> {
    left: &'a Expr,
    right: &'a Expr,
    shown_only: Option<&'static str>,
}

/// The pins of a site.
pub fn pins(project: &Project, site: &Site) -> Vec<Pin> {
    let form = site.found.property("pin.form").unwrap_or("");
    let frame = site.comparing();
    let Some(unit) = project.unit(&frame.file) else { return Vec::new() };
    if form == "returned" {
        return returned(project, site, unit).into_iter().collect();
    }
    let Some(expr) = call::macro_at(unit, frame.at) else { return Vec::new() };
    let ExprKind::Macro { args, .. } = &expr.kind else { return Vec::new() };
    let mut comparisons = Vec::new();
    match (form, args.as_slice()) {
        ("condition", [cond, ..]) => of_condition(&cond.value, 0, &mut comparisons),
        ("equal" | "unequal", [left, right, ..]) => comparisons.push(Comparison {
            left: &left.value,
            right: &right.value,
            shown_only: (form == "unequal").then_some("`assert_ne!` has no recorded value that could be accepted"),
        }),
        _ => {}
    }
    if comparisons.is_empty() {
        return Vec::new();
    }
    let Some(blank) = blank_pin(project, site) else { return Vec::new() };
    let worlds = worlds(project, site);
    let reads = project.names.reach(project).reads(project, site);
    let mut pins: Vec<Pin> = Vec::new();
    for world in &worlds {
        let search = Search { project, site, world };
        for comparison in &comparisons {
            let Some(found) = search.recorded(comparison, reads) else { continue };
            let Some(mut pin) = pin_at(&blank, &found, comparison.shown_only) else { continue };
            seen::with_case(project, site, &mut pin, world);
            pin.shared_site = worlds.len() > 1;
            // One literal that many cases reach in the same way is one pin.
            let same = |known: &Pin| known.oracle.span == pin.oracle.span && known.oracle.path == pin.oracle.path;
            if !pins.iter().any(same) {
                pins.push(pin);
            }
        }
    }
    pins
}

fn of_condition<'a>(cond: &'a Expr, depth: usize, found: &mut Vec<Comparison<'a>>) {
    let mut add = |left, right, why| found.push(Comparison { left, right, shown_only: Some(why) });
    match &cond.kind {
        ExprKind::Binary(Op::Eq, left, right) => {
            add(left, right, "`assert!` prints no values; write `assert_eq!` to be able to accept a new one");
        }
        ExprKind::Binary(Op::Ne, left, right) => add(left, right, "`!=` has no recorded value that could be accepted"),
        ExprKind::Binary(Op::Order, left, right) => add(left, right, "a bound is not a recorded value"),
        ExprKind::Binary(Op::And | Op::Or, left, right) if depth < 20 => {
            of_condition(left, depth + 1, found);
            of_condition(right, depth + 1, found);
        }
        ExprKind::Not(inner) if depth < 20 => of_condition(inner, depth + 1, found),
        ExprKind::Call { callee, args } => {
            if let (ExprKind::Attr(base, method), [arg]) = (&callee.kind, args.as_slice())
                && matches!(method.as_str(), "contains" | "starts_with" | "ends_with" | "eq" | "ne")
            {
                add(base, &arg.value, "a part of a text is not a recorded value");
            }
        }
        _ => {}
    }
}

/// A literal, the file it stands in, and how far it is from the assertion.
struct Found<'a> {
    unit: &'a Unit,
    literal: Literal<'a>,
    distance: usize,
    /// Of the site's frames, the one that the literal was found from.
    frame: usize,
}

fn pin_at(blank: &Pin, found: &Found, shown_only: Option<&'static str>) -> Option<Pin> {
    let mut pin = blank.clone();
    pin.framework = "plain".to_string();
    pin.oracle.kind = OracleKind::Literal;
    pin.oracle.path = Some(found.unit.path.clone());
    pin.oracle.span = Some(found.literal.expr.span);
    pin.oracle.steps = Vec::new();
    pin.oracle.shown_only = shown_only.or(found.literal.shown_only).map(str::to_string);
    Some(pin)
}

struct Search<'a> {
    project: &'a Project,
    site: &'a Site,
    world: &'a World,
}

impl<'a> Search<'a> {
    /// The side that is a literal. None where the other side is a recorded file (looked for if the site `reads`
    /// any).
    fn recorded(&self, comparison: &Comparison<'a>, reads: bool) -> Option<Found<'a>> {
        let last = self.site.frames.len() - 1;
        let side = |expr| self.literal(last, expr, 0).map(|found| (found.distance, found));
        let (found, own, other) = super::plain::nearer(side, comparison.left, comparison.right)?;
        let handed = found.frame < last;
        let observed = reads && held::is_observed(self.project, self.site, self.world, (own, handed), other);
        (!observed).then_some(found)
    }

    fn literal(&self, frame: usize, expr: &'a Expr, distance: usize) -> Option<Found<'a>> {
        if distance > DEEPEST {
            return None;
        }
        let unit = self.project.unit(&self.site.frames.get(frame)?.file)?;
        if expr.span.end > 0
            && let Some(literal) = literal_rust::literal(&unit.text, expr)
        {
            return Some(Found { unit, literal, distance, frame });
        }
        let (inner, given) = call::filled(self.site, frame, expr);
        if inner != frame {
            return self.literal(inner, given, distance + 1);
        }
        let name = expr.dotted()?;
        if let Some((bound, at)) = self.world.binding(self.project, self.site, frame, expr, &name)
            && bound.span != expr.span
        {
            return self.literal(at, bound, distance + 1);
        }
        let function = self.site.frames[frame].function.and_then(|index| unit.functions.get(index));
        match names::find(self.project, unit, &names::scope_of(function), &name)? {
            Named::Constant(unit, binding) => {
                let literal = literal_rust::literal(&unit.text, &binding.value)?;
                Some(Found { unit, literal, distance: distance + 2, frame })
            }
            _ => None,
        }
    }
}

/// `#[test_case(args => value)]`: the value is recorded.
fn returned(project: &Project, site: &Site, unit: &Unit) -> Option<Pin> {
    let frame = site.frames.first()?;
    let function = unit.functions.get(frame.function?)?;
    let cases: Vec<&Expr> = function.marks.iter().filter(|mark| is_case(mark)).collect();
    let nth = cases.iter().position(|mark| mark.span == frame.at)?;
    let ExprKind::Macro { args, .. } = &cases[nth].kind else { return None };
    let value = args.iter().find_map(|arg| match &arg.value.kind {
        ExprKind::Dict(pairs) => pairs.first().map(|(_, value)| value),
        _ => None,
    })?;
    let literal = literal_rust::literal(&unit.text, value)?;
    let blank = blank_pin(project, site)?;
    let mut pin = pin_at(&blank, &Found { unit, literal, distance: 0, frame: 0 }, None)?;
    if let Some(world) = worlds(project, site).get(nth) {
        seen::with_case(project, site, &mut pin, world);
    }
    // The attribute is above the function: a comment between attributes stands for one case.
    pin.shared_site = false;
    Some(pin)
}

fn is_case(mark: &Expr) -> bool {
    matches!(&mark.kind, ExprKind::Macro { name, .. } if crate::pins::macros::last(name) == "test_case")
}

fn place<'a>(pin: &Pin, project: &'a Project) -> Option<(&'a Unit, Span)> {
    Some((project.unit(pin.oracle.path.as_ref()?)?, pin.oracle.span?))
}

/// The recorded value of a pin's literal.
pub fn baseline(pin: &Pin, project: &Project) -> Baseline {
    let Some((unit, span)) = place(pin, project) else { return Baseline::Missing };
    let Some(content) = content(unit, span) else { return Baseline::Missing };
    let source = unit.text.slice(span);
    let lines = matches!(&content, Content::Text(text) if source.starts_with('r') && text.contains('\n'));
    Baseline::Present(Recorded {
        content,
        first_line: if lines || !source.contains('\n') { unit.line(span.start) } else { 0 },
        file_digest: unit.text.digest().to_string(),
        preimage: None,
    })
}

fn content(unit: &Unit, span: Span) -> Option<Content> {
    let expr = crate::code::rust::expression(&unit.text, span);
    Some(literal_rust::content(&unit.text, literal_rust::literal(&unit.text, &expr)?.expr))
}

/// The source with the literal replaced by one that reads back equal to `observed`.
pub fn amend(pin: &Pin, observed: &Content, project: &Project) -> Result<Amended, Refusal> {
    let gone = || Refusal(format!("the literal of {} is gone from {}; look again", pin.test, pin.file));
    let (unit, span) = place(pin, project).ok_or_else(gone)?;
    let literal = literal_rust::render(unit.text.slice(span), observed)?;
    let crlf = unit.text.as_str().contains("\r\n");
    let written = if crlf { literal.replace('\n', "\r\n") } else { literal.clone() };
    let after = unit.text.replaced(span, &written).ok_or_else(gone)?;
    Ok(Amended {
        oracle: vec![FileChange {
            path: unit.path.clone(),
            before: Some(digest_of(&[unit.text.as_str().as_bytes()])),
            after: Some(after.as_str().as_bytes().to_vec()),
            edits: vec![(span, written)],
        }],
        artefacts: Vec::new(),
        shown_after: Some(literal),
    })
}
