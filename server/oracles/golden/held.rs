//! Whether a comparison holds a computed value against a recorded file, and against which. The rules that
//! keep precision stand here: the path is anchored, the file is listed (or its folder is one of
//! baselines), it is compared whole, with a value that is computed and not read from the same file, and no
//! test writes it except behind an update switch.

use super::twins;
use crate::code::{Expr, ExprKind, Stmt, StmtKind};
use crate::evaluate::{self, Step, Value, World};
use crate::oracles::comparing::{Comparison, comparison, empty_side};
use crate::pins::{Project, Site};
use crate::places::RelPath;

/// Names of folders that hold recorded files, and of those that hold what a run produced.
pub const RECORDED: &[&str] = &[
    "golden",
    "goldens",
    "expected",
    "expectations",
    "expect",
    "snapshots",
    "approved",
    "baseline",
    "baselines",
    "reference",
    "references",
];
pub const PRODUCED: &[&str] = &["actual", "observed", "output", "outputs", "received", "obtained", "current"];

/// A recorded file on one side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// [`Value::Path`], or [`Value::Paths`] when only parts of it are known.
    pub path: Value,
    pub steps: Vec<Step>,
    /// The file holds the digest, by this algorithm, of the computed value.
    pub digest: Option<String>,
    /// The helper that compares also writes the file when a switch says so.
    pub switched: bool,
}

/// Words in the name of a file or a value that say that it is recorded.
const SAYING: [&str; 8] = ["expect", "golden", "baseline", "snapshot", "reference", "approved", "recorded", "pinned"];

fn says_recorded(name: &str) -> bool {
    let name = name.to_lowercase();
    SAYING.iter().any(|word| name.contains(word))
}

/// The name of a value that a test expects.
fn says_expected(name: &str) -> bool {
    let name = name.to_lowercase();
    says_recorded(&name) || name.contains("want") || name.split('_').any(|word| matches!(word, "exp" | "should"))
}

/// Some name in the arguments of a call says that what it reads is recorded.
fn names_recorded(expr: &Expr) -> bool {
    let ExprKind::Call { args, .. } = &expr.kind else { return false };
    args.iter().any(|arg| {
        let named = arg.name.as_deref().is_some_and(says_recorded);
        named || matches!(&arg.value.kind, ExprKind::Name(name) | ExprKind::Attr(_, name) if says_recorded(name))
    })
}

/// Whether any part of the path names a folder of recorded files.
pub fn in_recorded_folder(path: &RelPath) -> bool {
    path.parent().as_str().split('/').any(|part| RECORDED.contains(&part.to_lowercase().as_str()))
}

/// The recorded file of a site in one of its worlds.
pub fn held(project: &Project, site: &Site, world: &World) -> Option<Held> {
    let frame = site.frames.len() - 1;
    let look = Look { project, site, world };
    let sides = look.difference(frame).or_else(|| comparison(project, site.comparing()))?;
    let (mut left, mut right) = (look.side(frame, sides.left, &sides), look.side(frame, sides.right, &sides));
    let mut through = None;
    if !is_content(&left) && !is_content(&right) {
        // `normalise(out) == normalise(golden.read_text())`: what it does is not known, but it does it to both.
        let (name, a, b) = same_call(sides.left, sides.right)?;
        (left, right) = (look.side(frame, a, &sides), look.side(frame, b, &sides));
        through = Some(name);
    }
    let found = match (is_content(&left), is_content(&right)) {
        (true, false) => look
            .judged(&left, &right, sides.right, frame)
            .filter(|_| look.is_meant(frame, &left, sides.left, sides.right)),
        (false, true) => look
            .judged(&right, &left, sides.left, frame)
            .filter(|_| look.is_meant(frame, &right, sides.right, sides.left)),
        (true, true) => look.two_files(frame, (&left, sides.left), (&right, sides.right)),
        (false, false) => None,
    };
    let mut found = found?;
    found.steps.extend(through.map(Step::Unknown));
    found.steps.extend(sides.by.map(|by| Step::Unknown(by.dotted().unwrap_or_default())));
    Some(found)
}

