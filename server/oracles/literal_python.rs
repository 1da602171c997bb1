//! Python literals as values. Takes expressions or the source of one, gives the content that is compared and
//! the one spelling of equal values: `str` is a text, anything else a value. Beside the literals a closed
//! list of constructors is a value: `Decimal`, `Fraction`, dates and times, `UUID`, paths, `frozenset`,
//! empty `set` and infinite `float`. Anything else is no literal. `render` writes a value as source in the
//! style of the literal that it replaces.

use std::collections::BTreeMap;

use super::Content;
use crate::code::python::numbers::{int_repr, repr as float_repr};
use crate::code::python::{self, strings};
use crate::code::{Arg, Expr, ExprKind, Unit};

pub mod render;

/// Deepest nesting of a value.
const DEEPEST: usize = 60;
/// Width beyond which a container is spelled one item a line.
const WIDTH: usize = 80;

/// A value that a literal can have.
#[derive(Debug, Clone, PartialEq)]
pub enum Py {
    Str(String),
    Bytes(Vec<u8>),
    /// Decimal digits, perhaps with a sign. A float without a fraction is one too, since it is equal to it.
    Int(String),
    Float(f64),
    Bool(bool),
    None,
    Ellipsis,
    List(Vec<Py>),
    Tuple(Vec<Py>),
    /// In the order of the items' spelling, each once.
    Set(Vec<Py>),
    Frozen(Vec<Py>),
    /// In the order of the first writing of each key, with its last value.
    Dict(Vec<(Py, Py)>),
    Made(&'static Constructor, Vec<(Option<String>, Py)>),
}

/// A constructor of the closed list.
#[derive(Debug, PartialEq, Eq)]
pub struct Constructor {
    pub module: &'static str,
    pub name: &'static str,
    /// As `repr` calls it, and how it is imported: `datetime.date` by its module, `Decimal` by its name.
    pub shown: &'static str,
    /// A value rather than a call (`timezone.utc`).
    pub constant: bool,
}

const fn constructor(module: &'static str, name: &'static str, shown: &'static str) -> Constructor {
    Constructor { module, name, shown, constant: false }
}

static CONSTRUCTORS: &[Constructor] = &[
    constructor("decimal", "Decimal", "Decimal"),
    constructor("fractions", "Fraction", "Fraction"),
    constructor("datetime", "datetime", "datetime.datetime"),
    constructor("datetime", "date", "datetime.date"),
    constructor("datetime", "time", "datetime.time"),
    constructor("datetime", "timedelta", "datetime.timedelta"),
    Constructor { module: "datetime", name: "timezone.utc", shown: "datetime.timezone.utc", constant: true },
    constructor("uuid", "UUID", "UUID"),
    constructor("pathlib", "Path", "Path"),
    constructor("pathlib", "PurePath", "PurePath"),
    constructor("pathlib", "PurePosixPath", "PurePosixPath"),
];

/// Where a value's names are looked up.
#[derive(Clone, Copy)]
pub enum Names<'a> {
    /// In the imports of a file.
    Of(&'a Unit),
    /// The names that `repr` uses.
    Repr,
}

impl Names<'_> {
    fn constructor(self, dotted: &str) -> Option<&'static Constructor> {
        match self {
            Names::Repr => {
                let dotted = if dotted == "PosixPath" { "Path" } else { dotted };
                CONSTRUCTORS.iter().find(|known| {
                    known.shown == dotted
                        || dotted.strip_prefix(known.module).and_then(|d| d.strip_prefix('.')) == Some(known.name)
                })
            }
            Names::Of(unit) => {
                let (first, rest) = dotted.split_once('.').map_or((dotted, ""), |(first, rest)| (first, rest));
                let import = unit.imports.iter().rfind(|import| import.local == first)?;
                let path = if rest.is_empty() { import.path.clone() } else { format!("{}.{rest}", import.path) };
                CONSTRUCTORS.iter().find(|known| {
                    path.strip_prefix(known.module).and_then(|path| path.strip_prefix('.')) == Some(known.name)
                })
            }
        }
    }

    /// A builtin that the file does not define itself.
    fn is_builtin(self, name: &str) -> bool {
        match self {
            Names::Repr => true,
            Names::Of(unit) => {
                !unit.imports.iter().any(|import| import.local == name)
                    && !unit.functions.iter().any(|function| function.name == name && function.path.is_empty())
                    && !unit.globals.iter().any(|global| global.name == name)
                    && !unit.scopes.iter().any(|scope| scope.name == name)
            }
        }
    }
}

