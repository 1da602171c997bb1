//! Parameter rows of a pytest test: `@pytest.mark.parametrize` on the function, its classes and its module,
//! and the fixtures with `params` that stand in the same file. Takes a unit and one of its functions, gives
//! the rows in the order in which pytest 9.2 runs them, each with its id. Never runs anything; an id that
//! depends on what is not written down is `None`.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::python::numbers::{float_repr, int_repr};
use crate::code::{Arg, Expr, ExprKind, Function, Op, Scope, Unit};
use crate::text::Span;

/// One row of parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Parameter id as pytest prints it between the brackets; `None` where it is not known.
    pub case: Option<String>,
    /// Parameters with the expression of their value, which stands in the unit (module level), or has the
    /// empty span. A value that goes to a fixture (`indirect`) is opaque.
    pub bindings: Vec<(String, Expr)>,
}

/// Most rows of one function; the rest is left out.
pub const MOST_ROWS: usize = 6_000;

/// Deepest chain of names from a mark to its list.
const DEEPEST: usize = 8;

/// The rows of a function: empty when it is not parametrised, one with opaque values when it is and its
/// rows are not known.
pub fn parametrize_rows(unit: &Unit, function: &Function) -> Vec<Row> {
    rows_with(unit, function, &|_| None, &|_| None)
}

/// The same, where `elsewhere` knows the value of names that other modules define, and `listed` the items of
/// a list that code makes.
pub fn rows_with(
    unit: &Unit,
    function: &Function,
    elsewhere: &dyn Fn(&Expr) -> Option<Expr>,
    listed: &dyn Fn(&Expr) -> Option<Vec<Expr>>,
) -> Vec<Row> {
    let reader = Reader { unit, elsewhere, listed };
    let mut rows: Option<Vec<Row>> = None;
    for set in reader.fixtures(function) {
        rows = Some(crossed(rows, set));
    }
    for (callee, args) in reader.marks(function) {
        let set = reader.parametrized(callee, args, function);
        rows = Some(crossed(rows, set));
    }
    rows.unwrap_or_default()
}

/// Every earlier row with every row of `set`; the earlier ones change slowest.
fn crossed(rows: Option<Vec<Row>>, set: Vec<Row>) -> Vec<Row> {
    let Some(rows) = rows else { return set };
    let mut all = Vec::new();
    for row in &rows {
        for more in &set {
            if all.len() == MOST_ROWS {
                return all;
            }
            let case = row.case.as_ref().zip(more.case.as_ref()).map(|(a, b)| format!("{a}-{b}"));
            all.push(Row { case, bindings: row.bindings.iter().chain(&more.bindings).cloned().collect() });
        }
    }
    all
}

struct Reader<'a> {
    unit: &'a Unit,
    elsewhere: &'a dyn Fn(&Expr) -> Option<Expr>,
    listed: &'a dyn Fn(&Expr) -> Option<Vec<Expr>>,
}

type Mark<'a> = (Expr, Vec<Arg>);

