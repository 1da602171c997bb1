//! What the standard libraries of both languages do with paths, texts and files, as far as a test needs it
//! to name its baseline: a table of functions, methods and macros, each giving a [`Value`].

use super::parts::{self, Parts, split_extension};
use super::scope::{Eval, Place, is_text};
use super::{Step, Value};
use crate::code::{Arg, Expr, ExprKind};
use crate::pins::names;
use crate::places::RelPath;
use crate::syntax::Language;

/// Digests by the name under which both languages' libraries know them.
const ALGORITHMS: &[&str] =
    &["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "sha3_512", "blake2b", "blake2s", "blake3"];

/// The algorithm that a name means (`Sha256`, `SHA-256`), in the spelling of Python's `hashlib`.
pub fn algorithm(name: &str) -> Option<&'static str> {
    let plain: String = name.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
    ALGORITHMS.iter().copied().find(|alg| alg.replace('_', "") == plain)
}

impl Value {
    /// A content after one more step; anything else is unknown then.
    pub fn stepped(self, step: Step) -> Value {
        match self {
            Value::Content { path, mut steps } => {
                steps.push(step);
                Value::Content { path, steps }
            }
            _ => Value::Unknown,
        }
    }

    /// Bytes understood as UTF-8.
    pub(super) fn decoded(self) -> Value {
        match self {
            Value::Content { path, mut steps } => {
                steps.retain(|step| *step != Step::Bytes);
                Value::Content { path, steps }
            }
            other => other,
        }
    }

    fn content(path: Value, steps: Vec<Step>) -> Value {
        match path {
            Value::Unknown => Value::Unknown,
            path => Value::Content { path: Box::new(path), steps },
        }
    }
}

impl<'a> Eval<'a> {
    /// The content of a file, which is remembered as taken.
    fn taken(&self, path: Value, steps: Vec<Step>) -> Value {
        self.opened.borrow_mut().push(path.clone());
        Value::content(path, steps)
    }

    /// The folder that relative paths are read from: pytest's root for Python, the package for Rust.
    pub fn working_folder(&self, place: &Place) -> RelPath {
        match place.unit.language {
            Language::Rust => names::package_of(self.project, &place.unit.path),
            Language::Python => {
                let mut folder = place.unit.path.parent();
                loop {
                    let marked = ["pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg", "setup.py"]
                        .iter()
                        .any(|name| folder.join(name).is_some_and(|file| self.project.shelf.listed(&file)));
                    if marked || folder.as_str().is_empty() {
                        return folder;
                    }
                    folder = folder.parent();
                }
            }
        }
    }

    /// A value as the path of a file that is opened: relative ones from the working folder.
    pub fn file(&self, place: &Place, value: Value) -> Value {
        match &value {
            Value::Path(_) | Value::Paths(_) => value,
            Value::Str(text) if text.is_empty() || text.starts_with('/') => Value::Unknown,
            Value::Str(text) => {
                let folder = self.working_folder(place);
                let here = folder.join(text);
                let top = RelPath::default().join(text);
                match (here, top) {
                    (Some(here), Some(top)) if !self.project.shelf.listed(&here) && self.project.shelf.listed(&top) => {
                        Value::Path(top)
                    }
                    (Some(here), _) => Value::Path(here),
                    _ => Value::Unknown,
                }
            }
            Value::Pattern(known) => match known.first() {
                Some(Some(first)) if !first.starts_with('/') && first.contains('/') => {
                    Parts::of(&Value::Path(self.working_folder(place))).join(Parts::of(&value)).value()
                }
                _ => value,
            },
            _ => Value::Unknown,
        }
    }

    /// A dotted name with its first part spelled out by the imports.
    fn canonical(&self, place: &Place, dotted: &str) -> String {
        let (first, rest) = dotted.split_once('.').unwrap_or((dotted, ""));
        let scope = place.scope();
        let import =
            place.unit.imports.iter().rfind(|import| import.local == first && scope.starts_with(&import.scope));
        match import {
            Some(import) if rest.is_empty() => import.path.clone(),
            Some(import) => format!("{}.{rest}", import.path),
            None => dotted.to_string(),
        }
    }