/// The content of a literal expression; `None` when it is not one.
pub fn content(expr: &Expr, names: Names) -> Option<Content> {
    value(expr, names).map(|value| value.content())
}

/// The content of a value's source, as runs record it (`repr`).
pub fn read(source: &str) -> Option<Content> {
    content(&python::expression(&format!("({source}\n)"))?, Names::Repr)
}

/// The value of a literal expression; `None` when it is not one.
pub fn value(expr: &Expr, names: Names) -> Option<Py> {
    value_within(expr, names, 0)
}

fn value_within(expr: &Expr, names: Names, depth: usize) -> Option<Py> {
    if depth > DEEPEST {
        return None;
    }
    let all =
        |items: &[Expr]| items.iter().map(|item| value_within(item, names, depth + 1)).collect::<Option<Vec<_>>>();
    match &expr.kind {
        ExprKind::Str(text) => Some(Py::Str(text.clone())),
        ExprKind::Bytes(bytes) => Some(Py::Bytes(bytes.clone())),
        ExprKind::Int(text) => int_repr(text).map(Py::Int),
        ExprKind::Float(text) => text.parse().ok().map(float),
        ExprKind::Bool(yes) => Some(Py::Bool(*yes)),
        ExprKind::None => Some(Py::None),
        ExprKind::Ellipsis => Some(Py::Ellipsis),
        ExprKind::Neg(inner) => match value_within(inner, names, depth + 1)? {
            Py::Int(text) if text == "0" => Some(Py::Int(text)),
            Py::Int(text) => Some(Py::Int(text.strip_prefix('-').map_or_else(|| format!("-{text}"), str::to_string))),
            Py::Float(value) => Some(Py::Float(-value)),
            _ => None,
        },
        ExprKind::List(items) => all(items).map(Py::List),
        ExprKind::Tuple(items) => all(items).map(Py::Tuple),
        ExprKind::Set(items) => all(items).map(|items| Py::Set(sorted(items))),
        ExprKind::Dict(items) => {
            let mut found: Vec<(Py, Py)> = Vec::with_capacity(items.len());
            let mut places: BTreeMap<String, usize> = BTreeMap::new();
            for (key, item) in items {
                let (key, item) = (value_within(key, names, depth + 1)?, value_within(item, names, depth + 1)?);
                match places.get(&key.line()) {
                    Some(at) => found[*at].1 = item,
                    None => {
                        places.insert(key.line(), found.len());
                        found.push((key, item));
                    }
                }
            }
            Some(Py::Dict(found))
        }
        ExprKind::Call { callee, args } => called(callee, args, names, depth),
        ExprKind::Attr(..) => {
            let known = names.constructor(&expr.dotted()?)?;
            known.constant.then(|| Py::Made(known, Vec::new()))
        }
        _ => None,
    }
}

fn float(value: f64) -> Py {
    if value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0 {
        Py::Int(format!("{}", value as i64))
    } else {
        Py::Float(value)
    }
}

fn sorted(items: Vec<Py>) -> Vec<Py> {
    let by_spelling: BTreeMap<String, Py> = items.into_iter().map(|item| (item.line(), item)).collect();
    by_spelling.into_values().collect()
}

