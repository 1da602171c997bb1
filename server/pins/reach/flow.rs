//! Which names a value inside a function may come from: its statements as names that they bind and names that
//! they mention, without order. Takes a function's body, gives a [`Flow`]; names too many rather than too few.
//! Never looks outside the function.

use super::{Name, Set, mention, number, plain};
use crate::code::{Arg, Expr, ExprKind, Stmt, StmtKind, Target};
use crate::text::Span;

/// A name as it is mentioned, and the expression that does: the callee of a call.
pub(super) type Use<'a> = (Name, &'a Expr);

/// The statements of a function.
#[derive(Default)]
pub(super) struct Flow<'a> {
    /// What a statement binds or changes, and what it mentions.
    steps: Vec<(Vec<Name>, Vec<Use<'a>>)>,
    /// What the returned expressions mention.
    pub returned: Vec<Use<'a>>,
}

fn used<'a>(expr: &'a Expr, found: &mut Vec<Use<'a>>) {
    let mut names = Vec::new();
    mention(expr, &mut names);
    let whole = match &expr.kind {
        ExprKind::Call { callee, .. } => callee,
        _ => expr,
    };
    found.extend(names.into_iter().map(|name| (name, whole)));
}

/// What an expression mentions.
pub(super) fn uses<'a>(expr: &'a Expr, found: &mut Vec<Use<'a>>) {
    expr.walk(&mut |expr| used(expr, found));
}

fn mentions(expr: &Expr) -> Vec<Use<'_>> {
    let mut found = Vec::new();
    uses(expr, &mut found);
    found
}

/// What a returned expression mentions: a field of a struct is never followed to its value.
fn returned<'a>(expr: &'a Expr, found: &mut Vec<Use<'a>>) {
    match &expr.kind {
        ExprKind::Struct { .. } => {}
        ExprKind::Call { callee, args } if matches!(&callee.kind, ExprKind::Name(name) if name == "Ok" || name == "Some") =>
        {
            args.iter().for_each(|arg| returned(&arg.value, found));
        }
        _ => uses(expr, found),
    }
}

fn bound(target: &Target, names: &mut Vec<Name>) {
    match target {
        Target::Name(name, _) | Target::Member(name) => names.push(number(name)),
        Target::Tuple(targets) => targets.iter().for_each(|target| bound(target, names)),
        Target::Other => {}
    }
}

/// What `yield` hands out.
fn yielded(expr: &Expr) -> Option<&[Arg]> {
    match &expr.kind {
        ExprKind::Call { callee, args } if matches!(&callee.kind, ExprKind::Name(name) if name == "yield") => {
            Some(args)
        }
        _ => None,
    }
}