    pub fn attribute(&self, place: &Place<'a>, whole: &'a Expr, base: &'a Expr, name: &str, depth: usize) -> Value {
        if let Some(dotted) = whole.dotted() {
            match self.canonical(place, &dotted).as_str() {
                "os.sep" | "os.path.sep" => return Value::Str("/".into()),
                "os.curdir" => return Value::Str(".".into()),
                "os.pardir" => return Value::Str("..".into()),
                "os.linesep" => return Value::Str("\n".into()),
                _ => {}
            }
            let found = names::find(self.project, place.unit, &place.scope(), &dotted);
            if found.is_some() {
                return self.named(found, depth);
            }
            if let Some(value) = self.member(place, &dotted, depth) {
                return value;
            }
        }
        let of = self.value(place, base, depth);
        if !is_text(&of) {
            return Value::Unknown;
        }
        match name {
            "parent" => parts::parent(&of),
            "name" => parts::name(&of),
            "stem" => match parts::name(&of) {
                Value::Str(name) => Value::Str(split_extension(&name).0.to_string()),
                _ => Value::Unknown,
            },
            "suffix" => match parts::name(&of) {
                Value::Str(name) => Value::Str(split_extension(&name).1.to_string()),
                _ => Value::Unknown,
            },
            _ => Value::Unknown,
        }
    }

    pub fn call(&self, place: &Place<'a>, whole: &'a Expr, callee: &'a Expr, args: &'a [Arg], depth: usize) -> Value {
        let _ = whole;
        let all: Vec<Value> = args.iter().map(|arg| self.value(place, &arg.value, depth)).collect();
        let mut values: Vec<Value> = Vec::with_capacity(all.len());
        for (arg, value) in args.iter().zip(&all) {
            match (arg.spread, value) {
                (true, Value::List(items)) => values.extend(items.iter().cloned()),
                (true, _) => return Value::Unknown,
                (false, value) if arg.name.is_none() => values.push(value.clone()),
                _ => {}
            }
        }
        let spread = args.iter().any(|arg| arg.spread);
        if let Some(dotted) = callee.dotted() {
            let canonical = self.canonical(place, &dotted);
            let known = match place.unit.language {
                Language::Python => self.python_function(place, &canonical, &values, args, depth),
                Language::Rust => self.rust_function(place, &canonical, &values),
            };
            if let Some(value) = known {
                return value;
            }
        }
        if !spread && let Some(value) = self.follow(place, callee, args, &all, depth) {
            return value;
        }
        let ExprKind::Attr(base, name) = &callee.kind else { return Value::Unknown };
        let of = self.value(place, base, depth);
        if let ("read_text" | "read_bytes" | "open", Language::Python) = (name.as_str(), place.unit.language) {
            if is_text(&of) {
                let mode = if name == "read_bytes" { Some(Value::Str("rb".into())) } else { None };
                let mode = mode.or_else(|| values.first().filter(|_| name == "open").cloned());
                return self.opened(place, of, mode, args, depth);
            }
            if name == "open" && of == Value::Unknown {
                return Value::Unknown;
            }
        }
        if let Some(value) = self.list_method(place, &of, name, args, &values, depth) {
            return value;
        }
        self.method(place.unit.language, of, name, &values)
    }

    fn keyword(&self, place: &Place<'a>, args: &'a [Arg], name: &str, depth: usize) -> Option<Value> {
        let arg = args.iter().find(|arg| arg.name.as_deref() == Some(name))?;
        Some(self.value(place, &arg.value, depth))
    }

