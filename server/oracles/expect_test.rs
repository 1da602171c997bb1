//! expect-test 1.5: `expect![[…]]` and `expect_file![…]`. Takes a site, gives the literal or the file; reads
//! both as `assert_eq` of 1.5.1 does; knows the bytes that `UPDATE_EXPECT=1` writes, line endings of the
//! source kept. Nothing is left on disk by a failing run. Never compares, never writes.

pub(super) mod literal;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use self::literal::Argument;
use super::golden::{self, unread};
use super::insta::{blank_pin, call};
use super::origin::{comes_from, source_folder};
use super::{
    Amended, Artefact, Baseline, Content, FileChange, Framework, OracleKind, Orphan, Pin, Recorded, Refusal, Step,
    digest_of, seen,
};
use crate::code::{self, Expr, ExprKind, Function, Stmt, StmtKind, Target, Unit};
use crate::evaluate::{self, Value, worlds};
use crate::pins::names::{self, Named};
use crate::pins::{Project, Site};
use crate::text::Span;

pub struct ExpectTest;

const CRATE: &str = "expect_test";

impl Framework for ExpectTest {
    fn id(&self) -> &'static str {
        "expect-test"
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        let Some((unit, expr)) = call::asserted(project, site) else { return Vec::new() };
        let ExprKind::Macro { name, tokens, args } = &expr.kind else { return Vec::new() };
        if !comes_from(project, unit, name, expr.span, CRATE) {
            return Vec::new();
        }
        let Some(mut pin) = blank_pin(project, site) else { return Vec::new() };
        pin.framework = self.id().to_string();
        match site.found.property("pin.form") {
            Some("file") => match args.first() {
                Some(path) => files(project, site, &pin, &path.value),
                None => Vec::new(),
            },
            _ => {
                inline(site, unit, *tokens, &mut pin);
                vec![pin]
            }
        }
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        if pin.oracle.kind != OracleKind::Inline {
            return golden::baseline(pin, project);
        }
        let Some((unit, span)) = pin.source(project) else { return Baseline::Missing };
        let text = unit.text.as_str();
        let unreadable = || {
            Baseline::Unreadable(format!(
                "the expectation at {}:{} is not a plain string literal; pindrift can only point at it",
                unit.path,
                unit.line(pin.span.start)
            ))
        };
        let Some(argument) = Argument::of(text, span) else { return unreadable() };
        let Some(value) = argument.value(text) else { return unreadable() };
        let below = usize::from(value.starts_with('\n'));
        Baseline::Present(Recorded {
            content: Content::Text(literal::content(&value)),
            first_line: argument.literal.map_or(0, |literal| unit.line(literal.start) + below),
            file_digest: digest_of(&[text.as_bytes()]),
            preimage: None,
        })
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        artefact: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        match (pin.oracle.kind, observed) {
            (OracleKind::Inline, Content::Text(text)) => amend_inline(pin, text, project),
            (OracleKind::Inline, _) => Err(Refusal(format!(
                "what was observed for {} is not a text, and `expect!` holds one; run the test again",
                pin.test
            ))),
            _ => golden::amend(pin, observed, artefact, project),
        }
    }

    fn orphans(&self, pins: &[Pin], project: &Project) -> Vec<Orphan> {
        unread::beside(pins, project, self.id())
    }
}

/// The literal of an `expect!`: in the macro, or where a wrapper macro's caller gives it.
fn inline(site: &Site, unit: &Unit, tokens: Span, pin: &mut Pin) {
    pin.oracle.kind = OracleKind::Inline;
    pin.oracle.steps = Vec::new();
    pin.oracle.path = Some(unit.path.clone());
    pin.oracle.span = Some(tokens);
    let last = site.frames.len() - 1;
    if site.frames[last].is_macro {
        // Its position is that of the outer macro: expect-test would write there, and break it.
        pin.oracle.shown_only = Some(
            "this `expect!` is written by a macro, and expect-test finds only the place of that macro's call; change \
             the literal by hand"
                .to_string(),
        );
        let given = unit.text.slice(tokens).trim_matches(['[', ']', ' ']).to_string();
        if let Some(literal) = site.frames[last].given.get(&given)
            && last > 0
        {
            pin.oracle.path = Some(site.frames[last - 1].file.clone());
            pin.oracle.span = Some(literal.span);
        }
        return;
    }
    let between = unit.text.slice(Span::new(site.comparing().at.start, tokens.start));
    let gap = literal::gap(unit.text.as_str(), tokens);
    if between.contains('\n') || gap.contains('\n') {
        pin.oracle.shown_only = Some(
            "expect-test finds its literal only where it begins on the line of `expect!`; put it there, then accept"
                .to_string(),
        );
    } else if unit.text.slice(tokens).starts_with('[')
        && Argument::of(unit.text.as_str(), tokens).is_some_and(|a| a.literal.is_none())
    {
        pin.oracle.shown_only =
            Some("expect-test cannot fill `expect![[]]`; write `expect![[\"\"]]`, then accept".to_string());
    }
}

