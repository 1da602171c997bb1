//! What became of the comparison itself. Takes a pin at the base and the same pin now, gives each way in which
//! its test sees less than it did; and of a pin that is gone, what stands in its place. A test that is written
//! in another way and sees as much gives nothing.

use std::sync::LazyLock;

use regex::Regex;

use super::strictness::{self, Kind, Slack};
use crate::code::{Expr, ExprKind, Op, StmtKind, Unit};
use crate::oracles::{Pin, digest_of};
use crate::pins::{Project, sites};
use crate::places::RelPath;
use crate::text::{Span, one_line};

/// One way in which a test sees less.
#[derive(Debug, Clone, PartialEq)]
pub struct Loosening {
    pub file: RelPath,
    pub at: Span,
    /// What happened, for the middle of a sentence.
    pub what: String,
    /// The test does not run, or not always: it may be ended, and not explained.
    pub off: bool,
    /// The same for the same loosening, wherever the line went.
    pub shape: String,
}

/// How the test of `now` sees less than that of `was`.
pub fn loosened(base: &Project, was: &Pin, project: &Project, now: &Pin) -> Vec<Loosening> {
    let mut found = ways(base, was, project, now);
    let mut met: Vec<(RelPath, Span, String)> = Vec::new();
    found.retain(|it| {
        let place = (it.file.clone(), it.at, it.what.clone());
        let new = !met.contains(&place);
        met.push(place);
        new
    });
    for loosening in &mut found {
        // In a helper it is the same for all its tests.
        let own = loosening.file == now.file && now.test_span.is_some_and(|span| span.contains(loosening.at));
        let test = if own { now.test_base() } else { "" };
        let digest =
            digest_of(&[loosening.file.as_str().as_bytes(), b"\0", test.as_bytes(), b"\0", loosening.shape.as_bytes()]);
        loosening.shape = digest.get("sha256:".len()..).and_then(|hex| hex.get(..16)).unwrap_or_default().to_string();
    }
    found
}

fn ways(base: &Project, was: &Pin, project: &Project, now: &Pin) -> Vec<Loosening> {
    let mut found = Vec::new();
    if let (None, Some(why), "plain" | "unittest") =
        (&was.oracle.shown_only, &now.oracle.shown_only, now.framework.as_str())
    {
        let what = format!("what was held equal is held so no more: {why}");
        found.push(loosening(&now.file, now.span, what, false, &format!("demand {}", was.oracle.key)));
    }
    let (Some(before), Some(after)) = (strictness::slack(base, was), strictness::slack(project, now)) else {
        return found;
    };
    let of = |all: &[Slack], is: &dyn Fn(Kind) -> bool| -> Vec<Slack> {
        all.iter().filter(|slack| is(slack.kind)).cloned().collect()
    };
    let was_off = before.iter().any(|slack| slack.kind == Kind::Off);
    if !was_off {
        let off = |kind: Kind| matches!(kind, Kind::Off);
        for slack in added(&of(&before, &off), &of(&after, &off)) {
            found.push(of_slack(slack, |shown| format!("`{shown}` keeps it from holding what is recorded")));
        }
        let off_if = |kind: Kind| matches!(kind, Kind::OffIf);
        for slack in added(&of(&before, &off_if), &of(&after, &off_if)) {
            found.push(of_slack(slack, |shown| format!("`{shown}` can keep it from holding what is recorded")));
        }
    }
    let guard = |kind: Kind| kind == Kind::Guard;
    for slack in added(&of(&before, &guard), &of(&after, &guard)) {
        let effect = slack.effect.clone();
        found.push(of_slack(slack, |shown| match effect.as_str() {
            "caught" => format!("`{shown}` catches the failure of the comparison"),
            "loop" => format!("`{shown}` never runs, and the comparison stands in it"),
            "uncalled" => format!("nothing calls the comparison in `{shown}`"),
            "debug" => format!("`{shown}` is left out of a build without debug assertions"),
            "or" => format!("`{shown}` holds without the comparison too"),
            _ => format!("the comparison is not always reached: `{shown}` stands before it"),
        }));
    }
    let filter = |kind: Kind| kind == Kind::Filter;
    let (filters, now_filters) = (of(&before, &filter), of(&after, &filter));
    for slack in moved(&filters, &now_filters, added(&filters, &now_filters)) {
        let effect = slack.effect.clone();
        found.push(of_slack(slack, |shown| format!("`{shown}` takes away {} before the comparison", taken(&effect))));
    }
    found.extend(wider(&filters, &now_filters));
    let tolerance = |kind: Kind| kind == Kind::Tolerance;
    found.extend(looser(&of(&before, &tolerance), &of(&after, &tolerance)));
    found
}

