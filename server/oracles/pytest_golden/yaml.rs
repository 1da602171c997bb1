//! One key of a YAML file whose top level is a mapping: its value and where it stands, and the file with another
//! value, where ruamel.yaml 0.19 writes that in one way. Values resolve as YAML 1.2 does. Bounded in depth.

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use crate::oracles::literal_python::Py;

const DEEPEST: usize = 60;

pub struct Entry {
    pub value: Py,
    /// 1-based line of the value's first content.
    pub first_line: usize,
    /// Lines of the value, 0-based, end exclusive, and how a text of it is written.
    scalar: Option<(ScalarStyle, Span)>,
}

type Events<'a> = std::vec::IntoIter<(Event<'a>, Span)>;

/// The top-level keys with their 1-based lines; `None` where the file is not a mapping that is read.
pub fn keys(text: &str) -> Option<Vec<(String, usize)>> {
    let events: Result<Vec<_>, _> = Parser::new_from_str(text).collect();
    let mut events = events.ok()?.into_iter();
    while !matches!(events.next()?.0, Event::MappingStart(..)) {}
    let mut found = Vec::new();
    loop {
        match events.next()? {
            (Event::Scalar(name, ..), span) => found.push((name.into_owned(), span.start.line())),
            (Event::MappingEnd, _) => return Some(found),
            _ => return None,
        }
        value(&mut events, 0)?;
    }
}

/// The value of a top-level key; `None` when it has none. An error says what is wrong with the file.
pub fn entry(text: &str, key: &str) -> Result<Option<Entry>, String> {
    let mut events = Vec::new();
    for event in Parser::new_from_str(text) {
        match event {
            Ok(event) => events.push(event),
            Err(err) => return Err(format!("it is not YAML: {err}")),
        }
    }
    let mut events = events.into_iter();
    let strange = || "its top level is not a mapping of keys, as pytest-golden wants it".to_string();
    loop {
        match events.next() {
            Some((Event::StreamStart | Event::DocumentStart(_), _)) => {}
            Some((Event::MappingStart(..), _)) => break,
            Some((Event::StreamEnd, _)) | None => return Ok(None),
            Some(_) => return Err(strange()),
        }
    }
    loop {
        let name = match events.next() {
            Some((Event::MappingEnd, _)) | None => return Ok(None),
            Some((Event::Scalar(name, ..), _)) => name.into_owned(),
            Some(_) => return Err(strange()),
        };
        let first = events.as_slice().first().map(|(event, span)| (event.clone(), *span));
        let value = value(&mut events, 0);
        if name != key {
            if value.is_none() {
                return Err("it holds an alias, a tag or a value that is not read".to_string());
            }
            continue;
        }
        let (Some((event, span)), Some(value)) = (first, value) else {
            return Err(format!("the value of {key:?} is not read (an alias, a tag)"));
        };
        let block = matches!(event, Event::Scalar(_, ScalarStyle::Literal | ScalarStyle::Folded, ..));
        let first_line = if block { head(text, span.start.line()) + 2 } else { span.start.line() };
        let scalar = match event {
            Event::Scalar(_, style, ..) => Some((style, span)),
            _ => None,
        };
        return Ok(Some(Entry { value, first_line, scalar }));
    }
}

/// 0-based line of the `key: |` above the block that the parser places at that 1-based line.
fn head(text: &str, line: usize) -> usize {
    let lines: Vec<&str> = text.lines().take(line).collect();
    let opens = |line: &&str| !line.starts_with(' ') && line.contains(':') && line.contains(['|', '>']);
    lines.iter().rposition(opens).unwrap_or(0)
}

fn value(events: &mut Events, depth: usize) -> Option<Py> {
    if depth > DEEPEST {
        return None;
    }
    match events.next()?.0 {
        Event::Scalar(text, style, _, None) => Some(scalar(&text, style)),
        Event::SequenceStart(_, None) => {
            let mut items = Vec::new();
            while !matches!(events.as_slice().first()?.0, Event::SequenceEnd) {
                items.push(value(events, depth + 1)?);
            }
            events.next();
            Some(Py::List(items))
        }
        Event::MappingStart(_, None) => {
            let mut items = Vec::new();
            while !matches!(events.as_slice().first()?.0, Event::MappingEnd) {
                items.push((value(events, depth + 1)?, value(events, depth + 1)?));
            }
            events.next();
            Some(Py::Dict(items))
        }
        _ => None,
    }
}