    /// Python's `open` and what is like it.
    fn opened(&self, place: &Place<'a>, path: Value, mode: Option<Value>, args: &'a [Arg], depth: usize) -> Value {
        let path = self.file(place, path);
        let mode = mode.or_else(|| self.keyword(place, args, "mode", depth));
        let mode = match mode {
            None => String::new(),
            Some(Value::Str(mode)) => mode,
            Some(_) => return Value::Unknown,
        };
        if mode.contains(['w', 'a', 'x', '+']) {
            return Value::Unknown;
        }
        if mode.contains('b') {
            return self.taken(path, vec![Step::Bytes]);
        }
        let mut steps = Vec::new();
        match self.keyword(place, args, "encoding", depth) {
            None | Some(Value::None) => {}
            Some(Value::Str(name)) => match name.to_lowercase().replace('_', "-").as_str() {
                "utf-8" | "utf8" | "ascii" | "locale" => {}
                "utf-8-sig" => steps.push(Step::DropBom),
                other => steps.push(Step::Unknown(format!("encoding {other}"))),
            },
            Some(_) => steps.push(Step::Unknown("an encoding".into())),
        }
        match self.keyword(place, args, "newline", depth) {
            None | Some(Value::None) => steps.push(Step::UniversalNewlines),
            Some(_) => {}
        }
        self.taken(path, steps)
    }

    fn python_function(
        &self,
        place: &Place<'a>,
        name: &str,
        values: &[Value],
        args: &'a [Arg],
        depth: usize,
    ) -> Option<Value> {
        let first = || values.first().cloned().unwrap_or(Value::Unknown);
        let joined = |values: &[Value]| {
            values.iter().skip(1).fold(first(), |path, more| Parts::of(&path).join(Parts::of(more)).value())
        };
        if let Some(value) = self.python_list(place, name, values, args, depth) {
            return Some(value);
        }
        let (module, last) = name.rsplit_once('.').unwrap_or(("", name));
        Some(match (module, last) {
            ("pathlib", "Path" | "PurePath" | "PosixPath" | "PurePosixPath") | ("" | "anyio" | "upath", "Path") => {
                if values.is_empty() {
                    Value::Path(self.working_folder(place))
                } else {
                    joined(values)
                }
            }
            ("pathlib.Path" | "Path", "cwd") | ("os", "getcwd") => Value::Path(self.working_folder(place)),
            ("os.path", "join") => joined(values),
            ("os.path", "dirname") => parts::parent(&first()),
            ("os.path", "basename") => parts::name(&first()),
            ("os.path", "abspath" | "realpath") => self.file(place, first()),
            ("os.path", "normpath" | "expanduser" | "expandvars") | ("os", "fspath") => first(),
            ("os.path", "splitext") => match first() {
                Value::Str(text) => {
                    let (folder, name) = text.rsplit_once('/').map_or(("", text.as_str()), |(f, n)| (f, n));
                    let (stem, extension) = split_extension(name);
                    let stem = if folder.is_empty() { stem.to_string() } else { format!("{folder}/{stem}") };
                    Value::List(vec![Value::Str(stem), Value::Str(extension.into())])
                }
                path @ Value::Path(_) => {
                    let extension = match parts::name(&path) {
                        Value::Str(name) => split_extension(&name).1.to_string(),
                        _ => return Some(Value::Unknown),
                    };
                    let stem = parts::last_component(&path, |name| Some(split_extension(name).0.to_string()));
                    Value::List(vec![stem, Value::Str(extension)])
                }
                _ => Value::Unknown,
            },
            ("", "str" | "list" | "tuple" | "bytes" | "repr") if last != "repr" => match first() {
                value @ (Value::Content { .. } | Value::List(_)) => value,
                value if is_text(&value) && last == "str" => value,
                Value::Int(number) if last == "str" => Value::Str(number.to_string()),
                _ => Value::Unknown,
            },
            ("" | "io" | "codecs", "open") => self.opened(place, first(), values.get(1).cloned(), args, depth),
            ("json", "load" | "loads") => first().stepped(Step::Json),
            ("", "int" | "float") | ("decimal", "Decimal") | ("" | "fractions", "Fraction") => match first() {
                Value::Str(text) if last == "int" => text.trim().parse().map_or(Value::Unknown, Value::Int),
                value => value.decoded().stepped(Step::Number),
            },
            ("", "sorted" | "set" | "frozenset") => match (last, first()) {
                ("sorted", Value::List(items)) if args.len() == 1 => sorted(items),
                (_, value @ Value::List(_)) if last != "sorted" => value,
                (_, value) => value.stepped(Step::Unknown(last.into())),
            },
            ("re", "sub") => values.get(2).cloned().unwrap_or(Value::Unknown).stepped(Step::Unknown("re.sub".into())),
            ("textwrap", "dedent") if matches!(first(), Value::Str(_)) => match first() {
                Value::Str(text) => Value::Str(dedented(&text)),
                _ => Value::Unknown,
            },
            ("textwrap" | "inspect", "dedent" | "cleandoc") => first().stepped(Step::Unknown(last.into())),
            ("ast", "literal_eval") => first().stepped(Step::Unknown("literal_eval".into())),
            ("yaml", "safe_load" | "load") => first().stepped(Step::Unknown("yaml".into())),
            ("hashlib", "new") | ("hashlib", "file_digest") => {
                let (name, of) = if last == "new" { (0, 1) } else { (1, 0) };
                match values.get(name) {
                    Some(Value::Str(name)) => hashed(algorithm(name)?, values.get(of).cloned()),
                    _ => Value::Unknown,
                }
            }
            ("hashlib", name) => hashed(algorithm(name)?, values.first().cloned()),
            ("importlib.resources" | "importlib_resources", "files") => self.package_folder(place, args.first(), depth),
            ("importlib.resources" | "importlib_resources", "read_text" | "read_binary") | ("pkgutil", "get_data") => {
                let folder = self.package_folder(place, args.first(), depth);
                let Some(name) = values.get(1) else { return Some(Value::Unknown) };
                if folder == Value::Unknown {
                    return Some(Value::Unknown);
                }
                let steps = if last == "read_text" { vec![Step::UniversalNewlines] } else { vec![Step::Bytes] };
                self.taken(Parts::of(&folder).join(Parts::of(name)).value(), steps)
            }
            ("", "range") => {
                let numbers: Option<Vec<i64>> =
                    values.iter().map(|v| if let Value::Int(number) = v { Some(*number) } else { None }).collect();
                match numbers.as_deref() {
                    Some([end]) => range(0, *end),
                    Some([start, end]) => range(*start, *end),
                    _ => Value::Unknown,
                }
            }
            _ => return None,
        })
    }

