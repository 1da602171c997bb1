//! A Python value written in place of a literal, in that literal's style. Takes the file and the old
//! expression, gives edits of the file, imports included. What would not read back equal, or would lose a
//! comment, is refused. Never writes a file.

use super::{Constructor, Names, Py, Spelling, value};
use crate::code::python::strings::{self, Form, Part};
use crate::code::{Expr, ExprKind, Unit};
use crate::oracles::Refusal;
use crate::text::Span;

/// Longest line before a text is broken into one literal a line.
const LINE: usize = 88;

/// The edits that make `new` the value of the literal `old`, which stands in `unit`, and the literal as it
/// will stand. In the order of their places.
pub fn edits(unit: &Unit, old: &Expr, new: &Py) -> Result<(Vec<(Span, String)>, String), Refusal> {
    let mut needed = Vec::new();
    new.constructors(&mut needed);
    let mut names: Vec<(&'static Constructor, String)> = Vec::new();
    let mut imports: Vec<String> = Vec::new();
    for known in needed {
        if names.iter().any(|(named, _)| named.shown == known.shown) {
            continue;
        }
        let (name, import) = name_of(unit, known)?;
        names.push((known, name));
        if let Some(import) = import
            && !imports.contains(&import)
        {
            imports.push(import);
        }
    }
    let source = unit.text.as_str();
    let name = |known: &'static Constructor| {
        names.iter().find(|(named, _)| named.shown == known.shown).map_or(known.shown, |(_, name)| name).to_string()
    };
    let spelling =
        Spelling { quote: quote_of(unit, old), floats: all_floats(old), name: &name, width: LINE, by_key: false };
    let mut writer = Writer { unit, source, spelling: &spelling, edits: Vec::new() };
    writer.change(old, new)?;
    let mut edits = writer.edits;
    edits.sort_by_key(|(span, _)| *span);
    if edits.windows(2).any(|pair| pair[0].0.end > pair[1].0.start) {
        edits = vec![(old.span, new.spelled(&spelling, line_indent(source, old.span.start)))];
    }
    let shown = applied(source, old.span, &edits);
    check(unit, &shown, new, &names)?;
    for import in imports {
        edits.push(import_edit(unit, &import));
    }
    if source.contains("\r\n") {
        for (_, text) in &mut edits {
            *text = text.replace('\n', "\r\n");
        }
    }
    edits.sort_by_key(|(span, _)| *span);
    Ok((edits, shown))
}

/// The text of `span` with the edits inside it applied.
fn applied(source: &str, span: Span, edits: &[(Span, String)]) -> String {
    let mut out = String::new();
    let mut at = span.start;
    for (place, text) in edits {
        out.push_str(source.get(at..place.start).unwrap_or(""));
        out.push_str(text);
        at = place.end;
    }
    out.push_str(source.get(at..span.end).unwrap_or(""));
    out
}

