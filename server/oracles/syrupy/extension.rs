//! The class that says where and how syrupy (4 to 7) keeps a snapshot: one of its own, or a subclass in the
//! project with literal class attributes. Takes the expression that names the class, gives an [`Extension`];
//! what a subclass decides in code that is not understood is open in it. Reads pytest's configuration for
//! `--snapshot-dirname` and `--snapshot-default-extension`.

use crate::code::{Expr, ExprKind, Function, Scope, Unit};
use crate::evaluate::{self, Value};
use crate::pins::names::{self, Named};
use crate::pins::{Project, fixtures};
use crate::places::RelPath;

/// Longest chain of base classes.
const DEEPEST: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Many entries in one file.
    Amber,
    /// One file a snapshot, in amber's form.
    SingleAmber,
    Text,
    Bytes,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    pub kind: Kind,
    /// File extension without its dot; `None`: not known.
    pub suffix: Option<String>,
    /// Folder below the test's own, without the module's part; `None`: not known.
    pub dirname: Option<String>,
    /// A folder that a `dirname` of its own gives holds the files themselves.
    pub flat: bool,
    /// Names follow syrupy's rule.
    pub names: bool,
    /// Bytes are read and written as syrupy does it.
    pub plain: bool,
    /// `amber`, `json`, `text`, or `custom`.
    pub serializer: &'static str,
}

impl Extension {
    fn own(name: &str) -> Option<Extension> {
        let make = |kind, suffix: &str, serializer| Extension {
            kind,
            suffix: Some(suffix.to_string()),
            dirname: Some("__snapshots__".to_string()),
            flat: false,
            names: true,
            plain: true,
            serializer,
        };
        Some(match name {
            "AmberSnapshotExtension" | "DEFAULT_EXTENSION" => make(Kind::Amber, "ambr", "amber"),
            "SingleFileAmberSnapshotExtension" => make(Kind::SingleAmber, "ambr", "amber"),
            "SingleFileSnapshotExtension" => make(Kind::Bytes, "raw", "text"),
            "JSONSnapshotExtension" => make(Kind::Text, "json", "json"),
            "PNGImageSnapshotExtension" => make(Kind::Bytes, "png", "text"),
            "SVGImageSnapshotExtension" => make(Kind::Bytes, "svg", "text"),
            _ => return None,
        })
    }

    /// What pytest-textual-snapshot 1.1 gives `snap_compare`: a text of its own for each screenshot.
    pub fn of_screenshots(project: &Project, file: &RelPath) -> Option<Extension> {
        let dirname = Some(dirname(&options(project, file)));
        let own = Extension::own("SVGImageSnapshotExtension")?;
        Some(Extension { kind: Kind::Text, serializer: "svg", dirname, ..own })
    }

    /// What pytest's configuration names for a test file, else amber.
    pub fn default_of(project: &Project, file: &RelPath) -> Option<Extension> {
        let options = options(project, file);
        let mut extension = match option(&options, "--snapshot-default-extension") {
            None => Extension::own("AmberSnapshotExtension")?,
            Some(path) => Extension::own(path.rsplit('.').next().unwrap_or_default())?,
        };
        extension.dirname = Some(dirname(&options));
        Some(extension)
    }
}

fn dirname(options: &str) -> String {
    option(options, "--snapshot-dirname").unwrap_or("__snapshots__").to_string()
}

/// Value of an option in the text of `addopts`.
fn option<'a>(options: &'a str, name: &str) -> Option<&'a str> {
    let rest = options.split(name).nth(1)?;
    let rest = rest.strip_prefix('=').or_else(|| rest.strip_prefix([' ', '"', '\'']))?;
    let rest = rest.trim_start_matches([' ', '"', '\'', ',', '=', '\n']);
    let end = rest.find([' ', '"', '\'', '\n', '\r', ',', ']']).unwrap_or(rest.len());
    rest.get(..end).filter(|value| !value.is_empty() && !value.starts_with('-'))
}

/// The configuration that pytest reads for a file: the nearest of its files above that speaks of pytest.
fn options(project: &Project, file: &RelPath) -> String {
    let mut folder = file.parent();
    loop {
        for name in ["pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"] {
            let text = folder.join(name).filter(|file| project.shelf.listed(file));
            let text = text.and_then(|file| project.shelf.text(&file));
            if let Some(text) = text.filter(|text| text.as_str().contains("pytest")) {
                let kept = text.as_str().lines().filter(|line| !line.trim_start().starts_with('#'));
                return kept.collect::<Vec<_>>().join("\n");
            }
        }
        if folder.as_str().is_empty() {
            return String::new();
        }
        folder = folder.parent();
    }
}

