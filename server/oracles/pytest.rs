//! What the plugins of pytest have in common: the call at a site's place and its arguments, the plugin's
//! fixture behind its receiver, whether the ids of a test are known, whether the call is to fail. Takes
//! sites, gives expressions as they stand. Never knows where a plugin keeps its files.

use super::Pin;
use crate::code::{Arg, Expr, ExprKind, Function, Stmt, StmtKind, Unit};
use crate::evaluate::origin::{Application, Root};
use crate::evaluate::{World, parametrize};
use crate::pins::{Frame, Project, Site, fixtures};
use crate::places::RelPath;

/// A call of a method, as it stands at a frame's place.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub receiver: &'a Expr,
    pub method: &'a str,
    pub args: &'a [Arg],
}

impl<'a> Call<'a> {
    /// The method call at the frame's place.
    pub fn at(project: &'a Project, frame: &Frame) -> Option<Call<'a>> {
        let (callee, args) = call_at(project, frame)?;
        let ExprKind::Attr(receiver, method) = &callee.kind else { return None };
        Some(Call { receiver, method, args })
    }

    /// An argument by its position or its keyword.
    pub fn arg(&self, at: usize, name: &str) -> Option<&'a Expr> {
        argument(self.args, at, name)
    }

    /// Whether `*args` or `**kwargs` may fill what is not written.
    pub fn is_open(&self) -> bool {
        self.args.iter().any(|arg| arg.spread)
    }
}

pub fn argument<'a>(args: &'a [Arg], at: usize, name: &str) -> Option<&'a Expr> {
    let named = args.iter().find(|arg| arg.name.as_deref() == Some(name));
    let placed = || {
        let before = args.get(..=at)?;
        before.iter().all(|arg| arg.name.is_none() && !arg.spread).then(|| args.get(at)).flatten()
    };
    named.or_else(placed).map(|arg| &arg.value)
}

/// The call that stands exactly at the frame's place: what is called, and with what.
pub fn call_at<'a>(project: &'a Project, frame: &Frame) -> Option<(&'a Expr, &'a [Arg])> {
    let unit = project.unit(&frame.file)?;
    let mut found = None;
    let mut see = |expr: &'a Expr| {
        if let ExprKind::Call { callee, args } = &expr.kind
            && expr.span == frame.at
            && found.is_none()
        {
            found = Some((&**callee, args.as_slice()));
        }
    };
    body_of(unit, frame).iter().filter(|stmt| stmt.span.contains(frame.at)).for_each(|stmt| stmt.walk(&mut see));
    found
}

pub fn body_of<'a>(unit: &'a Unit, frame: &Frame) -> &'a [Stmt] {
    match frame.function.and_then(|index| unit.functions.get(index)) {
        Some(function) => &function.body,
        None => &unit.top,
    }
}

/// The function of a frame, with its file.
pub fn function_of<'a>(project: &'a Project, frame: &Frame) -> Option<(&'a Unit, &'a Function)> {
    let unit = project.unit(&frame.file)?;
    Some((unit, unit.functions.get(frame.function?)?))
}

/// The fixture of a plugin that an expression of the comparing frame is, with nothing done to it.
pub fn plain_fixture<'a>(project: &'a Project, site: &'a Site, world: &'a World, expr: &'a Expr) -> Option<&'a str> {
    let origin = world.origin(project, site, site.frames.len() - 1, expr);
    match origin.root {
        Root::Fixture(name) if origin.applied.is_empty() => Some(name),
        _ => None,
    }
}

/// The same for an attribute of the test's object that a method of its class sets from a fixture of that name:
/// `def use(self, snapshot): self.snapshot = snapshot`.
pub fn kept_fixture<'a>(project: &'a Project, frame: &Frame, expr: &'a Expr, fixture: &str) -> bool {
    let ExprKind::Attr(owner, attribute) = &expr.kind else { return false };
    let Some((unit, function)) = function_of(project, frame) else { return false };
    if !matches!(&owner.kind, ExprKind::Name(name) if name == "self") {
        return false;
    }
    let sets = |method: &Function| {
        method.path == function.path
            && method.params.iter().any(|param| param.name == fixture)
            && fixtures::definitions(project, unit, &method.path, fixture).is_empty()
            && method.body.iter().any(|stmt| {
                let StmtKind::Bind { value, .. } = &stmt.kind else { return false };
                matches!(&value.kind, ExprKind::Name(name) if name == fixture)
                    && assigned(unit, stmt, value) == Some(format!("self.{attribute}"))
            })
    };
    unit.functions.iter().any(sets)
}