impl<'a> Flow<'a> {
    pub fn of(body: &'a [Stmt]) -> Flow<'a> {
        let mut flow = Flow::default();
        flow.add(body);
        flow
    }

    pub fn add(&mut self, body: &'a [Stmt]) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Bind { target, value } => self.bind(Some(target), value),
                StmtKind::Expr(expr) => match yielded(expr) {
                    Some(args) => args.iter().for_each(|arg| returned(&arg.value, &mut self.returned)),
                    None => self.changed(expr),
                },
                StmtKind::Return(value) => value.iter().for_each(|value| returned(value, &mut self.returned)),
                StmtKind::For { target, iter, body } => {
                    self.bind(Some(target), iter);
                    self.add(body);
                }
                StmtKind::With { items, body } => {
                    items.iter().for_each(|(item, target)| self.bind(target.as_ref(), item));
                    self.add(body);
                }
                StmtKind::While { body, .. } => self.add(body),
                StmtKind::If { then, otherwise, .. } => {
                    self.add(then);
                    self.add(otherwise);
                }
                StmtKind::Block(parts) => parts.iter().for_each(|part| self.add(part)),
                StmtKind::Assert { .. }
                | StmtKind::Def(_)
                | StmtKind::Raise
                | StmtKind::Break
                | StmtKind::Continue
                | StmtKind::Other => {}
            }
        }
    }

    fn bind(&mut self, target: Option<&Target>, value: &'a Expr) {
        if let Some(args) = yielded(value) {
            args.iter().for_each(|arg| returned(&arg.value, &mut self.returned));
        }
        let mut names = Vec::new();
        target.iter().for_each(|target| bound(target, &mut names));
        if !names.is_empty() {
            self.steps.push((names, mentions(value)));
        }
    }

    /// A call that stands alone may change what it is called on and what it is handed.
    fn changed(&mut self, expr: &'a Expr) {
        if let ExprKind::Call { .. } = &expr.kind {
            let names = mentions(expr);
            let changed = names.iter().map(|(name, _)| *name).filter(|name| name & 3 == super::PLAIN).collect();
            self.steps.push((changed, names));
        }
    }

    /// What the names of `wanted`, and those that they come from, are made of.
    pub fn sources(&self, wanted: &[Use<'a>]) -> Vec<Use<'a>> {
        let mut names: Set = wanted.iter().map(|(name, _)| plain(*name)).collect();
        let mut found = wanted.to_vec();
        let mut left: Vec<&(Vec<Name>, Vec<Use>)> = self.steps.iter().collect();
        loop {
            let before = left.len();
            left.retain(|(bound, uses)| {
                let taken = bound.iter().any(|name| names.contains(name));
                if taken {
                    names.extend(uses.iter().map(|(name, _)| plain(*name)));
                    found.extend(uses.iter().copied());
                }
                !taken
            });
            if left.len() == before {
                return found;
            }
        }
    }

    /// The names that may come from one that `read` knows.
    pub fn carried(&self, read: &dyn Fn(Use) -> bool) -> Set {
        let mut carried = Set::default();
        let mut left: Vec<&(Vec<Name>, Vec<Use>)> = Vec::new();
        for step in &self.steps {
            match step.1.iter().any(|one| read(*one)) {
                true => carried.extend(step.0.iter().copied()),
                false => left.push(step),
            }
        }
        while !carried.is_empty() {
            let before = left.len();
            left.retain(|(names, uses)| {
                let comes = uses.iter().any(|(name, _)| carried.contains(&plain(*name)));
                if comes {
                    carried.extend(names.iter().copied());
                }
                !comes
            });
            if left.len() == before {
                break;
            }
        }
        carried
    }
}

/// What the statement at a place mentions; `None` where none stands there.
pub(super) fn at_place(body: &[Stmt], at: Span) -> Option<Vec<Use<'_>>> {
    let stmt = body.iter().find(|stmt| stmt.span.contains(at) || at.contains(stmt.span))?;
    let inner = match &stmt.kind {
        _ if stmt.span == at => None,
        StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::With { body, .. } => at_place(body, at),
        StmtKind::If { then, otherwise, .. } => at_place(then, at).or_else(|| at_place(otherwise, at)),
        StmtKind::Block(parts) => parts.iter().find_map(|part| at_place(part, at)),
        _ => None,
    };
    Some(inner.unwrap_or_else(|| {
        let mut found = Vec::new();
        stmt.walk(&mut |expr| used(expr, &mut found));
        found
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::RelPath;
    use crate::syntax::{self, Language};
    use crate::text::Text;

    fn reaches(source: &str, from: &str) -> bool {
        let text = Text::new(source);
        let tree = syntax::parse(source, Language::Python, None, syntax::BUDGET).unwrap();
        let unit = crate::code::python::unit(&RelPath::new("t.py").unwrap(), &text, &tree);
        let flow = Flow::of(&unit.functions[0].body);
        let read = |(name, _): Use| plain(name) == number("read_text") && name & 3 != super::super::PLAIN;
        flow.carried(&read).contains(&number(from))
    }

    #[test]
    fn a_value_is_followed_through_what_binds_and_changes_it() {
        let source = "def f(p):\n    a = p.read_text()\n    b = a.strip()\n    c = 1\n    d = []\n    d.append(b)\n    for e in d:\n        g = e\n";
        assert_eq!(
            ["a", "b", "c", "d", "g", "p"].map(|name| reaches(source, name)),
            [true, true, false, true, true, false]
        );
    }
}