fn called(callee: &Expr, args: &[Arg], names: Names, depth: usize) -> Option<Py> {
    let name = callee.dotted()?;
    if args.iter().any(|arg| arg.spread) {
        return None;
    }
    let only = || match args {
        [Arg { name: None, value, .. }] => Some(value),
        _ => None,
    };
    if matches!(name.as_str(), "set" | "frozenset" | "float") && names.is_builtin(&name) {
        return match (name.as_str(), args.is_empty()) {
            ("set", true) => Some(Py::Set(Vec::new())),
            ("frozenset", true) => Some(Py::Frozen(Vec::new())),
            ("set" | "frozenset", false) => match value_within(only()?, names, depth + 1)? {
                Py::List(items) | Py::Tuple(items) | Py::Set(items) => {
                    let items = sorted(items);
                    Some(if name == "set" { Py::Set(items) } else { Py::Frozen(items) })
                }
                _ => None,
            },
            _ => match &only()?.kind {
                ExprKind::Str(text) => match text.trim().to_ascii_lowercase().as_str() {
                    "inf" | "infinity" | "+inf" => Some(Py::Float(f64::INFINITY)),
                    "-inf" | "-infinity" => Some(Py::Float(f64::NEG_INFINITY)),
                    _ => None,
                },
                _ => None,
            },
        };
    }
    let known = names.constructor(&name)?;
    if known.constant {
        return None;
    }
    let mut given: Vec<(Option<String>, Py)> = Vec::new();
    for arg in args {
        given.push((arg.name.clone(), value_within(&arg.value, names, depth + 1)?));
    }
    let given = match (known.name, given.as_slice()) {
        ("Decimal", [(None, Py::Int(digits))]) => vec![(None, Py::Str(digits.clone()))],
        ("UUID", [(None, Py::Str(text))]) => vec![(None, Py::Str(text.to_ascii_lowercase()))],
        ("datetime", _) => parts(given, &["year", "month", "day", "hour", "minute", "second", "microsecond"], 5)?,
        ("date", _) => parts(given, &["year", "month", "day"], 3)?,
        ("time", _) => parts(given, &["hour", "minute", "second", "microsecond"], 2)?,
        ("timedelta", _) => duration(given)?,
        _ => given,
    };
    Some(Py::Made(known, given))
}

/// Parts of a date or time in order, zeros at the end left out down to `least`; `tzinfo` last.
fn parts(given: Vec<(Option<String>, Py)>, order: &[&str], least: usize) -> Option<Vec<(Option<String>, Py)>> {
    let mut found: Vec<Option<String>> = vec![None; order.len()];
    let mut zone = None;
    for (at, (name, value)) in given.into_iter().enumerate() {
        let slot = match name.as_deref() {
            None => at,
            Some("tzinfo") => {
                zone = (value != Py::None).then_some(value);
                continue;
            }
            Some("fold") => return None,
            Some(name) => order.iter().position(|known| *known == name)?,
        };
        let Py::Int(digits) = value else { return None };
        *found.get_mut(slot)? = Some(digits);
    }
    let mut digits: Vec<String> = found.into_iter().map(|part| part.unwrap_or_else(|| "0".into())).collect();
    while digits.len() > least && digits.last().is_some_and(|last| last == "0") {
        digits.pop();
    }
    let mut parts: Vec<(Option<String>, Py)> = digits.into_iter().map(|digits| (None, Py::Int(digits))).collect();
    parts.extend(zone.map(|zone| (Some("tzinfo".to_string()), zone)));
    Some(parts)
}

fn duration(given: Vec<(Option<String>, Py)>) -> Option<Vec<(Option<String>, Py)>> {
    const ORDER: &[(&str, i128)] = &[
        ("days", 86_400_000_000),
        ("seconds", 1_000_000),
        ("microseconds", 1),
        ("milliseconds", 1_000),
        ("minutes", 60_000_000),
        ("hours", 3_600_000_000),
        ("weeks", 604_800_000_000),
    ];
    let mut whole: i128 = 0;
    for (at, (name, value)) in given.into_iter().enumerate() {
        let (_, unit) = match name.as_deref() {
            None => ORDER.get(at)?,
            Some(name) => ORDER.iter().find(|(known, _)| *known == name)?,
        };
        let Py::Int(digits) = value else { return None };
        whole = whole.checked_add(digits.parse::<i128>().ok()?.checked_mul(*unit)?)?;
    }
    let days = whole.div_euclid(86_400_000_000);
    let rest = whole.rem_euclid(86_400_000_000);
    let named = [("days", days), ("seconds", rest / 1_000_000), ("microseconds", rest % 1_000_000)];
    let parts: Vec<(Option<String>, Py)> = named
        .into_iter()
        .filter(|(_, amount)| *amount != 0)
        .map(|(name, amount)| (Some(name.to_string()), Py::Int(amount.to_string())))
        .collect();
    Some(if parts.is_empty() { vec![(None, Py::Int("0".into()))] } else { parts })
}