/// Whether a literal on the one side is what the recorded file on the other is held to, and so no recorded value
/// itself: the file is held whole, it is known, and it is said to be recorded (by its folder, its name, the name
/// of the side, the helper that writes it behind a switch), or the literal was handed to a helper under a name
/// that does not say the opposite. `handed`: the literal stands in a caller of the function that compares.
pub fn is_observed(
    project: &Project,
    site: &Site,
    world: &World,
    (literal, handed): (&Expr, bool),
    other: &Expr,
) -> bool {
    let look = Look { project, site, world };
    let frame = site.frames.len() - 1;
    let Value::Content { path, steps } = look.value(frame, other) else { return false };
    if steps.iter().any(|step| matches!(step, Step::Made(_) | Step::Unknown(_) | Step::Digest(_))) {
        return false;
    }
    let Some(held) = look.recorded(&path, &steps) else { return false };
    let named = |expr: &Expr, says: fn(&str) -> bool| matches!(&expr.kind, ExprKind::Name(name) | ExprKind::Attr(_, name) if says(name));
    let by_path = match &held.path {
        Value::Path(path) => in_recorded_folder(path) || says_recorded(path.name()),
        _ => false,
    };
    held.switched || by_path || named(other, says_recorded) || (handed && !named(literal, says_expected))
}

/// Whether a side of the comparison reads a file at all, as far as that is seen without the site's cases.
pub fn reads(project: &Project, site: &Site, world: &World) -> bool {
    let look = Look { project, site, world };
    let frame = site.frames.len() - 1;
    let Some(sides) = look.difference(frame).or_else(|| comparison(project, site.comparing())) else { return false };
    let unbound = |expr: &Expr| {
        let mut loops = false;
        expr.walk(&mut |expr| loops |= matches!(&expr.kind, ExprKind::Name(_)));
        loops && look.side(frame, expr, &sides) == Value::Unknown
    };
    [sides.left, sides.right].into_iter().any(|side| is_content(&look.side(frame, side, &sides)) || unbound(side))
}

fn is_content(value: &Value) -> bool {
    matches!(value, Value::Content { .. })
}

/// Functions of which an equal result says next to nothing about the content: it is not compared whole.
const REDUCES: [&str; 11] = ["len", "bool", "type", "any", "all", "sum", "min", "max", "id", "isinstance", "callable"];

/// Both sides are one-argument calls of the same function, and not of one that reduces its argument.
fn same_call<'a>(left: &'a Expr, right: &'a Expr) -> Option<(String, &'a Expr, &'a Expr)> {
    let (ExprKind::Call { callee: a, args: x }, ExprKind::Call { callee: b, args: y }) = (&left.kind, &right.kind)
    else {
        return None;
    };
    let name = a.dotted().filter(|name| b.dotted().as_ref() == Some(name))?;
    if REDUCES.contains(&name.as_str()) {
        return None;
    }
    Some((name, &x.first()?.value, &y.first()?.value))
}

/// All of it is known without running.
fn is_known(value: &Value) -> bool {
    match value {
        Value::Str(_)
        | Value::Bytes(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Bool(_)
        | Value::None
        | Value::Path(_) => true,
        Value::List(items) => items.iter().all(is_known),
        Value::Dict(items) => items.iter().all(|(key, value)| is_known(key) && is_known(value)),
        _ => false,
    }
}

enum Written {
    Never,
    /// Behind a condition: an update switch, or where the file does not exist yet.
    Switched,
    Always,
}

struct Look<'a> {
    project: &'a Project,
    site: &'a Site,
    world: &'a World,
}

