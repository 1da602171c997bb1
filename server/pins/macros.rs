//! `macro_rules!` wrappers of a repository, to a fixed point: which macros end in a comparison, and what a
//! call of one compares. A macro is not expanded: a call is held against its arms, and what it gives for
//! `$x` is kept as the caller's expression. Also the macro calls that queries cannot see, because they
//! stand among the tokens of another macro. Never evaluates anything.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::{Frame, Match, Project};
use crate::code::rust::tokens::{Kind, Token, closing, tokens};
use crate::code::{Expr, ExprKind, MacroArm, Unit};
use crate::places::RelPath;
use crate::syntax::Language;
use crate::text::Span;

/// Longest chain of macros that is followed, and most comparisons of one call.
const DEEPEST: usize = 8;
const MOST: usize = 500;

/// A framework's macro, as the queries name it.
pub type Known<'a> = &'a dyn Fn(&str) -> Option<(String, Arc<BTreeMap<String, String>>)>;

/// Last segment of a macro's path.
pub fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// The name under which a macro was defined, where the file imports it under another.
pub fn real_name<'a>(unit: &'a Unit, name: &'a str, at: Span) -> &'a str {
    if name.contains("::") {
        return last(name);
    }
    if unit.imports_named(name).next().is_none() {
        return name;
    }
    let here: Vec<&str> = unit.scopes_at(at).map(|scope| scope.name.as_str()).collect();
    let seen = |scope: &[String]| scope.iter().zip(&here).take_while(|(a, b)| a == b).count();
    unit.imports_named(name)
        .max_by_key(|import| seen(&import.scope))
        .map_or(name, |import| import.path.rsplit('.').next().unwrap_or(name))
}

/// Adds the calls of known macros that stand inside other macros, or under another name.
pub fn nested(unit: &Unit, known: Known, matches: &mut Vec<Match>) {
    if unit.language != Language::Rust {
        return;
    }
    let have: HashSet<usize> = matches.iter().map(|found| found.span.end).collect();
    let mut more = Vec::new();
    let mut see = |expr: &Expr| {
        let ExprKind::Macro { name, .. } = &expr.kind else { return };
        if have.contains(&expr.span.end) {
            return;
        }
        if !name.contains("::") && unit.macros.iter().any(|own| own.name == *name) {
            return;
        }
        if let Some((framework, properties)) = known(real_name(unit, name, expr.span)) {
            more.push(Match { framework, properties, span: expr.span, captures: Vec::new() });
        }
    };
    for function in &unit.functions {
        function.body.iter().for_each(|stmt| stmt.walk(&mut see));
    }
    unit.top.iter().for_each(|stmt| stmt.walk(&mut see));
    returned(unit, &mut more);
    matches.extend(more);
    matches.sort_by_key(|found| (found.span.start, found.span.end));
}

/// `#[test_case(args => value)]` (test-case 3.4): the attribute compares what the function gives back.
fn returned(unit: &Unit, matches: &mut Vec<Match>) {
    for mark in unit.functions.iter().flat_map(|function| &function.marks) {
        let ExprKind::Macro { name, args, .. } = &mark.kind else { continue };
        if last(name) == "test_case" && args.iter().any(|arg| matches!(arg.value.kind, ExprKind::Dict(_))) {
            let properties = [("pin.framework", "assert"), ("pin.form", "returned")];
            let properties = properties.map(|(key, value)| (key.to_string(), value.to_string()));
            matches.push(Match {
                framework: "assert".to_string(),
                properties: Arc::new(BTreeMap::from(properties)),
                span: mark.span,
                captures: Vec::new(),
            });
        }
    }
}

/// What one call of a wrapper compares: the match, and the frames from the macro down.
#[derive(Debug, Clone, PartialEq)]
pub struct Expansion {
    pub found: Match,
    pub frames: Vec<Frame>,
}

/// Macros of the repository whose arms lead to a comparison.
pub struct Wrappers<'a> {
    project: &'a Project,
    known: Known<'a>,
    by_name: HashMap<&'a str, Vec<(&'a RelPath, usize)>>,
}

