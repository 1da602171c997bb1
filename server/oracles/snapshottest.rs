//! snapshottest 0.6.0: `snapshot.assert_match(value[, name])` and `self.assertMatchSnapshot(value[, name])` against
//! one entry of `<folder>/snapshots/snap_<module>.py`. The entry is `<Class>.<test> <N>` for pytest,
//! `<Class>::<test> <N>` for unittest; N counts from 1 those of a test that have no name of their own. Takes sites,
//! gives pins, the entries as values, and for literals that the library writes in one way the bytes of a new one.
//!
//! A missing entry is written by any run, so it is not made here. What an entry holds beside literals
//! (`GenericRepr`, files, sets in no order) is shown and not accepted.

use std::collections::{BTreeMap, BTreeSet};

use super::literal_python::{self, Names, Py};
use super::pytest::{self, Call, Id, Ids};
use super::{
    Amended, Artefact, Baseline, Content, FileChange, Framework, OracleKind, Orphan, Pin, Recorded, Refusal, digest_of,
    reading, seen,
};
use crate::code::python::{self, numbers, strings};
use crate::code::{Expr, ExprKind, Function, StmtKind, Unit};
use crate::evaluate::{Value, World, worlds};
use crate::pins::{Project, Site, sites};
use crate::places::RelPath;
use crate::shelf::Read;
use crate::syntax::{self, Language};
use crate::text::Text;

pub struct Snapshottest;

const ID: &str = "snapshottest";

/// Where the entries of a test module are kept.
fn module_of(tests: &RelPath) -> Option<RelPath> {
    tests.parent().join(&format!("snapshots/snap_{}.py", tests.stem()))
}

/// Signs of snapshottest for the test that a reader sees: its module of entries, or an import.
pub fn is_used_for(project: &Project, site: &Site) -> bool {
    let Some(unit) = site.frames.first().and_then(|frame| project.unit(&frame.file)) else { return false };
    imports(unit) || module_of(&unit.path).is_some_and(|file| project.shelf.listed(&file))
}

fn imports(unit: &Unit) -> bool {
    unit.imports.iter().any(|import| import.path == ID || import.path.starts_with("snapshottest."))
}

/// A call of the library, and how it makes the entry's name.
struct Match<'a> {
    name: Option<&'a Expr>,
    /// `unittest` puts `::` behind the class.
    unittest: bool,
}

fn matched<'a>(project: &'a Project, site: &'a Site, world: &World) -> Option<Match<'a>> {
    if !is_used_for(project, site) {
        return None;
    }
    let frame = site.comparing();
    let (callee, args) = pytest::call_at(project, frame)?;
    pytest::argument(args, 0, "value")?;
    let name = pytest::argument(args, 1, "name");
    let (unit, function) = pytest::function_of(project, site.frames.first()?)?;
    match &callee.kind {
        ExprKind::Attr(receiver, method) if method == "assert_match" => {
            let call = Call::at(project, frame)?;
            let fixture = pytest::plain_fixture(project, site, world, call.receiver) == Some("snapshot")
                || pytest::kept_fixture(project, frame, receiver, "snapshot");
            fixture.then_some(Match { name, unittest: false })
        }
        ExprKind::Attr(receiver, method) if method == "assertMatchSnapshot" || method == "assert_match_snapshot" => {
            let own = matches!(&receiver.kind, ExprKind::Name(name) if name == "self") && !function.path.is_empty();
            own.then_some(Match { name, unittest: true })
        }
        ExprKind::Name(method) if method == "assert_match_snapshot" && imports(unit) => {
            Some(Match { name, unittest: unittest_class(unit, function) })
        }
        _ => None,
    }
}

fn unittest_class(unit: &Unit, function: &Function) -> bool {
    unit.scopes
        .iter()
        .filter(|scope| Some(&scope.name) == function.path.last())
        .any(|scope| scope.bases.iter().any(|base| base.dotted().is_some_and(|base| base.ends_with("TestCase"))))
}

/// The test's name as the entry has it, up to the number or name.
fn owner(function: &Function, id: &str, unittest: bool) -> String {
    let node = format!("{}{id}", function.name).replace("\\n", " ");
    let node = node.split_whitespace().collect::<Vec<_>>().join(" ");
    match function.path.last() {
        Some(class) if unittest => format!("{class}::{node}"),
        Some(class) => format!("{class}.{node}"),
        None => node,
    }
}

