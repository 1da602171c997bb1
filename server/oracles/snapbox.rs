//! snapbox 0.5 to 1.2: `str![…]`, `file![…]` and `Data::read_from`. Takes a site, gives the literal or the file;
//! reads both as 1.2 compares them; knows the bytes that `SNAPSHOTS=overwrite` writes for a value that snapbox
//! has normalised (an observed value is that), line endings of the source kept. Nothing is left on disk by a
//! failing run. Never compares, never writes.

mod format;
mod literal;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use self::format::Format;
use super::expect_test::literal::{Argument, gap};
use super::golden::{self, unread};
use super::insta::around::Around;
use super::insta::{blank_pin, call};
use super::origin::{comes_from, source_folder};
use super::{
    Amended, Artefact, Baseline, Content, FileChange, Framework, OracleKind, Orphan, Pin, Recorded, Refusal, Step,
    digest_of, reading, seen,
};
use crate::code::rust::tokens::{Kind, tokens};
use crate::code::{self, Expr, ExprKind, Function, StmtKind, Target, Unit};
use crate::evaluate::{self, Value, World, worlds};
use crate::pins::macros::last;
use crate::pins::{Project, Site};
use crate::shelf::Read;
use crate::text::Span;

pub struct Snapbox;

const CRATE: &str = "snapbox";

impl Framework for Snapbox {
    fn id(&self) -> &'static str {
        "snapbox"
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        let Some(unit) = project.unit(&site.comparing().file) else { return Vec::new() };
        if site.found.property("pin.form") == Some("read") {
            return read_from(project, site, unit);
        }
        let Some((_, expr)) = call::asserted(project, site) else { return Vec::new() };
        let ExprKind::Macro { name, tokens, .. } = &expr.kind else { return Vec::new() };
        if !comes_from(project, unit, name, expr.span, CRATE) || is_actual(project, site) {
            return Vec::new();
        }
        let Some(mut pin) = blank_pin(project, site) else { return Vec::new() };
        pin.framework = self.id().to_string();
        let methods = site_function(project, site).map(|it| format::methods(it, expr.span)).unwrap_or_default();
        match site.found.property("pin.form") {
            Some("file") => named_files(project, site, unit, *tokens, pin, &methods),
            _ => {
                inline(site, unit, *tokens, &mut pin, &methods);
                vec![pin]
            }
        }
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        if pin.oracle.kind != OracleKind::Inline {
            return golden::baseline(pin, project);
        }
        let Some((unit, span)) = pin.source(project) else { return Baseline::Missing };
        let text = unit.text.as_str();
        let value = Argument::of(text, span).and_then(|argument| Some((argument, argument.value(text)?)));
        let Some((argument, value)) = value else {
            return Baseline::Unreadable(format!(
                "the value at {}:{} is not a plain string literal; pindrift can only point at it",
                unit.path,
                unit.line(pin.span.start)
            ));
        };
        let content = match reading::content(literal::content(&value).as_bytes(), &pin.oracle.steps) {
            Ok(content) => content,
            Err(why) => return Baseline::Unreadable(format!("{}:{}: {why}", unit.path, unit.line(span.start))),
        };
        let below = usize::from(value.starts_with('\n'));
        Baseline::Present(Recorded {
            first_line: match content {
                Content::Text(_) => argument.literal.map_or(0, |literal| unit.line(literal.start) + below),
                _ => 0,
            },
            content,
            file_digest: digest_of(&[text.as_bytes()]),
            preimage: None,
        })
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        artefact: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        let json = pin.oracle.steps.contains(&Step::Json);
        let text = match observed {
            Content::Text(text) if !json => literal::lines(text),
            Content::Text(text) | Content::Value(text) if json => pretty(pin, text, project)?,
            Content::Bytes(_) if pin.oracle.kind == OracleKind::File => {
                return golden::amend(pin, observed, artefact, project);
            }
            _ => {
                return Err(Refusal(format!(
                    "what was observed for {} is of another kind than its snapshot; run the test again",
                    pin.test
                )));
            }
        };
        match pin.oracle.kind {
            OracleKind::Inline => amend_inline(pin, &text, project),
            _ => amend_file(pin, &text, project),
        }
    }

    fn orphans(&self, pins: &[Pin], project: &Project) -> Vec<Orphan> {
        unread::beside(pins, project, self.id())
    }
}

fn site_function<'a>(project: &'a Project, site: &Site) -> Option<&'a Function> {
    let frame = site.comparing();
    project.unit(&frame.file)?.functions.get(frame.function?)
}