impl<'a> Wrappers<'a> {
    /// Looks at every `macro_rules!` of the project.
    pub fn of(project: &'a Project, known: Known<'a>) -> Wrappers<'a> {
        let mut calls: Vec<(&RelPath, usize, &str, HashSet<&str>)> = Vec::new();
        for (file, facts) in project.files.iter() {
            for (nth, rules) in facts.unit.macros.iter().enumerate() {
                let mut named = HashSet::new();
                for call in rules.arms.iter().flat_map(|arm| &arm.calls) {
                    call.walk(&mut |expr| {
                        if let ExprKind::Macro { name, .. } = &expr.kind {
                            named.insert(real_name(&facts.unit, name, rules.span));
                        }
                    });
                }
                calls.push((file, nth, &rules.name, named));
            }
        }
        let mut leads: HashSet<&str> = HashSet::new();
        loop {
            let before = leads.len();
            for (_, _, own, named) in &calls {
                if named.iter().any(|name| *name != *own && (known(name).is_some() || leads.contains(name))) {
                    leads.insert(own);
                }
            }
            if leads.len() == before {
                break;
            }
        }
        let mut by_name: HashMap<&str, Vec<(&RelPath, usize)>> = HashMap::new();
        for (file, nth, own, _) in calls {
            if leads.contains(own) {
                by_name.entry(own).or_default().push((file, nth));
            }
        }
        Wrappers { project, known, by_name }
    }

    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Names of the macros.
    pub fn names(&self) -> Vec<&'a str> {
        self.by_name.keys().copied().collect()
    }

    fn definition(&self, unit: &Unit, name: &str, at: Span) -> Option<(&'a Unit, usize)> {
        let name = real_name(unit, name, at);
        let found = self.by_name.get(name)?;
        let package = |file: &RelPath| self.project.crates.package_of(file).map(|package| &package.dir);
        let here = package(&unit.path);
        let (file, nth) = found
            .iter()
            .filter(|(file, nth)| {
                // A macro of the same file counts from its definition on.
                **file != unit.path || unit.macros.get(*nth).is_some_and(|rules| rules.span.end <= at.start)
            })
            .max_by_key(|(file, nth)| (**file == unit.path, package(file) == here, *nth))
            .or(found.first())?;
        Some((self.project.unit(file)?, *nth))
    }

    /// The comparisons of a macro call that stands in `unit`; empty when it is no wrapper, or no arm fits.
    pub fn expand(&self, unit: &Unit, call: &Expr) -> Vec<Expansion> {
        let mut out = Vec::new();
        self.expand_into(unit, call, DEEPEST, &mut out);
        out
    }

    fn expand_into(&self, unit: &Unit, call: &Expr, left: usize, out: &mut Vec<Expansion>) {
        let ExprKind::Macro { name, args, tokens: inner } = &call.kind else { return };
        if left == 0 || out.len() >= MOST {
            return;
        }
        let Some((home, nth)) = self.definition(unit, name, call.span) else { return };
        let Some(rules) = home.macros.get(nth) else { return };
        let given_tokens = tokens(unit.text.as_str(), *inner);
        let fits = rules.arms.iter().find_map(|arm| {
            let matcher = tokens(home.text.as_str(), arm.matcher);
            Some((arm, Fit { matcher: &matcher, home, given: &given_tokens, unit }.bindings()?))
        });
        let Some((arm, bound)) = fits else { return };
        let value = |span: Span| -> Expr {
            let found = args.iter().find(|arg| arg.value.span == span).map(|arg| arg.value.clone());
            found.unwrap_or_else(|| crate::code::rust::expression(&unit.text, span))
        };
        let mut calls: Vec<&Expr> = Vec::new();
        for call in &arm.calls {
            call.walk(&mut |expr| {
                if matches!(expr.kind, ExprKind::Macro { .. }) {
                    calls.push(expr);
                }
            });
        }
        for inner in calls {
            let ExprKind::Macro { name, .. } = &inner.kind else { continue };
            let mut below = Vec::new();
            match (self.known)(real_name(home, name, rules.span)) {
                Some((framework, properties))
                    if !(self.by_name.contains_key(last(name)) && last(name) == rules.name) =>
                {
                    let found = Match { framework, properties, span: inner.span, captures: Vec::new() };
                    below.push(Expansion { found, frames: Vec::new() });
                }
                _ if last(name) != rules.name || left > 1 => self.expand_into(home, inner, left - 1, &mut below),
                _ => {}
            }
            if below.is_empty() {
                continue;
            }
            for given in self.rounds(home, arm, inner.span, &bound, &value) {
                let given = Arc::new(given);
                for one in &below {
                    if out.len() >= MOST {
                        return;
                    }
                    let mut frames = vec![Frame {
                        file: home.path.clone(),
                        function: None,
                        at: inner.span,
                        given: given.clone(),
                        is_macro: true,
                    }];
                    frames.extend(one.frames.iter().cloned());
                    out.push(Expansion { found: one.found.clone(), frames });
                }
            }
        }
    }

    /// What `$x` stands for, once for each round of the repetition in which the inner call stands.
    fn rounds(
        &self,
        home: &Unit,
        arm: &MacroArm,
        at: Span,
        bound: &HashMap<String, Bound>,
        value: &dyn Fn(Span) -> Expr,
    ) -> Vec<BTreeMap<String, Expr>> {
        let mut single: BTreeMap<String, Expr> = BTreeMap::new();
        for (name, bound) in bound {
            if let Bound::One(span) = bound {
                single.insert(format!("${name}"), value(*span));
            }
        }
        let repeated = repetition(home, arm, at);
        let many: Vec<(&String, &Vec<Span>)> = bound
            .iter()
            .filter_map(|(name, bound)| match bound {
                Bound::Many(spans) if repeated.contains(name.as_str()) => Some((name, spans)),
                _ => None,
            })
            .collect();
        let Some(rounds) = many.iter().map(|(_, spans)| spans.len()).max() else { return vec![single] };
        (0..rounds.min(MOST))
            .map(|round| {
                let mut given = single.clone();
                for (name, spans) in &many {
                    if let Some(span) = spans.get(round) {
                        given.insert(format!("${name}"), value(*span));
                    }
                }
                given
            })
            .collect()
    }
}