impl Reader<'_> {
    /// The parametrize marks of a function in the order in which pytest applies them: the one nearest the
    /// function first, then its classes from the inside, then the module.
    fn marks(&self, function: &Function) -> Vec<Mark<'_>> {
        let mut marks = Vec::new();
        for mark in function.marks.iter().rev() {
            self.mark(mark, &mut marks, 0);
        }
        let mut scopes: Vec<&Scope> = self.unit.scopes_at(function.span).collect();
        scopes.sort_by_key(|scope| std::cmp::Reverse(scope.span.start));
        for scope in scopes {
            for mark in scope.marks.iter().rev() {
                self.mark(mark, &mut marks, 0);
            }
            let inside: Vec<String> = scope.path.iter().chain([&scope.name]).cloned().collect();
            self.pytestmark(&inside, &mut marks);
        }
        self.pytestmark(&[], &mut marks);
        marks
    }

    fn pytestmark(&self, path: &[String], marks: &mut Vec<Mark>) {
        let found = self.unit.globals.iter().rfind(|global| global.name == "pytestmark" && global.path == path);
        match found.map(|global| &global.value) {
            Some(Expr { kind: ExprKind::List(items) | ExprKind::Tuple(items), .. }) => {
                items.iter().for_each(|item| self.mark(item, marks, 0));
            }
            Some(mark) => self.mark(mark, marks, 0),
            None => {}
        }
    }

    fn mark(&self, mark: &Expr, marks: &mut Vec<Mark>, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        match &mark.kind {
            ExprKind::Call { callee, args } => {
                let name = callee.dotted().unwrap_or_default();
                if name == "parametrize" || name.ends_with("mark.parametrize") {
                    marks.push(((**callee).clone(), args.clone()));
                }
            }
            ExprKind::Name(_) | ExprKind::Attr(..) => {
                if let Some(found) = self.named(mark)
                    && found != *mark
                {
                    self.mark(&found, marks, depth + 1);
                }
            }
            _ => {}
        }
    }

    /// What a name is bound to at module level here or elsewhere.
    fn named(&self, expr: &Expr) -> Option<Expr> {
        let ExprKind::Name(name) = &expr.kind else { return (self.elsewhere)(expr) };
        let global = self.unit.globals.iter().rfind(|global| global.name == *name && global.path.is_empty());
        match global {
            Some(global) => Some(global.value.clone()),
            None => (self.elsewhere)(expr),
        }
    }

    fn followed(&self, expr: &Expr) -> Expr {
        let mut expr = expr.clone();
        for _ in 0..DEEPEST {
            match self.named(&expr) {
                Some(next) if matches!(expr.kind, ExprKind::Name(_) | ExprKind::Attr(..)) => expr = next,
                _ => break,
            }
        }
        expr
    }

    /// The items of a list of rows; `None` when they are not known.
    fn items(&self, expr: &Expr, depth: usize) -> Option<Vec<Expr>> {
        if depth > DEEPEST {
            return None;
        }
        let nowhere = |kind| Expr::new(Span::default(), kind);
        match &expr.kind {
            ExprKind::List(items) | ExprKind::Tuple(items) => Some(items.clone()),
            ExprKind::Dict(items) => Some(items.iter().map(|(key, _)| key.clone()).collect()),
            ExprKind::Str(text) => Some(text.chars().map(|c| nowhere(ExprKind::Str(c.to_string()))).collect()),
            ExprKind::Binary(Op::Add, left, right) => {
                let mut items = self.items(left, depth + 1)?;
                items.extend(self.items(right, depth + 1)?);
                Some(items)
            }
            ExprKind::Call { callee, args } => {
                let written = match (&callee.kind, args.as_slice()) {
                    (ExprKind::Name(name), [only]) if matches!(name.as_str(), "list" | "tuple" | "iter") => {
                        self.items(&only.value, depth + 1)
                    }
                    (ExprKind::Name(name), _) if name == "range" => range(args),
                    (ExprKind::Attr(base, name), []) => {
                        let ExprKind::Dict(items) = self.followed(base).kind else { return (self.listed)(expr) };
                        match name.as_str() {
                            "items" => Some(
                                items
                                    .into_iter()
                                    .map(|(key, value)| nowhere(ExprKind::Tuple(vec![key, value])))
                                    .collect(),
                            ),
                            "keys" => Some(items.into_iter().map(|(key, _)| key).collect()),
                            "values" => Some(items.into_iter().map(|(_, value)| value).collect()),
                            _ => None,
                        }
                    }
                    _ => None,
                };
                written.or_else(|| (self.listed)(expr))
            }
            ExprKind::Name(_) | ExprKind::Attr(..) => {
                let written = self.named(expr).and_then(|named| self.items(&named, depth + 1));
                match written {
                    Some(items) if !items.is_empty() => Some(items),
                    written => (self.listed)(expr).or(written),
                }
            }
            ExprKind::Block(_) => (self.listed)(expr),
            _ => None,
        }
    }

    /// The rows of one `parametrize(argnames, argvalues, indirect=…, ids=…)`.
    fn parametrized(&self, callee: Expr, args: Vec<Arg>, function: &Function) -> Vec<Row> {
        let named = |name: &str, at: usize| {
            let positional = args.get(at).filter(|arg| arg.name.is_none() && !arg.spread);
            args.iter().find(|arg| arg.name.as_deref() == Some(name)).or(positional).map(|arg| &arg.value)
        };
        let names = named("argnames", 0).and_then(|names| self.argnames(names));
        let Some((names, single)) = names else {
            let params = function.params.iter().map(|param| (param.name.clone(), Expr::opaque(callee.span)));
            return vec![Row { case: None, bindings: params.collect() }];
        };
        let unknown = || {
            vec![Row { case: None, bindings: names.iter().map(|n| (n.clone(), Expr::opaque(callee.span))).collect() }]
        };
        let Some(values) = named("argvalues", 1).and_then(|values| self.items(values, 0)) else { return unknown() };
        let indirect = named("indirect", 2).map(|indirect| self.followed(indirect).kind);
        let goes_to_fixture = |name: &str| match &indirect {
            None | Some(ExprKind::Bool(false)) => false,
            Some(ExprKind::List(items) | ExprKind::Tuple(items)) => {
                items.iter().any(|item| matches!(&item.kind, ExprKind::Str(text) if text == name))
            }
            Some(_) => true,
        };
        let mut sets = Vec::new();
        for value in values.into_iter().take(MOST_ROWS) {
            let Some(set) = self.set(&value, single) else { return unknown() };
            if set.values.len() != names.len() {
                return unknown();
            }
            sets.push(set);
        }
        let ids = self.ids(named("ids", 3), &sets, &names);
        sets.into_iter()
            .zip(ids)
            .map(|(set, case)| {
                let bindings = names.iter().zip(set.values).map(|(name, value)| {
                    let value = if goes_to_fixture(name) { Expr::opaque(value.span) } else { value };
                    (name.clone(), value)
                });
                Row { case, bindings: bindings.collect() }
            })
            .collect()
    }

    /// Argument names, and whether each value stands alone rather than in a tuple.
    fn argnames(&self, expr: &Expr) -> Option<(Vec<String>, bool)> {
        match &self.followed(expr).kind {
            ExprKind::Str(text) => {
                let names: Vec<String> =
                    text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_string).collect();
                let single = names.len() == 1;
                (!names.is_empty()).then_some((names, single))
            }
            ExprKind::List(items) | ExprKind::Tuple(items) => {
                let names: Option<Vec<String>> = items
                    .iter()
                    .map(|item| match &item.kind {
                        ExprKind::Str(text) => Some(text.clone()),
                        _ => None,
                    })
                    .collect();
                names.filter(|names| !names.is_empty()).map(|names| (names, false))
            }
            _ => None,
        }
    }

    fn set(&self, value: &Expr, single: bool) -> Option<Set> {
        if let ExprKind::Call { callee, args } = &value.kind
            && callee.dotted().is_some_and(|name| name == "param" || name.ends_with(".param"))
        {
            let mut set = Set { id: Id::Made, values: Vec::new() };
            for arg in args {
                match arg.name.as_deref() {
                    None if !arg.spread => set.values.push(arg.value.clone()),
                    Some("id") => {
                        set.id = match self.followed(&arg.value).kind {
                            ExprKind::Str(text) => Id::Given(escaped(&text)),
                            ExprKind::None => Id::Made,
                            _ => Id::Unknown,
                        }
                    }
                    Some(_) => {}
                    None => return None,
                }
            }
            return Some(set);
        }
        if single {
            return Some(Set { id: Id::Made, values: vec![value.clone()] });
        }
        match self.followed(value).kind {
            ExprKind::List(items) | ExprKind::Tuple(items) => Some(Set { id: Id::Made, values: items }),
            _ => None,
        }
    }

    fn ids(&self, ids: Option<&Expr>, sets: &[Set], names: &[String]) -> Vec<Option<String>> {
        let ids = ids.map(|ids| self.followed(ids)).filter(|ids| ids.kind != ExprKind::None);
        let list = ids.as_ref().map(|ids| self.items(ids, 0));
        let text_of = matches!(&ids, Some(Expr { kind: ExprKind::Name(name), .. }) if name == "str");
        let mut found: Vec<Option<String>> = sets
            .iter()
            .enumerate()
            .map(|(index, set)| {
                match &set.id {
                    Id::Given(id) => return Some(id.clone()),
                    Id::Unknown => return None,
                    Id::Made => {}
                }
                let listed = match &list {
                    Some(Some(list)) => list.get(index),
                    // A function makes the ids.
                    Some(None) if !text_of => return None,
                    _ => None,
                };
                match listed.map(|listed| self.followed(listed)) {
                    Some(listed) if listed.kind != ExprKind::None => match self.word(&listed) {
                        Word::Known(id) => Some(id),
                        _ => None,
                    },
                    _ => {
                        let parts: Option<Vec<String>> = set
                            .values
                            .iter()
                            .zip(names)
                            .map(|(value, name)| (self.recorded(value), name))
                            .map(|(value, name)| match self.word(value) {
                                Word::Known(_) if too_long(&self.followed(value)) && !text_of => {
                                    Some(format!("{name}{index}"))
                                }
                                Word::Known(id) => Some(id),
                                Word::Nameless if !text_of => Some(format!("{name}{index}")),
                                _ => None,
                            })
                            .collect();
                        parts.map(|parts| parts.join("-"))
                    }
                }
            })
            .collect();
        made_unique(&mut found);
        found
    }

    /// The value in `snapshot(value)` of inline-snapshot 0.36: that is what it gives when nothing is to be
    /// rewritten, with `--inline-snapshot=disable`, in CI and under xdist.
    fn recorded<'v>(&self, value: &'v Expr) -> &'v Expr {
        let ExprKind::Call { callee, args } = &value.kind else { return value };
        let [Arg { name: None, spread: false, value: inner }] = args.as_slice() else { return value };
        let (local, rest) = match &callee.kind {
            ExprKind::Name(name) => (name.as_str(), None),
            ExprKind::Attr(base, attr) => match &base.kind {
                ExprKind::Name(name) => (name.as_str(), Some(attr.as_str())),
                _ => return value,
            },
            _ => return value,
        };
        let import = self.unit.imports.iter().rfind(|import| import.local == local && import.scope.is_empty());
        let ours = import.is_some_and(|import| match rest {
            None => import.path == "inline_snapshot.snapshot",
            Some(attr) => import.path == "inline_snapshot" && attr == "snapshot",
        });
        if ours { inner } else { value }
    }

    /// What pytest makes of one value by itself.
    fn word(&self, value: &Expr) -> Word {
        match &value.kind {
            ExprKind::Str(text) => Word::Known(escaped(text)),
            ExprKind::Bytes(bytes) => Word::Known(escaped_bytes(bytes)),
            ExprKind::Int(text) => int_repr(text).map_or(Word::Unknown, Word::Known),
            ExprKind::Float(text) => float_repr(text).map_or(Word::Unknown, Word::Known),
            ExprKind::Bool(true) => Word::Known("True".into()),
            ExprKind::Bool(false) => Word::Known("False".into()),
            ExprKind::None => Word::Known("None".into()),
            ExprKind::Neg(inner) => match (&inner.kind, self.word(inner)) {
                (ExprKind::Int(_), Word::Known(text)) if text == "0" => Word::Known(text),
                (ExprKind::Int(_) | ExprKind::Float(_), Word::Known(text)) => Word::Known(format!("-{text}")),
                _ => Word::Unknown,
            },
            ExprKind::List(_)
            | ExprKind::Tuple(_)
            | ExprKind::Set(_)
            | ExprKind::Dict(_)
            | ExprKind::Ellipsis
            | ExprKind::File(_) => Word::Nameless,
            ExprKind::Closure { .. } => Word::Known("<lambda>".into()),
            ExprKind::Name(name) => {
                if let Some(bound) = self.named(value) {
                    return if bound == *value { Word::Unknown } else { self.followed_word(bound) };
                }
                let defined =
                    self.unit.functions.iter().any(|f| f.name == *name && f.path.is_empty() && f.marks.is_empty())
                        || self.unit.scopes.iter().any(|scope| scope.name == *name && scope.path.is_empty());
                if defined || BUILTINS.contains(&name.as_str()) { Word::Known(name.clone()) } else { Word::Unknown }
            }
            ExprKind::Call { callee, .. } => match callee.dotted() {
                Some(name) if OBJECTS.contains(&name.rsplit('.').next().unwrap_or("")) => Word::Nameless,
                Some(name)
                    if self.unit.scopes.iter().any(|s| s.name == name && s.path.is_empty() && s.bases.is_empty()) =>
                {
                    Word::Nameless
                }
                _ => Word::Unknown,
            },
            _ => Word::Unknown,
        }
    }

    fn followed_word(&self, bound: Expr) -> Word {
        let bound = self.followed(&bound);
        match bound.kind {
            ExprKind::Name(_) | ExprKind::Attr(..) => Word::Unknown,
            _ => self.word(&bound),
        }
    }

    /// Rows that fixtures of this file with `params` add, in the order of the function's parameters.
    fn fixtures(&self, function: &Function) -> Vec<Vec<Row>> {
        let mut wanted: Vec<&str> = function.params.iter().map(|param| param.name.as_str()).collect();
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(name) = wanted.get(at).copied() {
            at += 1;
            if !seen.insert(name) || at > 200 {
                continue;
            }
            let Some((fixture, args)) = self.fixture(name) else { continue };
            wanted.extend(fixture.params.iter().map(|param| param.name.as_str()));
            let arg = |name: &str| args.iter().find(|arg| arg.name.as_deref() == Some(name)).map(|arg| &arg.value);
            let Some(params) = arg("params").filter(|params| params.kind != ExprKind::None) else { continue };
            let name = name.to_string();
            let opaque = Expr::opaque(fixture.name_span);
            let sets: Option<Vec<Set>> =
                self.items(params, 0).and_then(|items| items.iter().map(|item| self.set(item, true)).collect());
            found.push(match sets {
                Some(sets) => self
                    .ids(arg("ids"), &sets, std::slice::from_ref(&name))
                    .into_iter()
                    .map(|case| Row { case, bindings: vec![(name.clone(), opaque.clone())] })
                    .collect(),
                None => vec![Row { case: None, bindings: vec![(name.clone(), opaque)] }],
            });
        }
        found
    }

    fn fixture(&self, name: &str) -> Option<(&Function, &[Arg])> {
        self.unit.functions.iter().filter(|function| function.name == name).find_map(|function| {
            function.marks.iter().find_map(|mark| match &mark.kind {
                ExprKind::Call { callee, args }
                    if callee.dotted().is_some_and(|name| name == "fixture" || name.ends_with(".fixture")) =>
                {
                    Some((function, args.as_slice()))
                }
                _ => None,
            })
        })
    }
}

