//! An amendment as TOML text: fields in one order, strings as basic strings of printable characters, so
//! that whatever was typed or observed stands in one line and reads back equal.

use toml::{Table, Value};

use super::{Amendment, Kind, Observed, PinRef, Proven};
use crate::places::RelPath;

/// The text of an amendment. [`decode`] gives the same amendment back; whether it is pending is no part
/// of it.
pub fn encode(amendment: &Amendment) -> String {
    let mut out = String::new();
    let mut line = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            out.push_str(key);
            out.push_str(" = ");
            out.push_str(&value);
            out.push('\n');
        }
    };
    let text = |value: &Option<String>| value.as_deref().map(quoted);
    line("at", Some(time(amendment.at)));
    line("author", Some(quoted(&amendment.author)));
    line("via", Some(quoted(&amendment.via)));
    line("proposed-by", text(&amendment.proposed_by));
    line("confirmed-by", text(&amendment.confirmed_by));
    line("kind", Some(quoted(amendment.kind.word())));
    line("pin", amendment.pin.as_ref().map(pin));
    line("oracle", Some(quoted(&amendment.oracle)));
    line("framework", text(&amendment.framework));
    line("verdict", text(&amendment.verdict));
    line("to", text(&amendment.to));
    let hunks: Vec<String> = amendment.hunks.iter().map(|shape| quoted(shape)).collect();
    line("hunks", (!hunks.is_empty()).then(|| format!("[{}]", hunks.join(", "))));
    line("change", text(&amendment.change));
    line("reason", Some(quoted(&amendment.reason)));
    line("authority", text(&amendment.authority));
    line("before", text(&amendment.before));
    line("after", text(&amendment.after));
    line("proof", text(&amendment.proof));
    line("proven", amendment.proven.as_ref().map(proven));
    line("observed", amendment.observed.as_ref().and_then(observed));
    line("withdraws", text(&amendment.withdraws));
    line("after-the-fact", amendment.after_the_fact.then(|| "true".to_string()));
    line("diff", text(&amendment.diff));
    out
}

/// RFC 3339 in UTC, whole seconds.
pub(super) fn time(at: jiff::Timestamp) -> String {
    let seconds = jiff::Timestamp::from_second(at.as_second()).unwrap_or(at);
    seconds.to_string()
}

fn pin(pin: &PinRef) -> String {
    format!("{{ file = {}, test = {}, nth = {} }}", quoted(pin.file.as_str()), quoted(&pin.test), pin.nth)
}

fn proven(proven: &Proven) -> String {
    format!(
        "{{ base = {}, proof-at-base = {}, pin-at-base = {}, proof-now = {}, pin-now = {} }}",
        quoted(&proven.base),
        quoted(&proven.proof_at_base),
        quoted(&proven.pin_at_base),
        quoted(&proven.proof_now),
        quoted(&proven.pin_now)
    )
}

fn observed(observed: &Observed) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(command) = &observed.command {
        parts.push(format!("command = {}", quoted(command)));
    }
    if let Some(artefact) = &observed.artefact {
        parts.push(format!("artefact = {}", quoted(artefact.as_str())));
    }
    if let Some(revision) = &observed.revision {
        parts.push(format!("revision = {}", quoted(revision)));
    }
    if !observed.dirty.is_empty() {
        let dirty: Vec<String> = observed.dirty.iter().map(|path| quoted(path.as_str())).collect();
        parts.push(format!("dirty = [{}]", dirty.join(", ")));
    }
    if let Some(at) = observed.at {
        parts.push(format!("at = {}", time(at)));
    }
    (!parts.is_empty()).then(|| format!("{{ {} }}", parts.join(", ")))
}