    /// Folder of a Python package: the nearest one above the file of that name with files in it.
    fn package_folder(&self, place: &Place<'a>, arg: Option<&'a Arg>, depth: usize) -> Value {
        let Some(arg) = arg else { return Value::Path(place.unit.path.parent()) };
        let dotted = match self.value(place, &arg.value, depth) {
            Value::Str(name) => name,
            _ => match &arg.value.kind {
                ExprKind::Name(name) if name == "__package__" => return Value::Path(place.unit.path.parent()),
                ExprKind::Name(name) if name == "__name__" => return Value::Path(place.unit.path.parent()),
                _ => match arg.value.dotted() {
                    Some(dotted) => self.canonical(place, &dotted),
                    None => return Value::Unknown,
                },
            },
        };
        if dotted.is_empty() || dotted.starts_with('.') {
            return Value::Unknown;
        }
        let below = dotted.replace('.', "/");
        let mut folder = place.unit.path.parent();
        loop {
            for base in [Some(folder.clone()), folder.join("src")].into_iter().flatten() {
                if let Some(package) = base.join(&below)
                    && self.project.shelf.below(&package).next().is_some()
                {
                    return Value::Path(package);
                }
            }
            if folder.as_str().is_empty() {
                return Value::Unknown;
            }
            folder = folder.parent();
        }
    }