struct Set {
    id: Id,
    values: Vec<Expr>,
}

enum Id {
    /// By `pytest.param(id=…)`.
    Given(String),
    /// From the values or the list of ids.
    Made,
    Unknown,
}

enum Word {
    Known(String),
    /// An object that pytest calls by argument name and row.
    Nameless,
    Unknown,
}

/// Builtins that are values of their own name.
const BUILTINS: &[&str] = &[
    "int",
    "str",
    "float",
    "bool",
    "bytes",
    "bytearray",
    "list",
    "tuple",
    "dict",
    "set",
    "frozenset",
    "object",
    "type",
    "complex",
    "sorted",
    "len",
    "sum",
    "min",
    "max",
    "abs",
    "repr",
    "round",
    "Exception",
    "ValueError",
    "TypeError",
    "KeyError",
    "IndexError",
    "RuntimeError",
    "AttributeError",
    "OSError",
    "LookupError",
    "ArithmeticError",
    "ZeroDivisionError",
    "NotImplementedError",
    "AssertionError",
    "FileNotFoundError",
    "StopIteration",
];

/// Calls whose value is an object without a name of its own.
const OBJECTS: &[&str] = &[
    "Decimal",
    "Fraction",
    "datetime",
    "date",
    "time",
    "timedelta",
    "UUID",
    "Path",
    "PurePath",
    "PurePosixPath",
    "dict",
    "list",
    "set",
    "tuple",
    "frozenset",
    "OrderedDict",
    "defaultdict",
    "Counter",
    "raises",
    "nullcontext",
    "approx",
    "does_not_raise",
    "StringIO",
    "BytesIO",
    "SimpleNamespace",
    "object",
];

