//! From the comparisons of one test to its pins: which of them are syrupy's, with what options, in which order
//! the test makes them, and so what each is held against.

use std::collections::BTreeSet;

use super::Plugin;
use super::extension;
use super::naming::{self, Execution, How, Name, Suffix};
use super::test::Test;
use crate::code::{Arg, Expr, ExprKind, Function, Op, StmtKind};
use crate::evaluate::origin::{Application, Origin, Root, Where};
use crate::evaluate::{Step, Value, World, worlds};
use crate::oracles::plain_python::statements;
use crate::oracles::{Pin, seen, signs};
use crate::pins::sites::is_test;
use crate::pins::{Project, Site, fixtures};
use crate::places::RelPath;
use crate::syntax::Language;

/// Stands for the steps of a pin that is known to have nothing recorded.
pub const NOTHING: Step = Step::Serialised("nothing");

/// One operand that may be a snapshot, and whether it is evaluated an unknown number of times.
struct Operand<'a> {
    pairs: Vec<&'a Expr>,
    repeated: bool,
    call: bool,
    /// `!=`, or under a `not`.
    negated: bool,
}

pub fn of_test(project: &Project, sites: &[&Site], plugin: &Plugin) -> Vec<Vec<Pin>> {
    let mut pins: Vec<Vec<Pin>> = sites.iter().map(|_| Vec::new()).collect();
    let mut executions: Vec<Execution> = Vec::new();
    let mut known_worlds: Vec<Vec<World>> = Vec::new();
    for (at, site) in sites.iter().enumerate() {
        known_worlds.push(Vec::new());
        if !may_request(project, site) {
            continue;
        }
        let operands = if plugin.called { called(project, site) } else { operands(project, site) };
        let blank = World::empty(site);
        let last = site.frames.len() - 1;
        let is_ours = |operand: &Operand| {
            operand
                .pairs
                .iter()
                .any(|expr| blank.origin(project, site, last, expr).root == Root::Fixture(plugin.fixture))
        };
        let ours: Vec<&Operand> = operands.iter().filter(|operand| is_ours(operand)).collect();
        if ours.is_empty() {
            continue;
        }
        known_worlds[at] = worlds(project, site);
        let mut row = 0;
        let mut before: Option<(Option<&str>, Vec<Option<usize>>)> = None;
        for (nth, world) in known_worlds[at].iter().enumerate() {
            let rounds: Vec<Option<usize>> = world.rounds.iter().flatten().copied().collect();
            if let Some((case, known)) = &before
                && (*case != world.case.as_deref() || rounds <= *known)
            {
                row += 1;
            }
            before = Some((world.case.as_deref(), rounds));
            for operand in &ours {
                let Some(mut execution) = execution(project, site, world, operand, plugin) else { continue };
                (execution.site, execution.world, execution.row) = (at, nth, row);
                executions.push(execution);
            }
        }
    }
    if executions.is_empty() {
        return pins;
    }
    let open_ids = sites.first().is_some_and(|site| {
        let frame = &site.frames[0];
        project
            .unit(&frame.file)
            .and_then(|unit| Some((unit, unit.functions.get(frame.function?)?)))
            .is_some_and(|(unit, function)| fixtures::parametrised_elsewhere(project, unit, function))
    });
    let named = naming::suffixes(&executions);
    let counted: BTreeSet<usize> = named
        .iter()
        .zip(&executions)
        .filter(|((suffix, _), _)| matches!(suffix, Suffix::Counted(..)))
        .map(|(_, execution)| execution.site)
        .collect();
    let explicit: Vec<&Suffix> = named
        .iter()
        .map(|(suffix, _)| suffix)
        .filter(|suffix| {
            matches!(suffix, Suffix::Exact(text) if text.ends_with(']')) || matches!(suffix, Suffix::Named(_))
        })
        .collect();
    let mut taken: BTreeSet<(usize, String)> = BTreeSet::new();
    for (execution, (suffix, how)) in executions.iter().zip(&named) {
        let site = sites[execution.site];
        let world = &known_worlds[execution.site][execution.world];
        let Some(pin) = seen::pin(project, site, world, plugin.id) else { continue };
        let alone = counted.len() < 2 || !matches!(suffix, Suffix::Counted(..));
        for test in Test::all(project, site, open_ids) {
            let pin = Pin { test: test.id(world), ..pin.clone() };
            for mut pin in test.held(project, world, pin, suffix, how, alone, &explicit) {
                pin.shared_site = known_worlds[execution.site].len() > 1;
                let fails = execution.negated || test.abstracted || fails(project, site);
                if fails || !execution.place.guards.is_empty() {
                    unless_recorded(project, &mut pin);
                }
                if fails {
                    let why = "the comparison is not meant to hold here";
                    pin.oracle.shown_only.get_or_insert_with(|| why.to_string());
                }
                let open = pin.oracle.path.is_none();
                let key = format!("{}{:?}{:?}{:?}", pin.test, pin.oracle.path, pin.oracle.entry, pin.oracle.candidates);
                let exact = !open && matches!(suffix, Suffix::Exact(_)) && !test.open(world);
                if exact || taken.insert((execution.site, key)) {
                    pins[execution.site].push(pin);
                }
            }
        }
    }
    pins
}

