//! Which functions may lead to a comparison, and which may read a file, by the names that they mention.
//! Takes the facts of all files, gives sets of names: too many rather than too few, so that the exact and
//! dear look (`sites`, the evaluator) is spared where it would find nothing. Never resolves a name.

use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};

use super::{Facts, Match, Project, fixtures, sites, testing};
use crate::code::{Expr, ExprKind, Function, Stmt, StmtKind, Unit};
use crate::places::RelPath;
use crate::text::Span;

mod flow;
mod reading;

pub use reading::Readings;

/// A name as a number, its two low bits saying how it is mentioned.
type Name = u64;

const PLAIN: Name = 0;
/// Called by a path of names.
const CALLED: Name = 1;
const MACRO: Name = 2;
/// Called on the result of an expression.
const METHOD: Name = 3;

/// Functions and macros with which a file's content comes into a value.
const READS: &[&str] = &[
    "open",
    FS_READ,
    "read_to_string",
    "read_text",
    "read_bytes",
    "read_binary",
    "get_data",
    "include_str",
    "include_bytes",
];

/// `fs::read`, told apart from what else is called `read`.
const FS_READ: &str = "fs.read";

fn number(name: &str) -> Name {
    let mut hash = DefaultHasher::new();
    name.hash(&mut hash);
    hash.finish() & !3
}

fn plain(name: Name) -> Name {
    name & !3
}

/// Numbers are hashes already.
#[derive(Default)]
pub struct Same(u64);

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number.rotate_right(2);
    }
}

pub(super) type Set = HashSet<Name, BuildHasherDefault<Same>>;

/// The names that one file mentions.
#[derive(Debug, Clone, Default)]
pub struct Mentions {
    /// As [`Unit::functions`].
    pub functions: Vec<Mentioned>,
    globals: Vec<(Name, Box<[Name]>)>,
    /// What the arms of the file's macros mention.
    macros: Box<[Name]>,
    /// Everything, without how.
    all: Box<[Name]>,
    /// Imports under another name: that name and the own one.
    aliases: Vec<(Name, Name)>,
}

#[derive(Debug, Clone)]
pub struct Mentioned {
    name: Name,
    names: Box<[Name]>,
    pub is_test: bool,
    /// A match of the queries stands in it.
    holds: bool,
    /// One that is more than a comparison as any code makes one.
    framework: bool,
    /// It gives something back: the evaluator may follow it.
    single: bool,
    /// A fixture of pytest's: what it gives is had by its name alone.
    fixture: bool,
    /// The function that it gives back, where it is a fixture.
    hands: Option<Name>,
}

fn sorted(mut names: Vec<Name>) -> Box<[Name]> {
    names.sort_unstable();
    names.dedup();
    names.into()
}

fn mention(expr: &Expr, names: &mut Vec<Name>) {
    match &expr.kind {
        ExprKind::Name(name) | ExprKind::Attr(_, name) => names.push(number(name)),
        ExprKind::Call { callee, .. } => match &callee.kind {
            ExprKind::Name(name) => {
                names.push(number(name) | CALLED);
                if name == "read" {
                    names.push(number(FS_READ) | CALLED);
                }
            }
            ExprKind::Attr(base, name) => {
                names.push(number(name) | if is_path(base) { CALLED } else { METHOD });
                if name == "read"
                    && let ExprKind::Name(owner) | ExprKind::Attr(_, owner) = &base.kind
                    && (owner.ends_with("fs") || owner == "fs_err")
                {
                    names.push(number(FS_READ) | CALLED);
                }
            }
            _ => {}
        },
        ExprKind::Macro { name, .. } => names.push(number(super::macros::last(name)) | MACRO),
        _ => {}
    }
}

fn is_path(mut expr: &Expr) -> bool {
    loop {
        match &expr.kind {
            ExprKind::Name(_) => return true,
            ExprKind::Attr(base, _) => expr = base,
            _ => return false,
        }
    }
}

fn returns(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        StmtKind::Return(value) => value.is_some(),
        StmtKind::With { body, .. } | StmtKind::For { body, .. } | StmtKind::While { body, .. } => returns(body),
        StmtKind::If { then, otherwise, .. } => returns(then) || returns(otherwise),
        StmtKind::Block(parts) => parts.iter().any(|part| returns(part)),
        _ => false,
    })
}

/// The name that a fixture returns as it stands.
fn handed(function: &Function) -> Option<Name> {
    if !fixtures::is_fixture(function) {
        return None;
    }
    function.body.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Return(Some(Expr { kind: ExprKind::Name(name), .. })) => Some(number(name)),
        _ => None,
    })
}

