//! Tests that run once for each file of a folder: `datatest_stable::harness!` 0.1 to 0.3 and `#[dir_test]` of
//! dir-test 0.4. Takes a function, gives a row for each listed file, with the id that the runner prints.
//! Lists folders, reads no file.

use globset::GlobBuilder;
use regex::RegexBuilder;

use super::parametrize::Row;
use super::{Value, alone};
use crate::code::{Arg, Expr, ExprKind, Function, Unit};
use crate::pins::harness::{self, Harness};
use crate::pins::{Project, names};
use crate::places::RelPath;
use crate::text::Span;

fn nowhere(kind: ExprKind) -> Expr {
    Expr::new(Span::default(), kind)
}

fn arg(value: Expr) -> Arg {
    Arg { name: None, value, spread: false }
}

fn called(name: &str, args: Vec<Arg>) -> Expr {
    nowhere(ExprKind::Macro { name: name.to_string(), args, tokens: Span::default() })
}

/// A path below the package as the expression that gives it with the root before it.
fn anchored(below: &str) -> Expr {
    let folder = called("env", vec![arg(nowhere(ExprKind::Str("CARGO_MANIFEST_DIR".to_string())))]);
    called("concat", vec![arg(folder), arg(nowhere(ExprKind::Str(format!("/{below}"))))])
}

/// What runs a test once for each file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PerFile {
    Harness,
    DirTest,
}

fn dir_test(function: &Function) -> Option<&[Arg]> {
    function.marks.iter().find_map(|mark| match &mark.kind {
        ExprKind::Macro { name, args, .. } if crate::pins::macros::last(name) == "dir_test" => Some(args.as_slice()),
        _ => None,
    })
}

/// Whether a test runs once for each file, and by what.
pub fn per_file(unit: &Unit, function: &Function) -> Option<PerFile> {
    if dir_test(function).is_some() {
        return Some(PerFile::DirTest);
    }
    (!harness::running(unit, function).is_empty()).then_some(PerFile::Harness)
}

/// The rows of a test that runs for each file; `None` where it is no such test, or its files are not known.
pub fn rows(project: &Project, unit: &Unit, function: &Function) -> Option<Vec<Row>> {
    let harnesses = harness::running(unit, function);
    if !harnesses.is_empty() {
        let mut rows = Vec::new();
        for harness in &harnesses {
            rows.extend(of_harness(project, unit, function, harness)?);
        }
        return Some(rows);
    }
    of_dir_test(project, unit, function, dir_test(function)?)
}

fn text(project: &Project, unit: &Unit, expr: &Expr) -> Option<String> {
    match alone(project, unit, expr) {
        Value::Str(text) => Some(text),
        _ => None,
    }
}

fn of_harness(project: &Project, unit: &Unit, function: &Function, harness: &Harness) -> Option<Vec<Row>> {
    let package = names::package_of(project, &unit.path);
    let (folder, root) = match alone(project, unit, &harness.root) {
        Value::Str(root) if !root.starts_with('/') => (package.join(&root)?, Some(root)),
        Value::Path(folder) => (folder, None),
        _ => return None,
    };
    let pattern = match &harness.pattern {
        Some(pattern) => text(project, unit, pattern)?,
        None => ".*".to_string(),
    };
    let pattern = RegexBuilder::new(&pattern).size_limit(1 << 20).build().ok()?;
    let param = function.params.first()?.name.trim_start_matches("mut ").to_string();
    let skip = if folder.as_str().is_empty() { 0 } else { folder.as_str().len() + 1 };
    let mut rows = Vec::new();
    for path in project.shelf.below(&folder).filter(|path| !path.name().starts_with('.')) {
        let below = path.as_str().get(skip..)?;
        let given = root.as_ref().map(|root| format!("{}/{below}", root.trim_end_matches('/')));
        let held = match &given {
            Some(given) if harness.whole_path => given.as_str(),
            _ => below,
        };
        if !pattern.is_match(held) {
            continue;
        }
        let value = match given {
            Some(given) => nowhere(ExprKind::Str(given)),
            None => anchored(path.as_str().strip_prefix(package.as_str())?.trim_start_matches('/')),
        };
        rows.push(Row { case: Some(below.to_string()), bindings: vec![(param.clone(), value)] });
    }
    Some(rows)
}

fn of_dir_test(project: &Project, unit: &Unit, function: &Function, args: &[Arg]) -> Option<Vec<Row>> {
    let given = |name: &str| {
        args.iter().find(|arg| arg.name.as_deref() == Some(name)).and_then(|arg| match &arg.value.kind {
            ExprKind::Str(text) => Some(text.as_str()),
            _ => None,
        })
    };
    let package = names::package_of(project, &unit.path);
    let dir = given("dir")?.strip_prefix("$CARGO_MANIFEST_DIR")?.trim_start_matches('/');
    let folder = package.join(dir)?;
    let glob = GlobBuilder::new(given("glob").unwrap_or("*")).literal_separator(true).build().ok()?.compile_matcher();
    let param = function.params.first()?.name.trim_start_matches("mut ").to_string();
    let skip = if folder.as_str().is_empty() { 0 } else { folder.as_str().len() + 1 };
    let mut rows = Vec::new();
    for path in project.shelf.below(&folder) {
        let below = path.as_str().get(skip..)?;
        if !glob.is_match(below) {
            continue;
        }
        rows.push(Row {
            case: Some(dir_test_name(below, path, given("postfix"))),
            bindings: vec![(param.clone(), anchored(&format!("{dir}/{below}")))],
        });
    }
    Some(rows)
}

/// Folders, stem and postfix, punctuation as `_`: what stands behind the function's name and `__`.
fn dir_test_name(below: &str, path: &RelPath, postfix: Option<&str>) -> String {
    let plain = |part: &str| part.replace(|c: char| c.is_ascii_punctuation(), "_");
    let mut parts: Vec<String> = below.split('/').map(plain).collect();
    parts.pop();
    let name = path.name();
    let stem = match name.rfind('.') {
        Some(0) | None => name,
        Some(at) => &name[..at],
    };
    parts.push(plain(stem));
    parts.extend(postfix.map(str::to_string));
    parts.join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dir_test_makes_a_function_of_each_file() {
        let name = |below: &str, postfix| dir_test_name(below, &RelPath::new(below).unwrap(), postfix);
        assert_eq!(name("warn.log", Some("parse")), "warn_parse");
        assert_eq!(name("a-b/c.d/one.two.log", None), "a_b_c_d_one_two");
        assert_eq!(name("ünï x.log", None), "ünï x");
    }
}