/// A comparison that is not meant to hold, or may never be made: that it has nothing recorded is no fault.
fn unless_recorded(project: &Project, pin: &mut Pin) {
    use crate::oracles::{Baseline, Framework};
    if super::Syrupy.baseline(pin, project) == Baseline::Missing {
        (pin.oracle.path, pin.oracle.entry) = (None, None);
        pin.oracle.steps = vec![NOTHING];
    }
}

/// The test is marked as failing, or the comparison stands where an error is expected.
fn fails(project: &Project, site: &Site) -> bool {
    let mark = |mark: &Expr| {
        let callee = match &mark.kind {
            ExprKind::Call { callee, .. } => callee,
            _ => mark,
        };
        callee.dotted().is_some_and(|name| name.ends_with("xfail") || name.ends_with("expectedFailure"))
    };
    site.frames.iter().any(|frame| {
        let Some(unit) = project.unit(&frame.file) else { return false };
        let Some(function) = frame.function.and_then(|index| unit.functions.get(index)) else { return false };
        let mut raises = false;
        statements(&function.body, frame.at, &mut |stmt| {
            if let StmtKind::With { items, .. } = &stmt.kind {
                raises |= items.iter().any(|(item, _)| match &item.kind {
                    ExprKind::Call { callee, .. } => {
                        callee.dotted().is_some_and(|name| name.ends_with("raises") || name.contains("assertRaises"))
                    }
                    _ => false,
                });
            }
        });
        raises
            || function.marks.iter().any(mark)
            || unit.scopes_at(function.span).flat_map(|scope| &scope.marks).any(mark)
    })
}

/// A test that pytest runs, in which a function on the way can have a fixture.
fn may_request(project: &Project, site: &Site) -> bool {
    let function = |frame: &crate::pins::Frame| {
        let unit = project.unit(&frame.file)?;
        Some((unit, unit.functions.get(frame.function?)?))
    };
    let Some((unit, test)) = site.frames.first().and_then(function) else { return false };
    if unit.language != Language::Python || !is_test(unit, test) {
        return false;
    }
    let signs = signs::of(project);
    let requests = |function: &Function| function.params.iter().any(|param| signs.snapshots.contains(&param.name));
    requests(test) || fixtures::around(unit, test).is_some_and(requests)
}