/// Refuses a literal that does not read back as `new`.
fn check(unit: &Unit, shown: &str, new: &Py, names: &[(&'static Constructor, String)]) -> Result<(), Refusal> {
    let mut with_imports = unit.clone();
    for (known, name) in names {
        // The import that will stand there.
        if Names::Of(unit).constructor(name).is_none() {
            let first = name.split('.').next().unwrap_or(name);
            let path =
                if first == name { format!("{}.{}", known.module, known.name) } else { known.module.to_string() };
            with_imports.imports.push(crate::code::Import {
                local: first.to_string(),
                path,
                scope: Vec::new(),
                span: Span::default(),
            });
        }
    }
    let back = crate::code::python::expression(&format!("({shown}\n)"))
        .and_then(|expr| value(&expr, Names::Of(&with_imports)));
    match back {
        Some(back) if back.canonical() == new.canonical() => Ok(()),
        _ => Err(Refusal(
            "the observed value cannot be written as a Python literal that reads back equal; change the assertion by hand"
                .to_string(),
        )),
    }
}

/// The quote that the old literal uses, else the one that the file uses more.
fn quote_of(unit: &Unit, old: &Expr) -> char {
    let mut quote = None;
    old.walk(&mut |expr| {
        if quote.is_none()
            && matches!(expr.kind, ExprKind::Str(_) | ExprKind::Bytes(_))
            && let Some(form) = Form::of(unit.text.slice(expr.span))
        {
            quote = form.quote.chars().next();
        }
    });
    quote.unwrap_or_else(|| {
        let source = unit.text.as_str();
        let count = |quote: u8| source.bytes().filter(|b| *b == quote).count();
        if count(b'\'') > count(b'"') { '\'' } else { '"' }
    })
}

/// The old literal holds floats and no integers: numbers go on as floats.
fn all_floats(old: &Expr) -> bool {
    let (mut floats, mut ints) = (false, false);
    old.walk(&mut |expr| {
        floats |= matches!(expr.kind, ExprKind::Float(_));
        ints |= matches!(expr.kind, ExprKind::Int(_));
    });
    floats && !ints
}

fn line_indent(source: &str, at: usize) -> usize {
    let start = source.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |i| i + 1);
    source[start..].bytes().take_while(|b| *b == b' ').count()
}

fn column(source: &str, at: usize) -> usize {
    let start = source.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |i| i + 1);
    source.get(start..at).map_or(0, |before| before.chars().count())
}

struct Writer<'a> {
    unit: &'a Unit,
    source: &'a str,
    spelling: &'a Spelling<'a>,
    edits: Vec<(Span, String)>,
}