impl Mentions {
    pub fn of(unit: &Unit, matches: &[Match]) -> Mentions {
        let mut all: Vec<Name> = Vec::new();
        let mut kept = |names: Vec<Name>| {
            let names = sorted(names);
            all.extend(names.iter().copied().map(plain));
            names
        };
        let matches_in = |span: Span| {
            let from = matches.partition_point(|found| found.span.start < span.start);
            let within = matches[from..].iter().take_while(move |found| found.span.start < span.end);
            within.filter(move |found| span.contains(found.span))
        };
        let of = |expr: &Expr, names: &mut Vec<Name>| expr.walk(&mut |expr| mention(expr, names));
        let mut functions = Vec::with_capacity(unit.functions.len());
        let mut aliases = Vec::new();
        for function in &unit.functions {
            let mut names = Vec::new();
            function.body.iter().for_each(|stmt| stmt.walk(&mut |expr| mention(expr, &mut names)));
            let params = function.params.iter().flat_map(|param| param.marks.iter().chain(&param.default));
            function.marks.iter().chain(params).for_each(|expr| of(expr, &mut names));
            functions.push(Mentioned {
                name: number(&function.name),
                names: kept(names),
                is_test: sites::is_test(unit, function),
                holds: matches_in(function.span).next().is_some(),
                framework: matches_in(function.span).any(|found| !sites::is_generic(found)),
                single: returns(&function.body) || fixtures::is_fixture(function),
                fixture: fixtures::is_fixture(function),
                hands: handed(function),
            });
            if let Some(name) = fixtures::name_of(function).filter(|name| *name != function.name) {
                aliases.push((number(name), number(&function.name)));
            }
        }
        let mut globals = Vec::with_capacity(unit.globals.len());
        for binding in &unit.globals {
            let mut names = Vec::new();
            of(&binding.value, &mut names);
            globals.push((number(&binding.name), kept(names)));
        }
        let mut names = Vec::new();
        let arms = unit.macros.iter().flat_map(|rules| &rules.arms);
        arms.flat_map(|arm| &arm.calls).for_each(|call| of(call, &mut names));
        let macros = kept(names);
        for import in &unit.imports {
            let own = import.path.rsplit('.').next().unwrap_or_default();
            if own != import.local && import.local != "*" {
                if own == "read" {
                    aliases.push((number(&import.local), number(FS_READ)));
                }
                aliases.push((number(&import.local), number(own)));
            }
        }
        all.extend(aliases.iter().map(|(_, own)| *own));
        Mentions { functions, globals, macros, all: sorted(all), aliases }
    }

    fn mentions_any(&self, wanted: &Set, few: &[Name]) -> bool {
        match few.len() * 8 < self.all.len() {
            true => few.iter().any(|name| self.all.binary_search(name).is_ok()),
            false => self.all.iter().any(|name| wanted.contains(name)),
        }
    }

    /// Whether a function of the file calls something of that name.
    pub fn calls(&self, name: &str) -> bool {
        self.all.binary_search(&number(name)).is_ok()
    }
}

impl Mentioned {
    pub fn calls(&self, name: &str) -> bool {
        let name = number(name);
        [CALLED, METHOD].iter().any(|how| self.names.binary_search(&(name | how)).is_ok())
    }
}

/// Names of functions and macros that may end in a comparison, of functions that may give back what they
/// read, and of constants that may hold it.
#[derive(Default, Clone)]
pub struct Reach {
    carriers: Set,
    readers: Set,
    holders: Set,
}

