//! pytest-regressions 2.11.0 (with pytest-datadir 1.9.0): `data_regression`, `file_regression`, `num_regression`,
//! `dataframe_regression`, `ndarrays_regression` and `image_regression`, each with `.check(value, …)` against
//! `<folder>/<module>/<basename><extension>`. The basename is the test's name with its parameters, every character
//! that is no word character replaced by `_`; `basename=`, `fullpath=` and `extension=` say otherwise. Takes sites,
//! gives pins, contents, what a run left (`….obtained.…`, see [`obtained`]) and the bytes that `--force-regen` writes.
//!
//! Texts are compared by `splitlines`, tables and arrays within a tolerance, images by their mean difference
//! ([`comparing`]). The class of a test is part of the name only with `--with-test-class-names`.

use std::collections::BTreeSet;

use super::pytest::{self, Call, Id, Ids, Place};
use super::{
    Amended, Artefact, Baseline, Content, FileChange, Framework, Orphan, Pin, Refusal, Step, digest_of, reading, seen,
};
use crate::code::{ExprKind, Stmt, StmtKind, Unit};
use crate::evaluate::{self, Value, World, worlds};
use crate::pins::{Project, Site, fixtures};
use crate::places::RelPath;
use crate::shelf::Read;

mod comparing;
mod obtained;
mod orphans;

pub struct Regressions;

const ID: &str = "pytest-regressions";

/// How a recorded file is read and compared; the word of its [`Step::Serialised`].
const YAML: &str = "yaml";
const CSV: &str = "csv";
const NPZ: &str = "npz";
const IMAGE: &str = "image";
const TEXT: &str = "text";
const LATIN: &str = "latin-1";

/// Fixture, extension, and where `basename` and `fullpath` stand among the arguments.
const FIXTURES: &[(&str, &str, usize, usize)] = &[
    ("data_regression", ".yml", 1, 2),
    ("file_regression", ".txt", 4, 5),
    ("num_regression", ".csv", 1, 2),
    ("dataframe_regression", ".csv", 1, 2),
    ("ndarrays_regression", ".npz", 1, 2),
    ("image_regression", ".png", 3, 4),
];

impl Framework for Regressions {
    fn id(&self) -> &'static str {
        ID
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        let Some(call) = Call::at(project, site.comparing()) else { return Vec::new() };
        let worlds = worlds(project, site);
        let Some(check) = worlds.first().and_then(|world| Check::of(project, site, world, call)) else {
            return Vec::new();
        };
        let to_fail = pytest::is_to_fail(project, site);
        let aside = pytest::is_set_aside(project, site);
        let ids = Ids::of(project, site);
        let mut pins = Vec::new();
        let mut known = BTreeSet::new();
        for world in &worlds {
            let id = ids.id(world);
            let (steps, tolerance) = check.format(world);
            for place in check.places(world, &id) {
                let Some(mut pin) = seen::pin(project, site, world, ID) else { continue };
                if matches!(id, Id::Part(_)) {
                    pin.case = None;
                    let function = pytest::function_of(project, &site.frames[0]).map(|(_, function)| function);
                    pin.test = super::plain_python::node_id(&pin.file, function);
                }
                if !known.insert((pin.case.clone(), place.clone())) {
                    continue;
                }
                pin.oracle.steps.clone_from(&steps);
                pin.oracle.tolerance.clone_from(&tolerance);
                if let Some(Step::Unknown(what)) = steps.first() {
                    pin.oracle.shown_only = Some(format!("the test compares with {what}, which is not followed"));
                }
                pytest::hold(&mut pin, place, &|path| project.shelf.listed(path), aside, to_fail);
                pins.push(pin);
            }
        }
        let shared = pins.len() > 1;
        pins.iter_mut().for_each(|pin| pin.shared_site = shared);
        pins
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        let Some(path) = &pin.oracle.path else { return Baseline::Missing };
        reading::whole(path, project, |bytes| content(bytes, &pin.oracle.steps))
    }

    fn observed(&self, pin: &Pin, value: Content) -> Content {
        match (value, format(&pin.oracle.steps)) {
            (Content::Text(text), Some(YAML | CSV | TEXT | LATIN)) => Content::Text(lines(&text)),
            (value, _) => reading::observed(value, &pin.oracle.steps),
        }
    }

    fn artefacts(&self, pin: &Pin, project: &Project) -> Vec<Artefact> {
        obtained::artefacts(pin, project)
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        artefact: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        let Some(path) = &pin.oracle.path else {
            return Err(Refusal(format!(
                "{}: which file it is held against is known only up to a pattern; nothing was written",
                pin.test
            )));
        };
        let old = match project.shelf.disk(path) {
            Read::Bytes(bytes) => Some(bytes),
            Read::Missing => None,
            Read::Refused(why) => return Err(Refusal(format!("{why}; nothing was written"))),
        };
        let after = match artefact {
            Some(artefact) => match project.shelf.disk(&artefact.path) {
                Read::Bytes(bytes) if content(&bytes, &pin.oracle.steps).as_ref() == Ok(observed) => bytes.to_vec(),
                _ => {
                    return Err(Refusal(format!(
                        "{} is no longer what was shown; look at the new drift and decide again",
                        artefact.path
                    )));
                }
            },
            None => bytes_of(path, observed, &pin.oracle.steps, old.as_deref())?,
        };
        let before = old.as_deref().map(|old| digest_of(&[old]));
        let change = FileChange { path: path.clone(), before, after: Some(after), edits: Vec::new() };
        Ok(Amended { oracle: vec![change], ..Amended::default() })
    }

    fn orphans(&self, pins: &[Pin], project: &Project) -> Vec<Orphan> {
        orphans::orphans(pins, project)
    }
}

