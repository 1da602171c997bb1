//! A pin as far as its site says it: where a reader of the test sees it, what its runner calls the test,
//! where it is really compared. The oracle is the framework's to fill in.

use super::{Oracle, OracleKind, Pin};
use std::collections::HashSet;

use crate::code::{Expr, ExprKind};
use crate::evaluate::{self, PerFile, Step, Value, World};
use crate::pins::{Project, Site};
use crate::roles::Role;
use crate::syntax::Language;

/// The pin of a site in one of its worlds, with an oracle of nothing. `None` when the site's file is gone.
pub fn pin(project: &Project, site: &Site, world: &World, framework: &str) -> Option<Pin> {
    let frame = site.frames.first()?;
    let unit = project.unit(&frame.file)?;
    let function = frame.function.and_then(|index| unit.functions.get(index));
    let test = match (unit.language, function) {
        (Language::Python, None) => frame.file.to_string(),
        (Language::Python, Some(function)) => {
            let mut test = frame.file.to_string();
            for part in function.path.iter().chain([&function.name]) {
                test.push_str("::");
                test.push_str(part);
            }
            test
        }
        (Language::Rust, _) => {
            let generated = || {
                site.frames
                    .iter()
                    .filter(|frame| frame.is_macro)
                    .find_map(|frame| crate::pins::macros::function_around(project, frame))
            };
            let name = function.map(|function| function.name.clone()).or_else(generated).unwrap_or_default();
            let scopes: Vec<String> = match function {
                Some(function) => function.path.clone(),
                None => unit.scopes_at(frame.at).map(|scope| scope.name.clone()).collect(),
            };
            match project.crates.modules(&project.shelf, &frame.file).first() {
                Some(module) => module.test_id(&scopes, &name),
                None => {
                    let parts = std::iter::once(frame.file.stem().to_string()).chain(scopes).chain([name]);
                    parts.collect::<Vec<_>>().join("::")
                }
            }
        }
    };
    let comparing = site.comparing();
    let mut pin = Pin {
        file: frame.file.clone(),
        span: frame.at,
        test,
        case: None,
        nth: 0,
        language: unit.language,
        framework: framework.to_string(),
        role: Role::Unlabelled,
        asserted_in: (site.frames.len() > 1).then(|| (comparing.file.clone(), comparing.at)),
        test_span: function.map(|function| function.span),
        oracle: Oracle {
            kind: OracleKind::File,
            path: None,
            entry: None,
            span: None,
            candidates: Vec::new(),
            steps: Vec::new(),
            shown_only: None,
            key: String::new(),
            tolerance: None,
        },
        shared_site: false,
    };
    with_case(project, site, &mut pin, world);
    Some(pin)
}

/// The id of the world's case put behind that of the test: in brackets, or as the runner prints the tests of
/// files.
pub fn with_case(project: &Project, site: &Site, pin: &mut Pin, world: &World) {
    let Some(case) = &world.case else { return };
    let frame = site.frames.first();
    let unit = frame.and_then(|frame| project.unit(&frame.file));
    let function = unit.zip(frame.and_then(|frame| frame.function)).and_then(|(unit, at)| unit.functions.get(at));
    let runs = match (unit, function) {
        (Some(unit), Some(function)) => evaluate::per_file(unit, function),
        _ => None,
    };
    pin.test = match runs {
        Some(PerFile::Harness) => format!("{}::{case}", pin.test),
        Some(PerFile::DirTest) => format!("{}__{case}", pin.test),
        None => format!("{}[{case}]", pin.test),
    };
    pin.case = Some(case.clone());
}

/// One pin for each case in which the file of a site is known, or known up to a pattern; `blank` with the
/// file as its oracle.
pub fn files(
    project: &Project,
    site: &Site,
    blank: &Pin,
    steps: &[Step],
    path: impl Fn(&World) -> Option<Value>,
) -> Vec<Pin> {
    let mut pins: Vec<Pin> = Vec::new();
    let mut met = HashSet::new();
    for world in &evaluate::worlds(project, site) {
        let Some(value) = path(world) else { continue };
        let mut pin = blank.clone();
        with_case(project, site, &mut pin, world);
        pin.oracle.steps = steps.to_vec();
        pin.oracle.candidates = evaluate::candidates(project, &value);
        if let Value::Path(path) = value {
            pin.oracle.path = Some(path);
        }
        if met.insert((pin.case.clone(), pin.oracle.path.clone(), pin.oracle.candidates.clone())) {
            pins.push(pin);
        }
    }
    let shared = pins.len() > 1;
    pins.iter_mut().for_each(|pin| pin.shared_site = shared);
    pins
}

/// The call or macro call at a span, in the function of the frame that compares.
pub fn call_at<'a>(project: &'a Project, site: &Site) -> Option<&'a Expr> {
    let frame = site.comparing();
    let function = project.unit(&frame.file)?.functions.get(frame.function?)?;
    let mut found = None;
    function.body.iter().filter(|stmt| stmt.span.contains(frame.at)).for_each(|stmt| {
        stmt.walk(&mut |expr| {
            if expr.span == frame.at && found.is_none() {
                found = Some(expr);
            }
        });
    });
    found
}

/// What a receiver of a method call is: the expression that its name is bound to, or itself.
pub fn receiver<'a>(
    project: &'a Project,
    site: &'a Site,
    world: &'a World,
    frame: usize,
    base: &'a Expr,
) -> (&'a Expr, usize) {
    let (mut base, mut frame) = (base, frame);
    for _ in 0..4 {
        let ExprKind::Name(name) = &base.kind else { break };
        match world.binding(project, site, frame, base, name) {
            Some((bound, at)) if bound.span != base.span => (base, frame) = (bound, at),
            _ => break,
        }
    }
    (base, frame)
}