impl<'a> Look<'a> {
    /// `assert not d`, `assert d == []` where `d` is made by `difflib` from two lists of lines.
    fn difference(&self, frame: usize) -> Option<Comparison<'a>> {
        let mut expr = empty_side(self.project, self.site.comparing())?;
        for _ in 0..8 {
            match &expr.kind {
                ExprKind::Name(name) => {
                    expr = self.world.binding(self.project, self.site, frame, expr, name)?.0;
                }
                ExprKind::Call { callee, args } => {
                    let name = callee.dotted().or_else(|| match &callee.kind {
                        ExprKind::Attr(_, name) => Some(name.clone()),
                        _ => None,
                    })?;
                    match (name.rsplit('.').next()?, args.as_slice()) {
                        ("unified_diff" | "ndiff" | "context_diff", [left, right, ..]) => {
                            return Some(Comparison { left: &left.value, right: &right.value, files: false, by: None });
                        }
                        ("list" | "tuple" | "join", [inner, ..]) => expr = &inner.value,
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
        None
    }

    fn value(&self, frame: usize, expr: &Expr) -> Value {
        self.world.value(self.project, self.site, frame, expr)
    }

    fn side(&self, frame: usize, expr: &Expr, sides: &Comparison) -> Value {
        let value = self.value(frame, expr);
        if !sides.files {
            return value;
        }
        match self.world.file(self.project, self.site, frame, value) {
            Value::Unknown => Value::Unknown,
            path => Value::Content { path: Box::new(path), steps: vec![Step::Bytes] },
        }
    }

    fn judged(&self, content: &Value, other: &Value, other_expr: &Expr, frame: usize) -> Option<Held> {
        let Value::Content { path, steps } = content else { return None };
        let mut held = self.recorded(path, steps)?;
        if is_known(other) && !self.is_handed_to_golden(&held, other_expr) {
            return None;
        }
        if self.mentions(frame, other_expr, path, 0, &mut 400) {
            return None;
        }
        let hashed = match held.steps.last() {
            Some(Step::Digest(algorithm)) => Some(algorithm.clone()),
            _ => None,
        };
        match (hashed, other) {
            // Digests of both are compared: the bytes are.
            (Some(own), Value::Digest(other)) if own == *other => {
                held.steps.pop();
            }
            (Some(_), _) => return None,
            (None, Value::Digest(algorithm)) => held.digest = Some(algorithm.clone()),
            (None, _) => held.digest = digest_by_name(path),
        }
        Some(held)
    }

    /// A value that is known, but handed to a helper that holds a recorded file against whatever it is given.
    fn is_handed_to_golden(&self, held: &Held, expr: &Expr) -> bool {
        let ExprKind::Name(name) = &expr.kind else { return false };
        let comparing = self.site.comparing();
        let recorded = held.switched || matches!(&held.path, Value::Path(path) if in_recorded_folder(path));
        recorded && self.site.frames.len() > 1 && comparing.given.contains_key(name) && !says_expected(name)
    }

    /// Two files are compared: the recorded one is the one that qualifies alone, or by its folder's name.
    fn two_files(&self, frame: usize, left: (&Value, &Expr), right: (&Value, &Expr)) -> Option<Held> {
        let of = |(value, expr): (&Value, &Expr), other: &Expr| match value {
            Value::Content { path, steps } if self.is_meant(frame, value, expr, other) => self.recorded(path, steps),
            _ => None,
        };
        let folder = |held: &Held| matches!(&held.path, Value::Path(path) if in_recorded_folder(path));
        let mut found = match (of(left, right.1), of(right, left.1)) {
            (Some(one), None) | (None, Some(one)) => Some(one),
            (Some(a), Some(b)) if folder(&a) != folder(&b) => Some(if folder(&a) { a } else { b }),
            _ => None,
        }?;
        if matches!(found.steps.last(), Some(Step::Digest(_))) {
            found.steps.pop();
        }
        Some(found)
    }

    /// What a function of the project makes of a file is held as a recorded value only where something says
    /// that it is one: the folder, the name of the file or of the value, the same function on both sides.
    fn is_meant(&self, frame: usize, value: &Value, expr: &Expr, other: &Expr) -> bool {
        let Value::Content { path, steps } = value else { return false };
        if !steps.iter().any(|step| matches!(step, Step::Made(_))) {
            return true;
        }
        if let Value::Paths(parts) = &**path
            && parts.first().is_some_and(|first| first.as_ref().is_none_or(|first| first.ends_with('/')))
        {
            // Any file of the folder: nothing of the name is known.
            return false;
        }
        let by_path = match &**path {
            Value::Path(path) => in_recorded_folder(path) || says_recorded(path.name()),
            Value::Paths(parts) => parts.iter().flatten().any(|part| {
                part.split('/').any(|word| RECORDED.contains(&word.to_lowercase().as_str()) || says_recorded(word))
            }),
            _ => false,
        };
        let (own, with) = (self.source(frame, expr), self.source(frame, other));
        let callee = |expr: &Expr| match &expr.kind {
            ExprKind::Call { callee, args } if !args.is_empty() => callee.dotted(),
            _ => None,
        };
        by_path
            || matches!(&expr.kind, ExprKind::Name(name) | ExprKind::Attr(_, name) if says_recorded(name))
            || callee(own).is_some_and(|name| callee(with) == Some(name))
            || names_recorded(own)
    }

    /// The expression that a name is bound to; any other stands for itself.
    fn source<'e>(&'e self, frame: usize, expr: &'e Expr) -> &'e Expr {
        match &expr.kind {
            ExprKind::Name(name) => {
                self.world.binding(self.project, self.site, frame, expr, name).map_or(expr, |(bound, _)| bound)
            }
            _ => expr,
        }
    }

    /// A file that can be a recorded one.
    fn recorded(&self, path: &Value, steps: &[Step]) -> Option<Held> {
        let switched = match self.written(path) {
            Written::Always => return None,
            Written::Switched => true,
            Written::Never => false,
        };
        match path {
            Value::Path(file) => {
                let own = self.site.frames.iter().any(|frame| frame.file == *file);
                let listed = self.project.shelf.listed(file);
                let folder = in_recorded_folder(file) && self.project.shelf.below(&file.parent()).next().is_some();
                // The only file of its folder may be the one that is gone; what a run left tells of it.
                let twin = || !twins::twins(file, self.project).is_empty();
                if own || !(listed || folder || switched || twin() || self.beside_others(file)) {
                    return None;
                }
            }
            Value::Paths(_) => {
                if evaluate::candidates(self.project, path).is_empty() && !switched {
                    return None;
                }
            }
            _ => return None,
        }
        Some(Held { path: path.clone(), steps: steps.to_vec(), digest: None, switched })
    }

    /// The test runs for each file of a folder, and the same folder holds recorded files of others.
    fn beside_others(&self, file: &RelPath) -> bool {
        let ending = file.name().rsplit_once('.').map(|(_, ending)| ending);
        let frame = self.site.frames.first();
        let unit = frame.and_then(|frame| self.project.unit(&frame.file));
        let function = unit.zip(frame).and_then(|(unit, frame)| unit.functions.get(frame.function?));
        let each = unit.zip(function).is_some_and(|(unit, function)| evaluate::per_file(unit, function).is_some());
        each && ending.is_some()
            && self.project.shelf.below(&file.parent()).any(|other| {
                other.parent() == file.parent() && other.name().rsplit_once('.').map(|(_, it)| it) == ending
            })
    }

    /// Whether the functions on the way write the file.
    fn written(&self, path: &Value) -> Written {
        let mut found = Written::Never;
        for (index, frame) in self.site.frames.iter().enumerate() {
            let Some(unit) = self.project.unit(&frame.file) else { continue };
            let Some(function) = frame.function.and_then(|f| unit.functions.get(f)) else { continue };
            self.writes(index, &function.body, false, path, &mut found);
        }
        found
    }

    fn writes(&self, frame: usize, body: &[Stmt], conditional: bool, path: &Value, found: &mut Written) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::If { then, otherwise, .. } => {
                    self.writes(frame, then, true, path, found);
                    self.writes(frame, otherwise, true, path, found);
                }
                StmtKind::Block(parts) => {
                    let many = parts.len() > 1;
                    parts.iter().for_each(|part| self.writes(frame, part, conditional || many, path, found));
                }
                StmtKind::For { body, .. } | StmtKind::While { body, .. } => {
                    self.writes(frame, body, conditional, path, found);
                }
                StmtKind::With { items, body } => {
                    for (item, _) in items {
                        self.write_in(frame, item, conditional, path, found);
                    }
                    self.writes(frame, body, conditional, path, found);
                }
                _ => stmt.walk(&mut |expr| self.write_in(frame, expr, conditional, path, found)),
            }
        }
    }

