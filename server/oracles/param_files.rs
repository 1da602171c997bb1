//! Files of cases, each an input with its recorded output: pytest-param-files 0.6 (`@pytest.mark.param_file(path)`
//! with `file_params.assert_expected(text)` or `assert text == file_params.expected`), and lists of
//! `markdown_it.utils.read_fixture_file` (markdown-it-py 1 to 4) in `parametrize`. Takes sites, gives one pin for each
//! case of the file and, for dot-delimited files, the bytes of one case with the rest left alone; `--regen-file-failure`
//! writes the same, but drops what stands between the cases.
//!
//! The pins of such lists are golden files: the test compares by itself, and [`super::golden`] asks here for their
//! contents. A case is a title, a line `.`, the input, a line `.`, the output, a line `.`; the YAML form is read and not written.

use std::cell::RefCell;
use std::rc::Rc;

use super::golden::Golden;
use super::literal_python::Py;
use super::pytest::{self, Call};
use super::pytest_golden::yaml;
use super::{
    Amended, Artefact, Baseline, Content, FileChange, Framework, OracleKind, Pin, Recorded, Refusal, comparing,
    digest_of, reading, seen,
};
use crate::code::{Arg, Expr, ExprKind, Function, Unit};
use crate::evaluate::origin::{Application, Origin, Root};
use crate::evaluate::parametrize::escaped;
use crate::evaluate::{self, Step, Value, World};
use crate::pins::{Project, Site};
use crate::shelf::Read;

mod cases;

use cases::Case;

pub struct ParamFiles;

const ID: &str = "param-files";
const MARK: &str = "param_file";
const READER: &str = "markdown_it.utils.read_fixture_file";
/// How a file of cases is read.
const DOT: Step = Step::Serialised("dot");
const YAML: Step = Step::Serialised("yaml");
/// White space goes from the end of each line.
const LINES: Step = Step::Serialised("rstrip-lines");

/// The cases of one file and the parameter that has them.
struct Source<'a> {
    parameter: &'a str,
    /// The parameter is a case; else it is the recorded text of one.
    whole: bool,
    path: Value,
    form: Step,
    /// The word of its pins: what no framework of its own compares is a golden file.
    framework: &'static str,
    /// How the ids are made; `None`: in a way that is not followed.
    id: Option<fn(&Case) -> String>,
}