impl Writer<'_> {
    fn slice(&self, start: usize, end: usize) -> &str {
        self.source.get(start..end).unwrap_or("")
    }

    fn fresh(&self, new: &Py, at: usize) -> String {
        new.spelled(self.spelling, line_indent(self.source, at))
    }

    fn replace(&mut self, old: &Expr, new: &Py) -> Result<(), Refusal> {
        self.keep_comments(old.span)?;
        let text = self.fresh(new, old.span.start);
        self.edits.push((old.span, text));
        Ok(())
    }

    fn keep_comments(&self, gone: Span) -> Result<(), Refusal> {
        match self.unit.comments.iter().find(|comment| gone.contains(**comment)) {
            None => Ok(()),
            Some(comment) => Err(Refusal(format!(
                "{}:{}: the recorded value holds a comment that would be lost; change the value by hand",
                self.unit.path,
                self.unit.line(comment.start)
            ))),
        }
    }

    fn change(&mut self, old: &Expr, new: &Py) -> Result<(), Refusal> {
        let was = value(old, Names::Of(self.unit));
        if was.as_ref().is_some_and(|was| was.canonical() == new.canonical()) {
            return Ok(());
        }
        match (&old.kind, new) {
            (ExprKind::Str(_), Py::Str(text)) => self.text(old, text),
            (ExprKind::List(items), Py::List(new)) => self.items(old, items, new),
            (ExprKind::Tuple(items), Py::Tuple(new)) if items.len() > 1 && new.len() > 1 => self.items(old, items, new),
            (ExprKind::Dict(items), Py::Dict(new)) => self.pairs(old, items, new),
            _ => self.replace(old, new),
        }
    }

    /// A list or tuple: items that stay are left as they stand.
    fn items(&mut self, old: &Expr, items: &[Expr], new: &[Py]) -> Result<(), Refusal> {
        if items.is_empty() || new.is_empty() {
            return match old.kind {
                ExprKind::Tuple(_) => self.replace(old, &Py::Tuple(new.to_vec())),
                _ => self.replace(old, &Py::List(new.to_vec())),
            };
        }
        let spell = |value: Option<Py>| value.map(|value| value.canonical());
        let was: Vec<Option<String>> = items.iter().map(|item| spell(value(item, Names::Of(self.unit)))).collect();
        let now: Vec<Option<String>> = new.iter().map(|item| Some(item.canonical())).collect();
        let most = items.len().min(new.len());
        let before = was.iter().zip(&now).take(most).take_while(|(a, b)| a == b).count();
        let after = was.iter().rev().zip(now.iter().rev()).take(most - before).take_while(|(a, b)| a == b).count();
        let (old_end, new_end) = (items.len() - after, new.len() - after);
        let both = (old_end - before).min(new_end - before);
        for at in before..before + both {
            self.change(&items[at], &new[at])?;
        }
        let spans: Vec<Span> = items.iter().map(|item| item.span).collect();
        let added: Vec<String> =
            new[before + both..new_end].iter().map(|item| self.fresh(item, spans[0].start)).collect();
        self.splice(old.span, &spans, before + both..old_end, added)
    }

    fn pairs(&mut self, old: &Expr, items: &[(Expr, Expr)], new: &[(Py, Py)]) -> Result<(), Refusal> {
        let keys: Vec<Option<String>> =
            items.iter().map(|(key, _)| value(key, Names::Of(self.unit)).map(|key| key.canonical())).collect();
        let twice = keys.iter().enumerate().any(|(at, key)| keys[..at].contains(key));
        let find = |key: &Option<String>| new.iter().find(|(now, _)| Some(now.canonical()) == *key);
        let kept: Vec<bool> = keys.iter().map(|key| find(key).is_some()).collect();
        if twice || items.is_empty() || !kept.iter().any(|kept| *kept) {
            return self.replace(old, &Py::Dict(new.to_vec()));
        }
        for ((_, item), key) in items.iter().zip(&keys) {
            if let Some((_, now)) = find(key) {
                self.change(item, now)?;
            }
        }
        let spans: Vec<Span> = items.iter().map(|(key, item)| Span::new(key.span.start, item.span.end)).collect();
        let added: Vec<String> = new
            .iter()
            .filter(|(key, _)| !keys.contains(&Some(key.canonical())))
            .map(|(key, item)| format!("{}: {}", self.fresh(key, spans[0].start), self.fresh(item, spans[0].start)))
            .collect();
        // Removed runs before the last kept entry go with the comma behind them, the tail with the one before.
        let last = kept.iter().rposition(|kept| *kept).unwrap_or(0);
        for at in 0..last {
            if !kept[at] {
                let gone = Span::new(spans[at].start, spans[at + 1].start);
                self.keep_comments(gone)?;
                self.edits.push((gone, String::new()));
            }
        }
        self.splice(old.span, &spans, last + 1..spans.len(), added)
    }

    /// Takes the items `gone` out and puts `added` in their place.
    fn splice(
        &mut self,
        whole: Span,
        spans: &[Span],
        gone: std::ops::Range<usize>,
        added: Vec<String>,
    ) -> Result<(), Refusal> {
        if gone.is_empty() && added.is_empty() {
            return Ok(());
        }
        let own_line = |at: usize| {
            let before = self.slice(whole.start, spans[at].start);
            before.rfind('\n').is_some_and(|i| before[i..].trim().is_empty())
        };
        let separator = if own_line(0) {
            format!(",\n{}", " ".repeat(column(self.source, spans[0].start)))
        } else {
            ", ".to_string()
        };
        if gone.start > 0 {
            let from = spans[gone.start - 1].end;
            let to = if gone.is_empty() { from } else { spans[gone.end - 1].end };
            self.keep_comments(Span::new(from, to))?;
            let text: String = added.iter().map(|item| format!("{separator}{item}")).collect();
            self.edits.push((Span::new(from, to), text));
        } else {
            // At the front something stays behind it.
            let from = spans[0].start;
            let to = spans.get(gone.end).map_or(from, |next| next.start);
            self.keep_comments(Span::new(from, to))?;
            let text: String = added.iter().map(|item| format!("{item}{separator}")).collect();
            self.edits.push((Span::new(from, to), text));
        }
        Ok(())
    }

    fn text(&mut self, old: &Expr, new: &str) -> Result<(), Refusal> {
        let source = self.slice(old.span.start, old.span.end).to_string();
        let Some(parts) = strings::parts(&source) else {
            return self.replace(old, &Py::Str(new.to_string()));
        };
        let text = match parts.as_slice() {
            [only] if only.form.quote.len() == 3 => triple(only, new),
            [only] => self.single(only, new, old.span),
            parts if source.contains('\n') => self.line_by_line(old, &source, parts, new)?,
            [first, ..] => self.single(first, new, old.span),
            [] => return self.replace(old, &Py::Str(new.to_string())),
        };
        self.edits.push((old.span, text));
        Ok(())
    }

    /// A literal on one line; a text of several lines that makes the line too long is broken at its line ends.
    fn single(&self, old: &Part, new: &str, span: Span) -> String {
        let preferred = old.form.quote.chars().next().unwrap_or('"');
        if old.form.raw
            && let Some(raw) = raw_line(old, new)
        {
            return raw;
        }
        let unicode = if old.form.prefix.eq_ignore_ascii_case("u") { old.form.prefix } else { "" };
        let one = format!("{unicode}{}", strings::quoted(new, strings::best_quote(new, preferred)));
        let inner = new.trim_end_matches('\n').contains('\n');
        let after = self.source.get(span.end..).map_or(0, |rest| rest.find('\n').unwrap_or(rest.len()));
        if !inner || column(self.source, span.start) + one.chars().count() + after <= LINE {
            return one;
        }
        let indent = " ".repeat(line_indent(self.source, span.start));
        let lines: String = new
            .split_inclusive('\n')
            .map(|line| format!("{indent}    {}\n", strings::quoted(line, strings::best_quote(line, preferred))))
            .collect();
        format!("(\n{lines}{indent})")
    }

    /// Adjacent literals on lines of their own: those that stay are left as they stand.
    fn line_by_line(&self, old: &Expr, source: &str, parts: &[Part], new: &str) -> Result<String, Refusal> {
        let read = |part: &Part| strings::text(part.body, part.form.raw, false).unwrap_or_default();
        let preferred = parts[0].form.quote.chars().next().unwrap_or('"');
        if new.is_empty() {
            self.keep_comments(old.span)?;
            return Ok(format!("{preferred}{preferred}"));
        }
        let mut before = 0;
        let mut rest = new;
        while let Some(left) = parts.get(before).and_then(|part| rest.strip_prefix(read(part).as_str())) {
            // A part that ends in the middle of a line is kept only with the rest of its line.
            rest = left;
            before += 1;
        }
        let mut after = parts.len();
        while after > before {
            let part = read(&parts[after - 1]);
            match rest.strip_suffix(part.as_str()) {
                Some(left) if left.is_empty() || left.ends_with('\n') => {
                    rest = left;
                    after -= 1;
                }
                _ => break,
            }
        }
        let indent = parts.get(1).map_or(0, |second| column(self.source, old.span.start + second.range.start));
        let indent = " ".repeat(indent);
        let mut pieces: Vec<String> = Vec::new();
        // What stands behind a kept part (its comment) stays with it.
        let gone_from = parts.get(before).map_or(source.len(), |part| part.range.start);
        if before > 0 {
            pieces.push(source[..gone_from].trim_end().to_string());
        }
        pieces
            .extend(rest.split_inclusive('\n').map(|line| strings::quoted(line, strings::best_quote(line, preferred))));
        if after < parts.len() {
            pieces.push(source[parts[after].range.start..].to_string());
        }
        let gone_to = parts.get(after).map_or(source.len(), |part| part.range.start);
        self.keep_comments(Span::new(old.span.start + gone_from, old.span.start + gone_to))?;
        Ok(pieces.join(&format!("\n{indent}")))
    }
}