fn taken(effect: &str) -> &str {
    match effect {
        "order" => "the order",
        "repetition" => "repetitions",
        "edges" => "white space at the ends",
        "case" => "upper and lower case",
        "digits" => "digits",
        "items" => "items",
        "layout" => "layout",
        _ => "a part of the value",
    }
}

fn loosening(file: &RelPath, at: Span, what: String, off: bool, shape: &str) -> Loosening {
    Loosening { file: file.clone(), at, what, off, shape: shape.to_string() }
}

fn of_slack(slack: &Slack, what: impl Fn(&str) -> String) -> Loosening {
    let tight: String = slack.shown.chars().filter(|c| !c.is_whitespace()).collect();
    let off = matches!(slack.kind, Kind::Off | Kind::OffIf);
    let shape = format!("{:?} {} {tight}", slack.kind, slack.effect);
    loosening(&slack.file, slack.at, what(&slack.shown), off, &shape)
}

/// Those of `after` that are more than `before` has of the same effect.
fn added<'a>(before: &[Slack], after: &'a [Slack]) -> Vec<&'a Slack> {
    let mut found = Vec::new();
    let mut effects: Vec<&str> = after.iter().map(|slack| slack.effect.as_str()).collect();
    effects.dedup();
    for effect in effects {
        let had: Vec<&Slack> = before.iter().filter(|slack| slack.effect == effect).collect();
        let has: Vec<&'a Slack> = after.iter().filter(|slack| slack.effect == effect).collect();
        let more = has.len().saturating_sub(had.len());
        let tight = |slack: &Slack| -> String { slack.shown.chars().filter(|c| !c.is_whitespace()).collect() };
        let mut known: Vec<String> = had.iter().map(|slack| tight(slack)).collect();
        let (new, old): (Vec<&Slack>, Vec<&Slack>) = has.into_iter().partition(|slack| {
            let at = known.iter().position(|known| *known == tight(slack));
            at.map(|at| known.swap_remove(at)).is_none()
        });
        found.extend(new.into_iter().chain(old.into_iter().rev()).take(more));
    }
    found
}

/// Without those that may be a helper that is told by its name where it was followed before, or the other way.
fn moved<'a>(before: &[Slack], after: &[Slack], added: Vec<&'a Slack>) -> Vec<&'a Slack> {
    const BY_NAME: &str = "normaliser";
    let count = |all: &[Slack], effect: &str| all.iter().filter(|slack| slack.effect == effect).count();
    let lost = |slack: &Slack| count(before, &slack.effect) > count(after, &slack.effect);
    let followed_before = before.iter().any(|slack| slack.effect != BY_NAME && lost(slack));
    let named_before = before.iter().any(|slack| slack.effect == BY_NAME && lost(slack));
    let may_be = |slack: &&Slack| if slack.effect == BY_NAME { followed_before } else { named_before };
    added.into_iter().filter(|slack| !may_be(slack)).collect()
}

