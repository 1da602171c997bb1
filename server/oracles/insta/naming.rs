//! Where insta 1.49 keeps a snapshot: module, name, suffix and counter to a path, or to a pattern where a
//! part is known only when the test runs. Takes a site in one world; lists folders, reads no file.

use std::cell::RefCell;
use std::sync::Arc;

use crate::code::rust::Module;
use crate::code::{Expr, Function, Unit};
use crate::evaluate::{Value, World};
use crate::oracles::insta::around::{Around, Setting, macros_of};
use crate::oracles::insta::call::{self, Call, Name};
use crate::pins::macros::{function_around, last, real_name};
use crate::pins::{Facts, Project, Site};
use crate::places::RelPath;
use crate::text::Span;
use crate::vocabulary::known_macro;

/// A text of which `None` parts are not known.
pub type Parts = Vec<Option<String>>;

/// Whether a name fits the parts.
pub fn fits(parts: &[Option<String>], name: &str) -> bool {
    fn from(parts: &[Option<String>], rest: &str, left: usize) -> bool {
        match parts.split_first() {
            None => rest.is_empty(),
            Some((Some(text), more)) => rest.strip_prefix(text.as_str()).is_some_and(|rest| from(more, rest, left)),
            Some((None, [])) => true,
            Some((None, more)) if left > 0 => {
                rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| from(more, &rest[at..], left - 1))
            }
            Some((None, _)) => true,
        }
    }
    from(parts, name, 4)
}

/// The whole text, where every part is known.
pub fn exact(parts: &[Option<String>]) -> Option<String> {
    parts.iter().cloned().collect::<Option<Vec<String>>>().map(|parts| parts.concat())
}

fn parts_of(value: Value) -> Parts {
    match value {
        Value::Str(text) => vec![Some(text)],
        Value::Int(number) => vec![Some(number.to_string())],
        Value::Bool(value) => vec![Some(value.to_string())],
        Value::Float(text) => vec![Some(text)],
        Value::Path(path) => vec![None, Some(path.name().to_string())],
        Value::Pattern(parts) => parts,
        _ => vec![None],
    }
}

/// One snapshot of a site.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// `None`: the folder is not known.
    pub folder: Option<RelPath>,
    /// File name without `.snap`.
    pub stem: Parts,
    /// The name without module, as the artefacts of inline snapshots have it.
    pub name: Parts,
    /// What the loop or glob adds, for the reports.
    pub case: Option<String>,
}

/// How often an auto name was used before, as far as that can be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Count {
    Exact(usize),
    Unknown,
}

/// Most assertions of one function of which the counter is worked out; with more it is not known.
const MOST_PEERS: usize = 4000;

/// Assertions of a function, each with what stands around it.
type Peers = Arc<[(Span, Around)]>;

/// Of which function they are: its file's facts, its place, the frame and the wrapper that is looked for.
struct PeersOf {
    facts: Arc<Facts>,
    function: Span,
    home: usize,
    wrapper: Option<String>,
}

thread_local! {
    /// The last answer: the assertions of one function are asked for one after the other.
    static PEERS: RefCell<Option<(PeersOf, Peers)>> = const { RefCell::new(None) };
}

/// A site with what is the same in all its worlds.
pub struct Naming<'a> {
    pub project: &'a Project,
    pub site: &'a Site,
    pub call: Call<'a>,
    pub around: Around,
    /// Frame whose function, module and file the macro sees.
    pub home: usize,
    pub module: Option<Module>,
    pub scopes: Vec<String>,
    /// The function that names an auto snapshot.
    pub function: Option<String>,
    /// The same assertion is reached more than once in a process: through a helper, or by many cases.
    pub shared: bool,
}