/// What an assignment assigns to, as it stands: `snapshots["a b"]`.
pub fn assignment<'a>(unit: &'a Unit, stmt: &Stmt, value: &Expr) -> Option<&'a str> {
    let before = unit.text.as_str().get(stmt.span.start..value.span.start)?;
    before.trim_end().trim_end_matches('(').trim_end().strip_suffix('=').map(str::trim)
}

/// The same without white space: `snapshot.snapshot_dir`.
pub fn assigned(unit: &Unit, stmt: &Stmt, value: &Expr) -> Option<String> {
    Some(assignment(unit, stmt, value)?.chars().filter(|c| !c.is_whitespace()).collect())
}

/// The marks that hold for a test, the nearest first: its own, those of its classes, `pytestmark` of the module.
pub fn marks<'a>(unit: &'a Unit, function: &'a Function) -> Vec<&'a Expr> {
    let mut found: Vec<&Expr> = function.marks.iter().collect();
    let classes: Vec<_> = unit.scopes_at(function.span).collect();
    found.extend(classes.iter().rev().flat_map(|scope| &scope.marks));
    if let Some((_, module)) = unit.globals_named("pytestmark").rfind(|(_, global)| global.path.is_empty()) {
        match &module.value.kind {
            ExprKind::List(items) | ExprKind::Tuple(items) => found.extend(items),
            _ => found.push(&module.value),
        }
    }
    found
}

/// The call stands in a `try`: what goes wrong there may be caught.
pub fn is_tried(project: &Project, site: &Site) -> bool {
    site.frames.iter().any(|frame| {
        let Some(unit) = project.unit(&frame.file) else { return false };
        let mut found = false;
        super::plain_python::statements(body_of(unit, frame), frame.at, &mut |stmt| {
            found |= matches!(&stmt.kind, StmtKind::Block(_));
        });
        found
    })
}

/// Whether the test that a reader sees asks pytest for anything.
pub fn requests(project: &Project, site: &Site) -> bool {
    site.frames
        .first()
        .and_then(|frame| function_of(project, frame))
        .is_some_and(|(_, function)| function.params.iter().any(|param| param.name != "self"))
}

/// The call stands where it may not be reached, or more than once: in a branch, a loop that is not a `for`, a `try`.
pub fn is_perhaps(project: &Project, site: &Site) -> bool {
    site.frames.iter().any(|frame| {
        let Some(unit) = project.unit(&frame.file) else { return true };
        let mut found = false;
        super::plain_python::statements(body_of(unit, frame), frame.at, &mut |stmt| {
            found |= matches!(&stmt.kind, StmtKind::If { .. } | StmtKind::While { .. } | StmtKind::Block(_));
        });
        found
    })
}

/// The id under which a test runs in one world, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Id {
    /// It has no parameters.
    None,
    Known(String),
    /// It has parameters; the id is not known, or only the part that is given.
    Part(Option<String>),
}

/// How the ids of a test come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ids {
    /// It has no parameters.
    None,
    /// By its own marks and the fixtures of its file.
    Own,
    /// By fixtures and hooks of other files as well.
    Hidden,
}

impl Ids {
    pub fn of(project: &Project, site: &Site) -> Ids {
        let Some((unit, function)) = site.frames.first().and_then(|frame| function_of(project, frame)) else {
            return Ids::Hidden;
        };
        match parametrize::parametrize_rows(unit, function).is_empty() {
            _ if fixtures::parametrised_elsewhere(project, unit, function) => Ids::Hidden,
            true => Ids::None,
            false => Ids::Own,
        }
    }

    /// What pytest puts between the brackets of the test's id in that world.
    pub fn id(self, world: &World) -> Id {
        match (self, &world.case) {
            (Ids::None, None) => Id::None,
            (Ids::None | Ids::Own, Some(case)) => Id::Known(case.clone()),
            (Ids::Own | Ids::Hidden, case) => Id::Part(case.clone()),
        }
    }
}