    fn rust_function(&self, place: &Place<'a>, name: &str, values: &[Value]) -> Option<Value> {
        let first = || values.first().cloned().unwrap_or(Value::Unknown);
        let mut last = name.rsplit('.');
        let (function, owner) = if name == ".." { ("..", "") } else { (last.next()?, last.next().unwrap_or("")) };
        if let Some(value) = self.rust_list(place, owner, function, values) {
            return Some(value);
        }
        Some(match (owner, function) {
            ("PathBuf" | "String" | "OsString" | "Utf8PathBuf", "new") if values.is_empty() => {
                Value::Str(String::new())
            }
            (
                "Path" | "PathBuf" | "String" | "OsStr" | "OsString" | "Utf8Path" | "Utf8PathBuf" | "Cow" | "Box"
                | "Arc" | "Rc" | "Some" | "BufReader" | "Vec",
                "new" | "from" | "from_str",
            ) => first(),
            ("", "Some" | "Ok") => first(),
            ("env", "var") => match first() {
                Value::Str(name) if name == "CARGO_MANIFEST_DIR" => {
                    Value::Path(names::package_of(self.project, &place.unit.path))
                }
                _ => Value::Unknown,
            },
            ("env", "current_dir") => Value::Path(self.working_folder(place)),
            ("fs" | "fs_err", "read_to_string") => self.taken(self.file(place, first()), Vec::new()),
            ("fs" | "fs_err", "read") => self.taken(self.file(place, first()), vec![Step::Bytes]),
            ("fs" | "fs_err", "canonicalize") => self.file(place, first()),
            ("File", "open") => self.taken(self.file(place, first()), vec![Step::Bytes]),
            ("io", "read_to_string") => first().decoded(),
            ("String" | "str", "from_utf8" | "from_utf8_lossy") => first().decoded(),
            ("serde_json", "from_str" | "from_slice" | "from_reader") => first().decoded().stepped(Step::Json),
            ("hex" | "base16ct", "encode" | "encode_string") => first(),
            (owner, "digest" | "compute" | "hash") => hashed(algorithm(owner)?, values.first().cloned()),
            (owner, "new" | "default") => hashed(algorithm(owner)?, None),
            _ => return None,
        })
    }

    pub fn macro_call(&self, place: &Place<'a>, name: &str, args: &'a [Arg], depth: usize) -> Value {
        let value = |at: usize| args.get(at).map_or(Value::Unknown, |arg| self.value(place, &arg.value, depth));
        match name.rsplit("::").next().unwrap_or(name) {
            "env" | "option_env" => match value(0) {
                Value::Str(name) if name == "CARGO_MANIFEST_DIR" => {
                    Value::Path(names::package_of(self.project, &place.unit.path))
                }
                _ => Value::Unknown,
            },
            "concat" => (0..args.len()).fold(Parts::text(""), |all, at| all.then(Parts::of(&value(at)))).value(),
            "file" => Value::Path(place.unit.path.clone()),
            "include_str" | "include_bytes" => {
                let folder = Value::Path(place.unit.path.parent());
                let path = Parts::of(&folder).join(Parts::of(&value(0))).value();
                let bytes = name.ends_with("include_bytes");
                self.taken(path, if bytes { vec![Step::Bytes] } else { Vec::new() })
            }
            "vec" => Value::List((0..args.len()).map(value).collect()),
            "format" if args.len() == 1 => value(0),
            _ => Value::Unknown,
        }
    }

    /// A method of a text, a path, a list or a file's content.
    pub fn method(&self, language: Language, of: Value, name: &str, args: &[Value]) -> Value {
        let arg = |at: usize| args.get(at).cloned().unwrap_or(Value::Unknown);
        if language == Language::Rust && RUST_SAME.contains(&name) {
            return of;
        }
        match &of {
            Value::Content { .. } => content_method(of, name, args),
            Value::Digest(_) => match name {
                "hexdigest" | "digest" | "finalize" | "to_hex" | "lower" | "upper" | "encode" | "decode" => of,
                "update" => Value::None,
                _ => Value::Unknown,
            },
            Value::List(items) => match name {
                "copy" | "rev" => of,
                "keys" | "values" | "items" => of,
                _ if name == "join" || name == "concat" => {
                    let between = if name == "join" { arg(0) } else { Value::Str(String::new()) };
                    let (Value::Str(between), Language::Rust) = (between, language) else { return Value::Unknown };
                    strung(items, &between)
                }
                _ => Value::Unknown,
            },
            Value::Dict(items) => match name {
                "items" | "iter" => {
                    Value::List(items.iter().map(|(k, v)| Value::List(vec![k.clone(), v.clone()])).collect())
                }
                "keys" => Value::List(items.iter().map(|(k, _)| k.clone()).collect()),
                "values" => Value::List(items.iter().map(|(_, v)| v.clone()).collect()),
                "get" => items.iter().rfind(|(k, _)| *k == arg(0)).map_or(Value::Unknown, |(_, v)| v.clone()),
                _ => Value::Unknown,
            },
            _ if is_text(&of) => text_method(language, &of, name, args),
            Value::Unknown if matches!(name, "joinpath" | "join") && args.iter().all(is_text) && !args.is_empty() => {
                args.iter().fold(of, |path, more| Parts::of(&path).join(Parts::of(more)).value())
            }
            _ => Value::Unknown,
        }
    }
}