/// The `assert_data_eq!` around a place of a function.
fn assertion_around(function: &Function, at: Span) -> Option<&Expr> {
    let mut found = None;
    function.body.iter().filter(|stmt| stmt.span.contains(at)).for_each(|stmt| {
        stmt.walk(&mut |expr| {
            if let ExprKind::Macro { name, .. } = &expr.kind
                && last(name) == "assert_data_eq"
                && expr.span.contains(at)
            {
                found = Some(expr);
            }
        });
    });
    found
}

/// The value stands on the side of what the code gives.
fn is_actual(project: &Project, site: &Site) -> bool {
    let at = site.comparing().at;
    let around = site_function(project, site).and_then(|function| assertion_around(function, at));
    around.is_some_and(|around| match &around.kind {
        ExprKind::Macro { args, .. } => args.first().is_some_and(|arg| arg.value.span.contains(at)),
        _ => false,
    })
}

fn set_form(pin: &mut Pin, form: Option<Format>) {
    pin.oracle.steps = match form {
        Some(Format::Json) => vec![Step::Json],
        Some(Format::Binary) => vec![Step::Bytes],
        _ => vec![Step::UniversalNewlines],
    };
    pin.oracle.shown_only = match form {
        Some(Format::Other) => Some(
            "snapbox keeps this value in another form than it compares it in; let SNAPSHOTS=overwrite write it, then \
             explain the change"
                .to_string(),
        ),
        None => Some(
            "whether snapbox compares this file as a text hangs on its features, which the manifests here do not say; \
             name the type (`file![\"…\": Json]`), then accept"
                .to_string(),
        ),
        _ => None,
    };
}

fn inline(site: &Site, unit: &Unit, tokens: Span, pin: &mut Pin, methods: &[(String, Option<String>)]) {
    set_form(pin, Some(format::by_methods(methods).unwrap_or(Format::Text)));
    if pin.oracle.steps == [Step::UniversalNewlines] {
        pin.oracle.steps.clear();
    }
    pin.oracle.kind = OracleKind::Inline;
    pin.oracle.path = Some(unit.path.clone());
    pin.oracle.span = Some(tokens);
    let text = unit.text.as_str();
    let between = unit.text.slice(Span::new(site.comparing().at.start, tokens.start));
    let why = if site.comparing().is_macro {
        "this `str!` is written by a macro, and snapbox finds only the place of that macro's call; change the literal \
         by hand"
    } else if between.contains('\n') || gap(text, tokens).contains('\n') {
        "snapbox finds its literal only where it begins on the line of `str!`; put it there, then accept"
    } else if unit.text.slice(tokens).starts_with('[')
        && Argument::of(text, tokens).is_some_and(|argument| argument.literal.is_none())
    {
        "snapbox cannot fill `str![[]]`; write `str![]`, then accept"
    } else {
        return;
    };
    pin.oracle.shown_only = Some(why.to_string());
}

/// `file!["path"]`, `file!["path": Type]`, `file![_]`, `file![_: Type]`.
fn named_files(
    project: &Project,
    site: &Site,
    unit: &Unit,
    inner: Span,
    mut pin: Pin,
    methods: &[(String, Option<String>)],
) -> Vec<Pin> {
    let parts = tokens(unit.text.as_str(), inner);
    let word = |nth: usize| parts.get(nth).map(|token| unit.text.slice(token.span)).unwrap_or_default();
    let colon = parts.iter().position(|token| token.kind == Kind::Punct(b':'));
    let given = colon.map(|colon| Format::named(word(colon + 1)));
    let home = call::home(site);
    if site.frames.len() == 1
        && let Some(around) = site_function(project, site).and_then(|it| assertion_around(it, site.comparing().at))
    {
        pin.span = around.span;
    }
    let said = format::by_methods(methods).or(given);
    if word(0) == "_" {
        set_form(&mut pin, Some(said.unwrap_or(Format::Text)));
        let ending = given.unwrap_or(Format::Text).ending().unwrap_or("jsonl");
        return by_function(project, site, home, ending, pin).into_iter().collect();
    }
    let Some(folder) = source_folder(project, &site.frames[home].file) else { return Vec::new() };
    let path = match word(0) {
        "$" => Expr::new(inner, ExprKind::Name(format!("${}", word(1)))),
        _ => {
            let last = parts.get(colon.unwrap_or(parts.len()).saturating_sub(1));
            let end = last.map_or(inner.end, |token| token.span.end);
            crate::code::rust::expression(&unit.text, Span::new(inner.start, end))
        }
    };
    in_worlds(project, site, &pin, &path, said, |_, value| match value {
        value @ (Value::Path(_) | Value::Paths(_) | Value::Unknown) => value,
        value => evaluate::below(folder.as_str(), &value, ""),
    })
}