/// Variables that are used in the outermost `$( … )` of an arm's body around `at`.
fn repetition<'a>(home: &'a Unit, arm: &MacroArm, at: Span) -> HashSet<&'a str> {
    let source = home.text.as_str();
    let body = tokens(source, arm.body);
    let mut nth = 0;
    while nth + 1 < body.len() {
        if body[nth].kind == Kind::Punct(b'$')
            && body[nth + 1].kind == Kind::Open(b'(')
            && let Some(close) = closing(&body, nth + 1)
        {
            let whole = Span::new(body[nth].span.start, body[close].span.end);
            if whole.contains(at) {
                return body[nth..close]
                    .windows(2)
                    .filter(|pair| pair[0].kind == Kind::Punct(b'$') && pair[1].kind == Kind::Ident)
                    .map(|pair| home.text.slice(pair[1].span))
                    .collect();
            }
            nth = close;
        }
        nth += 1;
    }
    HashSet::new()
}

/// Name of the function that a macro's arm defines around the frame's call: `fn $name() { … }`.
pub fn function_around(project: &Project, frame: &Frame) -> Option<String> {
    let unit = project.unit(&frame.file)?;
    let arm = unit.macros.iter().flat_map(|rules| &rules.arms).find(|arm| arm.body.contains(frame.at))?;
    let body = tokens(unit.text.as_str(), arm.body);
    let mut found = None;
    for (nth, token) in body.iter().enumerate() {
        if token.span.start >= frame.at.start {
            break;
        }
        if token.kind != Kind::Ident || unit.text.slice(token.span) != "fn" {
            continue;
        }
        let open = body.iter().skip(nth).position(|token| token.kind == Kind::Open(b'{')).map(|at| at + nth);
        let Some(close) = open.and_then(|open| closing(&body, open)) else { continue };
        if body[close].span.end < frame.at.end {
            continue;
        }
        found = match (body.get(nth + 1), body.get(nth + 2)) {
            (Some(name), _) if name.kind == Kind::Ident => Some(unit.text.slice(name.span).to_string()),
            (Some(dollar), Some(name)) if dollar.kind == Kind::Punct(b'$') => {
                match &frame.given.get(&format!("${}", unit.text.slice(name.span)))?.kind {
                    ExprKind::Name(name) => Some(name.clone()),
                    _ => None,
                }
            }
            _ => None,
        };
    }
    found
}

#[derive(Debug, Clone)]
enum Bound {
    One(Span),
    Many(Vec<Span>),
}

/// A call held against one matcher.
struct Fit<'a> {
    matcher: &'a [Token],
    home: &'a Unit,
    given: &'a [Token],
    unit: &'a Unit,
}

