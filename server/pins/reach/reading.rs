//! Whether the content of a file may come into what a site compares. Takes the names that may read at all and
//! resolves those that stand on the way, functions and constants, to what they are; says yes too often rather
//! than too seldom. What the evaluator learns to follow is to be followed here. Never values anything.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use dashmap::DashMap;

use super::flow::{self, Flow, Use};
use super::{Name, PLAIN, Reach, Set, is_word, number, plain, reads};
use crate::code::{Expr, ExprKind, Function, Stmt, StmtKind, Target, Unit};
use crate::pins::names::{self, Named};
use crate::pins::{Facts, Frame, Project, Site, fixtures};
use crate::places::RelPath;
use crate::syntax::Language;
use crate::text::Span;

/// Most functions and constants that are looked at for one name.
const MOST: usize = 2_000;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Node {
    Function(RelPath, usize),
    Constant(RelPath, usize),
}

/// Where the value of a function or constant may come from.
#[derive(Default)]
struct Edges {
    /// It reads a file itself.
    direct: bool,
    to: Vec<Node>,
}

/// Where the values of names in a function may come from.
#[derive(Default)]
struct Carried {
    /// It mentions something that may read.
    reads: bool,
    /// Those that the content of a file may come into.
    read: Set,
    /// Those that come from its parameters.
    outside: Set,
}

#[derive(Clone, Copy)]
enum Comes {
    /// From a file.
    Read,
    /// From the caller.
    Outside,
    Nowhere,
}

/// What was found of the functions of a project at one moment; each is looked at when first asked for.
#[derive(Default)]
pub struct Readings {
    edges: DashMap<Node, Arc<Edges>>,
    known: DashMap<Node, bool>,
    carried: DashMap<Node, Arc<Carried>>,
    /// By the place of the comparison: many tests may come to one.
    compared: DashMap<(RelPath, Option<usize>, Span), Comes>,
    fixtures: OnceLock<HashMap<Name, Vec<Node>>>,
    /// Names of members that methods of the project set.
    members: OnceLock<Set>,
}

/// `self.x`, `cls.x`.
fn is_member(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Attr(base, _)
        if matches!(&base.kind, ExprKind::Name(name) if matches!(name.as_str(), "self" | "cls")))
}

fn members(project: &Project) -> &Set {
    project.names.readings.members.get_or_init(|| {
        let mut members = Set::default();
        for facts in project.files.values().filter(|facts| facts.unit.language == Language::Python) {
            for function in &facts.unit.functions {
                set_members(&function.body, &mut members);
            }
        }
        members
    })
}

fn set_members(body: &[Stmt], members: &mut Set) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Bind { target: Target::Member(name), .. } => {
                members.insert(number(name));
            }
            StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::With { body, .. } => {
                set_members(body, members);
            }
            StmtKind::If { then, otherwise, .. } => {
                set_members(then, members);
                set_members(otherwise, members);
            }
            StmtKind::Block(parts) => parts.iter().for_each(|part| set_members(part, members)),
            _ => {}
        }
    }
}

impl Reach {
    /// Whether the content of a file may come into what is compared at the site.
    pub fn reads(&self, project: &Project, site: &Site) -> bool {
        let last = site.frames.len() - 1;
        let mut state = match site.frames.get(last) {
            Some(frame) => self.compared(project, frame),
            None => return true,
        };
        for (at, frame) in site.frames.iter().enumerate().rev() {
            match state {
                Comes::Read => return true,
                Comes::Nowhere => return false,
                // What the next outer frame hands over.
                Comes::Outside => match at.checked_sub(1).and_then(|outer| site.frames.get(outer)) {
                    Some(outer) => {
                        let mut uses = Vec::new();
                        frame.given.values().for_each(|given| flow::uses(given, &mut uses));
                        state = self.in_frame(project, outer, uses);
                    }
                    None => return false,
                },
            }
        }
        false
    }

    /// Whether the function itself brings the content of a file into what it compares at a place.
    pub fn compares_a_file(&self, project: &Project, frame: &Frame) -> bool {
        matches!(self.compared(project, frame), Comes::Read)
    }

    fn compared(&self, project: &Project, frame: &Frame) -> Comes {
        let key = (frame.file.clone(), frame.function, frame.at);
        if let Some(known) = project.names.readings.compared.get(&key) {
            return *known;
        }
        let comes = self.compared_anew(project, frame);
        project.names.readings.compared.insert(key, comes);
        comes
    }