/// Methods of Rust that give the same text, path or content in another type.
const RUST_SAME: &[&str] = &[
    "unwrap",
    "expect",
    "unwrap_or_else",
    "unwrap_or_default",
    "unwrap_or",
    "context",
    "with_context",
    "map_err",
    "ok",
    "as_ref",
    "as_str",
    "as_path",
    "as_std_path",
    "path",
    "as_bytes",
    "as_slice",
    "as_deref",
    "as_mut",
    "as_os_str",
    "borrow",
    "deref",
    "clone",
    "cloned",
    "copied",
    "to_owned",
    "to_string",
    "to_path_buf",
    "to_str",
    "to_string_lossy",
    "to_vec",
    "into",
    "into_owned",
    "into_string",
    "into_bytes",
    "into_os_string",
    "into_boxed_path",
    "into_boxed_str",
    "into_std_path_buf",
    "display",
    "canonicalize",
    "iter",
    "into_iter",
    "collect",
    "by_ref",
];

fn text_method(language: Language, of: &Value, name: &str, args: &[Value]) -> Value {
    let arg = |at: usize| args.get(at).cloned().unwrap_or(Value::Unknown);
    let texts = |at: usize| if let Value::Str(text) = arg(at) { Some(text) } else { None };
    let suffixed =
        |wanted: String| parts::last_component(of, |name| Some(format!("{}{wanted}", split_extension(name).0)));
    match name {
        "joinpath" => args.iter().fold(of.clone(), |path, more| Parts::of(&path).join(Parts::of(more)).value()),
        "join" if language == Language::Rust => Parts::of(of).join(Parts::of(&arg(0))).value(),
        "join" => match (of, arg(0)) {
            (Value::Str(between), Value::List(items)) => strung(&items, between),
            _ => Value::Unknown,
        },
        "with_name" | "with_file_name" | "set_file_name" => match Parts::of(&arg(0)) {
            new if new.known().is_some() => parts::last_component(of, |_| new.known()),
            new => match parts::parent(of) {
                Value::Unknown => Value::Unknown,
                folder => Parts::of(&folder).join(new).value(),
            },
        },
        "with_stem" => match texts(0) {
            Some(stem) => parts::last_component(of, |name| Some(format!("{stem}{}", split_extension(name).1))),
            None => Value::Unknown,
        },
        "with_suffix" => texts(0).map_or(Value::Unknown, suffixed),
        "with_extension" | "set_extension" => texts(0).map_or(Value::Unknown, |extension| {
            suffixed(if extension.is_empty() { extension } else { format!(".{extension}") })
        }),
        "parent" => parts::parent(of),
        "file_name" => parts::name(of),
        "file_stem" | "extension" => match parts::name(of) {
            Value::Str(text) => {
                let (stem, extension) = split_extension(&text);
                Value::Str(if name == "file_stem" { stem } else { extension.trim_start_matches('.') }.to_string())
            }
            _ => Value::Unknown,
        },
        "replace" if matches!(of, Value::Path(_)) => match (Parts::of(of), texts(0), texts(1)) {
            (whole, Some(old), Some(new)) => match whole.known() {
                Some(path) => Parts { rooted: true, parts: vec![Some(path.replace(&old, &new))] }.value(),
                None => Value::Unknown,
            },
            _ => Value::Unknown,
        },
        "resolve" | "absolute" | "as_posix" | "expanduser" | "__str__" | "__fspath__" | "strpath" => of.clone(),
        _ => {
            let Value::Str(text) = of else { return Value::Unknown };
            let new = match (name, texts(0), texts(1)) {
                ("strip" | "trim", None, _) if args.is_empty() => text.trim().to_string(),
                ("rstrip" | "trim_end", None, _) if args.is_empty() => text.trim_end().to_string(),
                ("lstrip" | "trim_start", None, _) if args.is_empty() => text.trim_start().to_string(),
                ("strip" | "trim_matches", Some(chars), _) => text.trim_matches(|c| chars.contains(c)).to_string(),
                ("rstrip" | "trim_end_matches", Some(chars), _) => {
                    text.trim_end_matches(|c| chars.contains(c)).to_string()
                }
                ("lstrip" | "trim_start_matches", Some(chars), _) => {
                    text.trim_start_matches(|c| chars.contains(c)).to_string()
                }
                ("replace", Some(old), Some(new)) if args.len() == 2 => text.replace(&old, &new),
                ("lower" | "to_lowercase" | "casefold" | "to_ascii_lowercase", ..) => text.to_lowercase(),
                ("upper" | "to_uppercase" | "to_ascii_uppercase", ..) => text.to_uppercase(),
                ("removesuffix" | "strip_suffix", Some(end), _) => text.strip_suffix(&*end).unwrap_or(text).to_string(),
                ("strip_prefix", Some(start), _) if language == Language::Rust && start.contains('/') => {
                    // Of a path: what is left is relative.
                    text.strip_prefix(&*start).unwrap_or(text).trim_start_matches('/').to_string()
                }
                ("removeprefix" | "strip_prefix", Some(start), _) => {
                    text.strip_prefix(&*start).unwrap_or(text).to_string()
                }
                ("encode" | "format", ..) if args.is_empty() => text.clone(),
                ("format", ..) => return formatted(text, args).value(),
                ("split", Some(by), _) if !by.is_empty() => {
                    return Value::List(text.split(&*by).map(|part| Value::Str(part.to_string())).collect());
                }
                ("split" | "split_whitespace", None, _) if args.is_empty() => {
                    return Value::List(text.split_whitespace().map(|part| Value::Str(part.to_string())).collect());
                }
                _ => return Value::Unknown,
            };
            Value::Str(new)
        }
    }
}