fn format(steps: &[Step]) -> Option<&'static str> {
    steps.iter().find_map(|step| match step {
        Step::Serialised(format) => Some(*format),
        _ => None,
    })
}

/// The recorded bytes as the check sees them.
fn content(bytes: &[u8], steps: &[Step]) -> Result<Content, String> {
    match format(steps) {
        Some(YAML | CSV | TEXT) => match reading::content(bytes, &[])? {
            Content::Text(text) => Ok(Content::Text(lines(&text))),
            other => Ok(other),
        },
        Some(LATIN) => Ok(Content::Text(lines(&bytes.iter().map(|byte| char::from(*byte)).collect::<String>()))),
        Some(_) => Ok(Content::Bytes(bytes.to_vec())),
        None => reading::content(bytes, &[Step::Bytes]),
    }
}

/// A text as the list of its lines (`str.splitlines` after universal newlines), each with a newline.
fn lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 1);
    let mut chars = text.chars().peekable();
    let mut open = false;
    while let Some(c) = chars.next() {
        let ends =
            matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}');
        if c == '\r' && chars.peek() == Some(&'\n') {
            chars.next();
        }
        out.push(if ends { '\n' } else { c });
        open = !ends;
    }
    if open {
        out.push('\n');
    }
    out
}

/// The bytes of an observed value that no artefact holds.
fn bytes_of(path: &RelPath, observed: &Content, steps: &[Step], old: Option<&[u8]>) -> Result<Vec<u8>, Refusal> {
    let refuse = |why: &str| Err(Refusal(format!("{path}: {why}; nothing was written")));
    let text = match (observed, format(steps)) {
        (Content::Bytes(bytes), Some(NPZ | IMAGE) | None) => return Ok(bytes.clone()),
        (Content::Text(text), None) => return Ok(text.clone().into_bytes()),
        (Content::Text(text), Some(YAML | CSV | TEXT | LATIN)) => text,
        _ => {
            return refuse(
                "how the observed value would be written is not certain; run the test with `--basetemp` below the workspace, then accept what it left",
            );
        }
    };
    let mut text = text.clone();
    let was = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if let (Some(old), Some(TEXT | LATIN)) = (old.map(was), format(steps)) {
        if !old.is_empty() && !old.ends_with(['\n', '\r']) {
            text.pop();
        }
        let ends = old.matches("\r\n").count();
        if ends > 0 && ends == old.matches('\n').count() {
            text = text.replace('\n', "\r\n");
        }
    }
    let bytes: Option<Vec<u8>> = match format(steps) {
        Some(LATIN) => text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect(),
        _ => Some(text.into_bytes()),
    };
    match bytes {
        Some(bytes) if content(&bytes, steps).as_ref() == Ok(observed) => Ok(bytes),
        _ => refuse("the observed text would not read back equal in the file's encoding"),
    }
}

/// One call of a fixture's `check`.
struct Check<'a> {
    project: &'a Project,
    site: &'a Site,
    call: Call<'a>,
    fixture: &'static str,
    extension: &'static str,
    basename_at: usize,
    fullpath_at: usize,
    /// Folder of the recorded files; `None` where the project's own `original_datadir` is not followed.
    folder: Option<RelPath>,
    class: Option<String>,
}