    fn write_in(&self, frame: usize, expr: &Expr, conditional: bool, path: &Value, found: &mut Written) {
        let Some(target) = written_by(expr) else { return };
        let value = self.value(frame, target);
        if self.world.file(self.project, self.site, frame, value) == *path && *path != Value::Unknown {
            *found = match (conditional, &found) {
                (true, Written::Never | Written::Switched) => Written::Switched,
                _ => Written::Always,
            };
        }
    }

    /// The other side is made from the same file: a round trip, not a recorded value. The file's name alone,
    /// or another file beside it, is not the file.
    fn mentions(&self, frame: usize, expr: &Expr, path: &Value, depth: usize, fuel: &mut usize) -> bool {
        if *fuel == 0 {
            return false;
        }
        *fuel -= 1;
        if matches!(expr.kind, ExprKind::Name(_) | ExprKind::Call { .. } | ExprKind::Macro { .. } | ExprKind::Attr(..))
        {
            let value = self.value(frame, expr);
            let same = match &value {
                Value::Content { path: read, .. } => **read == *path,
                Value::Path(_) | Value::Paths(_) => value == *path,
                Value::Str(text) if text.contains(['/', '.']) => {
                    self.world.file(self.project, self.site, frame, value.clone()) == *path
                }
                _ => false,
            };
            if same {
                return true;
            }
            if is_known(&value) {
                return false;
            }
            if depth < 8
                && let ExprKind::Name(name) = &expr.kind
                && let Some((bound, frame)) = self.world.binding(self.project, self.site, frame, expr, name)
                && self.mentions(frame, bound, path, depth + 1, fuel)
            {
                return true;
            }
        }
        let mut found = false;
        expr.parts(&mut |part| found = found || self.mentions(frame, part, path, depth, fuel));
        found
    }
}