/// Tolerances that grew, or that were put in.
fn looser(before: &[Slack], after: &[Slack]) -> Vec<Loosening> {
    let mut found = Vec::new();
    let mut effects: Vec<&str> = after.iter().map(|slack| slack.effect.as_str()).collect();
    effects.dedup();
    for effect in effects {
        let amounts = |all: &[Slack]| {
            let mut amounts: Vec<Option<f64>> =
                all.iter().filter(|slack| slack.effect == effect).map(|slack| slack.amount).collect();
            amounts.sort_by(|a, b| a.unwrap_or(f64::MAX).total_cmp(&b.unwrap_or(f64::MAX)));
            amounts
        };
        let (mut had, has) = (amounts(before), amounts(after));
        let (call, argument) = effect.split_once(' ').unwrap_or((effect, ""));
        let called = before.iter().any(|slack| slack.effect == call);
        if had.is_empty() && called {
            let told = |slack: &Slack| slack.effect.strip_prefix(call).is_some_and(|rest| rest.starts_with(' '));
            let plain = !before.iter().any(told);
            had.extend(strictness::absent(call, argument, plain).map(Some));
        }
        let of_effect = || after.iter().filter(|slack| slack.effect == effect);
        if !argument.is_empty() || effect == "bound" {
            // What stood there before is not known, or nothing did: the call itself is told of.
            for (was, is) in had.iter().zip(&has) {
                let (Some(was), Some(is)) = (was, is) else { continue };
                let Some(slack) = of_effect().find(|slack| slack.amount == Some(*is)).filter(|_| is > was) else {
                    continue;
                };
                found.push(of_slack(slack, |shown| {
                    format!("its tolerance grew from {} to {} (`{shown}`)", was.abs(), is.abs())
                }));
            }
        }
        let counted = argument.is_empty();
        let known: Vec<Slack> = before.iter().filter(|slack| slack.effect == effect).cloned().collect();
        let now: Vec<Slack> = of_effect().cloned().collect();
        // Another nearly equal comparison in its place is the same slack.
        let nearly = |all: &[Slack]| all.iter().filter(|slack| !slack.effect.contains(' ')).count();
        if counted && nearly(after) > nearly(before) {
            for slack in added(&known, &now) {
                found.push(of_slack(slack, |shown| format!("`{shown}` holds it only nearly")));
            }
        }
    }
    found
}

/// Texts that patterns are tried on; what a wider one takes away more shows on one of them.
const PROBES: &str = "name Name NAME total: 42 3.14 -7 0.38 1,234.50 2024-05-01 2024-05-01T10:20:30Z 10:20:30 \
    01.05.2024 123e4567-e89b-12d3-a456-426614174000 0x7ffd1a2b /tmp/abc/x.txt C:\\Users\\x id=5 id-77 user_3 \
    key: value a.b.c foo@example.org https://example.org/a?b=c [tag] <b>bold</b> \"quoted\" 'single' {json: 1} 100% $5 #7";