/// The extension that an expression in `function` of `unit` names, for tests in `test`.
pub fn of(
    project: &Project,
    test: &RelPath,
    unit: &Unit,
    function: Option<&Function>,
    expr: &Expr,
) -> Option<Extension> {
    let scope = names::scope_of(function);
    let options = options(project, test);
    let mut found = named(project, test, unit, &scope, &expr.dotted()?, DEEPEST)?;
    if !found.flat && found.dirname.as_deref() == Some("__snapshots__") {
        found.dirname = Some(dirname(&options));
    }
    Some(found)
}

fn named(
    project: &Project,
    test: &RelPath,
    unit: &Unit,
    scope: &[String],
    dotted: &str,
    left: usize,
) -> Option<Extension> {
    let left = left.checked_sub(1)?;
    let (first, rest) = dotted.split_once('.').map_or((dotted, ""), |(first, rest)| (first, rest));
    if rest.is_empty() {
        for depth in (0..=scope.len()).rev() {
            if let Some(class) = unit.scopes.iter().rfind(|class| class.name == first && class.path == scope[..depth]) {
                return of_class(project, test, unit, class, left);
            }
        }
        let mut bound = unit.globals_named(first).filter(|(_, binding)| binding.path.is_empty());
        if let Some((_, binding)) = bound.next_back() {
            return match &binding.value.kind {
                ExprKind::Name(_) | ExprKind::Attr(..) => {
                    named(project, test, unit, &[], &binding.value.dotted()?, left)
                }
                // A class that a function makes: which parts it decides is seen in the class.
                ExprKind::Call { callee, .. } => made(project, test, unit, callee, left),
                _ => None,
            };
        }
    }
    let import = unit.imports_named(first).rfind(|import| scope.starts_with(&import.scope));
    let paths: Vec<String> = match import {
        Some(import) if rest.is_empty() => vec![import.path.clone()],
        Some(import) => vec![format!("{}.{rest}", import.path)],
        None => {
            let stars = unit.imports_named("*").map(|star| star.path.trim_end_matches(".*"));
            stars.map(|path| format!("{path}.{dotted}")).collect()
        }
    };
    paths.iter().find_map(|path| {
        if path.starts_with("syrupy.") {
            return Extension::own(path.rsplit('.').next()?);
        }
        let (module, name) = path.rsplit_once('.')?;
        let other = names::module(project, unit, module)?;
        named(project, test, other, &[], name, left)
    })
}

fn made(project: &Project, test: &RelPath, unit: &Unit, callee: &Expr, left: usize) -> Option<Extension> {
    let Named::Function(other, index) = names::find(project, unit, &[], &callee.dotted()?)? else { return None };
    let function = other.functions.get(index)?;
    let given = fixtures::gives(function)?.dotted()?;
    named(project, test, other, &names::scope_of(Some(function)), &given, left)
}

fn of_class(project: &Project, test: &RelPath, unit: &Unit, class: &Scope, left: usize) -> Option<Extension> {
    let mut found =
        class.bases.iter().find_map(|base| named(project, test, unit, &class.path, &base.dotted()?, left))?;
    let mut path = class.path.clone();
    path.push(class.name.clone());
    for binding in unit.globals.iter().filter(|binding| binding.path == path) {
        let value = || evaluate::alone(project, unit, &binding.value);
        match binding.name.as_str() {
            "file_extension" | "_file_extension" => {
                found.suffix = match value() {
                    Value::Str(text) => Some(text),
                    _ => None,
                }
            }
            "_write_mode" => match binding.value.dotted().as_deref().and_then(|name| name.rsplit('.').next()) {
                Some("TEXT") if found.kind != Kind::Amber => found.kind = Kind::Text,
                Some("BINARY") if found.kind != Kind::Amber => found.kind = Kind::Bytes,
                _ => found.plain = false,
            },
            "snapshot_dirname" => {
                found.dirname = match value() {
                    Value::Str(text) => Some(text),
                    _ => path_of(project, unit, &binding.value),
                }
            }
            "serializer_class" => found.serializer = "custom",
            _ => {}
        }
    }
    for method in unit.functions.iter().filter(|function| function.path == path) {
        match method.name.as_str() {
            "dirname" => {
                found.dirname =
                    fixtures::gives(method).and_then(|given| folder_of(project, test, unit, given, &found, 0));
                found.flat = true;
            }
            "discovery_dirname" | "diff_lines" | "diff_snapshots" | "matches" | "is_snapshot_location" => {}
            "serialize" | "_serialize" => found.serializer = "custom",
            "get_snapshot_name" => found.names = false,
            "get_file_basename" | "_get_file_basename" | "get_location" => {
                found.dirname = None;
                found.names &= found.kind == Kind::Amber;
            }
            "read_snapshot_collection"
            | "read_snapshot_data_from_location"
            | "write_snapshot_collection"
            | "_read_snapshot_collection"
            | "_read_snapshot_data_from_location"
            | "_write_snapshot_collection"
            | "read_snapshot"
            | "write_snapshot" => found.plain = false,
            _ => {}
        }
    }
    Some(found)
}

