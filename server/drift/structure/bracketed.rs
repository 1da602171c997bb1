//! JSON, and literals as Python and Rust print them, as nodes.

use super::super::literal::{Token, tokens};
use super::{DEEPEST, Node};

/// A whole JSON text. Numbers stay as they are written, strings are decoded and written in one way.
pub fn json(text: &str) -> Option<Node> {
    if !text.trim_start().starts_with(['{', '[']) || serde_json::from_str::<serde::de::IgnoredAny>(text).is_err() {
        return None;
    }
    read(text, &|whole| serde_json::from_str::<String>(whole).ok().map(|inner| format!("{inner:?}")))
}

/// A whole literal with brackets. Strings stay as they are written.
pub fn literal(text: &str) -> Option<Node> {
    let trimmed = text.trim();
    let opens = trimmed.find(['(', '[', '{'])?;
    let named = trimmed[..opens].trim_end();
    let head_fits = named.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ':'));
    if !head_fits || named.split_whitespace().count() > 1 || !trimmed.ends_with([')', ']', '}']) {
        return None;
    }
    read(text, &|whole| Some(whole.to_string()))
}

/// One bracket that is open: what stands before it, and its items so far.
struct Level {
    open: char,
    head: String,
    items: Vec<(Option<String>, Node)>,
    /// Of the item being read: its name, its text, and its value where that is a bracket.
    name: Option<String>,
    text: String,
    node: Option<Node>,
}

impl Level {
    fn new(open: char, head: String) -> Level {
        Level { open, head, items: Vec::new(), name: None, text: String::new(), node: None }
    }

    /// The item ends. `None` when it is neither one value nor nothing.
    fn finish(&mut self) -> Option<()> {
        let (name, text) = (self.name.take(), std::mem::take(&mut self.text));
        match (self.node.take(), text.trim()) {
            (Some(node), "") => self.items.push((name, node)),
            (None, "") if name.is_none() => {}
            (None, text) if !text.is_empty() => self.items.push((name, Node::Leaf(text.to_string()))),
            _ => return None,
        }
        Some(())
    }

    fn node(self) -> Option<Node> {
        let named = self.items.iter().filter(|(name, _)| name.is_some()).count();
        let head = self.head;
        if named == self.items.len() && (named > 0 || self.open == '{') {
            let items = self.items.into_iter().filter_map(|(name, node)| Some((name?, node))).collect();
            return Some(Node::Map { head, items });
        }
        (named == 0).then(|| {
            let head = if self.open == '[' { head } else { format!("{head}{}", self.open) };
            Node::List { head, items: self.items.into_iter().map(|(_, node)| node).collect() }
        })
    }
}

/// The one value of a text. Anything that does not read as nested items with or without names is none.
fn read(text: &str, string: &dyn Fn(&str) -> Option<String>) -> Option<Node> {
    let mut levels = vec![Level::new('\0', String::new())];
    for token in tokens(text)? {
        let depth = levels.len();
        let level = levels.last_mut()?;
        match token {
            Token::Open(open) => {
                if depth > DEEPEST || level.node.is_some() {
                    return None;
                }
                let head = std::mem::take(&mut level.text).trim().to_string();
                levels.push(Level::new(open, head));
            }
            Token::Close(close) => {
                let mut level = levels.pop()?;
                if !matches!((level.open, close), ('[', ']') | ('{', '}') | ('(', ')')) {
                    return None;
                }
                level.finish()?;
                let outer = levels.last_mut()?;
                if !outer.text.is_empty() || outer.node.is_some() {
                    return None;
                }
                outer.node = Some(level.node()?);
            }
            Token::Comma if level.open == '\0' => return None,
            Token::Comma => level.finish()?,
            Token::Blank if level.text.is_empty() => {}
            Token::Blank => level.text.push(' '),
            Token::Str { whole, .. } => level.text.push_str(&string(whole)?),
            // `name: value`, and `name=value` in a call; a path's `::` names nothing.
            Token::Other(word) => {
                let mut rest = word;
                let call = level.open == '(';
                if level.name.is_none()
                    && level.node.is_none()
                    && level.open != '['
                    && let Some(at) = separator(rest, call)
                {
                    let name = format!("{}{}", level.text, &rest[..at]);
                    level.text.clear();
                    level.name = Some(unquoted(name.trim()).to_string());
                    rest = &rest[at + 1..];
                }
                if level.node.is_some() && !rest.is_empty() {
                    return None;
                }
                level.text.push_str(rest);
            }
        }
    }
    let mut whole = levels.pop()?;
    if !levels.is_empty() || !whole.text.trim().is_empty() || whole.name.is_some() {
        return None;
    }
    whole.node.take()
}

/// Byte of the sign that ends an item's name.
fn separator(word: &str, call: bool) -> Option<usize> {
    let bytes = word.as_bytes();
    (0..bytes.len()).find(|at| {
        let near = |other: Option<usize>| other.and_then(|other| bytes.get(other)).copied();
        let (before, after) = (near(at.checked_sub(1)), near(Some(at + 1)));
        match bytes.get(*at) {
            Some(b':') => before != Some(b':') && after != Some(b':'),
            Some(b'=') => call && after != Some(b'='),
            _ => false,
        }
    })
}

/// A name without its quotes, where nothing in it needs them.
fn unquoted(name: &str) -> &str {
    let inner = name
        .strip_prefix(['"', '\''])
        .and_then(|rest| rest.strip_suffix(['"', '\'']))
        .filter(|inner| !inner.contains(['\\', '"', '\'']));
    inner.unwrap_or(name)
}