/// `expect_file!`: relative to the folder of the source file, below the outermost folder with a manifest.
fn files(project: &Project, site: &Site, blank: &Pin, path: &Expr) -> Vec<Pin> {
    let home = &site.frames[call::home(site)].file;
    let Some(folder) = source_folder(project, home) else { return Vec::new() };
    let worlds = worlds(project, site);
    let mut pins: Vec<Pin> = Vec::new();
    let mut seen = HashSet::new();
    for world in &worlds {
        let (frame, path) = call::filled(site, site.frames.len() - 1, path);
        let value = match world.value(project, site, frame, path) {
            value @ (Value::Path(_) | Value::Paths(_) | Value::Unknown) => value,
            value => evaluate::below(folder.as_str(), &value, ""),
        };
        let mut pin = blank.clone();
        seen::with_case(project, site, &mut pin, world);
        pin.oracle.steps = vec![Step::CrlfToLf];
        pin.oracle.candidates = evaluate::candidates(project, &value);
        if let Value::Path(path) = value {
            pin.oracle.path = Some(path);
        }
        if seen.insert((pin.case.clone(), pin.oracle.path.clone(), pin.oracle.candidates.clone())) {
            pins.push(pin);
        }
    }
    let shared = pins.len() > 1;
    pins.iter_mut().for_each(|pin| pin.shared_site = shared);
    pins
}

fn amend_inline(pin: &Pin, text: &str, project: &Project) -> Result<Amended, Refusal> {
    let gone = || Refusal(format!("the expectation of {} is gone from {}; look again", pin.test, pin.file));
    let (unit, span) = pin.source(project).ok_or_else(gone)?;
    let all = unit.text.as_str();
    let argument = Argument::of(all, span).ok_or_else(gone)?;
    let line = all.get(..pin.span.start).map_or(0, |before| before.rfind('\n').map_or(0, |at| at + 1));
    let indent = all[line..].len() - all[line..].trim_start_matches(' ').len();
    let indented = indents(project, unit, pin.span);
    let new = literal::patch(text, indented.then_some(indent))?;
    let written = if all.contains("\r\n") { new.replace('\n', "\r\n") } else { new.clone() };
    let after = unit.text.replaced(argument.range, &written).ok_or_else(gone)?;
    Ok(Amended {
        oracle: vec![FileChange {
            path: unit.path.clone(),
            before: Some(digest_of(&[all.as_bytes()])),
            after: Some(after.as_str().as_bytes().to_vec()),
            edits: vec![(argument.range, written)],
        }],
        artefacts: Vec::new(),
        shown_after: Some(new),
    })
}

/// Whether an update indents the literal: `indent(false)` is called neither on the variable that holds the
/// expectation, nor on the parameter that it is passed for.
fn indents(project: &Project, unit: &Unit, at: Span) -> bool {
    let Some(function) = unit.function_at(at) else { return true };
    let mut flat = false;
    let mut see = |stmt: &Stmt| {
        if let StmtKind::Bind { target: Target::Name(name, _), value } = &stmt.kind
            && value.span == at
        {
            flat |= switched_off(function, name);
        }
    };
    code::each(&function.body, &mut see);
    let scope = names::scope_of(Some(function));
    function.body.iter().for_each(|stmt| {
        stmt.walk(&mut |expr| {
            let ExprKind::Call { callee, args } = &expr.kind else { return };
            if !args.iter().any(|arg| arg.value.span == at) {
                return;
            }
            let Some(Named::Function(to, index)) =
                callee.dotted().and_then(|dotted| names::find(project, unit, &scope, &dotted))
            else {
                return;
            };
            let Some(called) = to.functions.get(index) else { return };
            let given = crate::pins::sites::given(to.language, called, callee, args);
            flat |= given.iter().any(|(param, value)| value.span == at && switched_off(called, param));
        });
    });
    !flat
}

fn switched_off(function: &Function, name: &str) -> bool {
    let mut off = false;
    function.body.iter().for_each(|stmt| {
        stmt.walk(&mut |expr| {
            let ExprKind::Call { callee, args } = &expr.kind else { return };
            let ExprKind::Attr(base, method) = &callee.kind else { return };
            off |= method == "indent"
                && matches!(&base.kind, ExprKind::Name(base) if base == name)
                && matches!(args.first().map(|arg| &arg.value.kind), Some(ExprKind::Bool(false)));
        });
    });
    off
}