impl Framework for ParamFiles {
    fn id(&self) -> &'static str {
        ID
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        let Some((unit, function)) = site.frames.first().and_then(|frame| pytest::function_of(project, frame)) else {
            return Vec::new();
        };
        let sources = sources(project, site, unit, function);
        if sources.is_empty() {
            return Vec::new();
        }
        let world = World::empty(site);
        let last = site.frames.len() - 1;
        let (held, mut steps) = if let Some(call) = Call::at(project, site.comparing())
            && call.method == "assert_expected"
        {
            (vec![(world.origin(project, site, last, call.receiver), true)], asked(&call))
        } else if let Some(found) = comparing::comparison(project, site.comparing()) {
            let side = |expr| (world.origin(project, site, last, expr), false);
            (vec![side(found.left), side(found.right)], Vec::new())
        } else {
            return Vec::new();
        };
        let found = held.iter().find_map(|(origin, whole)| {
            sources.iter().find_map(|source| Some((source, done(source, origin, *whole)?)))
        });
        let Some((source, done)) = found else { return Vec::new() };
        steps.extend(done);
        let Some(blank) = seen::pin(project, site, &world, source.framework) else { return Vec::new() };
        let mut blank = Pin { case: None, test: super::plain_python::node_id(&blank.file, Some(function)), ..blank };
        blank.oracle.kind = OracleKind::Entry;
        blank.oracle.steps = [source.form.clone(), Step::UniversalNewlines].into_iter().chain(steps).collect();
        blank.oracle.shown_only = blank.oracle.steps.iter().find_map(|step| match step {
            Step::Unknown(what) => Some(format!("the recorded text goes through `{what}` before it is compared")),
            step if *step == YAML => {
                Some("how ruamel.yaml lays out the new text is not certain; let `--regen-file-failure` write it".into())
            }
            _ => None,
        });
        let Value::Path(path) = &source.path else {
            blank.oracle.candidates = evaluate::candidates(project, &source.path);
            return vec![blank];
        };
        blank.oracle.path = Some(path.clone());
        let cases = match project.shelf.disk(path) {
            Read::Bytes(bytes) => cases::read(&bytes, source.form == YAML).unwrap_or_default(),
            _ => Vec::new(),
        };
        if cases.is_empty() {
            return vec![blank];
        }
        let shared = cases.len() > 1;
        let each = |case: &Case| {
            let mut pin = blank.clone();
            pin.oracle.entry = Some(case.name.clone());
            pin.shared_site = shared;
            if let Some(id) = source.id.filter(|_| sources.len() == 1) {
                let id = id(case);
                pin.test = format!("{}[{id}]", pin.test);
                pin.case = Some(id);
            }
            pin
        };
        cases.iter().map(each).collect()
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        let Some(path) = &pin.oracle.path else { return Baseline::Missing };
        let bytes = match project.shelf.disk(path) {
            Read::Bytes(bytes) => bytes,
            Read::Missing => return Baseline::Missing,
            Read::Refused(why) => return Baseline::Unreadable(why),
        };
        let Some(entry) = &pin.oracle.entry else {
            return Baseline::Unreadable(format!(
                "{path} holds no case that can be read: a title, then input and output between lines of one dot"
            ));
        };
        let present = |content, first_line| {
            Baseline::Present(Recorded { content, first_line, file_digest: digest_of(&[&bytes]), preimage: None })
        };
        if pin.oracle.steps.contains(&YAML) {
            let text = String::from_utf8_lossy(&bytes);
            return match yaml::entry(&text, entry) {
                Err(why) => Baseline::Unreadable(format!("{path}: {why}")),
                Ok(None) => Baseline::Missing,
                Ok(Some(found)) => match found.value {
                    Py::Dict(items) => match items.into_iter().find(|(key, _)| *key == Py::Str("expected".into())) {
                        Some((_, value)) => present(self.observed(pin, value.content()), 0),
                        None => Baseline::Missing,
                    },
                    _ => Baseline::Missing,
                },
            };
        }
        match section(&bytes, entry) {
            Err(why) => Baseline::Unreadable(format!("{path}: {why}")),
            Ok(None) => Baseline::Missing,
            Ok(Some((case, section))) => match reading::content(section.as_bytes(), &steps(pin)) {
                Err(why) => Baseline::Unreadable(format!("{path}: {why}")),
                Ok(content) => present(by_line(pin, content), case.expected_line),
            },
        }
    }

    fn observed(&self, pin: &Pin, value: Content) -> Content {
        let value = match value {
            Content::Text(text) => reading::content(text.as_bytes(), &steps(pin)).unwrap_or(Content::Text(text)),
            value => reading::observed(value, &steps(pin)),
        };
        by_line(pin, value)
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        _artefact: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        let refuse = |why: &str| Err(Refusal(format!("{}: {why}; nothing was written", pin.oracle.key)));
        let (Some(path), Some(entry)) = (&pin.oracle.path, &pin.oracle.entry) else {
            return refuse("which case it is held against is not known exactly");
        };
        let Content::Text(text) = observed else { return refuse("the observed value is not a text") };
        if reading::python_lines(text).iter().any(|line| line.trim_end() == ".") {
            return refuse("a line of the observed text is one dot, which ends a case, so it would not read back");
        }
        let Read::Bytes(bytes) = project.shelf.disk(path) else { return refuse("the file cannot be read") };
        let (case, old) = match section(&bytes, entry) {
            Ok(Some(found)) => found,
            Ok(None) => return refuse("the case is not there any more"),
            Err(why) => return refuse(&why),
        };
        let mut new = reading::bytes(observed, &steps(pin), Some(old.as_bytes()))?;
        let trims = pin.oracle.steps.iter().any(|step| matches!(step, Step::TrimEnd) || *step == LINES);
        if trims {
            new.truncate(new.trim_ascii_end().len());
        }
        if (trims || !new.is_empty()) && !new.ends_with(b"\n") {
            new.extend(if old.contains("\r\n") { b"\r\n".as_slice() } else { b"\n" });
        }
        let mut after = bytes.to_vec();
        after.splice(case.expected.start..case.expected.end, new);
        let back = section(&after, entry).ok().flatten();
        let back = back.and_then(|(_, text)| reading::content(text.as_bytes(), &steps(pin)).ok());
        if back.map(|content| by_line(pin, content)).as_ref() != Some(observed) {
            return refuse("the observed text would not read back equal (a last line without its end?)");
        }
        let change = FileChange {
            path: path.clone(),
            before: Some(digest_of(&[&bytes])),
            after: Some(after),
            edits: Vec::new(),
        };
        Ok(Amended { oracle: vec![change], ..Amended::default() })
    }
}