/// A pattern of the same place that takes away more than it did.
fn wider(before: &[Slack], after: &[Slack]) -> Option<Loosening> {
    let patterns =
        |all: &[Slack]| -> Vec<Slack> { all.iter().filter(|slack| slack.pattern.is_some()).cloned().collect() };
    let (mut was, mut is) = (patterns(before), patterns(after));
    is.retain(|slack| match was.iter().position(|other| other.pattern == slack.pattern) {
        Some(at) => {
            was.remove(at);
            false
        }
        None => true,
    });
    let plain = |all: &[Slack]| all.iter().filter(|slack| slack.effect == "text" && slack.pattern.is_none()).count();
    if let ([], [is]) = (was.as_slice(), is.as_slice()) {
        // A text that was replaced, and now a pattern is: no more than that text, as long as it is one of a kind.
        let fewer = plain(before) == plain(after) + 1;
        let regex = Regex::new(is.pattern.as_ref()?).ok().filter(|_| fewer)?;
        let mut met: Vec<&str> = regex.find_iter(PROBES).map(|found| found.as_str().trim()).collect();
        met.retain(|text| !text.is_empty());
        met.sort_unstable();
        met.dedup();
        let example = met.last().filter(|_| met.len() > 2)?;
        return Some(of_slack(is, |shown| format!("`{shown}` takes away more than one text, as `{example}`")));
    }
    let ([was], [is]) = (was.as_slice(), is.as_slice()) else { return None };
    let (old, new) = (was.pattern.as_ref()?, is.pattern.as_ref()?);
    let kept = |pattern: &str| {
        let regex = Regex::new(pattern).ok()?;
        let mut taken = vec![false; PROBES.len()];
        for found in regex.find_iter(PROBES) {
            taken.get_mut(found.range())?.fill(true);
        }
        Some(taken)
    };
    let (had, has) = (kept(old)?, kept(new)?);
    let lost = had.iter().zip(&has).any(|(had, has)| *had && !has);
    // One that takes another stretch of the same words takes more when it takes something of further words.
    let first = match lost {
        false => had.iter().zip(&has).position(|(had, has)| !had && *has)?,
        true => {
            let words: Vec<(usize, bool, bool)> = words_of(PROBES)
                .map(|word| {
                    let any = |taken: &[bool]| taken.get(word.clone()).is_some_and(|part| part.contains(&true));
                    (word.start, any(&had), any(&has))
                })
                .collect();
            if words.iter().any(|(_, had, has)| *had && !has) {
                return None;
            }
            words.iter().find(|(_, had, has)| !had && *has)?.0
        }
    };
    let word = PROBES.get(..first)?.rfind(' ').map_or(0, |at| at + 1);
    let example = PROBES.get(word..)?.split(' ').next()?;
    Some(of_slack(is, |_| format!("its pattern takes away more than `{}` did, as in `{example}`", one_line(old, 60))))
}

fn words_of(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    let mut at = 0;
    text.split(' ').map(move |word| {
        let range = at..at + word.len();
        at = range.end + 1;
        range
    })
}

/// What a test still says of a value that it held equal at the base: the place, and what stands there.
pub fn left_over(base: &Project, was: &Pin, unit: &Unit, test: Span) -> Option<(Span, String)> {
    static SIDES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\s+").ok());
    let tight = |text: &str| SIDES.as_ref().map_or(text.to_string(), |blank| blank.replace_all(text, "").into_owned());
    let held = base.unit(&was.file)?;
    let literal = was.oracle.span.filter(|_| was.oracle.path.as_ref() == Some(&was.file));
    let mut sides: Vec<String> = Vec::new();
    let function = held.functions.iter().find(|function| Some(function.span) == was.test_span)?;
    for stmt in &function.body {
        stmt.walk(&mut |expr| {
            let parts: Vec<&Expr> = match &expr.kind {
                ExprKind::Binary(Op::Eq, left, right) => vec![left, right],
                ExprKind::Macro { args, .. } | ExprKind::Call { args, .. } if expr.span == was.span => {
                    args.iter().map(|arg| &arg.value).collect()
                }
                _ => return,
            };
            if was.span.contains(expr.span) {
                let other = |part: &&&Expr| literal.is_none_or(|literal| !part.span.contains(literal));
                sides.extend(parts.iter().filter(other).map(|part| tight(held.text.slice(part.span))));
            }
        });
    }
    let function = unit.functions.iter().find(|function| function.span == test)?;
    let mut found = None;
    for stmt in &function.body {
        let (span, cond) = match &stmt.kind {
            StmtKind::Assert { cond, .. } => (stmt.span, cond),
            StmtKind::Expr(expr) => match &expr.kind {
                ExprKind::Macro { name, args, .. } if name == "assert" => match args.first() {
                    Some(first) => (stmt.span, &first.value),
                    None => continue,
                },
                ExprKind::Call { callee, args } if callee.dotted().is_some_and(|name| name.ends_with("assertTrue")) => {
                    match args.first() {
                        Some(first) => (stmt.span, &first.value),
                        None => continue,
                    }
                }
                _ => continue,
            },
            _ => continue,
        };
        if still_near(was, held, unit, cond) {
            continue;
        }
        let mut speaks = false;
        cond.walk(&mut |expr| speaks |= sides.contains(&tight(unit.text.slice(expr.span))));
        if speaks && found.is_none() {
            found = Some((span, one_line(unit.text.slice(span), 80)));
        }
    }
    found
}

