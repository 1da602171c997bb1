//! Wrappers to a fixed point: from the matches of the queries and the calls of the workspace's helpers to
//! the calls that a reader of the tests sees. A function that is not a test and holds a comparison hands
//! it on to its callers, with what they pass for its parameters. Never looks at a baseline.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::macros::Wrappers;
use super::names::{self, Named};
use super::reach::Reach;
use super::{Extent, Facts, Frame, Match, Project, Site};
use super::{fixtures, testing};
use crate::code::{Arg, Expr, ExprKind, Function, Unit};
use crate::places::RelPath;
use crate::settings::Settings;
use crate::syntax::Language;
use crate::text::Span;
use crate::vocabulary::known_macro;

/// Longest chain of wrappers that is followed.
const DEEPEST: usize = 8;
/// Most comparisons that one function hands on.
const MOST: usize = 5_000;

/// `framework` of a generic comparison: `assert a == b`, `assertEqual`, `assert_eq!`.
pub const COMPARISON: &str = "assert";
/// Property of a match that comes from a `[[helper]]`: its index in the settings.
pub const HELPER: &str = "pin.helper";

/// Every site of the extent, in file and source order.
pub fn sites(project: &Project, extent: &Extent) -> Vec<Site> {
    let wrappers = Wrappers::of(project, &known_macro);
    let reach = project.names.reach(project);
    let mut search = Search { project, wrappers, reach, chains: HashMap::new(), direct: HashMap::new() };
    let mut sites = Vec::new();
    for (file, facts) in project.files.iter().filter(|(file, _)| extent.holds(file)) {
        let from = sites.len();
        for index in 0..facts.unit.functions.len() {
            let chains = match search.is_test(facts, index) {
                true => search.chains(file, index, DEEPEST, &mut Vec::new()),
                false => search.unreached(file, index),
            };
            sites.extend(chains.iter().map(|chain| Site { found: chain.found.clone(), frames: chain.frames.clone() }));
        }
        for found in search.direct(file).get(&None).into_iter().flatten().filter(|found| !is_generic(found)) {
            let frame =
                Frame { file: file.clone(), function: None, at: found.span, given: Arc::default(), is_macro: false };
            sites.push(Site { found: found.clone(), frames: Arc::new([frame]) });
        }
        for stmt in &facts.unit.top {
            let frame =
                Frame { file: file.clone(), function: None, at: stmt.span, given: Arc::default(), is_macro: false };
            let mut see = |expr: &Expr| {
                search.expanded(&facts.unit, expr, &frame, &mut |found, frames| {
                    sites.push(Site { found, frames: frames.into() });
                })
            };
            stmt.walk(&mut see);
        }
        sites[from..].sort_by_key(|site| site.frames[0].at.start);
    }
    sites
}

/// A comparison as any code may make one: only in a test, or on the way from one, is it a pin.
pub(super) fn is_generic(found: &Match) -> bool {
    matches!(found.framework.as_str(), COMPARISON | "compared")
        || matches!(
            found.properties.get("pin.form").map(String::as_str),
            Some("fails" | "filecmp" | "true" | super::updates::UPDATES)
        )
}

/// Whether a test runner calls this function.
pub fn is_test(unit: &Unit, function: &Function) -> bool {
    match unit.language {
        Language::Python => {
            (function.name.starts_with("test") || function.name == "runTest")
                && !function.path.last().is_some_and(|around| {
                    // Inside a function, not a class.
                    !unit.scopes.iter().any(|scope| scope.name == *around)
                })
                && !fixtures::is_fixture(function)
        }
        Language::Rust => {
            function.marks.iter().any(|mark| {
                let name = match &mark.kind {
                    ExprKind::Macro { name, .. } => name.replace("::", "."),
                    ExprKind::Call { callee, .. } => callee.dotted().unwrap_or_default(),
                    _ => mark.dotted().unwrap_or_default(),
                };
                let last = name.rsplit(['.', ':']).next().unwrap_or_default();
                matches!(last, "rstest" | "test_case" | "test_matrix" | "dir_test" | "quickcheck")
                    || last == "test"
                    || last.ends_with("_test")
            }) || !super::harness::running(unit, function).is_empty()
        }
    }
}

/// A comparison as one function hands it on: the frames from that function down.
#[derive(Debug)]
struct Chain {
    found: Match,
    frames: Arc<[Frame]>,
}

type Direct = HashMap<Option<usize>, Vec<Match>>;

