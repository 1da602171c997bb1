//! A test as syrupy (4 to 7) names it: once for each class that inherits it, with its parameter id where that is
//! known. Takes a suffix and how a comparison is made, gives the entry or file; for a name known in part those
//! that fit, from the amber file or the list of files.

use super::extension::{Extension, Kind};
use super::naming::{How, Suffix};
use super::read;
use crate::code::{Expr, Function, Unit};
use crate::evaluate::{Step, World};
use crate::oracles::{OracleKind, Pin};
use crate::pins::{Project, Site, fixtures};
use crate::places::RelPath;
use crate::syntax::Language;

/// Most files that are listed for a name known in part.
const CANDIDATES: usize = 20;
/// Most entries of one file that a test with unknown parameter ids takes.
const MOST: usize = 2_000;

/// A test as syrupy names it.
pub struct Test<'a> {
    /// The module that runs it.
    unit: &'a Unit,
    /// The classes around it there.
    path: Vec<String>,
    function: &'a Function,
    /// Fixtures of other files give it parameter ids.
    open_ids: bool,
    parametrised: bool,
    /// pytest does not collect its class by its name.
    pub abstracted: bool,
}

/// A name of which parts may not be known.
enum Known {
    Exact(String),
    /// What stands before the parameter id, up to its bracket.
    Before(String),
}

impl<'a> Test<'a> {
    /// The test of a site, once more in each class that inherits it.
    pub fn all(project: &'a Project, site: &Site, open_ids: bool) -> Vec<Test<'a>> {
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

    pub fn id(&self, world: &World) -> String {
        let mut id = self.unit.path.to_string();
        for part in self.path.iter().chain([&self.function.name]) {
            id.push_str("::");
            id.push_str(part);
        }
        world.case.as_ref().map_or(id.clone(), |case| format!("{id}[{case}]"))
    }

    pub fn open(&self, world: &World) -> bool {
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
    pub fn held(
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