/// One pin for each case in which a path has a value.
fn in_worlds(
    project: &Project,
    site: &Site,
    blank: &Pin,
    path: &Expr,
    said: Option<Format>,
    place: impl Fn(&World, Value) -> Value,
) -> Vec<Pin> {
    let worlds = worlds(project, site);
    let (frame, path) = call::filled(site, site.frames.len() - 1, path);
    let mut pins: Vec<Pin> = Vec::new();
    let mut met = HashSet::new();
    for world in &worlds {
        let value = place(world, world.value(project, site, frame, path));
        let mut pin = blank.clone();
        seen::with_case(project, site, &mut pin, world);
        let name = match &value {
            Value::Path(path) => path.name().to_string(),
            Value::Paths(parts) => parts.last().cloned().flatten().unwrap_or_default(),
            _ => String::new(),
        };
        set_form(&mut pin, said.or_else(|| format::by_name(project, &site.comparing().file, &name)));
        pin.oracle.candidates = evaluate::candidates(project, &value);
        if let Value::Path(path) = value {
            pin.oracle.path = Some(path);
        }
        if met.insert((pin.case.clone(), pin.oracle.path.clone(), pin.oracle.candidates.clone())) {
            pins.push(pin);
        }
    }
    let shared = pins.len() > 1;
    pins.iter_mut().for_each(|pin| pin.shared_site = shared);
    pins
}

/// `tests/snapshots/<crate, modules and function joined by __>[@N].<ending>` in the package.
fn by_function(project: &Project, site: &Site, home: usize, ending: &str, mut pin: Pin) -> Option<Pin> {
    let frame = &site.frames[home];
    let unit = project.unit(&frame.file)?;
    let function = unit.functions.get(frame.function?)?;
    let modules = project.crates.modules(&project.shelf, &frame.file);
    let module = modules.first()?;
    let parts = std::iter::once(&module.crate_name).chain(&module.path).chain(&function.path).chain([&function.name]);
    let stem = parts.map(String::as_str).collect::<Vec<_>>().join("__");
    let folder = project.crates.package_of(&frame.file)?.dir.join("tests/snapshots")?;
    let mut before = 0;
    let mut sure = site.frames[..home].iter().all(|frame| frame.is_macro) && worlds(project, site).len() == 1;
    function.body.iter().for_each(|stmt| {
        stmt.walk(&mut |expr| {
            let ExprKind::Macro { name, tokens, .. } = &expr.kind else { return };
            let own = home + 1 < site.frames.len();
            let unnamed = last(name) == "file" && unit.text.slice(*tokens).trim_start().starts_with('_');
            if !own && !unnamed {
                return;
            }
            if expr.span.start <= frame.at.start {
                let around = Around::within(function, home, expr.span);
                sure &= around.loops.is_empty() && around.branches.is_empty() && !own;
                before += usize::from(expr.span != frame.at && !expr.span.contains(frame.at));
            }
        });
    });
    if sure {
        let count = if before > 0 { format!("@{before}") } else { String::new() };
        pin.oracle.path = folder.join(&format!("{stem}{count}.{ending}"));
    } else {
        let parts = vec![Some(format!("{folder}/{stem}")), None, Some(format!(".{ending}"))];
        pin.oracle.candidates = evaluate::candidates(project, &Value::Paths(parts));
    }
    Some(pin)
}

/// `Data::read_from(path, …)` that is handed to a comparison.
fn read_from(project: &Project, site: &Site, unit: &Unit) -> Vec<Pin> {
    let at = site.comparing().at;
    let Some(function) = site_function(project, site) else { return Vec::new() };
    let mut call: Option<&Expr> = None;
    let mut bound: Option<&str> = None;
    code::each(&function.body, &mut |stmt| {
        if let StmtKind::Bind { target: Target::Name(name, _), value } = &stmt.kind
            && value.span.contains(at)
        {
            bound = Some(name);
        }
    });
    let mut compared = false;
    function.body.iter().for_each(|stmt| {
        stmt.walk(&mut |expr| {
            if expr.span == at {
                call.get_or_insert(expr);
            }
            let args = match &expr.kind {
                ExprKind::Call { callee, args } => match &callee.kind {
                    ExprKind::Attr(_, name) if COMPARING.contains(&name.as_str()) => args,
                    _ => return,
                },
                ExprKind::Macro { name, args, .. } if last(name) == "assert_data_eq" => args,
                _ => return,
            };
            let expected = if args.len() > 1 { &args[1..] } else { args.as_slice() };
            compared |= expected.iter().any(|arg| {
                let mut here = arg.value.span.contains(at);
                arg.value.walk(&mut |inner| {
                    here |= matches!(&inner.kind, ExprKind::Name(name) if Some(name.as_str()) == bound)
                });
                here
            });
        });
    });
    let Some(Expr { kind: ExprKind::Call { callee, args }, .. }) = call else { return Vec::new() };
    let Some(owner) = callee.dotted().and_then(|name| Some(name.rsplit_once('.')?.0.to_string())) else {
        return Vec::new();
    };
    if !compared || !owner.ends_with("Data") || !comes_from(project, unit, &owner, at, CRATE) {
        return Vec::new();
    }
    let (Some(path), Some(mut pin)) = (args.first(), blank_pin(project, site)) else { return Vec::new() };
    pin.framework = Snapbox.id().to_string();
    let mut said = format::by_methods(&format::methods(function, at));
    if let Some(arg) = args.get(1) {
        let mut named = None;
        arg.value.walk(&mut |expr| {
            if let ExprKind::Attr(base, name) = &expr.kind
                && base.dotted().is_some_and(|base| base.ends_with("DataFormat"))
            {
                named = Some(Format::named(name));
            }
        });
        said = said.or(named);
    }
    let last = site.frames.len() - 1;
    in_worlds(project, site, &pin, &path.value, said, |world, value| world.file(project, site, last, value))
}