fn content_method(of: Value, name: &str, args: &[Value]) -> Value {
    let texts = |at: usize| if let Some(Value::Str(text)) = args.get(at) { Some(text.clone()) } else { None };
    match (name, texts(0)) {
        ("read" | "readlines" | "read_text" | "encode" | "keepends" | "__enter__", _) => of,
        ("decode", name) => match name.map(|name| name.to_lowercase()).as_deref() {
            None | Some("utf-8" | "utf8" | "ascii") => of.decoded(),
            Some("utf-8-sig") => of.decoded().stepped(Step::DropBom),
            Some(other) => of.decoded().stepped(Step::Unknown(format!("encoding {other}"))),
        },
        ("strip" | "trim", None) if args.is_empty() => of.stepped(Step::Trim),
        ("rstrip" | "trim_end", None) if args.is_empty() => of.stepped(Step::TrimEnd),
        ("lstrip" | "trim_start", None) if args.is_empty() => of.stepped(Step::TrimStart),
        ("strip" | "trim_matches", Some(chars)) => of.stepped(Step::TrimOf(chars)),
        ("rstrip", Some(chars)) => of.stepped(Step::TrimEndOf(chars)),
        ("trim_end_matches", Some(chars)) if chars.chars().count() == 1 => of.stepped(Step::TrimEndOf(chars)),
        ("lstrip", Some(chars)) => of.stepped(Step::TrimStartOf(chars)),
        ("splitlines" | "lines", None) => of.stepped(Step::Lines),
        // Equal lists of pieces are equal texts.
        ("split", Some(_)) if args.len() == 1 => of,
        ("replace", Some(old)) => match texts(1) {
            Some(new) if old == "\r\n" && new == "\n" => of.stepped(Step::CrlfToLf),
            Some(new) if args.len() == 2 => of.stepped(Step::Replace(old, new)),
            _ => of.stepped(Step::Unknown("replace".into())),
        },
        ("parse", _) => of.decoded().stepped(Step::Number),
        ("json", _) => of.decoded().stepped(Step::Json),
        ("lower" | "upper" | "to_lowercase" | "to_uppercase" | "expandtabs" | "casefold", _) => {
            of.stepped(Step::Unknown(name.to_string()))
        }
        _ => Value::Unknown,
    }
}

