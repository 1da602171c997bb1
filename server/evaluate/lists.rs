//! Lists of files and what both languages do with lists: folders read, globs, filters and maps with
//! closures. Takes values, gives values; a folder is the one of the shelf, files that git ignores left out.

use globset::{GlobBuilder, GlobMatcher};

use super::Value;
use super::known::sorted;
use super::parts::Parts;
use super::run::LONGEST;
use super::scope::{Eval, Place, truth};
use crate::code::{Arg, Expr, ExprKind};
use crate::places::RelPath;
use crate::syntax::Language;

impl<'a> Eval<'a> {
    /// Files and folders that stand directly in a folder; `None` when it has none.
    fn entries(&self, folder: &RelPath) -> Option<Vec<RelPath>> {
        let shelf = &self.project.shelf;
        let depth = folder.as_str().split('/').filter(|part| !part.is_empty()).count();
        let mut found: Vec<RelPath> = Vec::new();
        for path in shelf.below(folder) {
            let name: Vec<&str> = path.as_str().splitn(depth + 2, '/').take(depth + 1).collect();
            let Some(entry) = RelPath::new(&name.join("/")) else { continue };
            if found.last() != Some(&entry) {
                found.push(entry);
            }
            if found.len() > LONGEST {
                return None;
            }
        }
        (!found.is_empty()).then_some(found)
    }

    fn is_folder(&self, path: &RelPath) -> bool {
        !self.project.shelf.listed(path) && self.project.shelf.below(path).next().is_some()
    }

    fn folder(&self, place: &Place<'a>, value: &Value) -> Option<RelPath> {
        match self.file(place, value.clone()) {
            Value::Path(path) if self.is_folder(&path) => Some(path),
            _ => None,
        }
    }

    fn everything(&self, folder: &RelPath, folders: bool) -> Option<Vec<RelPath>> {
        let mut found: Vec<RelPath> = Vec::new();
        let mut open = vec![folder.clone()];
        while let Some(next) = open.pop() {
            for entry in self.entries(&next).unwrap_or_default() {
                if self.is_folder(&entry) {
                    open.push(entry.clone());
                    if !folders {
                        continue;
                    }
                }
                found.push(entry);
            }
            if found.len() > LONGEST {
                return None;
            }
        }
        found.sort();
        Some(found)
    }

    /// What stands in a folder and fits a pattern.
    fn globbed(&self, folder: &RelPath, pattern: &str, deep: bool) -> Option<Vec<RelPath>> {
        let glob = matcher(&if deep { format!("**/{pattern}") } else { pattern.to_string() })?;
        let start = if folder.as_str().is_empty() { 0 } else { folder.as_str().len() + 1 };
        let fits = |path: &RelPath| path.as_str().get(start..).is_some_and(|below| glob.is_match(below));
        let mut found: Vec<RelPath> = match pattern.contains('/') || deep {
            true => self.everything(folder, true)?.into_iter().filter(fits).collect(),
            false => self.entries(folder)?.into_iter().filter(fits).collect(),
        };
        found.truncate(LONGEST);
        Some(found)
    }