    fn compared_anew(&self, project: &Project, frame: &Frame) -> Comes {
        let function = frame.function.and_then(|index| project.files.get(&frame.file)?.unit.functions.get(index));
        match function.map(|function| flow::at_place(&function.body, frame.at)) {
            Some(None) => Comes::Read,
            Some(Some(uses)) => self.in_frame(project, frame, uses),
            None => self.in_frame(project, frame, Vec::new()),
        }
    }

    fn in_frame(&self, project: &Project, frame: &Frame, uses: Vec<Use>) -> Comes {
        let Some(facts) = project.files.get(&frame.file) else { return Comes::Read };
        let Some(index) = frame.function else {
            let reads = !frame.is_macro || facts.mentions.macros.iter().any(|name| self.may_read(*name));
            return if reads { Comes::Read } else { Comes::Outside };
        };
        let Some(function) = facts.unit.functions.get(index) else { return Comes::Read };
        let node = Node::Function(frame.file.clone(), index);
        let known = project.names.readings.carried.get(&node).map(|known| known.clone());
        let carried = known.unwrap_or_else(|| {
            let carried = Arc::new(self.carried(project, facts, index));
            project.names.readings.carried.insert(node, carried.clone());
            carried
        });
        let outside = uses.iter().any(|(name, _)| carried.outside.contains(&plain(*name)));
        if carried.reads {
            let mut head = Vec::new();
            of_head(function, &mut head);
            let scope = names::scope_of(Some(function));
            let reads =
                |one: &Use| carried.read.contains(&plain(one.0)) || self.read(project, &facts.unit, &scope, *one);
            if uses.iter().any(reads) || head.iter().any(reads) {
                return Comes::Read;
            }
        }
        if outside { Comes::Outside } else { Comes::Nowhere }
    }

    /// By its name alone.
    fn may_read(&self, name: Name) -> bool {
        // `filecmp.cmp` compares files by their paths.
        reads(name, &self.readers, &self.holders) || name & 3 != PLAIN && plain(name) == number("cmp")
    }

    fn carried(&self, project: &Project, facts: &Facts, index: usize) -> Carried {
        let Some(function) = facts.unit.functions.get(index) else { return Carried::default() };
        let outer = function.path.iter().flat_map(|name| facts.unit.functions_named(name).map(|(at, _)| at));
        let around: Vec<usize> = outer.chain([index]).collect();
        let functions: Vec<&Function> = around.iter().filter_map(|at| facts.unit.functions.get(*at)).collect();
        let mut flow = Flow::default();
        functions.iter().for_each(|function| flow.add(&function.body));
        let params: Set = functions
            .iter()
            .flat_map(|function| &function.params)
            .flat_map(|param| param.name.split(|c: char| !c.is_alphanumeric() && c != '_'))
            .map(number)
            .collect();
        let mut outside = flow.carried(&|(name, _)| params.contains(&plain(name)));
        outside.extend(params);
        let names = |at: &usize| facts.mentions.functions.get(*at).map(|function| &function.names);
        let reads = around.iter().any(|at| names(at).is_none_or(|names| names.iter().any(|name| self.may_read(*name))));
        let of_class = functions
            .iter()
            .any(|function| function.params.first().is_some_and(|first| matches!(first.name.as_str(), "self" | "cls")));
        let reads = reads || (of_class && !members(project).is_empty());
        let scope = names::scope_of(Some(function));
        let read = match reads {
            true => flow.carried(&|one| self.read(project, &facts.unit, &scope, one)),
            false => Set::default(),
        };
        Carried { reads, read, outside }
    }

    fn read(&self, project: &Project, unit: &Unit, scope: &[String], one: Use) -> bool {
        // Set in another method, of whatever class.
        if is_member(one.1) && members(project).contains(&plain(one.0)) {
            return true;
        }
        if !self.may_read(one.0) {
            return false;
        }
        let mut edges = Edges::default();
        self.follow(project, unit, scope, one, &mut edges);
        edges.direct || edges.to.into_iter().any(|node| self.comes(project, node))
    }