/// Methods of snapbox that hold a value against an expected one.
const COMPARING: [&str; 7] = ["eq", "eq_", "stdout_eq", "stderr_eq", "stdout_eq_", "stderr_eq_", "stdout_matches"];

/// JSON as snapbox writes it: two blanks an indentation, no final newline. Keys in their order where the
/// recorded ones are in one of their own (serde_json's `preserve_order`), else sorted.
fn pretty(pin: &Pin, observed: &str, project: &Project) -> Result<String, Refusal> {
    let refused = |why: String| Refusal(format!("what was observed for {} {why}", pin.test));
    let mut value: serde_json::Value =
        serde_json::from_str(observed).map_err(|err| refused(format!("is not JSON ({err}); run the test again")))?;
    let recorded = match pin.oracle.kind {
        OracleKind::Inline => pin
            .source(project)
            .and_then(|(unit, span)| Argument::of(unit.text.as_str(), span)?.value(unit.text.as_str())),
        _ => pin.oracle.path.as_ref().and_then(|path| project.shelf.text(path)).map(|text| text.as_str().to_string()),
    };
    let recorded = recorded.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    if recorded.as_ref().is_none_or(sorted) {
        value.sort_all_objects();
    }
    serde_json::to_string_pretty(&value).map_err(|err| refused(format!("cannot be written as JSON ({err})")))
}

/// Every object has its keys in order.
fn sorted(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Object(map) => {
            map.keys().zip(map.keys().skip(1)).all(|(a, b)| a <= b) && map.values().all(sorted)
        }
        serde_json::Value::Array(items) => items.iter().all(sorted),
        _ => true,
    }
}

fn amend_inline(pin: &Pin, text: &str, project: &Project) -> Result<Amended, Refusal> {
    let gone = || Refusal(format!("the value of {} is gone from {}; look again", pin.test, pin.file));
    let (unit, span) = pin.source(project).ok_or_else(gone)?;
    let all = unit.text.as_str();
    let argument = Argument::of(all, span).ok_or_else(gone)?;
    let new = literal::patch(text)?;
    let written = if all.contains("\r\n") { new.replace('\n', "\r\n") } else { new.clone() };
    let after = unit.text.replaced(argument.range, &written).ok_or_else(gone)?;
    Ok(Amended {
        oracle: vec![FileChange {
            path: unit.path.clone(),
            before: Some(digest_of(&[all.as_bytes()])),
            after: Some(after.as_str().as_bytes().to_vec()),
            edits: vec![(argument.range, written)],
        }],
        artefacts: Vec::new(),
        shown_after: Some(new),
    })
}

/// The text as it is; line ends that snapbox does not see stay those of the file.
fn amend_file(pin: &Pin, text: &str, project: &Project) -> Result<Amended, Refusal> {
    let Some(path) = &pin.oracle.path else {
        return Err(Refusal(
            "Which file holds the recorded value is known only up to a pattern; nothing was written.".into(),
        ));
    };
    let old = match project.shelf.disk(path) {
        Read::Bytes(bytes) => Some(bytes),
        Read::Missing => None,
        Read::Refused(why) => return Err(Refusal(format!("{why}; nothing was written."))),
    };
    let steps = [Step::UniversalNewlines];
    let after = reading::bytes(&Content::Text(text.to_string()), &steps, old.as_deref())?;
    Ok(Amended {
        oracle: vec![FileChange {
            path: path.clone(),
            before: old.as_deref().map(|old| digest_of(&[old])),
            after: Some(after),
            edits: Vec::new(),
        }],
        artefacts: Vec::new(),
        shown_after: None,
    })
}