impl<'a> Naming<'a> {
    pub fn of(project: &'a Project, site: &'a Site) -> Option<Naming<'a>> {
        let (unit, expr) = call::asserted(project, site)?;
        let call = Call::of(unit, expr)?;
        let home = call::home(site);
        let frame = &site.frames[home];
        let home_unit = project.unit(&frame.file)?;
        let function = match frame.function.and_then(|index| home_unit.functions.get(index)) {
            Some(function) => Some(function.name.clone()),
            None => site.frames.iter().skip(home).find_map(|frame| function_around(project, frame)),
        };
        Some(Naming {
            project,
            site,
            call,
            around: Around::of(project, site),
            home,
            module: module_of(project, site, home),
            scopes: home_unit.scopes_at(frame.at).map(|scope| scope.name.clone()).collect(),
            function,
            shared: site.frames[..home].iter().any(|frame| !frame.is_macro),
        })
    }

    fn home_function(&self) -> Option<&'a Function> {
        let frame = &self.site.frames[self.home];
        self.project.unit(&frame.file)?.functions.get(frame.function?)
    }

    fn setting(&self, world: &World, setting: &Setting) -> Parts {
        let (frame, expr) = call::filled(self.site, setting.frame, &setting.value);
        parts_of(world.value(self.project, self.site, frame, expr))
    }

    fn value(&self, world: &World, expr: &Expr) -> Parts {
        let (frame, expr) = call::filled(self.site, self.site.frames.len() - 1, expr);
        parts_of(world.value(self.project, self.site, frame, expr))
    }

    /// Folder of the snapshot files.
    fn folder(&self, world: &World) -> Option<RelPath> {
        let dir = self.site.frames[self.home].file.parent();
        match &self.around.path {
            None => dir.join("snapshots"),
            Some(setting) => {
                let (frame, expr) = call::filled(self.site, setting.frame, &setting.value);
                match world.value(self.project, self.site, frame, expr) {
                    Value::Path(path) => Some(path),
                    value => dir.join(&exact(&parts_of(value))?),
                }
            }
        }
    }

    /// `crate__module__`, or nothing.
    fn prefix(&self, world: &World) -> Parts {
        if let Some(setting) = &self.around.prepend {
            match exact(&self.setting(world, setting)).as_deref() {
                Some("false") => return vec![Some(String::new())],
                Some("true") => {}
                _ => return vec![None],
            }
        }
        let Some(module) = &self.module else { return vec![None, Some("__".to_string())] };
        let parts = std::iter::once(&module.crate_name).chain(&module.path).chain(&self.scopes);
        vec![Some(parts.map(|part| format!("{part}__")).collect())]
    }

    /// Suffixes that `glob!` sets, one for each file it finds; `None` where its pattern is not known.
    fn glob_suffixes(&self, world: &World) -> Option<Vec<String>> {
        let glob = self.around.glob.as_ref()?;
        let dir = self.site.frames[glob.frame].file.parent();
        let base = match &glob.base {
            None => dir,
            Some(base) => match world.value(self.project, self.site, glob.frame, base) {
                Value::Path(path) => path,
                value => dir.join(&exact(&parts_of(value))?)?,
            },
        };
        let pattern = exact(&parts_of(world.value(self.project, self.site, glob.frame, &glob.pattern)))?;
        let matcher = globset::GlobBuilder::new(&pattern)
            .case_insensitive(true)
            .literal_separator(true)
            .build()
            .ok()?
            .compile_matcher();
        let skip = if base.as_str().is_empty() { 0 } else { base.as_str().len() + 1 };
        let mut found: Vec<&str> = self
            .project
            .shelf
            .below(&base)
            .map(|path| &path.as_str()[skip..])
            .filter(|path| matcher.is_match(path))
            .collect();
        found.sort_by(|a, b| a.split('/').cmp(b.split('/')));
        let (Some(first), Some(last)) = (found.first(), found.last()) else { return Some(Vec::new()) };
        let common: usize =
            first.split('/').zip(last.split('/')).take_while(|(a, b)| a == b).map(|(part, _)| part.len() + 1).sum();
        Some(found.iter().map(|path| path.get(common..).unwrap_or("").to_string()).collect())
    }

    /// The snapshots of this site in `worlds[nth]`.
    pub fn places(&self, worlds: &[World], nth: usize) -> Vec<Place> {
        let world = &worlds[nth];
        let folder = self.folder(world);
        let prefix = self.prefix(world);
        let suffixes: Vec<Parts> = match (&self.around.glob, &self.around.suffix) {
            (_, Some(setting)) => vec![self.setting(world, setting)],
            (Some(_), None) => match self.glob_suffixes(world) {
                Some(found) => found.into_iter().map(|suffix| vec![Some(suffix)]).collect(),
                None => vec![vec![None]],
            },
            (None, None) => vec![vec![Some(String::new())]],
        };
        let base: Parts = match &self.call.name {
            Name::Text(text) => vec![Some(text.clone())],
            Name::Given(expr) => self.value(world, expr),
            Name::Auto => match &self.function {
                Some(name) => vec![Some(name.strip_prefix("test_").unwrap_or(name).to_string())],
                None => vec![None],
            },
        };
        let globbed = self.around.glob.is_some() && self.around.suffix.is_none();
        suffixes
            .into_iter()
            .map(|suffix| {
                let mut name = base.clone();
                let case = exact(&suffix).filter(|suffix| !suffix.is_empty() && globbed);
                if exact(&suffix).as_deref() != Some("") {
                    name.push(Some("@".to_string()));
                    name.extend(suffix);
                }
                if self.call.name == Name::Auto && !self.around.duplicates {
                    match self.count(worlds, nth) {
                        Count::Exact(0) => {}
                        Count::Exact(before) => name.push(Some(format!("-{}", before + 1))),
                        Count::Unknown => name = self.counted_on_disk(folder.as_ref(), &prefix, name),
                    }
                }
                let clean = |part: &Option<String>| part.as_ref().map(|part| part.replace(['/', '\\'], "__"));
                let stem = prefix.iter().cloned().chain(name.iter().map(clean)).collect();
                Place { folder: folder.clone(), stem, name, case }
            })
            .collect()
    }

    /// The counter is not known: the plain name where no counted one lies beside it, else a pattern.
    fn counted_on_disk(&self, folder: Option<&RelPath>, prefix: &Parts, name: Parts) -> Parts {
        let stem = exact(prefix)
            .zip(exact(&name))
            .map(|(prefix, name)| format!("{prefix}{}", name.replace(['/', '\\'], "__")));
        let counted = folder.zip(stem).and_then(|(folder, stem)| folder.join(&format!("{stem}-2.snap")));
        let mut counting = name.clone();
        counting.push(None);
        match counted {
            Some(path) if !self.project.shelf.listed(&path) && self.call.inline.is_none() => name,
            _ => counting,
        }
    }

    fn suffix_of(&self, world: &World, around: &Around) -> Option<String> {
        match &around.suffix {
            None => Some(String::new()),
            Some(setting) => exact(&self.setting(world, setting)),
        }
    }

    /// Uses of this auto name in the process before this one.
    fn count(&self, worlds: &[World], nth: usize) -> Count {
        let world = &worlds[nth];
        let Some(function) = self.home_function() else { return Count::Exact(0) };
        let at = self.site.frames[self.home].at;
        let mine = Around::within(function, self.home, at);
        let Some(key) = self.suffix_of(world, &self.around) else { return Count::Exact(0) };
        let many_cases = worlds.iter().any(|other| other.case != world.case);
        if self.shared
            || (many_cases
                && !worlds.iter().all(|other| {
                    other.case == world.case || self.suffix_of(other, &self.around).is_some_and(|other| other != key)
                }))
        {
            return Count::Unknown;
        }
        // Every assertion of the function that uses the same name.
        let mut before = 0;
        let mut in_loop = 0;
        let Some(peers) = self.peers(function) else { return Count::Unknown };
        for (span, around) in peers.iter().filter(|(span, around)| !around.duplicates || *span == at) {
            if *span == at {
                in_loop += 1;
                continue;
            }
            match self.suffix_of(world, around) {
                Some(other) if self.around.suffix.is_none() && around.suffix.is_none() || other == key => {}
                Some(_) => continue,
                None => return Count::Unknown,
            }
            if around.loops != mine.loops || around.branches.iter().any(|branch| !branch.contains(at)) {
                if span.start < at.start || !around.loops.is_empty() {
                    return Count::Unknown;
                }
                continue;
            }
            in_loop += 1;
            if span.start < at.start {
                before += 1;
            }
        }
        if mine.loops.is_empty() || self.around.glob.is_some() {
            return Count::Exact(before);
        }
        let same =
            |other: &World| other.case == world.case && self.suffix_of(other, &self.around).as_ref() == Some(&key);
        let rounds = worlds.iter().filter(|other| same(other)).count();
        let round = worlds[..nth].iter().filter(|other| same(other)).count();
        match worlds.len() {
            1 => Count::Unknown,
            _ if rounds == 1 => Count::Exact(before),
            _ => Count::Exact(round * in_loop + before),
        }
    }

    /// Assertions of a function that count an auto name, with what stands around them; `None` where there
    /// are too many.
    fn peers(&self, function: &Function) -> Option<Peers> {
        let frame = &self.site.frames[self.home];
        let facts = self.project.files.get(&frame.file)?;
        let unit = &facts.unit;
        let mine = call::macro_at(unit, frame.at);
        let wrapper = mine.and_then(|expr| match &expr.kind {
            crate::code::ExprKind::Macro { name, .. } if self.home + 1 < self.site.frames.len() => Some(last(name)),
            _ => None,
        });
        let known = PEERS.with_borrow(|known| {
            let (of, peers) = known.as_ref()?;
            let same = Arc::ptr_eq(&of.facts, facts)
                && of.function == function.span
                && of.home == self.home
                && of.wrapper.as_deref() == wrapper;
            same.then(|| peers.clone())
        });
        let peers = known.unwrap_or_else(|| {
            let peers: Peers = macros_of(function)
                .into_iter()
                .filter(|expr| counts(unit, expr, wrapper))
                .take(MOST_PEERS + 1)
                .map(|expr| (expr.span, Around::within(function, self.home, expr.span)))
                .collect();
            let wrapper = wrapper.map(str::to_string);
            let of = PeersOf { facts: facts.clone(), function: function.span, home: self.home, wrapper };
            PEERS.set(Some((of, peers.clone())));
            peers
        });
        (peers.len() <= MOST_PEERS).then_some(peers)
    }
}

/// The macro counts an auto name: an assertion of insta's, or another call of the wrapper.
fn counts(unit: &Unit, expr: &Expr, wrapper: Option<&str>) -> bool {
    let crate::code::ExprKind::Macro { name, .. } = &expr.kind else { return false };
    if wrapper.is_some_and(|wrapper| wrapper == last(name)) {
        return true;
    }
    known_macro(real_name(unit, name, expr.span)).is_some_and(|(framework, _)| framework == "insta")
        && Call::of(unit, expr).is_some_and(|call| call.inline.is_some() || call.name == Name::Auto)
}

/// The module that the macro's `module_path!()` names: that of the helper's file, in the test's crate where
/// it is part of that.
pub fn module_of(project: &Project, site: &Site, home: usize) -> Option<Module> {
    let modules = |nth: usize| project.crates.modules(&project.shelf, &site.frames[nth].file);
    let here = modules(home);
    let test = modules(0);
    here.iter()
        .find(|module| test.iter().any(|test| (&test.target, test.kind) == (&module.target, module.kind)))
        .or(here.first())
        .cloned()
}