/// A raw literal of one line, where it can hold the text.
fn raw_line(old: &Part, new: &str) -> Option<String> {
    let quote = old.form.quote;
    let plain = !new.contains(quote) && !new.ends_with('\\') && !new.chars().any(strings::is_dangerous);
    plain.then(|| format!("{}{quote}{new}{quote}", old.form.prefix))
}

/// A triple-quoted literal, with the habits of the old one at its start and end.
fn triple(old: &Part, new: &str) -> String {
    let quote = old.form.quote;
    let mark = quote.chars().next().unwrap_or('"');
    let continued = |at: &str| !old.form.raw && (at == "\\\n" || at == "\\\r\n");
    let opens = old.body.find('\n').map_or("", |i| &old.body[..=i]);
    let closes = old.body.rfind('\\').map_or("", |i| &old.body[i..]);
    let odd = (old.body.len() - old.body.trim_end_matches(['\r', '\n']).trim_end_matches('\\').len()) > 0;
    let mut prefix = old.form.prefix;
    let mut body = String::with_capacity(new.len() + 8);
    let raw_holds = old.form.raw
        && !new.contains(quote)
        && !new.ends_with([mark, '\\'])
        && !new.chars().any(|c| c != '\n' && c != '\t' && strings::is_dangerous(c))
        && !new.lines().any(|line| line.ends_with([' ', '\t']));
    if raw_holds {
        return format!("{prefix}{quote}{new}{quote}");
    }
    if old.form.raw {
        prefix = "";
    }
    if continued(opens) && !new.is_empty() {
        body.push_str("\\\n");
    }
    let lines: Vec<&str> = new.split('\n').collect();
    for (i, line) in lines.iter().enumerate() {
        if i > 0 {
            body.push('\n');
        }
        let last_line = i + 1 == lines.len();
        let kept = line.trim_end_matches(' ');
        let mut run = 0;
        for (at, c) in line.char_indices() {
            run = if c == mark { run + 1 } else { 0 };
            let ends = last_line && at + c.len_utf8() == line.len();
            if c == '\\' || strings::is_dangerous(c) || (c == mark && (run % 3 == 0 || ends)) {
                body.push_str(&strings::escape(c));
            } else if c == ' ' && at + 1 == line.len() && kept.len() < line.len() && !last_line {
                // An editor would strip it.
                body.push_str("\\x20");
            } else {
                body.push(c);
            }
        }
    }
    if odd && continued(closes) && !new.ends_with('\n') && !new.is_empty() {
        body.push_str("\\\n");
    }
    format!("{prefix}{quote}{body}{quote}")
}