impl<'a> Check<'a> {
    fn of(project: &'a Project, site: &'a Site, world: &'a World, call: Call<'a>) -> Option<Check<'a>> {
        if call.args.is_empty() {
            return None;
        }
        let found = pytest::plain_fixture(project, site, world, call.receiver);
        let (fixture, extension, basename_at, fullpath_at) = FIXTURES.iter().copied().find(|(name, ..)| {
            found == Some(name) || pytest::kept_fixture(project, site.comparing(), call.receiver, name)
        })?;
        let (unit, function) = pytest::function_of(project, site.frames.first()?)?;
        let class = function.path.last().filter(|name| unit.scopes.iter().any(|scope| scope.name == **name));
        let class = class.filter(|_| class_names(project, site)).cloned();
        let folder = datadir(project, unit, &function.path);
        Some(Check { project, site, call, fixture, extension, basename_at, fullpath_at, folder, class })
    }

    fn arg(&self, at: usize, name: &str) -> Option<&'a crate::code::Expr> {
        self.call.arg(at, name).filter(|value| value.kind != ExprKind::None)
    }

    fn value(&self, world: &World, at: usize, name: &str) -> Option<Value> {
        let expr = self.arg(at, name)?;
        Some(world.value(self.project, self.site, self.site.frames.len() - 1, expr))
    }

    /// How the file is compared, and within which tolerance.
    fn format(&self, world: &World) -> (Vec<Step>, Option<String>) {
        let plain = |word: &'static str| vec![Step::Serialised(word)];
        let unknown = |what: &str| vec![Step::Unknown(what.to_string())];
        if self.call.is_open() {
            return (unknown("arguments that are not written out"), None);
        }
        match self.fixture {
            "data_regression" => (plain(YAML), None),
            "image_regression" => {
                let threshold = match self.value(world, 1, "diff_threshold") {
                    None => Some("0.1".to_string()),
                    Some(Value::Float(text)) => Some(text),
                    Some(Value::Int(number)) => Some(number.to_string()),
                    Some(_) => None,
                };
                match (self.arg(2, "expect_equal").is_none(), threshold) {
                    (true, Some(threshold)) => (plain(IMAGE), Some(format!("diff_threshold={threshold}"))),
                    (true, None) => (plain(IMAGE), Some("diff_threshold".to_string())),
                    (false, _) => (unknown("`expect_equal`"), None),
                }
            }
            "file_regression" => (self.file_format(world), None),
            fixture => {
                let word = if fixture == "ndarrays_regression" { NPZ } else { CSV };
                let last = self.site.frames.len() - 1;
                let exprs = [self.arg(3, "tolerances"), self.arg(4, "default_tolerance")];
                (plain(word), Some(comparing::tolerance(self.project, self.site, world, last, exprs)))
            }
        }
    }

    fn file_format(&self, world: &World) -> Vec<Step> {
        if self.arg(8, "check_fn").is_some() {
            return vec![Step::Unknown("a function of its own (`check_fn`)".to_string())];
        }
        match self.value(world, 6, "binary") {
            None | Some(Value::Bool(false)) => {}
            Some(Value::Bool(true)) => return vec![Step::Bytes],
            Some(_) => return vec![Step::Unknown("a `binary` that is not known".to_string())],
        }
        let encoding = match self.value(world, 1, "encoding") {
            None => "utf-8".to_string(),
            Some(Value::Str(encoding)) => encoding.to_ascii_lowercase().replace('_', "-"),
            Some(_) => String::new(),
        };
        match encoding.as_str() {
            "utf-8" | "utf8" | "ascii" | "us-ascii" => vec![Step::Serialised(TEXT)],
            "latin-1" | "latin1" | "iso-8859-1" | "iso8859-1" | "l1" => vec![Step::Serialised(LATIN)],
            _ => vec![Step::Unknown(format!("the encoding {encoding:?}"))],
        }
    }

    /// Where the recorded file lies. With parameters whose ids are not known, each file that is there.
    fn places(&self, world: &World, id: &Id) -> Vec<Place> {
        let nowhere = vec![Place::Among(Vec::new())];
        if self.call.is_open() {
            return nowhere;
        }
        if let Some(full) = self.value(world, self.fullpath_at, "fullpath") {
            let last = self.site.frames.len() - 1;
            return match world.file(self.project, self.site, last, full) {
                Value::Path(path) => vec![Place::Known(path)],
                pattern @ Value::Paths(_) => vec![Place::Among(evaluate::candidates(self.project, &pattern))],
                _ => nowhere,
            };
        }
        let Some(folder) = &self.folder else { return nowhere };
        let extension = match self.fixture {
            "file_regression" => match self.value(world, 2, "extension") {
                None => Some(self.extension.to_string()),
                Some(Value::Str(extension)) => Some(extension),
                Some(_) => None,
            },
            _ => Some(self.extension.to_string()),
        };
        let among = |parts: Vec<Option<String>>| {
            let folder = [Some(format!("{folder}/"))].into_iter();
            let all = folder.chain(parts).chain([extension.clone()]).collect();
            vec![Place::Among(evaluate::candidates(self.project, &Value::Paths(all)))]
        };
        let known = |stem: &str| match &extension {
            Some(extension) => folder.join(&format!("{stem}{extension}")).map(Place::Known).into_iter().collect(),
            None => among(vec![Some(stem.to_string())]),
        };
        match self.value(world, self.basename_at, "basename") {
            Some(Value::Str(name)) if !name.is_empty() => return known(&name),
            Some(Value::Pattern(parts)) => return among(parts),
            Some(Value::Str(_)) | None => {}
            Some(_) => return among(vec![None]),
        }
        let Some((unit, function)) = pytest::function_of(self.project, &self.site.frames[0]) else { return nowhere };
        let class = self.class.as_ref().map(|class| format!("{}_", folded(class))).unwrap_or_default();
        let stem = format!("{class}{}", folded(&function.name));
        match id {
            Id::None => known(&stem),
            Id::Known(id) => known(&format!("{stem}{}", folded(&format!("[{id}]")))),
            Id::Part(part) => {
                let part = part.as_deref().map(folded).unwrap_or_default();
                let extension = extension.as_deref().unwrap_or("");
                let others: Vec<&str> = unit
                    .functions
                    .iter()
                    .map(|other| other.name.as_str())
                    .filter(|other| other.len() > function.name.len() && other.starts_with(&function.name))
                    .collect();
                let fits = |path: &&RelPath| {
                    let Some(id) = path.name().strip_prefix(&stem).and_then(|rest| rest.strip_suffix(extension)) else {
                        return false;
                    };
                    let shape = id.len() >= 2 && id.starts_with('_') && id.ends_with('_') && id.contains(&part);
                    let another = others.iter().any(|other| path.name().starts_with(&format!("{class}{other}")));
                    path.parent() == *folder && shape && !another
                };
                let mut found: Vec<Place> =
                    self.project.shelf.below(folder).filter(fits).cloned().map(Place::Known).collect();
                let plain = folder.join(&format!("{stem}{extension}"));
                found.extend(plain.filter(|path| self.project.shelf.listed(path)).map(Place::Known));
                if found.is_empty() { nowhere } else { found }
            }
        }
    }
}