/// Another call that compares nearly, and that the number of the pin goes into.
fn still_near(was: &Pin, held: &Unit, unit: &Unit, cond: &Expr) -> bool {
    let ExprKind::Call { callee, args } = &cond.kind else { return false };
    let Some(literal) = was.oracle.span.filter(|_| was.oracle.path.as_ref() == Some(&was.file)) else { return false };
    let literal = tight(number_of(held.text.slice(literal)));
    let has_it = |arg: &crate::code::Arg| arg.name.is_none() && tight(unit.text.slice(arg.value.span)) == literal;
    strictness::nearly(&strictness::last(callee)) && args.len() > 1 && args.iter().any(has_it)
}

/// `1.25` of `pytest.approx(1.25, rel=1e-3)`.
fn number_of(literal: &str) -> &str {
    let Some((call, rest)) = literal.split_once('(') else { return literal };
    match strictness::nearly(call.trim().rsplit(['.', ':']).next().unwrap_or_default()) {
        true => rest.split([',', ')']).next().unwrap_or(rest).trim(),
        false => literal,
    }
}

fn tight(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Something other than written down values goes into the call: an argument, or what its method stands on.
fn takes_a_value(callee: Option<&Expr>, args: &[crate::code::Arg], literal: Span) -> bool {
    let mut found = false;
    let mut see = |expr: &Expr| {
        let named = match &expr.kind {
            ExprKind::Name(name) => !matches!(name.as_str(), "self" | "cls"),
            ExprKind::Str(_) | ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) | ExprKind::None => false,
            ExprKind::List(_) | ExprKind::Tuple(_) | ExprKind::Dict(_) | ExprKind::Set(_) | ExprKind::Neg(_) => false,
            ExprKind::Attr(..) => false,
            _ => true,
        };
        found |= named && !literal.contains(expr.span) && !expr.span.contains(literal);
    };
    for arg in args {
        arg.value.walk(&mut see);
    }
    if let Some(ExprKind::Attr(base, _)) = callee.map(|callee| &callee.kind) {
        base.walk(&mut see);
    }
    found
}

/// The literal of a pin that is gone still goes into something that may compare it: a helper that is not followed.
pub fn still_passed(base: &Project, was: &Pin, unit: &Unit, test: Span) -> Option<Span> {
    let (held, span) =
        (base.unit(&was.file)?, was.oracle.span.filter(|_| was.oracle.path.as_ref() == Some(&was.file))?);
    let literal = tight(number_of(held.text.slice(span)));
    let function = unit.functions.iter().find(|function| function.span == test)?;
    // The same call as before: what became another one is the helper.
    if !sites::is_test(unit, function) || tight(unit.text.slice(test)).contains(&tight(held.text.slice(was.span))) {
        return None;
    }
    let mut found = None;
    for stmt in &function.body {
        stmt.walk(&mut |expr| {
            let (name, callee, args) = match &expr.kind {
                ExprKind::Call { callee, args } => (strictness::last(callee), Some(&**callee), args),
                ExprKind::Macro { name, args, .. } => (name.clone(), None, args),
                _ => return,
            };
            let compares = strictness::is_comparer(&name) && !matches!(name.as_str(), "assert" | "assertTrue")
                || strictness::nearly(&name);
            for arg in args {
                let told = arg.name.as_ref().is_some_and(|name| name.contains("expect"));
                if found.is_none() && (compares || told) && literal.len() > 2 {
                    arg.value.walk(&mut |part| {
                        let is_it = tight(unit.text.slice(part.span)) == literal;
                        if is_it && takes_a_value(callee, args, part.span) {
                            found = Some(part.span);
                        }
                    });
                }
            }
        });
    }
    found
}
