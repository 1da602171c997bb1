//! What a call of approvaltests (20.0.1) says of its file: extension, parts, namers. Takes the call's options as they
//! stand, through locals and helpers, gives [`Options`]; what is not followed is open in them. Never looks for a file.

use super::super::plain_python::{Local, local};
use crate::code::python::numbers;
use crate::code::{Arg, Expr, ExprKind, Function, Unit};
use crate::evaluate::{Value, World};
use crate::pins::names;
use crate::pins::{Project, Site};

/// Longest chain of options and names.
const DEEPEST: usize = 20;

/// Options as far as they say where the approved file is.
#[derive(Debug, Clone, Default)]
pub struct Options {
    pub extension: Option<String>,
    /// Parts after the test's name; `None` for one that is not known.
    pub parts: Vec<Option<String>>,
    pub inline: bool,
    pub comparator: bool,
    /// The value or its file decides on the extension.
    pub open_extension: bool,
    /// A reporter that makes what was received the approved file.
    pub automatic: bool,
    /// A namer that is not understood: the file can be anywhere.
    pub elsewhere: bool,
    /// The path by a template, or by pytest's own name of the test.
    pub named: Option<Named>,
    /// On a build server another part comes behind the name.
    pub on_servers: bool,
}

/// A namer that makes the whole path.
#[derive(Debug, Clone)]
pub enum Named {
    /// `TemplatedCustomNamer`: its template.
    Template(String),
    /// `PyTestNamer`: `<module>.<name of the test>`.
    Pytest,
}

/// Reads options where they stand, in one world of a site.
pub struct Reader<'a> {
    pub project: &'a Project,
    pub site: &'a Site,
    pub world: &'a World,
}