    /// Python's functions that list folders, and those of lists.
    pub(super) fn python_list(
        &self,
        place: &Place<'a>,
        name: &str,
        values: &[Value],
        args: &'a [Arg],
        depth: usize,
    ) -> Option<Value> {
        let first = || values.first().cloned().unwrap_or(Value::Unknown);
        let here = || first_or_working(self, place, values);
        let names = |paths: Vec<RelPath>| {
            Value::List(paths.into_iter().map(|path| Value::Str(path.name().to_string())).collect())
        };
        let keyword = |name: &str| args.iter().find(|arg| arg.name.as_deref() == Some(name)).map(|arg| &arg.value);
        Some(match name {
            "os.listdir" => names(self.entries(&self.folder(place, &here())?)?),
            "os.scandir" => paths(self.entries(&self.folder(place, &here())?)?),
            "os.walk" => {
                let top = self.folder(place, &first())?;
                let mut rows = Vec::new();
                let mut open = vec![top];
                while let Some(folder) = open.pop() {
                    let (inner, files): (Vec<RelPath>, Vec<RelPath>) =
                        self.entries(&folder).unwrap_or_default().into_iter().partition(|entry| self.is_folder(entry));
                    open.extend(inner.iter().cloned());
                    rows.push(Value::List(vec![Value::Path(folder), names(inner), names(files)]));
                    if rows.len() > LONGEST {
                        return None;
                    }
                }
                Value::List(rows)
            }
            "glob.glob" | "glob.iglob" => {
                let (folder, pattern, relative) = match first() {
                    Value::Path(path) => split_pattern(path.as_str()).map(|(a, b)| (a, b, false))?,
                    Value::Str(text) => split_pattern(text.trim_start_matches("./")).map(|(a, b)| (a, b, true))?,
                    _ => return None,
                };
                let at = if relative {
                    self.file(place, Value::Str(folder.clone()))
                } else {
                    Value::Path(RelPath::new(&folder)?)
                };
                let at = if folder.is_empty() { Value::Path(self.working_folder(place)) } else { at };
                let Value::Path(at) = at else { return None };
                let found = self.globbed(&at, &pattern, false)?;
                let cut = if at.as_str().is_empty() { 0 } else { at.as_str().len() + 1 };
                match relative {
                    true => Value::List(
                        found
                            .iter()
                            .map(|path| {
                                let below = path.as_str().get(cut..).unwrap_or_default();
                                let between = if folder.is_empty() { "" } else { "/" };
                                Value::Str(format!("{folder}{between}{below}"))
                            })
                            .collect(),
                    ),
                    false => paths(found),
                }
            }
            "os.path.isdir" => Value::Bool(self.folder(place, &first()).is_some()),
            "os.path.isfile" | "os.path.exists" | "os.path.lexists" => return self.exists(place, &first(), name),
            "os.path.split" => Value::List(vec![super::parts::parent(&first()), super::parts::name(&first())]),
            "os.path.relpath" => relative_to(&first(), &values.get(1).map(|base| self.file(place, base.clone()))?),
            "fnmatch.fnmatch" | "fnmatch.fnmatchcase" => match (first(), values.get(1)?) {
                (Value::Str(text), Value::Str(pattern)) => Value::Bool(matcher(pattern)?.is_match(text)),
                _ => return None,
            },
            "slice" => return None,
            "len" => match first() {
                Value::List(items) => Value::Int(items.len() as i64),
                Value::Str(text) => Value::Int(text.chars().count() as i64),
                _ => return None,
            },
            "any" | "all" => match first() {
                Value::List(items) => decided(items.iter().map(truth), name == "any")?,
                _ => return None,
            },
            "enumerate" => match first() {
                Value::List(items) => {
                    Value::List((0..).zip(items).map(|(at, item)| Value::List(vec![Value::Int(at), item])).collect())
                }
                _ => return None,
            },
            "zip" => {
                let lists: Option<Vec<&Vec<Value>>> = values
                    .iter()
                    .map(|value| if let Value::List(items) = value { Some(items) } else { None })
                    .collect();
                let lists = lists.filter(|lists| !lists.is_empty())?;
                let length = lists.iter().map(|items| items.len()).min().unwrap_or(0);
                Value::List(
                    (0..length).map(|at| Value::List(lists.iter().map(|items| items[at].clone()).collect())).collect(),
                )
            }
            "reversed" => match first() {
                Value::List(mut items) => {
                    items.reverse();
                    Value::List(items)
                }
                _ => return None,
            },
            "sorted" => match (first(), keyword("key"), keyword("reverse")) {
                (Value::List(items), None, None) => sorted(items),
                // Another order is the same cases.
                (value @ Value::List(_), ..) => value,
                _ => return None,
            },
            "filter" | "map" => {
                let (callable, list) = (&args.first()?.value, values.get(1)?);
                let Value::List(items) = list else { return None };
                self.through(place, items, callable, if name == "map" { "map" } else { "filter" }, depth)?
            }
            "dict" => match first() {
                Value::List(items) => {
                    let pairs: Option<Vec<(Value, Value)>> = items
                        .into_iter()
                        .map(|item| match item {
                            Value::List(pair) => <[Value; 2]>::try_from(pair).ok().map(|[key, value]| (key, value)),
                            _ => None,
                        })
                        .collect();
                    Value::Dict(pairs?)
                }
                _ => return None,
            },
            "itertools.chain" => {
                let lists: Option<Vec<Vec<Value>>> = values
                    .iter()
                    .map(|value| if let Value::List(items) = value { Some(items.clone()) } else { None })
                    .collect();
                Value::List(lists?.into_iter().flatten().take(LONGEST).collect())
            }
            "itertools.product" if args.iter().all(|arg| arg.name.is_none()) => {
                let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
                for value in values {
                    let Value::List(items) = value else { return None };
                    rows = rows
                        .iter()
                        .flat_map(|row| items.iter().map(|item| row.iter().chain([item]).cloned().collect()))
                        .take(LONGEST)
                        .collect();
                }
                Value::List(rows.into_iter().map(Value::List).collect())
            }
            _ => return None,
        })
    }