impl Framework for Snapshottest {
    fn id(&self) -> &'static str {
        ID
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        self.of_test(project, &[site]).pop().unwrap_or_default()
    }

    fn of_test(&self, project: &Project, sites: &[&Site]) -> Vec<Vec<Pin>> {
        let mut all: Vec<Vec<Pin>> = Vec::new();
        let mut counted: BTreeMap<Option<String>, Option<usize>> = BTreeMap::new();
        for site in sites {
            all.push(pins(project, site, &mut counted));
        }
        all
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        let (Some(path), Some(entry)) = (&pin.oracle.path, &pin.oracle.entry) else { return Baseline::Missing };
        let unit = match read(path, project) {
            Ok(Some(unit)) => unit,
            Ok(None) => return Baseline::Missing,
            Err(why) => return Baseline::Unreadable(why),
        };
        match entries(&unit).into_iter().rfind(|(name, _)| name == entry) {
            None => Baseline::Missing,
            Some((_, value)) => Baseline::Present(Recorded {
                content: literal_python::content(value, Names::Repr)
                    .map(laid_out)
                    .unwrap_or_else(|| Content::Value(unit.text.slice(value.span).to_string())),
                first_line: unit.line(value.span.start),
                file_digest: digest_of(&[unit.text.as_str().as_bytes()]),
                preimage: None,
            }),
        }
    }

    fn observed(&self, pin: &Pin, value: Content) -> Content {
        laid_out(reading::observed(value, &pin.oracle.steps))
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
            return refuse("the entry is not known exactly");
        };
        let unit = match read(path, project) {
            Ok(Some(unit)) => unit,
            Ok(None) => return refuse("the module of the entries is not there; any run of the test writes it"),
            Err(why) => return Err(Refusal(why)),
        };
        let found = entries(&unit);
        let Some((_, old)) = found.iter().rfind(|(name, _)| name == entry) else {
            return refuse("there is no such entry; any run of the test writes a missing one");
        };
        let value = match observed {
            Content::Text(text) => Some(Py::Str(text.clone())),
            Content::Value(source) => {
                python::expression(&format!("({source}\n)")).and_then(|expr| literal_python::value(&expr, Names::Repr))
            }
            Content::Bytes(_) => None,
        };
        // `2.0` and `2` are one value here; where both kinds of numbers may stand the spelling is not certain.
        let certain = |value: &&Py| !(holds_float(old) && holds_int(value));
        let Some(written) = value.as_ref().filter(certain).and_then(|value| spelled(value, 0)) else {
            return refuse(
                "how snapshottest writes the observed value is not certain; run the test with `--snapshot-update`, \
                 then explain the change",
            );
        };
        let back = python::expression(&format!("({written}\n)"))
            .and_then(|expr| literal_python::content(&expr, Names::Repr))
            .map(laid_out);
        if back.as_ref() != Some(observed) {
            return refuse("the observed value would not read back equal as snapshottest writes it");
        }
        let written = if unit.text.as_str().contains("\r\n") { written.replace('\n', "\r\n") } else { written };
        let Some(after) = unit.text.replaced(old.span, &written) else { return refuse("the entry cannot be replaced") };
        Ok(Amended {
            oracle: vec![FileChange {
                path: path.clone(),
                before: Some(digest_of(&[unit.text.as_str().as_bytes()])),
                after: Some(after.as_str().as_bytes().to_vec()),
                edits: vec![(old.span, written.clone())],
            }],
            shown_after: Some(written),
            ..Amended::default()
        })
    }

    fn orphans(&self, pins: &[Pin], project: &Project) -> Vec<Orphan> {
        orphans(pins, project)
    }
}