impl Reach {
    /// `wrappers` are the names of the macros that end in a comparison. With `before`, only what the files
    /// of `changed` add to it is looked for.
    pub fn of(project: &Project, wrappers: &[&str], before: Option<(&Reach, &BTreeSet<RelPath>)>) -> Reach {
        let mut reach = before.map(|(reach, _)| reach.clone()).unwrap_or_default();
        let everything: Vec<&Facts> = project.files.values().map(|facts| &**facts).collect();
        let mut looked: Vec<&Facts> = project
            .files
            .iter()
            .filter(|(path, _)| before.is_none_or(|(_, changed)| changed.contains(*path)))
            .map(|(_, facts)| &**facts)
            .collect();
        let mut seeds: Vec<Name> = wrappers.iter().map(|name| number(name)).collect();
        seeds.extend(project.settings.helpers.iter().map(|helper| number(last(&helper.call))));
        for facts in &looked {
            for (mentioned, function) in facts.mentions.functions.iter().zip(&facts.unit.functions) {
                let counts = || {
                    mentioned.framework
                        || mentioned.names.iter().any(|name| is_word(*name))
                        || testing::of_tests(project, &facts.unit, function)
                };
                if mentioned.holds && !mentioned.is_test && counts() {
                    seeds.push(mentioned.name);
                }
            }
        }
        let old = reach.carriers.clone();
        seeds.retain(|name| !old.contains(name));
        let carriers = |facts: &Facts, set: &Set, new: &mut Vec<Name>| {
            let mentions = &facts.mentions;
            for function in mentions.functions.iter().filter(|function| !function.is_test) {
                let leads = |name: &Name| (function.fixture || *name & 3 != PLAIN) && set.contains(&plain(*name));
                if !set.contains(&function.name) && function.names.iter().any(leads) {
                    new.push(function.name);
                }
            }
            aliases(mentions, set, new);
        };
        close(project, &looked, &mut reach.carriers, seeds, &carriers);
        let mut seeds: Vec<Name> = READS.iter().map(|name| number(name)).collect();
        let mut holders = std::mem::take(&mut reach.holders);
        // Both sets grow together: a constant may call a function, a function name a constant.
        loop {
            let before = (reach.readers.len(), holders.len());
            let readers = |facts: &Facts, set: &Set, new: &mut Vec<Name>| {
                for function in facts.mentions.functions.iter().filter(|function| function.single) {
                    if !set.contains(&function.name)
                        && (function.names.iter().any(|name| reads(*name, set, &holders))
                            || function.hands.is_some_and(|name| set.contains(&name)))
                    {
                        new.push(function.name);
                    }
                }
                aliases(&facts.mentions, set, new);
            };
            let mut set = std::mem::take(&mut reach.readers);
            close(project, &looked, &mut set, std::mem::take(&mut seeds), &readers);
            let held = |facts: &Facts, held: &Set, new: &mut Vec<Name>| {
                let mentions = &facts.mentions;
                for (name, names) in &mentions.globals {
                    if !held.contains(name) && names.iter().any(|name| reads(*name, &set, held)) {
                        new.push(*name);
                    }
                }
                let read = |function: &&Mentioned| function.fixture && set.contains(&function.name);
                new.extend(mentions.functions.iter().filter(read).map(|f| f.name).filter(|name| !held.contains(name)));
                aliases(mentions, held, new);
            };
            let mut next = holders.clone();
            let grown = set.len() != before.0;
            close(project, if grown { &everything } else { &looked }, &mut next, Vec::new(), &held);
            reach.readers = set;
            holders = next;
            if holders.len() == before.1 {
                break;
            }
            // Functions may name one of the new constants.
            looked.clone_from(&everything);
        }
        reach.holders = holders;
        reach
    }

    /// Whether a function of that name may give back something that it read from a file.
    pub fn gives(&self, name: &str) -> bool {
        self.readers.contains(&number(name))
    }

    /// Whether a call of something with that last name may lead to a comparison.
    pub fn carries(&self, name: &str) -> bool {
        self.carriers.contains(&number(name))
    }

    /// Whether a function calls anything that may lead to a comparison, or a macro that does.
    pub fn leads(&self, function: &Mentioned) -> bool {
        function.names.iter().any(|name| name & 3 != PLAIN && self.carriers.contains(&plain(*name)))
    }
}

fn reads(name: Name, readers: &Set, holders: &Set) -> bool {
    match name & 3 {
        PLAIN => holders.contains(&name),
        METHOD => words().contains(&plain(name)),
        _ => readers.contains(&plain(name)),
    }
}

/// Whether the name itself says that a file is read: by a function or method that is known.
fn is_word(name: Name) -> bool {
    name & 3 != PLAIN && words().contains(&plain(name))
}

fn words() -> &'static Set {
    static WORDS: std::sync::OnceLock<Set> = std::sync::OnceLock::new();
    WORDS.get_or_init(|| READS.iter().map(|name| number(name)).collect())
}

fn last(dotted: &str) -> &str {
    dotted.rsplit(['.', ':']).next().unwrap_or(dotted)
}

fn aliases(mentions: &Mentions, set: &Set, new: &mut Vec<Name>) {
    let known = |(local, own): &&(Name, Name)| set.contains(own) && !set.contains(local);
    new.extend(mentions.aliases.iter().filter(known).map(|(local, _)| *local));
}

/// Adds names until nothing more joins: first what the files of `first` have, then whoever mentions what is
/// new.
fn close(
    project: &Project,
    first: &[&Facts],
    set: &mut Set,
    seeds: Vec<Name>,
    join: &dyn Fn(&Facts, &Set, &mut Vec<Name>),
) {
    set.extend(seeds.iter().copied());
    let mut fresh = seeds;
    let mut new = Vec::new();
    first.iter().for_each(|facts| join(facts, set, &mut new));
    loop {
        fresh.append(&mut new);
        set.extend(fresh.iter().copied());
        fresh.sort_unstable();
        fresh.dedup();
        if fresh.is_empty() {
            return;
        }
        let wanted: Set = fresh.iter().copied().collect();
        for facts in project.files.values() {
            if facts.mentions.mentions_any(&wanted, &fresh) {
                join(facts, set, &mut new);
            }
        }
        fresh.clear();
    }
}