/// How a value is written.
pub struct Spelling<'a> {
    pub quote: char,
    /// Numbers without a fraction are written as floats.
    pub floats: bool,
    pub name: &'a dyn Fn(&'static Constructor) -> String,
    /// Most characters of a container on one line.
    pub width: usize,
    /// Dict keys in the order of their spelling, so that equal values are spelled alike.
    pub by_key: bool,
}

impl Py {
    /// What is compared.
    pub fn content(&self) -> Content {
        match self {
            Py::Str(text) => Content::Text(text.clone()),
            value => Content::Value(value.canonical()),
        }
    }

    /// The one spelling of equal values; long containers one item a line.
    pub fn canonical(&self) -> String {
        self.spelled(&canonical_spelling(WIDTH), 0)
    }

    /// The same on one line.
    fn line(&self) -> String {
        self.spelled(&canonical_spelling(usize::MAX), 0)
    }

    /// Source of the value; continuation lines are indented by `indent` blanks.
    pub fn spelled(&self, spelling: &Spelling, indent: usize) -> String {
        match self {
            Py::Str(text) => strings::quoted(text, strings::best_quote(text, spelling.quote)),
            Py::Bytes(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                strings::quoted_bytes(bytes, strings::best_quote(&text, spelling.quote))
            }
            Py::Int(digits) if spelling.floats && digits.len() < 16 => format!("{digits}.0"),
            Py::Int(digits) => digits.clone(),
            Py::Float(value) if value.is_infinite() => {
                format!("float({0}{1}{0})", spelling.quote, if *value > 0.0 { "inf" } else { "-inf" })
            }
            Py::Float(value) => float_repr(*value),
            Py::Bool(true) => "True".into(),
            Py::Bool(false) => "False".into(),
            Py::None => "None".into(),
            Py::Ellipsis => "...".into(),
            Py::List(items) => container("[", items, "]", spelling, indent),
            Py::Tuple(items) => match items.as_slice() {
                [only] => format!("({},)", only.spelled(spelling, indent)),
                items => container("(", items, ")", spelling, indent),
            },
            Py::Set(items) if items.is_empty() => "set()".into(),
            Py::Set(items) => container("{", items, "}", spelling, indent),
            Py::Frozen(items) if items.is_empty() => "frozenset()".into(),
            Py::Frozen(items) => container("frozenset({", items, "})", spelling, indent),
            Py::Dict(items) => {
                let mut pairs: Vec<(String, String)> = items
                    .iter()
                    .map(|(key, value)| (key.spelled(spelling, indent + 4), value.spelled(spelling, indent + 4)))
                    .collect();
                if spelling.by_key {
                    pairs.sort();
                }
                laid_out(
                    "{",
                    pairs.into_iter().map(|(key, value)| format!("{key}: {value}")).collect(),
                    "}",
                    spelling,
                    indent,
                )
            }
            Py::Made(known, args) if known.constant && args.is_empty() => (spelling.name)(known),
            Py::Made(known, args) => {
                let args: Vec<String> = args
                    .iter()
                    .map(|(name, value)| {
                        let name = name.as_ref().map_or(String::new(), |name| format!("{name}="));
                        let plain = Spelling { floats: false, name: spelling.name, ..*spelling };
                        format!("{name}{}", value.spelled(&plain, indent))
                    })
                    .collect();
                format!("{}({})", (spelling.name)(known), args.join(", "))
            }
        }
    }