/// What the match of a site compares.
fn operands<'a>(project: &'a Project, site: &Site) -> Vec<Operand<'a>> {
    let frame = site.comparing();
    let Some(unit) = project.unit(&frame.file) else { return Vec::new() };
    let Some(function) = frame.function.and_then(|index| unit.functions.get(index)) else { return Vec::new() };
    let mut roots: Vec<&'a Expr> = Vec::new();
    statements(&function.body, frame.at, &mut |stmt| match &stmt.kind {
        StmtKind::Assert { cond, .. } if stmt.span == frame.at => roots.push(cond),
        _ => {}
    });
    if roots.is_empty() {
        for stmt in function.body.iter().filter(|stmt| stmt.span.contains(frame.at)) {
            stmt.walk(&mut |expr| {
                if expr.span == frame.at && roots.is_empty() {
                    roots.push(expr);
                }
            });
        }
    }
    let mut found = Vec::new();
    for root in roots {
        let mut blocks = Vec::new();
        let mut nots = Vec::new();
        root.walk(&mut |expr| {
            if matches!(expr.kind, ExprKind::Not(_)) {
                nots.push(expr.span);
            }
            if matches!(expr.kind, ExprKind::Block(_) | ExprKind::Closure { .. }) {
                blocks.push(expr.span);
            }
        });
        let repeated = |expr: &Expr| blocks.iter().any(|block| block.contains(expr.span));
        root.walk(&mut |expr| match &expr.kind {
            ExprKind::Binary(op @ (Op::Eq | Op::Ne), left, right) => {
                let around = nots.iter().filter(|not| not.contains(expr.span)).count();
                let negated = (around + usize::from(*op == Op::Ne)) % 2 == 1;
                found.push(Operand { pairs: vec![left, right], repeated: repeated(expr), call: false, negated });
            }
            ExprKind::Call { callee, args } if expr.span == frame.at => match (&callee.kind, args.as_slice()) {
                (ExprKind::Attr(base, name), [one]) if name == "assert_match" && !one.spread => {
                    let data = one.name.as_deref().is_none_or(|name| name == "data");
                    if data {
                        found.push(Operand { pairs: vec![base], repeated: false, call: true, negated: false });
                    }
                }
                (ExprKind::Attr(_, name), [left, right, ..]) if name.starts_with("assert") => {
                    let negated = name.contains("Not");
                    found.push(Operand {
                        pairs: vec![&left.value, &right.value],
                        repeated: false,
                        call: false,
                        negated,
                    });
                }
                _ => {}
            },
            _ => {}
        });
    }
    found
}

/// The call that a site is, where the fixture itself compares: `snap_compare(app)`.
fn called<'a>(project: &'a Project, site: &Site) -> Vec<Operand<'a>> {
    let call = crate::oracles::pytest::call_at(project, site.comparing());
    let operand = |callee| Operand { pairs: vec![callee], repeated: false, call: true, negated: false };
    call.map(|(callee, _)| operand(callee)).into_iter().collect()
}

fn execution(project: &Project, site: &Site, world: &World, operand: &Operand, plugin: &Plugin) -> Option<Execution> {
    let last = site.frames.len() - 1;
    let mut place = naming::place(project, site, world);
    let origins = operand.pairs.iter().map(|expr| world.origin(project, site, last, expr));
    let mut origins = origins.filter(|origin| origin.root == Root::Fixture(plugin.fixture));
    let origin = origins.next()?;
    // A snapshot held against another one takes the options of both; against itself, its own.
    let itself = match operand.pairs.as_slice() {
        [left, right] => left.dotted().is_some_and(|left| right.dotted() == Some(left)),
        _ => false,
    };
    let other = origins.next().filter(|_| !itself);
    let file = &site.frames[0].file;
    // Calls of other fixtures of the same name: an argument without a keyword, or with nothing at all.
    let foreign = |args: &[Arg]| args.iter().any(|arg| arg.name.is_none() && !arg.spread);
    let bare = matches!(origin.applied.as_slice(), [one] if one.what == Application::Call(&[]));
    if !plugin.called && (operand.call || bare) && !signs::of(project).syrupy {
        return None;
    }
    if !plugin.called && operand.call && snapshottest(project, file) {
        return None;
    }
    if operand.repeated {
        place.order.push(0);
        place.repeats.get_or_insert_with(|| place.order.clone());
    }
    let extension = (plugin.extension)(project, file);
    let mut how = How { extension, name: Name::None, filters: Vec::new(), diff: false };
    let mut later = how.clone();
    let mut object = String::new();
    let mut once = None;
    let reader = Reader { project, site, world, order: &place.order };
    let mut applied = origin.applied.iter();
    while let Some(step) = applied.next() {
        match step.what {
            Application::Attr("with_defaults" | "use_extension") => {
                let Some(Application::Call(args)) = applied.next().map(|step| step.what) else { return None };
                object = reader.key(&step.place, true);
                once = None;
                how = later.clone();
                reader.options(&step.place, args, &mut how, true);
                later = how.clone();
            }
            Application::Call(args) => {
                if foreign(args) {
                    return None;
                }
                reader.options(&step.place, args, &mut how, false);
                if reader.here(&step.place) {
                    continue;
                }
                once = Some(reader.key(&step.place, false));
            }
            Application::Attr(_) | Application::Index(_) => return None,
        }
    }
    if once.is_none() {
        later = how.clone();
    }
    for step in other.iter().flat_map(|other| &other.applied) {
        match step.what {
            Application::Call(args) if reader.here(&step.place) => reader.options(&step.place, args, &mut how, false),
            Application::Call(_) | Application::Attr(_) | Application::Index(_) => how.extension = None,
        }
    }
    Some(Execution { site: 0, world: 0, row: 0, place, object, once, how, later, negated: operand.negated })
}