impl<'a> Reader<'a> {
    fn unit(&self, frame: usize) -> Option<&'a Unit> {
        self.project.unit(&self.site.frames.get(frame)?.file)
    }

    fn function(&self, frame: usize) -> Option<&'a Function> {
        self.site.frames.get(frame)?.function.and_then(|index| self.unit(frame)?.functions.get(index))
    }

    /// An argument as text, as `str()` gives it.
    fn text(&self, frame: usize, expr: &Expr) -> Option<String> {
        match self.world.value(self.project, self.site, frame, expr) {
            Value::Str(text) => Some(text),
            Value::Int(number) => Some(number.to_string()),
            Value::Float(text) => numbers::float_repr(&text),
            Value::Bool(yes) => Some(if yes { "True" } else { "False" }.to_string()),
            Value::None => Some("None".to_string()),
            _ => None,
        }
    }

    pub fn read(&self, frame: usize, expr: &Expr, options: &mut Options, depth: usize) {
        if depth > DEEPEST {
            options.elsewhere = true;
            return;
        }
        match &expr.kind {
            ExprKind::None => {}
            ExprKind::Name(name) => match self.followed(frame, name) {
                Some((frame, expr)) => self.read(frame, &expr, options, depth + 1),
                None => options.elsewhere = true,
            },
            ExprKind::Call { callee, args } => self.call(frame, callee, args, options, depth),
            _ => options.elsewhere = true,
        }
    }

    fn call(&self, frame: usize, callee: &Expr, args: &[Arg], options: &mut Options, depth: usize) {
        let plain: Vec<&Expr> = args.iter().filter(|arg| !arg.spread).map(|arg| &arg.value).collect();
        let name = match &callee.kind {
            ExprKind::Name(name) => {
                options.elsewhere |= name != "Options" || !args.is_empty();
                return;
            }
            ExprKind::Attr(_, name) => name.as_str(),
            _ => {
                options.elsewhere = true;
                return;
            }
        };
        let ExprKind::Attr(base, _) = &callee.kind else { return };
        match (name, plain.as_slice()) {
            ("Options", []) => {}
            ("with_parameters", _) if base.dotted().is_some_and(|base| base.ends_with("NamerFactory")) => {
                self.parts(frame, args, options);
            }
            ("as_ci_specific_test", []) if base.dotted().is_some_and(|base| base.ends_with("NamerFactory")) => {
                options.on_servers = true;
            }
            ("with_extension", [extension, ..]) => {
                if let ExprKind::Attr(base, _) = &base.kind {
                    self.read(frame, base, options, depth + 1);
                }
                options.extension = self.text(frame, extension);
                options.elsewhere |= options.extension.is_none();
            }
            ("with_scrubber" | "add_scrubber" | "with_reporter" | "add_reporter", given) => {
                self.read(frame, base, options, depth + 1);
                options.automatic |= given.iter().any(|given| match &given.kind {
                    ExprKind::Call { callee, .. } => {
                        callee.dotted().is_some_and(|name| name.ends_with("ReporterThatAutomaticallyApproves"))
                    }
                    _ => false,
                });
            }
            ("with_comparator", _) => {
                self.read(frame, base, options, depth + 1);
                options.comparator = true;
            }
            ("inline", _) => {
                self.read(frame, base, options, depth + 1);
                options.inline = true;
            }
            ("with_namer", [namer]) => {
                self.read(frame, base, options, depth + 1);
                self.namer(frame, namer, options, depth + 1);
            }
            _ => options.elsewhere = true,
        }
    }

    fn parts(&self, frame: usize, args: &[Arg], options: &mut Options) {
        for arg in args {
            if arg.spread || arg.name.is_some() {
                options.elsewhere = true;
            } else {
                options.parts.push(self.text(frame, &arg.value));
            }
        }
    }

    pub fn namer(&self, frame: usize, namer: &Expr, options: &mut Options, depth: usize) {
        if let ExprKind::Name(name) = &namer.kind
            && depth <= DEEPEST
            && let Some((frame, namer)) = self.followed(frame, name).or_else(|| self.unchanged(frame, namer, name))
        {
            return self.namer(frame, &namer, options, depth + 1);
        }
        let ExprKind::Call { callee, args } = &namer.kind else {
            options.elsewhere = true;
            return;
        };
        let name = callee.dotted().unwrap_or_default();
        match (name.rsplit('.').next().unwrap_or(""), args.as_slice()) {
            ("get_scenario_namer", _) => self.parts(frame, args, options),
            ("ScenarioNamer", [_, rest @ ..]) => self.parts(frame, rest, options),
            ("get_default_namer" | "StackFrameNamer", []) => {}
            ("TemplatedCustomNamer", [template]) => match self.text(frame, &template.value) {
                Some(template) => options.named = Some(Named::Template(template)),
                None => options.elsewhere = true,
            },
            ("PyTestNamer", [_]) => options.named = Some(Named::Pytest),
            ("get_default_namer", [extension]) if options.extension.is_none() => {
                options.extension = self.text(frame, &extension.value);
                options.elsewhere |= options.extension.is_none();
            }
            _ => options.elsewhere = true,
        }
    }

    /// What a local namer is, where it is handed on and asked for its names, and nothing sets a part of it.
    fn unchanged(&self, frame: usize, namer: &Expr, name: &str) -> Option<(usize, Expr)> {
        let (unit, function) = (self.unit(frame)?, self.function(frame)?);
        let part = format!("{name}.");
        let sets = |line: &str| {
            let line = line.trim_start();
            line.starts_with(&part) && line.contains('=') && !line.contains('(')
        };
        let source = unit.text.slice(function.span);
        if source.contains("set_extension") || source.lines().any(sets) {
            return None;
        }
        let (bound, frame) = self.world.binding(self.project, self.site, frame, namer, name)?;
        matches!(bound.kind, ExprKind::Call { .. }).then(|| (frame, bound.clone()))
    }

    /// A `StringWriter` with no extension of its own.
    pub fn writes_text(&self, frame: usize, writer: &Expr) -> bool {
        let bound = match &writer.kind {
            ExprKind::Name(name) => self.world.binding(self.project, self.site, frame, writer, name),
            _ => None,
        };
        match &bound.map_or(writer, |(bound, _)| bound).kind {
            ExprKind::Call { callee, args } => {
                args.len() == 1 && callee.dotted().is_some_and(|name| name.ends_with("StringWriter"))
            }
            _ => false,
        }
    }

    /// What a name stands for: a local, an argument of the helper, a constant.
    fn followed(&self, frame: usize, name: &str) -> Option<(usize, Expr)> {
        let at = self.site.frames.get(frame)?;
        if let Some((_, bound)) = self.world.bound.get(frame)?.iter().rfind(|(bound, _)| bound == name) {
            return Some((frame, bound.clone()));
        }
        if let Some(given) = at.given.get(name) {
            return Some((frame.checked_sub(1)?, given.clone()));
        }
        let unit = self.unit(frame)?;
        let function = self.function(frame);
        if let Some(function) = function {
            if let Some(param) = function.params.iter().find(|param| param.name == name) {
                return param.default.clone().filter(|_| frame > 0).map(|default| (frame, default));
            }
            match local(function, name, at.at) {
                Local::Bound(value) => return Some((frame, value.clone())),
                Local::Unclear => return None,
                Local::None => {}
            }
        }
        match names::find(self.project, unit, &names::scope_of(function), name)? {
            names::Named::Constant(_, binding) => Some((frame, binding.value.clone())),
            _ => None,
        }
    }
}

/// Extension that a function of the family sets by itself.
pub fn own_extension(reader: &Reader, last: usize, name: &str, args: &[Arg], options: &mut Options) {
    let plain: Vec<&Expr> = args.iter().filter(|arg| arg.name.is_none() && !arg.spread).map(|arg| &arg.value).collect();
    let named = |name: &str| args.iter().find(|arg| arg.name.as_deref() == Some(name)).map(|arg| &arg.value);
    match name {
        "verify_as_json" => options.extension = Some(".json".to_string()),
        "verify_xml" => options.extension = Some(".xml".to_string()),
        "verify_html" => options.extension = Some(".html".to_string()),
        "verify_binary" => {
            let given = plain.get(1).copied().or_else(|| named("file_extension_with_dot"));
            options.extension = given.and_then(|given| reader.text(last, given));
            options.elsewhere |= options.extension.is_none();
        }
        "verify_file" if options.extension.is_none() => {
            let file =
                plain.first().and_then(|file| match reader.world.value(reader.project, reader.site, last, file) {
                    Value::Str(text) => Some(text),
                    Value::Path(path) => Some(path.to_string()),
                    _ => None,
                });
            match file.as_deref().map(|file| file.rsplit('/').next().unwrap_or(file)) {
                Some(name) => {
                    options.extension = name.rfind('.').filter(|at| *at > 0).map(|at| name[at..].to_string());
                    options.open_extension = options.extension.is_none();
                }
                None => options.open_extension = true,
            }
        }
        _ => {}
    }
}