/// What a constructor is called in a file, and the import that this needs.
fn name_of(unit: &Unit, known: &'static Constructor) -> Result<(String, Option<String>), Refusal> {
    let whole = format!("{}.{}", known.module, known.name);
    let at_top = |import: &&crate::code::Import| import.scope.is_empty();
    let own = unit.imports.iter().filter(at_top);
    for import in own {
        if import.path == whole {
            return Ok((import.local.clone(), None));
        }
        if import.path == known.module {
            return Ok((format!("{}.{}", import.local, known.name), None));
        }
        if let Some(rest) = whole.strip_prefix(&import.path).and_then(|rest| rest.strip_prefix('.')) {
            return Ok((format!("{}.{rest}", import.local), None));
        }
    }
    let by_module = known.shown.starts_with(known.module);
    let local = if by_module { known.module } else { known.name };
    let taken = unit.imports.iter().any(|import| import.local == local)
        || unit.functions.iter().any(|f| f.name == local || f.params.iter().any(|param| param.name == local))
        || unit.scopes.iter().any(|scope| scope.name == local)
        || unit.globals.iter().any(|global| global.name == local);
    if taken {
        return Err(Refusal(format!(
            "{}: the new value needs {whole}, and `{local}` means something else in this file; import it by hand under another name",
            unit.path
        )));
    }
    if by_module {
        Ok((known.shown.to_string(), Some(format!("import {}", known.module))))
    } else {
        Ok((known.name.to_string(), Some(format!("from {} import {}", known.module, known.name))))
    }
}