/// `counted`: how many without a name came before, by parameter id; `None` once that is not known.
fn pins(project: &Project, site: &Site, counted: &mut BTreeMap<Option<String>, Option<usize>>) -> Vec<Pin> {
    let worlds = worlds(project, site);
    let Some(found) = worlds.first().and_then(|world| matched(project, site, world)) else { return Vec::new() };
    let Some((unit, function)) = pytest::function_of(project, &site.frames[0]) else { return Vec::new() };
    let (ids, perhaps) = (Ids::of(project, site), pytest::is_perhaps(project, site));
    let mut pins: Vec<Pin> = Vec::new();
    for world in &worlds {
        let Some(mut pin) = seen::pin(project, site, world, ID) else { continue };
        let id = match ids.id(world) {
            Id::None => Some(String::new()),
            Id::Known(id) => Some(format!("[{id}]")),
            Id::Part(_) => None,
        };
        let count = counted.entry(world.case.clone()).or_insert(Some(0));
        let name = match found.name.map(|name| world.value(project, site, site.frames.len() - 1, name)) {
            Some(Value::Str(name)) if !name.is_empty() => Some(name),
            None | Some(Value::Str(_) | Value::None) => {
                let open = perhaps || world.rounds.iter().flatten().any(Option::is_none);
                *count = count.filter(|_| !open).map(|count| count + 1);
                count.map(|count| count.to_string())
            }
            Some(Value::Int(number)) => Some(number.to_string()),
            Some(_) => None,
        };
        pin.oracle.kind = OracleKind::Entry;
        if let (Some(id), Some(name)) = (id, name) {
            pin.oracle.path = module_of(&unit.path);
            pin.oracle.entry = Some(format!("{} {name}", owner(function, &id, found.unittest)));
        } else {
            pin.oracle.candidates =
                module_of(&unit.path).filter(|path| project.shelf.listed(path)).into_iter().collect();
        }
        pins.push(pin);
    }
    let shared = pins.len() > 1;
    pins.iter_mut().for_each(|pin| pin.shared_site = shared);
    pins
}

/// The module of entries; `None` when it is not there.
fn read(path: &RelPath, project: &Project) -> Result<Option<Unit>, String> {
    let bytes = match project.shelf.disk(path) {
        Read::Missing => return Ok(None),
        Read::Refused(why) => return Err(why),
        Read::Bytes(bytes) => bytes,
    };
    let text = Text::new(std::str::from_utf8(&bytes).map_err(|_| format!("{path} is not UTF-8 text"))?);
    if let Some(unit) = project.unit(path).filter(|unit| unit.text.as_str() == text.as_str()) {
        return Ok(Some(unit.clone()));
    }
    let tree = syntax::parse(text.as_str(), Language::Python, None, syntax::BUDGET)
        .ok_or_else(|| format!("{path} was not read: parsing took too long"))?;
    Ok(Some(python::unit(path, &text, &tree)))
}

/// `snapshots['name'] = value` statements: name and value, in order.
fn entries(unit: &Unit) -> Vec<(String, &Expr)> {
    unit.top
        .iter()
        .filter_map(|stmt| {
            let StmtKind::Bind { value, .. } = &stmt.kind else { return None };
            let target = pytest::assignment(unit, stmt, value)?;
            let key = target.strip_prefix("snapshots[")?.strip_suffix(']')?;
            match python::expression(key)?.kind {
                ExprKind::Str(name) => Some((name, value)),
                _ => None,
            }
        })
        .collect()
}

fn holds_float(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |part| found |= matches!(part.kind, ExprKind::Float(_)));
    found
}

fn holds_int(value: &Py) -> bool {
    match value {
        Py::Int(_) => true,
        Py::List(items) | Py::Tuple(items) => items.iter().any(holds_int),
        Py::Dict(items) => items.iter().any(|(_, value)| holds_int(value)),
        _ => false,
    }
}

/// A list or dictionary in the lines in which the module holds it, so that a changed item has its line.
fn laid_out(content: Content) -> Content {
    let Content::Value(source) = &content else { return content };
    let value = python::expression(&format!("({source}\n)")).and_then(|expr| literal_python::value(&expr, Names::Repr));
    value.and_then(|value| spelled(&value, 0)).map_or(content, Content::Value)
}