/// The test, or its class, is marked as one that does not run or fails: what it would record may not be there.
pub fn is_set_aside(project: &Project, site: &Site) -> bool {
    let Some((unit, function)) = site.frames.first().and_then(|frame| function_of(project, frame)) else {
        return false;
    };
    function.marks.iter().chain(unit.scopes_at(function.span).flat_map(|scope| &scope.marks)).any(|mark| {
        let name = match &mark.kind {
            ExprKind::Call { callee, .. } => callee.dotted(),
            _ => mark.dotted(),
        };
        let name = name.unwrap_or_default();
        let last = name.rsplit('.').next().unwrap_or_default();
        matches!(last, "skip" | "skipif" | "skipIf" | "skipUnless" | "xfail" | "expectedFailure")
    })
}

/// The call stands under `pytest.raises`, `assertRaises`: the comparison is to fail, or not to be reached.
pub fn is_to_fail(project: &Project, site: &Site) -> bool {
    site.frames.iter().any(|frame| {
        let Some(unit) = project.unit(&frame.file) else { return false };
        let mut found = false;
        super::plain_python::statements(body_of(unit, frame), frame.at, &mut |stmt| {
            if let StmtKind::With { items, .. } = &stmt.kind {
                found |= items.iter().any(|(item, _)| match &item.kind {
                    ExprKind::Call { callee, .. } => matches!(
                        &callee.kind,
                        ExprKind::Name(name) | ExprKind::Attr(_, name)
                            if matches!(name.as_str(), "raises" | "assertRaises" | "assertRaisesRegex" | "suppress")
                    ),
                    _ => false,
                });
            }
        });
        found
    })
}

/// Whether an expression is known to be a `str`, or known to be `bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Str,
    Bytes,
    Open,
}

/// What an expression of the comparing frame is, by its outermost call or literal.
pub fn kind_of(project: &Project, site: &Site, world: &World, expr: &Expr) -> Kind {
    match &expr.kind {
        ExprKind::Str(_) | ExprKind::Format(_) => return Kind::Str,
        ExprKind::Bytes(_) => return Kind::Bytes,
        _ => {}
    }
    let origin = world.origin(project, site, site.frames.len() - 1, expr);
    if let Root::Value(value) = &origin.root
        && origin.applied.is_empty()
    {
        return match &value.kind {
            ExprKind::Str(_) | ExprKind::Format(_) => Kind::Str,
            ExprKind::Bytes(_) => Kind::Bytes,
            _ => Kind::Open,
        };
    }
    let mut steps = origin.applied.iter().rev();
    let Some(Application::Call(_)) = steps.next().map(|step| step.what) else { return Kind::Open };
    match (steps.next().map(|step| step.what), &origin.root) {
        (Some(Application::Attr("encode" | "read_bytes" | "tobytes" | "to_bytes")), _) => Kind::Bytes,
        (Some(Application::Attr("decode" | "read_text")), _) => Kind::Str,
        (Some(Application::Attr("dumps")), Root::Import("json")) => Kind::Str,
        (Some(Application::Attr("dedent")), Root::Import("textwrap")) => Kind::Str,
        (Some(Application::Attr("join" | "strip" | "format" | "replace")), Root::Value(value)) => match value.kind {
            ExprKind::Str(_) | ExprKind::Format(_) => Kind::Str,
            _ => Kind::Open,
        },
        (None, Root::Import("json.dumps" | "textwrap.dedent")) => Kind::Str,
        (None, Root::Free("str" | "repr" | "hex" | "ascii")) => Kind::Str,
        (None, Root::Free("bytes" | "bytearray")) => Kind::Bytes,
        _ => Kind::Open,
    }
}

/// Where a plugin keeps what it compares with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Known(RelPath),
    Among(Vec<RelPath>),
}

/// Holds a pin against a place. `aside`: the test is set aside, so a file that is not `there` is no missing
/// one; `to_fail`: the test wants this comparison to fail.
pub fn hold(pin: &mut Pin, place: Place, there: &dyn Fn(&RelPath) -> bool, aside: bool, to_fail: bool) {
    match place {
        Place::Known(path) if aside && !there(&path) => {
            let why = "the test is set aside (skip, xfail) and nothing is recorded for it";
            pin.oracle.shown_only = Some(why.to_string());
        }
        Place::Known(path) if to_fail => pin.oracle.candidates = vec![path],
        Place::Known(path) => pin.oracle.path = Some(path),
        Place::Among(paths) => pin.oracle.candidates = paths,
    }
    if to_fail {
        pin.oracle.shown_only = Some("the test expects this comparison to fail".to_string());
    }
}

#[cfg(test)]
#[path = "pytest/tests/listing.rs"]
pub mod listing;
