//! From the comparisons of one test to its pins: which of them are syrupy's, with what options, in which order
//! the test makes them, and so what each is held against. Reads an amber file only where a name is known in
//! part, to list the entries that fit.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::extension::{self, Extension, Kind};
use super::naming::{self, Execution, How, Name, Suffix};
use super::{ID, read};
use crate::code::{Arg, Expr, ExprKind, Function, Op, StmtKind, Unit};
use crate::evaluate::origin::{Application, Origin, Root, Where};
use crate::evaluate::{Step, Value, World, worlds};
use crate::oracles::plain_python::statements;
use crate::oracles::{OracleKind, Pin, seen};
use crate::pins::sites::is_test;
use crate::pins::{Project, Site, fixtures};
use crate::places::RelPath;
use crate::syntax::Language;

/// Most files that are listed for a name known in part.
const CANDIDATES: usize = 20;
/// Most entries of one file that a test with unknown parameter ids takes.
const MOST: usize = 2_000;

/// Stands for the steps of a pin that is known to have nothing recorded.
pub const NOTHING: Step = Step::Serialised("nothing");

/// The fixture that the plugin defines.
const FIXTURE: &str = "snapshot";

/// One operand that may be a snapshot, and whether it is evaluated an unknown number of times.
struct Operand<'a> {
    pairs: Vec<&'a Expr>,
    repeated: bool,
    call: bool,
    /// `!=`, or under a `not`.
    negated: bool,
}