fn scalar(text: &str, style: ScalarStyle) -> Py {
    if style != ScalarStyle::Plain {
        return Py::Str(text.to_string());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Py::None,
        "true" | "True" | "TRUE" => return Py::Bool(true),
        "false" | "False" | "FALSE" => return Py::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" => return Py::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Py::Float(f64::NEG_INFINITY),
        _ => {}
    }
    if is_whole(text) {
        let digits = text.trim_start_matches('+');
        let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("-", digits));
        let digits = digits.trim_start_matches('0');
        return Py::Int(if digits.is_empty() { "0".to_string() } else { format!("{sign}{digits}") });
    }
    if is_number(text)
        && let Ok(number) = text.parse::<f64>()
    {
        let whole = number.fract() == 0.0 && number.abs() < 1e15;
        return if whole { Py::Int(format!("{number:.0}")) } else { Py::Float(number) };
    }
    Py::Str(text.to_string())
}

fn is_whole(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.bytes().any(|byte| byte.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'))
}

/// The file with another value of the key: a whole number for one, a text of lines for one in a block of its own,
/// a short text for one on its line. `None` where the layout is not certain.
pub fn replaced(text: &str, key: &str, value: &Py) -> Option<String> {
    let found = entry(text, key).ok()??;
    let (style, span) = found.scalar?;
    if text.contains('\r') || text.contains('\t') {
        return None;
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = match style {
        ScalarStyle::Literal => head(text, span.start.line()),
        _ => span.start.line().checked_sub(1)?,
    };
    let (before, after) = match style {
        ScalarStyle::Literal => {
            let Py::Str(new) = value else { return None };
            let plain = new.ends_with('\n') && !new.ends_with("\n\n") && !new.starts_with([' ', '\n']);
            let written = new.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{feff}');
            if !plain || !written || !lines.get(at)?.trim_end().ends_with(": |") {
                return None;
            }
            let mut end = at + 1;
            while lines.get(end).is_some_and(|line| line.trim().is_empty() || line.starts_with(' ')) {
                end += 1;
            }
            let indent = lines.get(at + 1).map(|line| line.len() - line.trim_start_matches(' ').len())?;
            let blanks = " ".repeat(indent);
            let body: String = new
                .split_inclusive('\n')
                .map(|line| if line == "\n" { line.to_string() } else { format!("{blanks}{line}") })
                .collect();
            (lines.get(..=at)?.concat(), format!("{body}{}", lines.get(end..)?.concat()))
        }
        ScalarStyle::Plain | ScalarStyle::SingleQuoted if span.start.line() == span.end.line() => {
            let line = lines.get(at)?;
            let cut = |column: usize| line.char_indices().map(|(at, _)| at).chain([line.len()]).nth(column);
            let (start, end) = (cut(span.start.col())?, cut(span.end.col())?);
            let end = start + line.get(start..end)?.trim_end().len();
            let new = match (value, style) {
                (Py::Int(digits), ScalarStyle::Plain) if is_whole(line.get(start..end)?) => digits.clone(),
                (Py::Str(new), _) if matches!(found.value, Py::Str(_)) => short(new)?,
                _ => return None,
            };
            (
                format!("{}{}{new}", lines.get(..at)?.concat(), line.get(..start)?),
                format!("{}{}", line.get(end..)?, lines.get(at + 1..)?.concat()),
            )
        }
        _ => return None,
    };
    Some(before + &after)
}

/// A text on one line: plain where nothing else could be meant, quoted where it looks like a number.
fn short(text: &str) -> Option<String> {
    const WORDS: &[&str] = &["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'_' | b'.' | b'/'))
        && !WORDS.contains(&text.to_ascii_lowercase().as_str());
    let number = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && is_number(text);
    match text.len() < 40 {
        true if plain => Some(text.to_string()),
        true if number && text.matches('.').count() <= 1 && !text.ends_with('.') && !text.starts_with('.') => {
            Some(format!("'{text}'"))
        }
        _ => None,
    }
}