    /// Whether a path stands on the shelf; a path whose folder is not there at all may be made by the run.
    fn exists(&self, place: &Place<'a>, value: &Value, how: &str) -> Option<Value> {
        let Value::Path(path) = self.file(place, value.clone()) else { return None };
        let file = self.project.shelf.listed(&path);
        let folder = self.is_folder(&path);
        Some(Value::Bool(match how {
            "is_dir" => folder,
            "os.path.isfile" | "is_file" => file,
            _ => file || folder,
        }))
    }

    /// Rust's functions that list folders.
    pub(super) fn rust_list(&self, place: &Place<'a>, owner: &str, name: &str, values: &[Value]) -> Option<Value> {
        let first = values.first()?;
        match (owner, name) {
            ("fs" | "fs_err", "read_dir") => Some(paths(self.entries(&self.folder(place, first)?)?)),
            ("WalkDir" | "Walk", "new") => {
                let folder = self.folder(place, first)?;
                Some(paths(std::iter::once(folder.clone()).chain(self.everything(&folder, true)?).collect()))
            }
            ("" | "glob", "glob") => {
                let (folder, pattern) = match first {
                    Value::Path(path) => split_pattern(path.as_str())?,
                    Value::Str(text) => split_pattern(text.trim_start_matches("./"))?,
                    _ => return None,
                };
                let folder = match first {
                    Value::Path(_) => RelPath::new(&folder)?,
                    _ => self.working_folder(place).join(&folder)?,
                };
                Some(paths(self.globbed(&folder, &pattern, false)?))
            }
            ("", "..") => match values {
                [Value::Int(start), Value::Int(end)] if end - start <= LONGEST as i64 => {
                    Some(Value::List((*start..*end).map(Value::Int).collect()))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Methods that list a folder, ask whether a path is there, or take a closure.
    pub(super) fn list_method(
        &self,
        place: &Place<'a>,
        of: &Value,
        name: &str,
        args: &'a [Arg],
        values: &[Value],
        depth: usize,
    ) -> Option<Value> {
        let rust = place.unit.language == Language::Rust;
        if let Value::Path(_) | Value::Str(_) = of {
            let text = |at: usize| if let Some(Value::Str(text)) = values.get(at) { Some(text.as_str()) } else { None };
            return match name {
                "iterdir" if !rust => Some(paths(self.entries(&self.folder(place, of)?)?)),
                "glob" | "rglob" if !rust => {
                    Some(paths(self.globbed(&self.folder(place, of)?, text(0)?, name == "rglob")?))
                }
                "read_dir" if rust => Some(paths(self.entries(&self.folder(place, of)?)?)),
                "is_dir" | "is_file" | "exists" => self.exists(place, of, name),
                "path" if rust => Some(of.clone()),
                "components" | "iter" if rust => {
                    let parts = Parts::of(of).known()?;
                    Some(Value::List(
                        parts.split('/').filter(|part| !part.is_empty()).map(|part| Value::Str(part.into())).collect(),
                    ))
                }
                "map_or" | "is_some_and" | "is_none_or" if rust => {
                    Some(self.applied(place, &args.last()?.value, std::slice::from_ref(of), depth))
                }
                "relative_to" if !rust => Some(relative_to(of, &self.file(place, values.first()?.clone()))),
                "strip_prefix" if rust && matches!(of, Value::Path(_)) => {
                    Some(relative_to(of, &self.file(place, values.first()?.clone())))
                }
                "startswith" | "starts_with" | "endswith" | "ends_with" | "contains" | "eq" => {
                    let own = Parts::of(of).known()?;
                    let one = |what: &Value| {
                        let Value::Str(what) = what else { return None };
                        Some(match name {
                            "startswith" | "starts_with" => own.starts_with(what.as_str()),
                            "contains" => own.contains(what.as_str()),
                            "eq" => own == *what,
                            _ => own.ends_with(what.as_str()),
                        })
                    };
                    match values.first()? {
                        Value::List(any) => decided(any.iter().map(one), true),
                        what => one(what).map(Value::Bool),
                    }
                }
                _ => None,
            };
        }
        if let (Value::None, true) = (of, rust) {
            return match name {
                "map_or" => values.first().cloned(),
                "is_some_and" | "is_some" => Some(Value::Bool(false)),
                "is_none_or" | "is_none" => Some(Value::Bool(true)),
                "map" | "and_then" => Some(Value::None),
                _ => None,
            };
        }
        let Value::List(items) = of else { return None };
        let count = |at: usize| match values.get(at) {
            Some(Value::Int(number)) => usize::try_from(*number).ok(),
            _ => None,
        };
        if !rust {
            return None;
        }
        Some(match name {
            "map" | "filter" | "filter_map" | "any" | "all" | "position" | "find" => {
                self.through(place, items, &args.first()?.value, name, depth)?
            }
            "filter_entry" | "min_depth" | "max_depth" | "follow_links" | "sort_by" | "sort_by_key" => return None,
            "skip" => Value::List(items.iter().skip(count(0)?).cloned().collect()),
            "take" => Value::List(items.iter().take(count(0)?).cloned().collect()),
            "count" | "len" => Value::Int(items.len() as i64),
            "is_empty" => Value::Bool(items.is_empty()),
            "enumerate" => Value::List(
                (0..).zip(items).map(|(at, item)| Value::List(vec![Value::Int(at), item.clone()])).collect(),
            ),
            "zip" => match values.first()? {
                Value::List(others) => Value::List(
                    items.iter().zip(others).map(|(a, b)| Value::List(vec![a.clone(), b.clone()])).collect(),
                ),
                _ => return None,
            },
            "chain" => match values.first()? {
                Value::List(others) => Value::List(items.iter().chain(others).take(LONGEST).cloned().collect()),
                _ => return None,
            },
            "flatten" | "peekable" | "fuse" => Value::List(items.clone()),
            "contains" => {
                let wanted = values.first()?;
                if *wanted == Value::Unknown || items.contains(&Value::Unknown) {
                    return None;
                }
                Value::Bool(items.contains(wanted))
            }
            _ => return None,
        })
    }

    /// Items through a closure; `None` when it says of one of them nothing that is known.
    fn through(
        &self,
        place: &Place<'a>,
        items: &[Value],
        callable: &'a Expr,
        how: &str,
        depth: usize,
    ) -> Option<Value> {
        let mut found = Vec::new();
        for (at, item) in items.iter().enumerate() {
            if self.fuel.get() == 0 {
                return None;
            }
            let value = self.applied(place, callable, std::slice::from_ref(item), depth);
            match how {
                "map" => found.push(value),
                "filter" => {
                    if truth(&value)? {
                        found.push(item.clone());
                    }
                }
                "filter_map" => match value {
                    Value::Unknown => return None,
                    Value::None => {}
                    value => found.push(value),
                },
                "any" | "position" | "find" => {
                    if truth(&value)? {
                        return Some(match how {
                            "any" => Value::Bool(true),
                            "find" => item.clone(),
                            _ => Value::Int(at as i64),
                        });
                    }
                }
                _ => {
                    if !truth(&value)? {
                        return Some(Value::Bool(false));
                    }
                }
            }
        }
        Some(match how {
            "any" => Value::Bool(false),
            "all" => Value::Bool(true),
            "position" | "find" => Value::None,
            _ => Value::List(found),
        })
    }

    /// A function of the project by its name, with values that do not stand in a call.
    pub(super) fn called(&self, place: &Place<'a>, callable: &'a Expr, given: &[Value], depth: usize) -> Value {
        use crate::pins::names::{self, Named};
        let Some(dotted) = callable.dotted() else { return Value::Unknown };
        if matches!((place.unit.language, dotted.as_str()), (Language::Rust, "Result.ok" | "Result.unwrap" | "Some")) {
            return given.first().cloned().unwrap_or(Value::Unknown);
        }
        let Some(Named::Function(unit, index)) = names::find(self.project, place.unit, &place.scope(), &dotted) else {
            return Value::Unknown;
        };
        let Some(function) = unit.functions.get(index) else { return Value::Unknown };
        let names = function.params.iter().map(|param| param.name.trim_start_matches('&').to_string());
        self.run(unit, function, names.zip(given.iter().cloned()).collect(), depth)
    }
}

fn first_or_working(eval: &Eval, place: &Place, values: &[Value]) -> Value {
    values.first().cloned().unwrap_or_else(|| Value::Path(eval.working_folder(place)))
}

fn paths(paths: Vec<RelPath>) -> Value {
    Value::List(paths.into_iter().map(Value::Path).collect())
}

/// Whether any of (all of) the answers are yes.
fn decided(answers: impl Iterator<Item = Option<bool>>, any: bool) -> Option<Value> {
    let answers: Vec<Option<bool>> = answers.collect();
    if answers.contains(&Some(any)) {
        return Some(Value::Bool(any));
    }
    answers.iter().all(Option::is_some).then_some(Value::Bool(!any))
}

/// What of a path stands below a folder.
fn relative_to(of: &Value, base: &Value) -> Value {
    match (of, base) {
        (Value::Path(path), Value::Path(base)) if path.starts_with(base) => {
            let cut = if base.as_str().is_empty() { 0 } else { base.as_str().len() + 1 };
            path.as_str().get(cut..).map_or(Value::Unknown, |below| Value::Str(below.to_string()))
        }
        _ => Value::Unknown,
    }
}

/// The folder before the first part with a sign of a pattern, and the rest.
fn split_pattern(text: &str) -> Option<(String, String)> {
    let at = text.find(['*', '?', '[', '{'])?;
    Some(match text[..at].rfind('/') {
        Some(cut) => (text[..cut].to_string(), text[cut + 1..].to_string()),
        None => (String::new(), text.to_string()),
    })
}

fn matcher(pattern: &str) -> Option<GlobMatcher> {
    (pattern.len() < 500)
        .then(|| GlobBuilder::new(pattern).literal_separator(true).build().ok())
        .flatten()
        .map(|glob| glob.compile_matcher())
}

/// A value as an expression that stands nowhere.
pub(super) fn literal(value: &Value, depth: usize) -> Expr {
    let nowhere = |kind| Expr::new(crate::text::Span::default(), kind);
    if depth > 6 {
        return nowhere(ExprKind::Opaque);
    }
    nowhere(match value {
        Value::Str(text) => ExprKind::Str(text.clone()),
        Value::Bytes(bytes) => ExprKind::Bytes(bytes.clone()),
        Value::Int(number) if *number >= 0 => ExprKind::Int(number.to_string()),
        Value::Int(number) => ExprKind::Neg(Box::new(nowhere(ExprKind::Int(number.unsigned_abs().to_string())))),
        Value::Float(text) => ExprKind::Float(text.clone()),
        Value::Bool(yes) => ExprKind::Bool(*yes),
        Value::None => ExprKind::None,
        Value::Path(path) => ExprKind::File(path.clone()),
        Value::List(items) => ExprKind::Tuple(items.iter().map(|item| literal(item, depth + 1)).collect()),
        Value::Dict(items) => ExprKind::Dict(
            items.iter().map(|(key, value)| (literal(key, depth + 1), literal(value, depth + 1))).collect(),
        ),
        _ => ExprKind::Opaque,
    })
}