/// A value as `Formatter` writes it; `None` where that has no certain order or form.
fn spelled(value: &Py, indent: usize) -> Option<String> {
    let blanks = "    ".repeat(indent + 1);
    let close = format!("\n{}", "    ".repeat(indent));
    let sequence = |items: &[Py]| -> Option<String> {
        let items = items.iter().map(|item| Some(format!("\n{blanks}{}", spelled(item, indent + 1)?)));
        Some(format!("{}{close}", items.collect::<Option<Vec<_>>>()?.join(",")))
    };
    Some(match value {
        Py::Str(text) if text.contains('\n') => block(text)?,
        Py::Str(text) => repr(text)?,
        Py::Int(digits) => digits.clone(),
        Py::Float(number) if number.is_infinite() => format!("float(\"{}inf\")", if *number < 0.0 { "-" } else { "" }),
        Py::Float(number) => numbers::repr(*number),
        Py::Bool(true) => "True".into(),
        Py::Bool(false) => "False".into(),
        Py::None => "None".into(),
        Py::List(items) => format!("[{}]", sequence(items)?),
        Py::Tuple(items) => format!("({}{}", sequence(items)?, if items.len() == 1 { ",)" } else { ")" }),
        Py::Dict(items) => {
            let mut items: Vec<(&String, &Py)> = items
                .iter()
                .map(|(key, value)| match key {
                    Py::Str(key) => Some((key, value)),
                    _ => None,
                })
                .collect::<Option<_>>()?;
            items.sort_by(|a, b| a.0.chars().cmp(b.0.chars()));
            let items = items.iter().map(|(key, value)| {
                Some(format!(
                    "\n{blanks}{}: {}",
                    spelled(&Py::Str((*key).clone()), indent)?,
                    spelled(value, indent + 1)?
                ))
            });
            format!("{{{}{close}}}", items.collect::<Option<Vec<_>>>()?.join(","))
        }
        _ => return None,
    })
}

/// `repr` of a text without line breaks; `None` for characters of which Python's table of printable ones decides.
fn repr(text: &str) -> Option<String> {
    let plain = text.chars().all(|c| c.is_ascii() || c.is_alphanumeric());
    plain.then(|| strings::quoted(text, strings::best_quote(text, '\'')))
}

/// A text of several lines: each as its `repr` without quotes, between three quotes.
fn block(text: &str) -> Option<String> {
    let lines = text.split('\n').map(|line| {
        let repr = repr(line)?;
        // `lstrip("u")` of the library does nothing to a quote.
        Some(repr.get(1..repr.len() - 1)?.to_string())
    });
    let mut body = lines.collect::<Option<Vec<_>>>()?.join("\n");
    let (single, double) = ("'''", "\"\"\"");
    let quotes = match (body.contains(single), body.contains(double)) {
        (true, true) => {
            body = body.replace(single, "\\'\\'\\'");
            single
        }
        (true, false) => double,
        _ => single,
    };
    Some(format!("{quotes}{body}{quotes}"))
}

/// Entries of modules whose test is not there any more, where every name of the module is known.
fn orphans(pins: &[Pin], project: &Project) -> Vec<Orphan> {
    let ours: Vec<&Pin> = pins.iter().filter(|pin| pin.framework == ID).collect();
    let files: BTreeSet<&RelPath> = ours.iter().map(|pin| &pin.file).collect();
    let mut found = Vec::new();
    for file in files {
        let Some((facts, path)) = project.files.get(file).zip(module_of(file)) else { continue };
        let of_file = || ours.iter().filter(|pin| pin.file == *file);
        if !facts.unit.errors.is_empty() || !facts.troubles.is_empty() || of_file().any(|pin| pin.oracle.path.is_none())
        {
            continue;
        }
        let Ok(Some(unit)) = read(&path, project) else { continue };
        for (name, value) in entries(&unit) {
            let held = of_file().any(|pin| pin.oracle.entry.as_ref() == Some(&name));
            // A test of that name may record in a way that is not seen.
            let mut tests = facts.unit.functions.iter().filter(|function| sites::is_test(&facts.unit, function));
            let own = name.rsplit([':', '.']).next().unwrap_or(&name);
            let room = tests.any(|test| {
                own.strip_prefix(&test.name).is_some_and(|rest| rest.starts_with([' ', '[']))
                    || name.contains(&format!("{} ", test.name))
                    || name.contains(&format!("{}[", test.name))
            });
            if !held && !room {
                let line = unit.line(value.span.start);
                found.push(Orphan { path: path.clone(), entry: Some(name), line, framework: ID.to_string() });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