/// The steps from a case's section to what is compared.
fn steps(pin: &Pin) -> Vec<Step> {
    pin.oracle.steps.iter().filter(|step| !matches!(step, Step::Serialised(_))).cloned().collect()
}

/// `rstrip_lines=True`.
fn by_line(pin: &Pin, content: Content) -> Content {
    match content {
        Content::Text(text) if pin.oracle.steps.contains(&LINES) => {
            let lines: Vec<&str> = reading::python_lines(&text).into_iter().map(str::trim_end).collect();
            Content::Text(lines.join("\n").trim_end().to_string())
        }
        content => content,
    }
}

thread_local! {
    /// The file that was read last: its cases are asked for one after the other.
    static LAST: RefCell<(Vec<u8>, Rc<[Case]>)> = RefCell::new((Vec::new(), Rc::new([])));
}

/// A case of the dot-delimited form with its recorded text as it stands.
fn section(bytes: &[u8], entry: &str) -> Result<Option<(Case, String)>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8 text; save it as UTF-8".to_string())?;
    let known = LAST.with_borrow(|(of, cases)| (of == bytes).then(|| cases.clone()));
    let cases = known.unwrap_or_else(|| {
        let cases: Rc<[Case]> = cases::dotted(text).into();
        LAST.set((bytes.to_vec(), cases.clone()));
        cases
    });
    let found = cases.iter().find(|case| case.name == entry).cloned();
    Ok(found.and_then(|case| {
        let section = text.get(case.expected.start..case.expected.end)?.to_string();
        Some((case, section))
    }))
}

/// What `assert_expected(text, rstrip=…, rstrip_lines=…)` does to both sides.
fn asked(call: &Call) -> Vec<Step> {
    let mut steps = Vec::new();
    for (name, step) in [("rstrip", Step::TrimEnd), ("rstrip_lines", LINES)] {
        match call.args.iter().find(|arg| arg.name.as_deref() == Some(name)).map(|arg| &arg.value.kind) {
            Some(ExprKind::Bool(true)) => steps.push(step),
            None | Some(ExprKind::Bool(false)) => {}
            Some(_) => steps.push(Step::Unknown(name.to_string())),
        }
    }
    if call.is_open() {
        steps.push(Step::Unknown("**kwargs".to_string()));
    }
    steps
}

/// What is done to the recorded text of a source on its way to the comparison; `None` where it is none.
fn done(source: &Source, origin: &Origin, whole: bool) -> Option<Vec<Step>> {
    if origin.root != Root::Fixture(source.parameter) {
        return None;
    }
    let applied: Vec<Application> = origin.applied.iter().map(|step| step.what).collect();
    let mut rest = match (source.whole, whole, applied.as_slice()) {
        (true, true, []) => return Some(Vec::new()),
        (true, false, [Application::Attr("expected"), rest @ ..]) => rest,
        (false, false, rest) => rest,
        _ => return None,
    };
    let mut steps = Vec::new();
    while let [Application::Attr(method), Application::Call(args), more @ ..] = rest {
        let chars = match args {
            [] => None,
            [Arg { value: Expr { kind: ExprKind::Str(chars), .. }, .. }] => Some(chars.clone()),
            _ => return None,
        };
        steps.push(match (*method, chars) {
            ("rstrip", None) => Step::TrimEnd,
            ("strip", None) => Step::Trim,
            ("lstrip", None) => Step::TrimStart,
            ("rstrip", Some(chars)) => Step::TrimEndOf(chars),
            ("strip", Some(chars)) => Step::TrimOf(chars),
            ("lstrip", Some(chars)) => Step::TrimStartOf(chars),
            ("splitlines", None) => Step::Lines,
            (other, _) => Step::Unknown(other.to_string()),
        });
        rest = more;
    }
    rest.is_empty().then_some(steps)
}