    /// What a name stands for.
    fn follow(&self, project: &Project, unit: &Unit, scope: &[String], (name, expr): Use, edges: &mut Edges) {
        if is_word(name) || name & 3 != PLAIN && plain(name) == number("cmp") {
            edges.direct = true;
            return;
        }
        if name & 3 != PLAIN && name & 3 != super::CALLED {
            return;
        }
        if name & 3 == PLAIN {
            edges.to.extend(self.fixtures(project).get(&name).into_iter().flatten().cloned());
        }
        let Some(dotted) = expr.dotted() else { return };
        match names::find(project, unit, scope, &dotted) {
            Some(Named::Function(unit, at)) => edges.to.push(Node::Function(unit.path.clone(), at)),
            Some(Named::Constant(unit, binding)) => {
                let at = unit.globals.iter().position(|other| std::ptr::eq(other, binding));
                edges.to.extend(at.map(|at| Node::Constant(unit.path.clone(), at)));
            }
            Some(Named::Module(_)) | None => {}
        }
    }

    fn fixtures<'a>(&self, project: &'a Project) -> &'a HashMap<Name, Vec<Node>> {
        project.names.readings.fixtures.get_or_init(|| {
            let mut found: HashMap<Name, Vec<Node>> = HashMap::new();
            for (path, facts) in project.files.iter().filter(|(_, facts)| facts.unit.language == Language::Python) {
                let functions = facts.unit.functions.iter().zip(&facts.mentions.functions).enumerate();
                for (at, (function, _)) in functions.filter(|(_, (_, mentioned))| mentioned.fixture) {
                    let name = fixtures::name_of(function).unwrap_or(&function.name);
                    found.entry(number(name)).or_default().push(Node::Function(path.clone(), at));
                }
            }
            found
        })
    }

    /// Whether the value of a function or constant may come from a file.
    fn comes(&self, project: &Project, start: Node) -> bool {
        let known = &project.names.readings.known;
        let mut seen: HashSet<Node> = HashSet::from([start.clone()]);
        let mut open = vec![start.clone()];
        while let Some(node) = open.pop() {
            match known.get(&node).map(|known| *known) {
                Some(false) => continue,
                Some(true) => {
                    known.insert(start, true);
                    return true;
                }
                None => {}
            }
            let edges = self.edges(project, &node);
            if edges.direct || seen.len() > MOST {
                known.insert(start, true);
                return true;
            }
            for next in &edges.to {
                if seen.insert(next.clone()) {
                    open.push(next.clone());
                }
            }
        }
        for node in seen {
            known.insert(node, false);
        }
        false
    }

    fn edges(&self, project: &Project, node: &Node) -> Arc<Edges> {
        let known = &project.names.readings.edges;
        if let Some(edges) = known.get(node) {
            return edges.clone();
        }
        let mut edges = Edges::default();
        match node {
            Node::Constant(file, at) => {
                if let Some((unit, binding)) = project.unit(file).and_then(|unit| Some((unit, unit.globals.get(*at)?)))
                {
                    let mut uses = Vec::new();
                    flow::uses(&binding.value, &mut uses);
                    self.follow_all(project, unit, &binding.path, &uses, false, &mut edges);
                }
            }
            Node::Function(file, at) => {
                if let Some(facts) = project.files.get(file)
                    && let Some((function, mentioned)) =
                        facts.unit.functions.get(*at).zip(facts.mentions.functions.get(*at))
                    && mentioned.single
                {
                    let flow = Flow::of(&function.body);
                    let mut uses = flow.sources(&flow.returned);
                    of_head(function, &mut uses);
                    let scope = names::scope_of(Some(function));
                    self.follow_all(project, &facts.unit, &scope, &uses, mentioned.fixture, &mut edges);
                }
            }
        }
        let edges = Arc::new(edges);
        known.insert(node.clone(), edges.clone());
        edges
    }

    /// `given`: a function that is named is handed out, and called by another name.
    fn follow_all(
        &self,
        project: &Project,
        unit: &Unit,
        scope: &[String],
        uses: &[Use],
        given: bool,
        edges: &mut Edges,
    ) {
        for one in uses {
            if self.may_read(one.0) || given && self.readers.contains(&plain(one.0)) {
                self.follow(project, unit, scope, *one, edges);
                if edges.direct {
                    return;
                }
            }
        }
    }
}

/// What marks and parameters mention.
fn of_head<'a>(function: &'a Function, found: &mut Vec<Use<'a>>) {
    let params = function.params.iter().flat_map(|param| param.marks.iter().chain(&param.default));
    let head: Vec<&Expr> = function.marks.iter().chain(params).collect();
    head.into_iter().for_each(|expr| flow::uses(expr, found));
}