/// A value of which pytest 9.2 makes no id by itself: more than 100 characters.
fn too_long(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Str(text) => text.chars().count() > 100,
        ExprKind::Bytes(bytes) => bytes.len() > 100,
        _ => false,
    }
}

fn range(args: &[Arg]) -> Option<Vec<Expr>> {
    let numbers: Option<Vec<i64>> = args
        .iter()
        .map(|arg| match &arg.value.kind {
            ExprKind::Int(text) => text.parse().ok(),
            _ => None,
        })
        .collect();
    let (start, end) = match numbers?.as_slice() {
        [end] => (0, *end),
        [start, end] => (*start, *end),
        _ => return None,
    };
    let last = end.min(start.saturating_add(MOST_ROWS as i64));
    Some((start..last).map(|n| Expr::new(Span::default(), ExprKind::Int(n.to_string()))).collect())
}

/// As pytest escapes a text in an id: `unicode_escape`, with control characters as `\xNN`.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            ' '..='~' => out.push(c),
            c if (c as u32) < 0x100 => out.push_str(&format!("\\x{:02x}", c as u32)),
            c if (c as u32) < 0x1_0000 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push_str(&format!("\\U{:08x}", c as u32)),
        }
    }
    out
}

fn escaped_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for b in bytes {
        match b {
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b' '..=b'~' => out.push(*b as char),
            b => out.push_str(&format!("\\x{b:02x}")),
        }
    }
    out
}