struct Search<'a> {
    project: &'a Project,
    wrappers: Wrappers<'a>,
    reach: &'a Reach,
    chains: HashMap<(RelPath, usize), Rc<Vec<Rc<Chain>>>>,
    direct: HashMap<RelPath, Rc<Direct>>,
}

impl<'a> Search<'a> {
    fn is_test(&self, facts: &Facts, index: usize) -> bool {
        facts.mentions.functions.get(index).is_some_and(|function| function.is_test)
    }

    /// The matches of a file by the function that holds them, calls of the workspace's helpers among them.
    fn direct(&mut self, file: &RelPath) -> Rc<Direct> {
        if let Some(known) = self.direct.get(file) {
            return known.clone();
        }
        let mut direct: Direct = HashMap::new();
        if let Some(facts) = self.project.files.get(file) {
            let unit = &facts.unit;
            let mut order: Vec<(Span, usize)> = unit.functions.iter().map(|f| f.span).zip(0..).collect();
            order.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
            for found in &facts.matches {
                let from = order.partition_point(|(span, _)| span.start <= found.span.start);
                let function = order[..from].iter().rfind(|(span, _)| span.contains(found.span)).map(|(_, i)| *i);
                direct.entry(function).or_default().push(found.clone());
            }
            if !self.project.settings.helpers.is_empty() {
                for (i, function) in unit.functions.iter().enumerate() {
                    let found = helper_calls(&self.project.settings, function);
                    if !found.is_empty() {
                        direct.entry(Some(i)).or_default().extend(found);
                    }
                }
            }
            for found in direct.values_mut() {
                found.sort_by_key(|found| found.span.start);
            }
        }
        let direct = Rc::new(direct);
        self.direct.insert(file.clone(), direct.clone());
        direct
    }

    fn chains(
        &mut self,
        file: &RelPath,
        index: usize,
        left: usize,
        within: &mut Vec<(RelPath, usize)>,
    ) -> Rc<Vec<Rc<Chain>>> {
        let key = (file.clone(), index);
        if let Some(known) = self.chains.get(&key) {
            return known.clone();
        }
        let project = self.project;
        let empty = Rc::new(Vec::new());
        let (Some(facts), true) = (project.files.get(file), left > 0) else { return empty };
        let unit = &facts.unit;
        let (Some(function), Some(mentioned)) = (unit.functions.get(index), facts.mentions.functions.get(index)) else {
            return empty;
        };
        if within.contains(&key) {
            return empty;
        }
        let frame =
            |at: Span| Frame { file: file.clone(), function: Some(index), at, given: Arc::default(), is_macro: false };
        let mut chains: Vec<Rc<Chain>> = Vec::new();
        let mut of_tests = None;
        for found in self.direct(file).get(&Some(index)).into_iter().flatten() {
            let frame = frame(found.span);
            if is_generic(found) && !mentioned.is_test {
                let of_tests = *of_tests.get_or_insert_with(|| testing::of_tests(project, unit, function));
                if !of_tests && !self.reach.compares_a_file(project, &frame) {
                    continue;
                }
            }
            chains.push(Rc::new(Chain { found: found.clone(), frames: Arc::new([frame]) }));
        }
        let scope = names::scope_of(Some(function));
        let mut calls: Vec<(&Expr, &Expr, &[Arg])> = Vec::new();
        let plain = frame(Span::default());
        let body = if self.reach.leads(mentioned) { function.body.as_slice() } else { &[] };
        for stmt in body {
            stmt.walk(&mut |expr| {
                if let ExprKind::Call { callee, args } = &expr.kind
                    && let ExprKind::Name(name) | ExprKind::Attr(_, name) = &callee.kind
                    && self.reach.carries(name)
                {
                    calls.push((expr, callee, args));
                }
                self.expanded(unit, expr, &plain, &mut |found, frames| {
                    chains.push(Rc::new(Chain { found, frames: frames.into() }))
                });
            });
        }
        within.push(key.clone());
        for (call, callee, args) in calls {
            let Some((to, inner)) = self.callee(unit, function, &scope, callee) else { continue };
            let Some(called) = to.functions.get(inner) else { continue };
            if project.files.get(&to.path).is_some_and(|facts| self.is_test(facts, inner)) {
                continue;
            }
            let handed = self.chains(&to.path, inner, left - 1, within);
            if handed.is_empty() {
                continue;
            }
            let given = Arc::new(given(to.language, called, callee, args));
            for chain in handed.iter() {
                if chain.frames.len() >= DEEPEST || chains.len() >= MOST {
                    continue;
                }
                let mut frames = Vec::with_capacity(chain.frames.len() + 1);
                frames.push(frame(call.span));
                frames.extend(chain.frames.iter().cloned());
                frames[1].given = given.clone();
                chains.push(Rc::new(Chain { found: chain.found.clone(), frames: frames.into() }));
            }
        }
        within.pop();
        chains.sort_by_key(|chain| chain.frames[0].at.start);
        let chains = Rc::new(chains);
        self.chains.insert(key, chains.clone());
        chains
    }