/// A TOML basic string. Controls, line and paragraph separators, bidirectional controls, invisible
/// joiners and the byte-order mark are escaped.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if hidden(c) && (c as u32) < 0x10000 => out.push_str(&format!("\\u{:04X}", c as u32)),
            c if hidden(c) => out.push_str(&format!("\\U{:08X}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Reads an amendment. The error has a 1-based line and column (in characters) and what is wrong there.
/// Fields that a later version added are left alone.
pub fn decode(text: &str) -> Result<Amendment, (usize, usize, String)> {
    let table: Table = toml::from_str(text).map_err(|err: toml::de::Error| {
        let (line, column) = place(text, err.span().map_or(0, |span| span.start));
        (line, column, err.message().lines().next().unwrap_or("it is not TOML").to_string())
    })?;
    read(&table).map_err(|(key, why)| {
        let at = text.lines().position(|line| {
            line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='))
        });
        (at.map_or(1, |line| line + 1), 1, why)
    })
}

fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte.min(text.len())).unwrap_or("");
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

type Wrong = (&'static str, String);

fn read(table: &Table) -> Result<Amendment, Wrong> {
    let kind = required(table, "kind")?;
    let kind = Kind::ALL.into_iter().find(|known| known.word() == kind).ok_or_else(|| {
        let known: Vec<&str> = Kind::ALL.iter().map(|kind| kind.word()).collect();
        ("kind", format!("`kind` is one of {}, not {kind:?}", known.join(", ")))
    })?;
    let mut amendment = Amendment {
        at: moment(table, "at")?.ok_or_else(|| ("at", "`at`, the time of the decision, is missing".to_string()))?,
        author: required(table, "author")?,
        via: optional(table, "via")?.unwrap_or_default(),
        proposed_by: optional(table, "proposed-by")?,
        confirmed_by: optional(table, "confirmed-by")?,
        kind,
        pin: None,
        oracle: required(table, "oracle")?,
        framework: optional(table, "framework")?,
        verdict: optional(table, "verdict")?,
        reason: required(table, "reason")?,
        authority: optional(table, "authority")?,
        before: optional(table, "before")?,
        after: optional(table, "after")?,
        proof: optional(table, "proof")?,
        proven: None,
        observed: None,
        diff: optional(table, "diff")?,
        after_the_fact: matches!(table.get("after-the-fact"), Some(Value::Boolean(true))),
        withdraws: optional(table, "withdraws")?,
        to: optional(table, "to")?,
        hunks: texts(table, "hunks")?,
        change: optional(table, "change")?,
        pending: false,
    };
    if let Some(proven) = inner(table, "proven")? {
        let word = |key: &'static str| required(proven, key);
        amendment.proven = Some(Proven {
            base: word("base")?,
            proof_at_base: word("proof-at-base")?,
            pin_at_base: word("pin-at-base")?,
            proof_now: word("proof-now")?,
            pin_now: word("pin-now")?,
        });
    }
    if let Some(pin) = inner(table, "pin")? {
        amendment.pin = Some(PinRef {
            file: path(&required(pin, "file")?)
                .ok_or_else(|| ("pin", "`file` of the pin leads out of the root".into()))?,
            test: required(pin, "test")?,
            nth: pin.get("nth").and_then(Value::as_integer).and_then(|nth| nth.try_into().ok()).unwrap_or(1),
        });
    }
    if let Some(seen) = inner(table, "observed")? {
        let dirty = seen.get("dirty").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        amendment.observed = Some(Observed {
            command: optional(seen, "command")?,
            revision: optional(seen, "revision")?,
            dirty: dirty.iter().filter_map(Value::as_str).filter_map(path).collect(),
            artefact: optional(seen, "artefact")?.as_deref().and_then(path),
            at: moment(seen, "at")?,
        });
    }
    Ok(amendment)
}

fn path(path: &str) -> Option<RelPath> {
    RelPath::new(path)
}

fn optional(table: &Table, key: &'static str) -> Result<Option<String>, Wrong> {
    match table.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err((key, format!("`{key}` is a text in quotes"))),
    }
}

fn texts(table: &Table, key: &'static str) -> Result<Vec<String>, Wrong> {
    let wrong = || (key, format!("`{key}` is a list of texts in quotes"));
    let Some(value) = table.get(key) else { return Ok(Vec::new()) };
    let items = value.as_array().ok_or_else(wrong)?;
    items.iter().map(|item| item.as_str().map(str::to_string).ok_or_else(wrong)).collect()
}

fn required(table: &Table, key: &'static str) -> Result<String, Wrong> {
    optional(table, key)?.ok_or_else(|| (key, format!("`{key}` is missing")))
}

fn inner<'a>(table: &'a Table, key: &'static str) -> Result<Option<&'a Table>, Wrong> {
    match table.get(key) {
        None => Ok(None),
        Some(Value::Table(table)) => Ok(Some(table)),
        Some(_) => Err((key, format!("`{key}` is a table, `{{ … }}`"))),
    }
}

fn moment(table: &Table, key: &'static str) -> Result<Option<jiff::Timestamp>, Wrong> {
    match table.get(key) {
        None => Ok(None),
        Some(Value::Datetime(at)) => match at.to_string().parse() {
            Ok(at) => Ok(Some(at)),
            Err(_) => Err((key, format!("`{key}` is a moment in UTC such as 2026-08-28T21:30:05Z"))),
        },
        Some(_) => Err((key, format!("`{key}` is a moment in UTC such as 2026-08-28T21:30:05Z"))),
    }
}