/// `Path("a") / "b"` of literals.
fn path_of(project: &Project, unit: &Unit, expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Call { callee, args } if callee.dotted().is_some_and(|name| name.ends_with("Path")) => {
            let parts: Option<Vec<String>> = args.iter().map(|arg| path_of(project, unit, &arg.value)).collect();
            Some(parts?.join("/"))
        }
        ExprKind::Binary(crate::code::Op::Div, left, right) => {
            Some(format!("{}/{}", path_of(project, unit, left)?, path_of(project, unit, right)?))
        }
        _ => match evaluate::alone(project, unit, expr) {
            Value::Str(text) => Some(text),
            _ => None,
        },
    }
}

/// A folder below the test's own that a `dirname` gives; `""` is that folder itself.
fn folder_of(
    project: &Project,
    test: &RelPath,
    unit: &Unit,
    expr: &Expr,
    base: &Extension,
    depth: usize,
) -> Option<String> {
    if depth > 20 {
        return None;
    }
    let again = |expr: &Expr| folder_of(project, test, unit, expr, base, depth + 1);
    let text = |expr: &Expr| match (&expr.kind, expr.dotted().as_deref()) {
        (_, Some("test_location.basename")) => Some(test.stem().to_string()),
        (_, Some("cls.snapshot_dirname" | "self.snapshot_dirname")) => base.dirname.clone(),
        _ => path_of(project, unit, expr),
    };
    let join = |folder: String, parts: &[&Expr]| {
        let mut all = vec![folder];
        for part in parts {
            all.push(text(part)?);
        }
        all.retain(|part| !part.is_empty());
        Some(all.join("/"))
    };
    match &expr.kind {
        ExprKind::Call { callee, args } => {
            let plain: Vec<&Expr> =
                args.iter().filter(|arg| !arg.spread && arg.name.is_none()).map(|arg| &arg.value).collect();
            match (callee.dotted().as_deref(), plain.as_slice()) {
                (Some("str" | "Path" | "pathlib.Path" | "os.fspath" | "os.path.normpath"), [inner]) => again(inner),
                (Some("os.path.join"), [first, rest @ ..]) => join(again(first)?, rest),
                (Some("Path" | "pathlib.Path"), [first, rest @ ..]) => join(again(first)?, rest),
                (Some("os.path.dirname"), [inner]) if is_file(inner) => Some(String::new()),
                _ => match &callee.kind {
                    ExprKind::Attr(inner, name) if name == "joinpath" => join(again(inner)?, &plain),
                    ExprKind::Attr(inner, name) if name == "dirname" && is_super(inner) => match base.kind {
                        Kind::Amber => base.dirname.clone(),
                        _ => Some(format!("{}/{}", base.dirname.as_ref()?, test.stem())),
                    },
                    _ => None,
                },
            }
        }
        ExprKind::Attr(inner, name) if name == "parent" => match &inner.kind {
            ExprKind::Call { args, .. } if args.len() == 1 && is_file(&args[0].value) => Some(String::new()),
            _ => {
                let inner = again(inner)?;
                let (above, _) = inner.rsplit_once('/').unwrap_or(("", &inner));
                (!inner.is_empty()).then(|| above.to_string())
            }
        },
        ExprKind::Binary(crate::code::Op::Div, left, right) => join(again(left)?, &[right]),
        _ => None,
    }
}

fn is_file(expr: &Expr) -> bool {
    expr.dotted().as_deref() == Some("test_location.filepath")
}

fn is_super(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call { callee, .. } => callee.dotted().as_deref() == Some("super"),
        ExprKind::Name(name) => name.ends_with("SnapshotExtension"),
        _ => false,
    }
}