/// Gives ids that occur more than once a counter, as pytest 9.2 does.
fn made_unique(ids: &mut [Option<String>]) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for id in ids.iter().flatten() {
        *counts.entry(id.clone()).or_default() += 1;
    }
    let mut taken: BTreeSet<String> = counts.keys().cloned().collect();
    let mut next: BTreeMap<String, usize> = BTreeMap::new();
    for slot in ids.iter_mut() {
        let Some(id) = slot.clone() else { continue };
        if counts.get(&id).copied().unwrap_or(0) < 2 {
            continue;
        }
        let mark = if id.ends_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
        let counter = next.entry(id.clone()).or_default();
        let mut made = format!("{id}{mark}{counter}");
        while taken.contains(&made) {
            *counter += 1;
            made = format!("{id}{mark}{counter}");
        }
        *counter += 1;
        taken.insert(made.clone());
        *slot = Some(made);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::python;
    use crate::places::RelPath;
    use crate::syntax::{self, Language};
    use crate::text::Text;

    /// Ids of the rows of `test_a`, as `python -m pytest --collect-only -q` of pytest 9.2.0 printed them.
    fn check(source: &str, ids: &[&str]) {
        let text = Text::new(source);
        let tree = syntax::parse(source, Language::Python, None, syntax::BUDGET).unwrap();
        let unit = python::unit(&RelPath::new("test_a.py").unwrap(), &text, &tree);
        let function = unit.functions.iter().find(|function| function.name == "test_a").unwrap();
        let rows = parametrize_rows(&unit, function);
        let found: Vec<_> = rows.iter().map(|row| row.case.as_deref().unwrap_or("?")).collect();
        assert_eq!(found, ids, "{source}");
    }

    #[test]
    fn a_snapshot_in_a_row_is_called_by_its_value_as_when_it_is_not_rewritten() {
        let marked = "@pytest.mark.parametrize('a, b', [(1, snapshot(20)), (2, S('x')), (3, isn.snapshot([]))])\n";
        let imports = "import inline_snapshot as isn\nfrom inline_snapshot import snapshot\n";
        let renamed = "from inline_snapshot import snapshot as S\n";
        let test = "def test_a(a, b): pass\n";
        check(&format!("{imports}{renamed}{marked}{test}"), &["1-20", "2-x", "3-b2"]);
        check(&format!("from other import snapshot\nimport isn\n{renamed}{marked}{test}"), &["?", "2-x", "?"]);
    }

    #[test]
    fn ids_are_those_that_pytest_prints() {
        let one = |values: &str, ids: &[&str]| {
            check(&format!("@pytest.mark.parametrize('a', {values})\ndef test_a(a): pass\n"), ids);
        };
        one(
            "[1, -2, 0x10, 1_000, 1.50, 1e20, -0.0, True, None]",
            &["1", "-2", "16", "1000", "1.5", "1e+20", "-0.0", "True", "None"],
        );
        one(
            r#"["é", "a\tb\n", "", "x::y/z [b]", "a\\b", "€", "😀", "\x7f"]"#,
            &["\\xe9", "a\\tb\\n", "", "x::y/z [b]", "a\\\\b", "\\u20ac", "\\U0001f600", "\\x7f"],
        );
        one(r#"[b"\xff\\a", b"\n"]"#, &["\\xff\\a", "\\n"]);
        one("[[1], (2,), {3}, {}, ..., int, ValueError]", &["a0", "a1", "a2", "a3", "a4", "int", "ValueError"]);
        one("[Decimal('1'), lambda x: x, unknown(1), 'n' * 2]", &["a0", "<lambda>", "?", "?"]);
        one("['a', 'a', 'b', '1', '1', 'a0']", &["a1", "a2", "b", "1_0", "1_1", "a0"]);
        one("[pytest.param(1, id='one'), pytest.param(2, marks=m), pytest.param(3, id=f())]", &["one", "2", "?"]);
        one("['x', 'y', 'z'], ids=['a', None, 3]", &["a", "y", "3"]);
        one("['x', 2], ids=str", &["x", "2"]);
        one("['x'], ids=lambda v: v", &["?"]);
        one("range(3)", &["0", "1", "2"]);
        one("make()", &["?"]);
        one(&format!("['{}', '{}']", "x".repeat(100), "x".repeat(101)), &[&"x".repeat(100), "a1"]);
    }

    #[test]
    fn marks_of_the_function_its_class_and_its_module_are_crossed() {
        check(
            "pytestmark = [pytest.mark.slow, pytest.mark.parametrize('m', 'xy')]\n\
             PAIRS = [(1, 'p'), pytest.param(2, 'q', id='two')]\n\
             more = pytest.mark.parametrize(('c', 'd'), PAIRS)\n\
             @pytest.mark.parametrize('k', ['K'])\n\
             class TestA:\n    @pytest.mark.parametrize('b', [7, 8])\n    @more\n    def test_a(self, b, c, d, k, m): pass\n",
            &["1-p-7-K-x", "1-p-7-K-y", "1-p-8-K-x", "1-p-8-K-y", "two-7-K-x", "two-7-K-y", "two-8-K-x", "two-8-K-y"],
        );
    }

    #[test]
    fn fixtures_with_params_add_to_the_id() {
        check(
            "@pytest.fixture(params=['f', 'g'])\ndef fix(request): return request.param\n\
             @pytest.mark.parametrize('a, b', [(1, 2)])\ndef test_a(a, b, fix): pass\n",
            &["f-1-2", "g-1-2"],
        );
    }

    #[test]
    fn a_row_knows_where_its_cells_stand() {
        let source =
            "@pytest.mark.parametrize('a, want', [(1, 'x'), (2, 'y')], indirect=['a'])\ndef test_a(a, want): pass\n";
        let text = Text::new(source);
        let tree = syntax::parse(source, Language::Python, None, syntax::BUDGET).unwrap();
        let unit = python::unit(&RelPath::new("test_a.py").unwrap(), &text, &tree);
        let rows = parametrize_rows(&unit, &unit.functions[0]);
        let (name, value) = &rows[1].bindings[1];
        assert_eq!((name.as_str(), text.slice(value.span)), ("want", "'y'"));
        assert_eq!(rows[1].bindings[0].1.kind, ExprKind::Opaque);
    }
}