    /// The constructors that the value needs.
    pub fn constructors(&self, found: &mut Vec<&'static Constructor>) {
        match self {
            Py::Made(known, args) => {
                found.push(known);
                args.iter().for_each(|(_, value)| value.constructors(found));
            }
            Py::List(items) | Py::Tuple(items) | Py::Set(items) | Py::Frozen(items) => {
                items.iter().for_each(|item| item.constructors(found));
            }
            Py::Dict(items) => items.iter().for_each(|(key, value)| {
                key.constructors(found);
                value.constructors(found);
            }),
            _ => {}
        }
    }
}

fn canonical_spelling(width: usize) -> Spelling<'static> {
    Spelling { quote: '\'', floats: false, name: &|known| known.shown.to_string(), width, by_key: true }
}

fn container(open: &str, items: &[Py], close: &str, spelling: &Spelling, indent: usize) -> String {
    let items = items.iter().map(|item| item.spelled(spelling, indent + 4)).collect();
    laid_out(open, items, close, spelling, indent)
}

fn laid_out(open: &str, items: Vec<String>, close: &str, spelling: &Spelling, indent: usize) -> String {
    let long = items.iter().map(|item| item.chars().count() + 2).sum::<usize>() + indent > spelling.width;
    if items.len() > 1 && (long || items.iter().any(|item| item.contains('\n'))) {
        let blanks = " ".repeat(indent + 4);
        let lines: String = items.iter().map(|item| format!("{blanks}{item},\n")).collect();
        format!("{open}\n{lines}{}{close}", " ".repeat(indent))
    } else {
        format!("{open}{}{close}", items.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(source: &str) -> String {
        match read(source) {
            Some(Content::Text(text)) => format!("text {text:?}"),
            Some(Content::Value(value)) => value,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn equal_values_have_one_spelling() {
        for (source, want) in [
            ("'a' \"b\"", "text \"ab\""),
            ("0x10", "16"),
            ("1_0.0", "10"),
            ("-0.0", "0"),
            ("2.50", "2.5"),
            ("1e20", "1e+20"),
            ("-1e999", "float('-inf')"),
            ("[1, 'a',]", "[1, 'a']"),
            ("(1)", "1"),
            ("(1,)", "(1,)"),
            ("{'b': 1, \"a\": 2, 'b': 3}", "{'a': 2, 'b': 3}"),
            ("{2, 1, 2}", "{1, 2}"),
            ("set()", "set()"),
            ("frozenset([2, 1])", "frozenset({1, 2})"),
            ("b'\\xff\"'", "b'\\xff\"'"),
            ("\"it's\" + ''", "None"),
            ("[\"it's\"]", "[\"it's\"]"),
            ("Decimal('2.6750')", "Decimal('2.6750')"),
            ("Decimal(5)", "Decimal('5')"),
            ("datetime.datetime(2019, 3, 1, hour=0, minute=0, second=0)", "datetime.datetime(2019, 3, 1, 0, 0)"),
            ("datetime.timedelta(minutes=90)", "datetime.timedelta(seconds=5400)"),
            (
                "datetime.datetime(2019, 3, 1, 0, 0, tzinfo=datetime.timezone.utc)",
                "datetime.datetime(2019, 3, 1, 0, 0, tzinfo=datetime.timezone.utc)",
            ),
            ("PosixPath('a/b')", "Path('a/b')"),
            ("UUID('AB')", "UUID('ab')"),
            ("float('nan')", "None"),
            ("f'x'", "None"),
            ("Money(3)", "None"),
            ("[x]", "None"),
            ("1); import os; (2", "None"),
        ] {
            assert_eq!(spelled(source), want, "{source}");
        }
    }

    #[test]
    fn a_long_value_is_spelled_one_item_a_line() {
        let long = format!("['{}', '{}', (1, 2)]", "a".repeat(50), "b".repeat(40));
        let want = format!("[\n    '{}',\n    '{}',\n    (1, 2),\n]", "a".repeat(50), "b".repeat(40));
        assert_eq!(spelled(&long), want);
        assert_eq!(spelled(&want), want);
    }

    #[test]
    fn nesting_without_end_is_no_value() {
        assert_eq!(read(&format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000))), None);
    }
}