/// The path that a call writes to.
pub(super) fn written_by(expr: &Expr) -> Option<&Expr> {
    let ExprKind::Call { callee, args } = &expr.kind else { return None };
    let arg = |at: usize| args.iter().filter(|arg| arg.name.is_none()).nth(at).map(|arg| &arg.value);
    let mode = || {
        let named = args.iter().find(|arg| arg.name.as_deref() == Some("mode")).map(|arg| &arg.value);
        named.or(arg(1)).or(arg(0))
    };
    let writes = |mode: Option<&Expr>| matches!(mode.map(|mode| &mode.kind), Some(ExprKind::Str(mode)) if mode.len() < 5 && mode.contains(['w', 'a', 'x', '+']));
    match &callee.kind {
        ExprKind::Name(name) => match name.as_str() {
            "open" if writes(mode()) => arg(0),
            "copyfile" | "copy" | "copy2" | "move" => arg(1),
            _ => None,
        },
        ExprKind::Attr(base, name) => {
            let owner = base.dotted().unwrap_or_default();
            let owner = owner.rsplit('.').next().unwrap_or_default();
            match (owner, name.as_str()) {
                ("fs" | "fs_err", "write") | ("File", "create" | "create_new") => arg(0),
                ("fs" | "fs_err", "copy" | "rename") | ("shutil", "copyfile" | "copy" | "copy2" | "move") => arg(1),
                ("io" | "codecs", "open") if writes(mode()) => arg(0),
                (_, "write_text" | "write_bytes") => Some(base),
                (_, "open") if writes(mode()) => Some(base),
                _ => None,
            }
        }
        _ => None,
    }
}

fn digest_by_name(path: &Value) -> Option<String> {
    let end = match path {
        Value::Path(path) => path.name().to_string(),
        Value::Paths(parts) => parts.last()?.clone()?,
        _ => return None,
    };
    let (_, extension) = end.rsplit_once('.')?;
    evaluate::algorithm(extension.trim_end_matches("sum")).map(str::to_string)
}