pub fn of_test(project: &Project, sites: &[&Site]) -> Vec<Vec<Pin>> {
    let mut pins: Vec<Vec<Pin>> = sites.iter().map(|_| Vec::new()).collect();
    let mut executions: Vec<Execution> = Vec::new();
    let mut known_worlds: Vec<Vec<World>> = Vec::new();
    for (at, site) in sites.iter().enumerate() {
        known_worlds.push(Vec::new());
        if !may_request(project, site) {
            continue;
        }
        let operands = operands(project, site);
        let blank = World::empty(site);
        let last = site.frames.len() - 1;
        let is_ours = |operand: &Operand| {
            operand.pairs.iter().any(|expr| blank.origin(project, site, last, expr).root == Root::Fixture(FIXTURE))
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
                let Some(mut execution) = execution(project, site, world, operand) else { continue };
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
        let Some(pin) = seen::pin(project, site, world, ID) else { continue };
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
    let requests =
        |function: &Function| function.params.iter().any(|param| !matches!(param.name.as_str(), "self" | "cls"));
    site.frames
        .iter()
        .filter_map(function)
        .any(|(unit, function)| requests(function) || fixtures::around(unit, function).is_some_and(requests))
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

fn execution(project: &Project, site: &Site, world: &World, operand: &Operand) -> Option<Execution> {
    let last = site.frames.len() - 1;
    let mut place = naming::place(project, site, world);
    let origins = operand.pairs.iter().map(|expr| world.origin(project, site, last, expr));
    let mut origins = origins.filter(|origin| origin.root == Root::Fixture(FIXTURE));
    let origin = origins.next()?;
    // A snapshot held against another one takes the options of both.
    let other = origins.next();
    let file = &site.frames[0].file;
    // Calls of other fixtures of the same name: an argument without a keyword, or with nothing at all.
    let foreign = |args: &[Arg]| args.iter().any(|arg| arg.name.is_none() && !arg.spread);
    let bare = matches!(origin.applied.as_slice(), [one] if one.what == Application::Call(&[]));
    if operand.call && !in_use(project, file) || bare && !in_use(project, file) {
        return None;
    }
    if operand.call && snapshottest(project, file) {
        return None;
    }
    if operand.repeated {
        place.order.push(0);
        place.repeats.get_or_insert_with(|| place.order.clone());
    }
    let mut how =
        How { extension: Extension::default_of(project, file), name: Name::None, filters: Vec::new(), diff: false };
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

thread_local! {
    /// Whether the files of a project show that syrupy is used; the last project that was asked for.
    static IN_USE: RefCell<Option<(usize, usize, bool)>> = const { RefCell::new(None) };
}

/// Signs of syrupy in the repository: an import, an amber file, a requirement.
pub fn in_use(project: &Project, _: &RelPath) -> bool {
    let of = (std::sync::Arc::as_ptr(&project.files) as usize, project.files.len());
    if let Some((files, len, known)) = IN_USE.with_borrow(|known| *known)
        && (files, len) == of
    {
        return known;
    }
    let imported = project.files.values().filter(|facts| facts.unit.language == Language::Python).any(|facts| {
        facts.unit.imports.iter().any(|import| import.path == "syrupy" || import.path.starts_with("syrupy."))
    });
    let found = imported
        || project.shelf.files().any(|file| file.name().ends_with(".ambr"))
        || project
            .shelf
            .files()
            .filter(|file| is_manifest(file.name()))
            .any(|file| project.shelf.text(file).is_some_and(|text| text.as_str().contains("syrupy")));
    IN_USE.set(Some((of.0, of.1, found)));
    found
}

fn is_manifest(name: &str) -> bool {
    matches!(name, "pyproject.toml" | "setup.py" | "setup.cfg" | "tox.ini" | "Pipfile")
        || name.contains("requirements") && name.ends_with(".txt")
}

/// snapshottest keeps what the tests of this file record: its `assert_match` has the same shape.
fn snapshottest(project: &Project, file: &RelPath) -> bool {
    let kept = file.parent().join(&format!("snapshots/snap_{}.py", file.stem()));
    kept.is_some_and(|kept| project.shelf.listed(&kept))
}

/// A test as syrupy names it.
struct Test<'a> {
    /// The module that runs it.
    unit: &'a Unit,
    /// The classes around it there.
    path: Vec<String>,
    function: &'a Function,
    /// Fixtures of other files give it parameter ids.
    open_ids: bool,
    parametrised: bool,
    /// pytest does not collect its class by its name.
    abstracted: bool,
}

/// A name of which parts may not be known.
enum Known {
    Exact(String),
    /// What stands before the parameter id, up to its bracket.
    Before(String),
}

impl<'a> Test<'a> {
    /// The test of a site, once more in each class that inherits it.
    fn all(project: &'a Project, site: &Site, open_ids: bool) -> Vec<Test<'a>> {
        let frame = &site.frames[0];
        let Some(unit) = project.unit(&frame.file) else { return Vec::new() };
        let Some(function) = frame.function.and_then(|index| unit.functions.get(index)) else { return Vec::new() };
        let parametrised = !crate::evaluate::parametrize::parametrize_rows(unit, function).is_empty();
        let mut classes = vec![(unit, function.path.clone())];
        if !function.path.is_empty() {
            heirs(project, unit, function, &mut classes);
        }
        let collected = |path: &[String]| path.iter().all(|class| class.starts_with("Test"));
        let any = classes.len() > 1;
        let tests = classes.into_iter().map(|(unit, path)| Test {
            unit,
            abstracted: !collected(&path),
            path,
            function,
            open_ids,
            parametrised,
        });
        tests.filter(|test| !test.abstracted || !any).collect()
    }

    fn id(&self, world: &World) -> String {
        let mut id = self.unit.path.to_string();
        for part in self.path.iter().chain([&self.function.name]) {
            id.push_str("::");
            id.push_str(part);
        }
        world.case.as_ref().map_or(id.clone(), |case| format!("{id}[{case}]"))
    }

    fn open(&self, world: &World) -> bool {
        self.open_ids || self.parametrised && world.case.is_none()
    }

    fn base(&self) -> String {
        let parts = self.path.iter().chain([&self.function.name]);
        parts.cloned().collect::<Vec<_>>().join(".")
    }

    /// The name before the suffix. The class is what stands between the `::` of the node id, also of those
    /// that a parameter id has.
    fn name(&self, world: &World) -> Known {
        match &world.case {
            _ if self.open(world) => Known::Before(format!("{}[", self.base())),
            None => Known::Exact(self.base()),
            Some(case) => {
                let own = format!("{}[{case}]", self.function.name);
                let inner: Vec<&str> = self.path.iter().map(String::as_str).chain(own.split("::")).collect();
                let class = inner.split_last().map(|(_, class)| class.join(".")).unwrap_or_default();
                Known::Exact(if class.is_empty() { own } else { format!("{class}.{own}") })
            }
        }
    }

    /// The pins of one execution.
    #[expect(clippy::too_many_arguments, reason = "one call, all of it needed")]
    fn held(
        &self,
        project: &Project,
        world: &World,
        mut pin: Pin,
        suffix: &Suffix,
        how: &How,
        alone: bool,
        explicit: &[&Suffix],
    ) -> Vec<Pin> {
        let Some(extension) = &how.extension else {
            return vec![pin];
        };
        let folder = extension.dirname.as_ref().and_then(|dirname| match dirname.as_str() {
            "" => Some(self.unit.path.parent()),
            dirname => self.unit.path.parent().join(dirname),
        });
        pin.oracle.kind = if extension.kind == Kind::Amber { OracleKind::Entry } else { OracleKind::File };
        pin.oracle.steps = steps(extension);
        pin.oracle.tolerance = (!how.filters.is_empty()).then(|| how.filters.join(", "));
        if how.diff {
            pin.oracle.shown_only =
                Some("only the difference to another snapshot is recorded; let syrupy write it".to_string());
        } else if !extension.names {
            pin.oracle.shown_only = Some("a class of the project names the snapshot in its own way".to_string());
        } else if !extension.plain {
            pin.oracle.shown_only = Some("the project reads or writes the file in its own way".to_string());
        }
        let Some(file_suffix) = &extension.suffix else { return vec![pin] };
        let dotted = if file_suffix.is_empty() { String::new() } else { format!(".{file_suffix}") };
        let name = self.name(world);
        if extension.kind == Kind::Amber {
            let file = format!("{}{dotted}", self.unit.path.stem());
            let Some(path) = folder.and_then(|folder| folder.join(&file)) else {
                pin.oracle.candidates = self.anywhere(project, |found| found == file);
                return vec![pin];
            };
            if let (Known::Exact(name), Suffix::Exact(suffix), true) = (&name, suffix, extension.names) {
                pin.oracle.entry = Some(format!("{name}{suffix}"));
                pin.oracle.path = Some(path);
                return vec![pin];
            }
            let entries = match read(project, &path) {
                Ok(Some(file)) if extension.names && alone => {
                    file.amber.entries.iter().map(|entry| entry.name.clone()).collect()
                }
                _ => Vec::new(),
            };
            let fitting = entries.into_iter().filter_map(|entry| {
                let case = self.fits(&name, suffix, explicit, &entry)?;
                Some((entry, case))
            });
            let mut pins: Vec<Pin> = fitting
                .take(MOST)
                .map(|(entry, case)| {
                    let mut pin = self.cased(pin.clone(), case);
                    pin.oracle.entry = Some(entry);
                    pin.oracle.path = Some(path.clone());
                    pin
                })
                .collect();
            if pins.is_empty() {
                pin.oracle.candidates = Some(path).filter(|path| project.shelf.listed(path)).into_iter().collect();
                pins.push(pin);
            }
            return pins;
        }
        let folder = match (folder, extension.flat) {
            (Some(folder), true) => Some(folder),
            (Some(folder), false) => folder.join(self.unit.path.stem()),
            (None, _) => None,
        };
        let stem = |path: &RelPath| path.name().strip_suffix(&dotted).unwrap_or_default().to_string();
        if let (Known::Exact(name), Suffix::Exact(suffix), true) = (&name, suffix, extension.names) {
            let whole = sanitised(&format!("{name}{suffix}"));
            // syrupy 4 does not count the dot.
            let cut = |most: usize| {
                let stem: String = whole.chars().take(most.saturating_sub(dotted.chars().count())).collect();
                format!("{stem}{dotted}")
            };
            let now = cut(255);
            match folder {
                Some(folder) => {
                    let path = |name: &str| folder.join(name);
                    let older = path(&cut(256)).filter(|path| project.shelf.listed(path));
                    pin.oracle.path = path(&now).filter(|path| project.shelf.listed(path)).or(older).or(path(&now));
                    pin.oracle.entry = pin.oracle.path.as_ref().map(stem);
                }
                None => pin.oracle.candidates = self.anywhere(project, |found| found == now),
            }
            return vec![pin];
        }
        let Some(folder) = folder else { return vec![pin] };
        let listed = |found: &&RelPath| found.parent() == folder && found.name().ends_with(&dotted);
        let mut fitting: Vec<(RelPath, Option<String>)> = project
            .shelf
            .below(&folder)
            .filter(listed)
            .filter_map(|path| Some((path.clone(), self.fits(&name, suffix, explicit, &stem(path))?)))
            .take(MOST)
            .collect();
        if fitting.is_empty() || !alone || !extension.names {
            fitting.truncate(CANDIDATES);
            pin.oracle.candidates = fitting.into_iter().map(|(path, _)| path).collect();
            return vec![pin];
        }
        fitting
            .into_iter()
            .map(|(path, case)| {
                let mut pin = self.cased(pin.clone(), case);
                pin.oracle.entry = Some(stem(&path));
                pin.oracle.path = Some(path);
                pin
            })
            .collect()
    }

    fn cased(&self, mut pin: Pin, case: Option<String>) -> Pin {
        if let Some(case) = case.filter(|_| pin.case.is_none()) {
            pin.test = format!("{}[{case}]", pin.test);
            pin.case = Some(case);
        }
        pin
    }

    /// Whether an entry may be the test's: its parameter id, where that is read off it.
    fn fits(&self, name: &Known, suffix: &Suffix, explicit: &[&Suffix], entry: &str) -> Option<Option<String>> {
        match name {
            Known::Exact(name) => suffix.fits(entry.strip_prefix(name.as_str())?).then_some(None),
            Known::Before(before) => {
                let rest = entry.strip_prefix(before.as_str())?;
                let ends: Vec<usize> = rest.match_indices(']').map(|(at, _)| at).collect();
                let fitting = |suffix: &Suffix| ends.iter().rev().copied().find(|at| suffix.fits(&rest[at + 1..]));
                let at = fitting(suffix)?;
                // What a longer explicit name of the same test explains is that one's.
                let other = explicit.iter().any(|other| *other != suffix && fitting(other).is_some_and(|end| end < at));
                (!other).then(|| Some(rest[..at].to_string()))
            }
        }
    }

    fn anywhere(&self, project: &Project, is: impl Fn(&str) -> bool) -> Vec<RelPath> {
        let folder = self.unit.path.parent();
        let mut found: Vec<RelPath> =
            project.shelf.below(&folder).filter(|path| is(path.name())).take(CANDIDATES + 1).cloned().collect();
        if found.len() > CANDIDATES {
            found.clear();
        }
        found
    }
}

/// The classes that inherit a test, where the same fixtures are seen there.
fn heirs<'a>(project: &'a Project, unit: &'a Unit, function: &Function, into: &mut Vec<(&'a Unit, Vec<String>)>) {
    let mut open: Vec<(&Unit, Vec<String>, Vec<String>)> = (1..=function.path.len())
        .map(|depth| (unit, function.path[..depth].to_vec(), function.path[depth..].to_vec()))
        .collect();
    while let Some((home, class, rest)) = open.pop() {
        let Some((name, around)) = class.split_last() else { continue };
        let others = project.files.values().map(|facts| &facts.unit);
        for other in
            others.filter(|other| other.language == Language::Python && other.path.parent() == unit.path.parent())
        {
            for scope in &other.scopes {
                let inherits = scope.bases.iter().filter_map(Expr::dotted).any(|base| {
                    if other.path == home.path {
                        return around.is_empty() && base == *name;
                    }
                    let import = other.imports_named(base.split('.').next().unwrap_or_default()).next_back();
                    import.is_some_and(|import| {
                        let module = import.path.strip_suffix(&format!(".{name}")).filter(|_| base == *name);
                        let module = module.or(base.ends_with(&format!(".{name}")).then_some(&import.path));
                        let module = module.and_then(|module| crate::pins::names::module(project, other, module));
                        module.is_some_and(|module| module.path == home.path)
                    })
                });
                if !inherits || into.len() > 100 {
                    continue;
                }
                let mut own = scope.path.clone();
                own.push(scope.name.clone());
                let path: Vec<String> = own.iter().chain(&rest).cloned().collect();
                let overridden = other.functions.iter().any(|f| {
                    f.path == path && f.name == function.name || f.path.starts_with(&own) && fixtures::is_fixture(f)
                });
                if !overridden && !into.iter().any(|(known, at)| known.path == other.path && *at == path) {
                    into.push((other, path));
                    open.push((other, own, rest.clone()));
                }
            }
        }
    }
}

fn steps(extension: &Extension) -> Vec<Step> {
    let serializer = Step::Serialised(extension.serializer);
    match extension.kind {
        Kind::Amber => vec![serializer],
        Kind::SingleAmber => vec![Step::Serialised("amber-file"), serializer],
        Kind::Text => vec![Step::UniversalNewlines, serializer],
        Kind::Bytes => vec![Step::Bytes],
    }
}

/// Name of the one entry of a new file.
pub fn entry_of_file(path: &RelPath) -> String {
    path.stem().to_string()
}

/// Characters that syrupy drops from file names, controls and format characters among them.
fn sanitised(name: &str) -> String {
    let format = |c: char| {
        matches!(c, '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{8e2}' | '\u{180e}')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}')
            || matches!(c, '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{110bd}')
            || matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{e0001}' | '\u{e0020}'..='\u{e007f}' | '\u{f0000}'..='\u{10ffff}')
    };
    name.chars().filter(|c| !"\\/?*:|\"<>".contains(*c) && !c.is_control() && !format(*c)).collect()
}