/// Modules of the standard library that tests import most; a first block of imports that holds one is taken
/// as the block of the standard library.
const STANDARD: &[&str] = &[
    "abc",
    "argparse",
    "array",
    "ast",
    "asyncio",
    "base64",
    "bisect",
    "collections",
    "concurrent",
    "contextlib",
    "copy",
    "csv",
    "ctypes",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "enum",
    "filecmp",
    "fractions",
    "functools",
    "glob",
    "gzip",
    "hashlib",
    "heapq",
    "http",
    "importlib",
    "inspect",
    "io",
    "ipaddress",
    "itertools",
    "json",
    "locale",
    "logging",
    "math",
    "multiprocessing",
    "operator",
    "os",
    "pathlib",
    "pickle",
    "pkgutil",
    "platform",
    "pprint",
    "queue",
    "random",
    "re",
    "shutil",
    "signal",
    "socket",
    "sqlite3",
    "statistics",
    "string",
    "struct",
    "subprocess",
    "sys",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "tomllib",
    "traceback",
    "types",
    "typing",
    "unittest",
    "urllib",
    "uuid",
    "warnings",
    "weakref",
    "xml",
    "zipfile",
    "zlib",
    "zoneinfo",
];

/// Where an import line goes: among the standard library's imports in their order, as isort sorts them.
fn import_edit(unit: &Unit, line: &str) -> (Span, String) {
    let text = &unit.text;
    let mut statements: Vec<Span> = Vec::new();
    for import in unit.imports.iter().filter(|import| import.scope.is_empty()) {
        let line = text.line_span(text.line_of(import.span.start));
        if line.start == import.span.start && !statements.contains(&import.span) {
            statements.push(import.span);
        }
    }
    statements.sort();
    let next_line = |span: Span| text.line_start(text.line_of(span.end.saturating_sub(1)) + 1);
    let source = |span: Span| text.slice(span);
    statements.retain(|span| !source(*span).starts_with("from __future__"));
    let mut block: Vec<Span> = Vec::new();
    for span in &statements {
        let follows =
            block.last().is_none_or(|last| text.slice(Span::new(last.end, span.start)).matches('\n').count() <= 1);
        if !follows {
            break;
        }
        block.push(*span);
    }
    let module = |source: &str| source.split_whitespace().nth(1).unwrap_or("").to_string();
    let is_standard = |span: &Span| {
        let module = module(source(*span));
        STANDARD.contains(&module.split(['.', ',']).next().unwrap_or(""))
    };
    let key = |source: &str| (source.starts_with("from "), module(source));
    if block.iter().any(is_standard) {
        let before = block.iter().rfind(|span| is_standard(span) && key(source(**span)) <= key(line));
        let at = match (before, block.first()) {
            (Some(span), _) => next_line(*span),
            (None, Some(first)) => first.start,
            (None, None) => 0,
        };
        let lead = if at == text.len() && !text.as_str().ends_with('\n') { "\n" } else { "" };
        return (Span::new(at, at), format!("{lead}{line}\n"));
    }
    if let Some(first) = statements.first() {
        return (Span::new(first.start, first.start), format!("{line}\n\n"));
    }
    // No imports: after the docstring, or after the comments at the top.
    let future = unit.text.as_str().match_indices("from __future__").map(|(at, _)| at).next();
    let mut at = match (&unit.doc, future) {
        (_, Some(at)) => next_line(Span::new(at, at + 1)),
        (Some(doc), None) => next_line(doc.span),
        (None, None) => 0,
    };
    if at == 0 {
        let mut row = 0;
        while text.line(row).starts_with('#') {
            row += 1;
        }
        at = text.line_start(row);
    }
    let lead = if at == 0 { "" } else { "\n" };
    let rest = text.as_str().get(at..).unwrap_or("");
    let trail = if rest.starts_with('\n') || rest.starts_with("\r\n") { "" } else { "\n" };
    (Span::new(at, at), format!("{lead}{line}\n{trail}"))
}

#[cfg(test)]
mod tests;