    /// The comparisons of a macro call, where it is one of the repository's wrappers.
    fn expanded(&self, unit: &Unit, call: &Expr, frame: &Frame, add: &mut dyn FnMut(Match, Vec<Frame>)) {
        if self.wrappers.is_empty() || !matches!(call.kind, ExprKind::Macro { .. }) {
            return;
        }
        for expansion in self.wrappers.expand(unit, call) {
            let mut frames = vec![Frame { at: call.span, ..frame.clone() }];
            frames.extend(expansion.frames);
            add(expansion.found, frames);
        }
    }

    fn callee(
        &self,
        unit: &'a Unit,
        caller: &'a Function,
        scope: &[String],
        callee: &Expr,
    ) -> Option<(&'a Unit, usize)> {
        if unit.language == Language::Python
            && let Some(found) = fixtures::callee(self.project, unit, caller, callee)
        {
            return found;
        }
        let found = match callee.dotted() {
            Some(dotted) => names::find(self.project, unit, scope, &dotted),
            None => None,
        };
        let found = match (found, &callee.kind) {
            (None, ExprKind::Attr(_, name)) => names::method(self.project, unit, name),
            (found, _) => found,
        };
        match found? {
            Named::Function(unit, index) => Some((unit, index)),
            _ => None,
        }
    }

    /// Framework comparisons in a function that is not a test and that no test is seen to call: callbacks,
    /// harness functions. A generic comparison there is not a test's.
    fn unreached(&mut self, file: &RelPath, index: usize) -> Rc<Vec<Rc<Chain>>> {
        let project = self.project;
        let Some(unit) = project.unit(file) else { return Rc::default() };
        let Some(function) = unit.functions.get(index) else { return Rc::default() };
        let frame =
            |at: Span| Frame { file: file.clone(), function: Some(index), at, given: Arc::default(), is_macro: false };
        let mut chains = Vec::new();
        for found in self.direct(file).get(&Some(index)).into_iter().flatten() {
            chains.push(Chain { found: found.clone(), frames: Arc::new([frame(found.span)]) });
        }
        let plain = frame(Span::default());
        let mentioned = self.project.files.get(file).and_then(|facts| facts.mentions.functions.get(index));
        if !self.wrappers.is_empty() && mentioned.is_some_and(|mentioned| self.reach.leads(mentioned)) {
            for stmt in &function.body {
                stmt.walk(&mut |expr| {
                    self.expanded(unit, expr, &plain, &mut |found, frames| {
                        chains.push(Chain { found, frames: frames.into() })
                    });
                });
            }
        }
        chains.retain(|chain| !is_generic(&chain.found));
        if chains.is_empty()
            || is_helper(&project.settings, function)
            || self.reached(file, index, &mut HashSet::new(), DEEPEST)
        {
            return Rc::default();
        }
        Rc::new(chains.into_iter().map(Rc::new).collect())
    }

    fn reached(&self, file: &RelPath, index: usize, seen: &mut HashSet<(RelPath, usize)>, left: usize) -> bool {
        if left == 0 || !seen.insert((file.clone(), index)) {
            return false;
        }
        let Some(function) = self.project.unit(file).and_then(|unit| unit.functions.get(index)) else { return false };
        // A function that a fixture gives is called by the fixture's name.
        let around = self.project.unit(file).and_then(|unit| fixtures::around(unit, function));
        let called: Vec<&str> =
            std::iter::once(function.name.as_str()).chain(around.and_then(fixtures::name_of)).collect();
        let calls = |mentions: &dyn Fn(&str) -> bool| called.iter().any(|name| mentions(name));
        for (at, facts) in self.project.files.iter().filter(|(_, facts)| calls(&|name| facts.mentions.calls(name))) {
            let unit = &facts.unit;
            let callers = unit.functions.iter().zip(&facts.mentions.functions).enumerate();
            for (by, (caller, _)) in callers.filter(|(_, (_, mentioned))| calls(&|name| mentioned.calls(name))) {
                let mut found = false;
                let scope = names::scope_of(Some(caller));
                let mut see = |expr: &Expr| {
                    let ExprKind::Call { callee, .. } = &expr.kind else { return };
                    let (ExprKind::Name(last) | ExprKind::Attr(_, last)) = &callee.kind else { return };
                    if found || !called.contains(&last.as_str()) {
                        return;
                    }
                    let to = self.callee(unit, caller, &scope, callee);
                    found = to.is_some_and(|(to, at)| to.path == *file && at == index);
                };
                caller.body.iter().for_each(|stmt| stmt.walk(&mut see));
                if found && (self.is_test(facts, by) || self.reached(at, by, seen, left - 1)) {
                    return true;
                }
            }
        }
        false
    }
}