fn hashed(algorithm: &str, of: Option<Value>) -> Value {
    match of {
        Some(content @ Value::Content { .. }) => content.stepped(Step::Digest(algorithm.to_string())),
        _ => Value::Digest(algorithm.to_string()),
    }
}

/// Texts, paths or numbers in their order; the order of anything else is not known.
pub(super) fn sorted(items: Vec<Value>) -> Value {
    let mut keyed: Vec<((String, i64), Value)> = Vec::with_capacity(items.len());
    for item in items {
        let key = match &item {
            Value::Str(text) => (text.clone(), 0),
            Value::Path(path) => (path.to_string(), 0),
            Value::Int(number) => (String::new(), *number),
            _ => return Value::Unknown,
        };
        keyed.push((key, item));
    }
    keyed.sort_by(|(a, _), (b, _)| a.cmp(b));
    Value::List(keyed.into_iter().map(|(_, item)| item).collect())
}

/// As `textwrap.dedent` of Python 3.13: the blanks that all lines with text begin with are cut, lines of
/// blanks are empty.
fn dedented(text: &str) -> String {
    let blank = |line: &str| line.trim_matches([' ', '\t']).is_empty();
    let lines: Vec<&str> = text.split('\n').collect();
    let mut margin: Option<&str> = None;
    for line in lines.iter().filter(|line| !blank(line)) {
        let own = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        margin = Some(match margin {
            None => own,
            Some(margin) => {
                let same = margin.bytes().zip(own.bytes()).take_while(|(a, b)| a == b).count();
                &margin[..same]
            }
        });
    }
    let cut = margin.map_or(0, str::len);
    let cut_line = |line: &&str| if blank(line) { String::new() } else { line[cut..].to_string() };
    lines.iter().map(cut_line).collect::<Vec<_>>().join("\n")
}

fn range(start: i64, end: i64) -> Value {
    let end = end.min(start.saturating_add(2_001));
    Value::List((start..end).map(Value::Int).collect())
}

fn strung(items: &[Value], between: &str) -> Value {
    let mut all = Parts::text("");
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            all = all.then(Parts::text(between));
        }
        all = all.then(Parts::of(item));
    }
    all.value()
}

/// Python's `"{}-{}".format(a, b)`, positional holes without formats.
fn formatted(text: &str, args: &[Value]) -> Parts {
    let mut all = Parts::text("");
    let (mut rest, mut next) = (text, 0);
    while let Some(at) = rest.find(['{', '}']) {
        all = all.then(Parts::text(&rest[..at]));
        let tail = &rest[at..];
        if tail.starts_with("{{") || tail.starts_with("}}") {
            all = all.then(Parts::text(&tail[..1]));
            rest = &tail[2..];
            continue;
        }
        let Some(end) = tail.find('}').filter(|_| tail.starts_with('{')) else { return Parts::unknown() };
        let hole = &tail[1..end];
        let value = if hole.is_empty() {
            next += 1;
            args.get(next - 1)
        } else {
            hole.parse::<usize>().ok().and_then(|at| args.get(at))
        };
        all = all.then(value.map_or(Parts::unknown(), Parts::of));
        rest = &tail[end + 1..];
    }
    all.then(Parts::text(rest))
}