/// The files of cases with which a test is parametrised.
fn sources<'a>(project: &'a Project, site: &Site, unit: &'a Unit, function: &'a Function) -> Vec<Source<'a>> {
    let mut found = Vec::new();
    for mark in pytest::marks(unit, function) {
        let ExprKind::Call { callee, args } = &mark.kind else { continue };
        let name = match &callee.kind {
            ExprKind::Attr(_, name) | ExprKind::Name(name) => name.as_str(),
            _ => continue,
        };
        match name {
            MARK => found.extend(marked(project, site, unit, args)),
            "parametrize" => found.extend(listed(project, site, unit, args)),
            _ => {}
        }
    }
    found
}

fn path_of(project: &Project, site: &Site, unit: &Unit, expr: &Expr) -> Value {
    match evaluate::alone(project, unit, expr) {
        value @ Value::Str(_) => World::empty(site).file(project, site, 0, value),
        value => value,
    }
}

fn marked<'a>(project: &Project, site: &Site, unit: &Unit, args: &'a [Arg]) -> Option<Source<'a>> {
    let text = |at, name| match pytest::argument(args, at, name).map(|expr| &expr.kind) {
        None => Some(None),
        Some(ExprKind::Str(text)) => Some(Some(text.as_str())),
        Some(_) => None,
    };
    let form = match text(1, "fmt")? {
        None | Some("dot") => DOT,
        Some("yaml") => YAML,
        Some(_) => return None,
    };
    Some(Source {
        parameter: text(3, "fixture_name")?.unwrap_or("file_params"),
        whole: true,
        framework: ID,
        path: path_of(project, site, unit, pytest::argument(args, 0, "path")?),
        form,
        id: Some(|case| escaped(&format!("{}-{}", case.line, bracketed(&case.title)))),
    })
}

/// `[title] description`: the title alone.
fn bracketed(line: &str) -> &str {
    let inner = line.strip_prefix('[').and_then(|rest| {
        let word = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
        word.rfind(']').map(|end| &word[..end])
    });
    inner.filter(|inner| !inner.is_empty()).unwrap_or(line)
}

/// `parametrize("line,title,input,expected", read_fixture_file(path))`, the list named or not.
fn listed<'a>(project: &Project, site: &Site, unit: &'a Unit, args: &'a [Arg]) -> Option<Source<'a>> {
    let names: Vec<&str> = match &pytest::argument(args, 0, "argnames")?.kind {
        ExprKind::Str(names) => names.split(',').map(str::trim).collect(),
        ExprKind::Tuple(items) | ExprKind::List(items) => items
            .iter()
            .map(|item| match &item.kind {
                ExprKind::Str(name) => Some(name.as_str()),
                _ => None,
            })
            .collect::<Option<_>>()?,
        _ => return None,
    };
    let [_, _, _, expected] = names.as_slice() else { return None };
    let mut list = pytest::argument(args, 1, "argvalues")?;
    for _ in 0..4 {
        let ExprKind::Name(name) = &list.kind else { break };
        list = &unit.globals_named(name).rfind(|(_, global)| global.path.is_empty())?.1.value;
    }
    let ExprKind::Call { callee, args: given } = &list.kind else { return None };
    let dotted = callee.dotted()?;
    let (first, rest) = dotted.split_once('.').unwrap_or((&dotted, ""));
    let import = unit.imports_named(first).next_back()?;
    let full = if rest.is_empty() { import.path.clone() } else { format!("{}.{rest}", import.path) };
    if full != READER {
        return None;
    }
    let own_ids = args.iter().any(|arg| arg.name.as_deref() == Some("ids"));
    Some(Source {
        parameter: expected,
        whole: false,
        framework: Golden.id(),
        path: path_of(project, site, unit, pytest::argument(given, 0, "path")?),
        form: DOT,
        id: (!own_ids).then_some(|case: &Case| {
            let texts = [&case.title, &case.content, &case.recorded];
            let parts = texts.into_iter().map(|text| escaped(text));
            std::iter::once(case.line.to_string()).chain(parts).collect::<Vec<_>>().join("-")
        }),
    })
}

#[cfg(test)]
mod tests;