/// What a call passes for the parameters of the function. A parameter that a spread argument may fill is
/// opaque; one that is not passed is left out.
pub fn given(language: Language, called: &Function, callee: &Expr, args: &[Arg]) -> BTreeMap<String, Expr> {
    let name = |raw: &str| raw.trim_start_matches(['&', '*', ' ']).trim_start_matches("mut ").trim().to_string();
    let mut params: Vec<String> = called.params.iter().map(|param| name(&param.name)).collect();
    let bound = match language {
        Language::Python => {
            !called.path.is_empty()
                && matches!(params.first().map(String::as_str), Some("self" | "cls"))
                && matches!(callee.kind, ExprKind::Attr(..))
        }
        Language::Rust => params.first().is_some_and(|first| first == "self") && args.len() < params.len(),
    };
    if bound {
        params.remove(0);
    }
    let mut given = BTreeMap::new();
    let mut spread = false;
    let mut at = 0;
    let rest = called.params.iter().find(|param| {
        language == Language::Python
            && param.name.starts_with('*')
            && !param.name.starts_with("**")
            && param.name != "*"
    });
    let rest = rest.map(|param| name(&param.name));
    let mut taken: Vec<Expr> = Vec::new();
    for arg in args {
        if arg.spread {
            spread = true;
        } else if let Some(keyword) = arg.name.as_ref().filter(|_| language == Language::Python) {
            given.insert(keyword.clone(), arg.value.clone());
        } else {
            match params.get(at).filter(|_| !spread) {
                Some(param) if rest.as_ref() == Some(param) => taken.push(arg.value.clone()),
                Some(param) => {
                    given.insert(param.clone(), arg.value.clone());
                    at += 1;
                }
                None => at += 1,
            }
        }
    }
    if let Some(rest) = rest.filter(|_| !spread) {
        given.insert(rest, Expr::new(Span::default(), ExprKind::Tuple(taken)));
    }
    if spread {
        for param in params {
            given.entry(param).or_insert_with(|| Expr::opaque(Span::default()));
        }
    }
    given
}

fn same_name(call: &str, dotted: &str) -> bool {
    dotted == call || dotted.strip_suffix(call).is_some_and(|before| before.ends_with('.'))
}

fn is_helper(settings: &Settings, function: &Function) -> bool {
    settings.helpers.iter().any(|helper| helper.call.rsplit('.').next() == Some(&function.name))
}

/// Calls of `[[helper]]` functions and macros in the body and the decorators of a function.
fn helper_calls(settings: &Settings, function: &Function) -> Vec<Match> {
    let mut found = Vec::new();
    let mut see = |expr: &Expr| {
        let dotted = match &expr.kind {
            ExprKind::Call { callee, .. } => match &callee.kind {
                ExprKind::Attr(_, name) => callee.dotted().unwrap_or_else(|| name.clone()),
                _ => callee.dotted().unwrap_or_default(),
            },
            ExprKind::Macro { name, .. } => name.replace("::", "."),
            _ => return,
        };
        for (i, helper) in settings.helpers.iter().enumerate() {
            if same_name(&helper.call, &dotted) {
                found.push(Match {
                    framework: helper.id.clone(),
                    properties: BTreeMap::from([(HELPER.to_string(), i.to_string())]).into(),
                    span: expr.span,
                    captures: Vec::new(),
                });
                break;
            }
        }
    };
    function.marks.iter().for_each(|mark| mark.walk(&mut see));
    function.body.iter().for_each(|stmt| stmt.walk(&mut see));
    found
}