impl Fit<'_> {
    fn bindings(&self) -> Option<HashMap<String, Bound>> {
        let mut bound = HashMap::new();
        let end = self.fit(0, self.matcher.len(), 0, &mut bound, 0)?;
        (end == self.given.len()).then_some(bound)
    }

    fn is(&self, tokens: &[Token], nth: usize, byte: u8) -> bool {
        tokens.get(nth).is_some_and(|token| token.kind == Kind::Punct(byte))
    }

    fn same(&self, matcher: &Token, given: &Token) -> bool {
        self.home.text.slice(matcher.span) == self.unit.text.slice(given.span)
    }

    /// Fits matcher tokens `from..to` to the call's tokens from `at`; gives where the call's next token is.
    fn fit(
        &self,
        from: usize,
        to: usize,
        at: usize,
        bound: &mut HashMap<String, Bound>,
        depth: usize,
    ) -> Option<usize> {
        let (mut m, mut at) = (from, at);
        if depth > 8 {
            return None;
        }
        while m < to {
            let token = &self.matcher[m];
            if token.kind != Kind::Punct(b'$') {
                let given = self.given.get(at)?;
                if !self.same(token, given) {
                    return None;
                }
                m += 1;
                at += 1;
                continue;
            }
            let next = self.matcher.get(m + 1)?;
            if next.kind == Kind::Open(b'(') {
                let close = closing(self.matcher, m + 1)?;
                let mut after = close + 1;
                let mut separator = None;
                let repeats = |nth: usize| {
                    self.is(self.matcher, nth, b'*')
                        || self.is(self.matcher, nth, b'+')
                        || self.is(self.matcher, nth, b'?')
                };
                if !repeats(after) {
                    separator = Some(self.matcher.get(after)?);
                    after += 1;
                }
                if !repeats(after) {
                    return None;
                }
                let most = if self.is(self.matcher, after, b'?') { 1 } else { usize::MAX };
                let mut rounds: Vec<HashMap<String, Bound>> = Vec::new();
                while rounds.len() < most && at < self.given.len() {
                    let mut start = at;
                    if let Some(separator) = separator.filter(|_| !rounds.is_empty()) {
                        if !self.given.get(at).is_some_and(|given| self.same(separator, given)) {
                            break;
                        }
                        start += 1;
                    }
                    let mut inner = HashMap::new();
                    match self.fit(m + 2, close, start, &mut inner, depth + 1) {
                        Some(end) if end > at => {
                            rounds.push(inner);
                            at = end;
                        }
                        _ => break,
                    }
                }
                if self.is(self.matcher, after, b'+') && rounds.is_empty() {
                    return None;
                }
                for round in rounds {
                    for (name, one) in round {
                        let entry = bound.entry(name).or_insert_with(|| Bound::Many(Vec::new()));
                        if let Bound::Many(spans) = entry {
                            match one {
                                Bound::One(span) => spans.push(span),
                                Bound::Many(more) => spans.extend(more),
                            }
                        }
                    }
                }
                m = after + 1;
                continue;
            }
            if next.kind != Kind::Ident {
                return None;
            }
            let name = self.home.text.slice(next.span);
            if name == "crate" && !self.is(self.matcher, m + 2, b':') {
                m += 2;
                continue;
            }
            let fragment = self.matcher.get(m + 3).map_or("", |token| self.home.text.slice(token.span));
            let end = self.fragment(fragment, at)?;
            let span = Span::new(self.given.get(at)?.span.start, self.given.get(end.checked_sub(1)?)?.span.end);
            bound.insert(name.to_string(), Bound::One(span));
            m += 4;
            at = end;
        }
        Some(at)
    }

    /// End of the token tree at `at`.
    fn tree(&self, at: usize) -> Option<usize> {
        match self.given.get(at)?.kind {
            Kind::Open(_) => Some(closing(self.given, at)? + 1),
            Kind::Close(_) => None,
            Kind::Punct(b'$') if self.given.get(at + 1).is_some_and(|token| token.kind == Kind::Ident) => Some(at + 2),
            _ => Some(at + 1),
        }
    }

    fn fragment(&self, kind: &str, at: usize) -> Option<usize> {
        let given = self.given.get(at)?;
        let handed_on = given.kind == Kind::Punct(b'$');
        match kind {
            "ident" | "lifetime" => {
                (handed_on || matches!(given.kind, Kind::Ident | Kind::Lifetime)).then(|| self.tree(at))?
            }
            "tt" => self.tree(at),
            "block" => (handed_on || given.kind == Kind::Open(b'{')).then(|| self.tree(at))?,
            "literal" => {
                let at = if given.kind == Kind::Punct(b'-') { at + 1 } else { at };
                let literal = self.given.get(at)?;
                let word = self.unit.text.slice(literal.span);
                let fits = handed_on
                    || matches!(literal.kind, Kind::Str | Kind::Bytes | Kind::Char | Kind::Number | Kind::OtherLiteral)
                    || matches!(word, "true" | "false");
                fits.then(|| self.tree(at))?
            }
            "vis" => Some(if self.unit.text.slice(given.span) == "pub" { at + 1 } else { at }),
            _ => {
                // An expression, type, path, pattern or statement: up to the next separator.
                let mut end = at;
                let mut angle = 0usize;
                while let Some(token) = self.given.get(end) {
                    match token.kind {
                        Kind::Punct(b',') if angle == 0 => break,
                        Kind::Punct(b';') => break,
                        Kind::Punct(b'@') if kind == "expr" => break,
                        Kind::Punct(b'=') if self.is(self.given, end + 1, b'>') => break,
                        Kind::Punct(b'<') if self.is(self.given, end.wrapping_sub(1), b':') || angle > 0 => angle += 1,
                        Kind::Punct(b'>') => angle = angle.saturating_sub(1),
                        _ => {}
                    }
                    end = self.tree(end)?;
                }
                (end > at).then_some(end)
            }
        }
    }
}

#[cfg(test)]
mod tests;