struct Reader<'a, 'o> {
    project: &'a Project,
    site: &'a Site,
    world: &'a World,
    order: &'o [usize],
}

impl<'a> Reader<'a, '_> {
    /// Whether something is evaluated as part of the comparison itself.
    fn here(&self, place: &Where) -> bool {
        place.frame == Some(self.site.frames.len() - 1) && self.site.found.span.contains(place.expr.span)
    }

    /// One text for each time that an expression is evaluated.
    fn key(&self, place: &Where, object: bool) -> String {
        let at = place.expr.span.start;
        match place.frame {
            None => format!("{}:{at}", place.unit.path),
            Some(_) if self.here(place) && object => format!("{:?}:{at}", self.order),
            Some(frame) => {
                let calls: Vec<usize> = self.site.frames.iter().take(frame).map(|frame| frame.at.start).collect();
                format!("{}:{calls:?}:{at}", place.unit.path)
            }
        }
    }

    fn options(&self, place: &Where<'a>, args: &'a [Arg], how: &mut How, positional: bool) {
        for arg in args {
            let keyword = arg.name.as_deref();
            let source = || {
                let name = keyword.unwrap_or("extension_class");
                format!("{name}={}", crate::text::one_line(place.unit.text.slice(arg.value.span), 80))
            };
            if arg.spread {
                how.extension = None;
                how.name = Name::Known(Suffix::Named(vec![None]));
                continue;
            }
            match keyword {
                Some("extension_class") => self.extension(place, &arg.value, how),
                None if positional => self.extension(place, &arg.value, how),
                Some("name") => how.name = self.name(place, &arg.value),
                Some("matcher" | "exclude" | "include") if arg.value.kind != ExprKind::None => {
                    how.filters.push(source());
                }
                Some("diff" | "diff_data") if arg.value.kind != ExprKind::None => how.diff = true,
                _ => {}
            }
        }
    }

    fn extension(&self, place: &Where<'a>, expr: &'a Expr, how: &mut How) {
        if expr.kind == ExprKind::None {
            return;
        }
        let test = &self.site.frames[0].file;
        how.extension = extension::of(self.project, test, place.unit, place.function, expr).or_else(|| {
            let Origin { root, applied } = place.origin(self.project, self.site, self.world, expr);
            match (root, applied.as_slice()) {
                (Root::Value(class), []) => extension::of(self.project, test, place.unit, None, class),
                _ => None,
            }
        });
    }

    fn name(&self, place: &Where<'a>, expr: &'a Expr) -> Name {
        match place.value(self.project, self.site, self.world, expr) {
            Value::None | Value::Int(0) | Value::Bool(false) => Name::None,
            Value::Str(text) if text.is_empty() => Name::None,
            Value::Str(text) => Name::Known(Suffix::Exact(format!("[{text}]"))),
            Value::Int(number) => Name::Known(Suffix::Exact(format!(".{number}"))),
            Value::Bool(true) => Name::Known(Suffix::Exact(".True".into())),
            Value::Pattern(parts) => Name::Known(Suffix::Named(parts)),
            _ => Name::Known(Suffix::Named(vec![None])),
        }
    }
}

/// snapshottest keeps what the tests of this file record: its `assert_match` has the same shape.
fn snapshottest(project: &Project, file: &RelPath) -> bool {
    let kept = file.parent().join(&format!("snapshots/snap_{}.py", file.stem()));
    kept.is_some_and(|kept| project.shelf.listed(&kept))
}