/// `re.sub(r"\W", "_", name)`.
fn folded(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect()
}

/// `original_datadir`: the folder beside the module that has its name, or what the project's own fixture gives.
fn datadir(project: &Project, unit: &Unit, path: &[String]) -> Option<RelPath> {
    match fixtures::definitions(project, unit, path, "original_datadir").first() {
        None => unit.path.parent().join(unit.path.stem()),
        Some(own) => match evaluate::alone(project, own.unit, fixtures::gives(own.function()?)?) {
            Value::Path(path) => Some(path),
            _ => None,
        },
    }
}

/// Whether the class is part of the name: by an option of the configuration, or by the fixture's attribute.
fn class_names(project: &Project, site: &Site) -> bool {
    const OPTION: &str = "--with-test-class-names";
    let Some(frame) = site.frames.first() else { return false };
    let mut folder = frame.file.parent();
    loop {
        for name in ["pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"] {
            let text =
                folder.join(name).filter(|file| project.shelf.listed(file)).and_then(|file| project.shelf.text(&file));
            if let Some(text) = text
                && text.as_str().lines().any(|line| !line.trim_start().starts_with(['#', ';']) && line.contains(OPTION))
            {
                return true;
            }
        }
        if folder.as_str().is_empty() {
            break;
        }
        folder = folder.parent();
    }
    site.frames.iter().any(|frame| {
        let Some((unit, function)) = pytest::function_of(project, frame) else { return false };
        sets_class_names(unit, &function.body, frame.at.start)
    })
}

fn sets_class_names(unit: &Unit, body: &[Stmt], before: usize) -> bool {
    body.iter().filter(|stmt| stmt.span.start < before).any(|stmt| match &stmt.kind {
        StmtKind::Bind { value, .. } if value.kind == ExprKind::Bool(true) => {
            pytest::assigned(unit, stmt, value).is_some_and(|target| target.ends_with("with_test_class_names"))
        }
        StmtKind::With { body, .. } => sets_class_names(unit, body, before),
        _ => false,
    })
}

#[cfg(test)]
mod tests;
