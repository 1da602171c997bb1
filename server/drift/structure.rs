//! The values of a structured text, and at which of them two such texts differ. Takes two texts, gives
//! paths with the value before and after. Knows JSON, TOML, YAML, XML, CSV and literals as Python and Rust
//! print them; what cannot be read whole in one of these ways has no structure. Bounded in size, depth and
//! number of differences. Never says what kind of difference it is, but for "the same value".

use std::collections::HashMap;

use similar::DiffOp;

use crate::text::{align, one_line};

mod bracketed;
mod marked;

/// Largest text that is read, in bytes, and deepest nesting.
const LARGEST: usize = 1 << 20;
const DEEPEST: usize = 100;
/// Most differences that are listed.
const MOST: usize = 200;
/// Longest value in a difference, in characters.
const SIDE: usize = 60;

/// A value and what it is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// As it is written, or as a string in double quotes where it could be taken for something else.
    Leaf(String),
    /// Items in order; `head` is what stands before the bracket (`Decimal`, an element's name).
    List { head: String, items: Vec<Node> },
    /// Named items in order.
    Map { head: String, items: Vec<(String, Node)> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    Toml,
    Yaml,
    Xml,
    Csv,
    /// Python's `repr`, Rust's `Debug`.
    Literal,
}

impl Format {
    const ALL: [Format; 6] = [Format::Json, Format::Literal, Format::Xml, Format::Toml, Format::Csv, Format::Yaml];

    /// Its name as a person writes it.
    pub fn word(self) -> &'static str {
        match self {
            Format::Json => "JSON",
            Format::Toml => "TOML",
            Format::Yaml => "YAML",
            Format::Xml => "XML",
            Format::Csv => "CSV",
            Format::Literal => "literal",
        }
    }
}

/// Where two structured texts differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    pub format: Format,
    /// In the order of the text, at most 200.
    pub changes: Vec<Change>,
    /// Differences that are not listed.
    pub more: usize,
    /// Single values on the side that has more of them.
    pub values: usize,
}

/// One value that changed, came (`before: None`) or went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// `orders[3].tax`; `row 3, tax` in a table.
    pub path: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

impl Change {
    /// `orders[3].tax: 0.38 → 0.39`, bounded.
    pub fn line(&self) -> String {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => format!("{}: {before} → {after}", self.path),
            (None, Some(after)) => format!("{}: added {after}", self.path),
            (Some(before), None) => format!("{}: removed {before}", self.path),
            (None, None) => self.path.clone(),
        }
    }
}

/// Where the values of two texts differ; `None` when they are not both structured in the same way, are one
/// single value, or hold the same values.
pub fn read(before: &str, after: &str) -> Option<Reading> {
    let (format, old, new) = both(before, after)?;
    let mut found = Found { format, changes: Vec::new(), more: 0 };
    found.compare("", &old, &new, 0);
    let values = leaves(&old).max(leaves(&new));
    let Found { changes, more, .. } = found;
    (!changes.is_empty()).then_some(Reading { format, changes, more, values })
}

/// The same value in JSON, TOML, YAML, XML or CSV, written differently. Comments count: a text with other
/// letters or digits is another one, but for JSON, which has none.
pub fn same_value(before: &str, after: &str) -> bool {
    if before == after {
        return false;
    }
    let Some((format, old, new)) = both(before, after) else { return false };
    let counts = |text: &str| {
        let mut count = std::collections::BTreeMap::new();
        // What XML says beside its elements, in its declaration for one, is in no value.
        let is_counted = |c: &char| match format {
            Format::Xml => !c.is_whitespace() && !matches!(c, '"' | '\''),
            _ => c.is_alphanumeric(),
        };
        for c in text.chars().filter(is_counted) {
            *count.entry(c).or_insert(0usize) += 1;
        }
        count
    };
    old == new && format != Format::Literal && (format == Format::Json || counts(before) == counts(after))
}

/// Both texts read in the first way that fits both.
fn both(before: &str, after: &str) -> Option<(Format, Node, Node)> {
    if before.len().max(after.len()) > LARGEST {
        return None;
    }
    Format::ALL.into_iter().find_map(|format| {
        let old = parse(before, format)?;
        Some((format, old, parse(after, format)?))
    })
}

/// A text read in one way: a value that holds others, or nothing.
fn parse(text: &str, format: Format) -> Option<Node> {
    let node = match format {
        Format::Json => bracketed::json(text),
        Format::Literal => bracketed::literal(text),
        Format::Xml => marked::xml(text),
        Format::Toml => marked::toml(text),
        Format::Csv => marked::csv(text),
        Format::Yaml => marked::yaml(text),
    };
    node.filter(|node| !matches!(node, Node::Leaf(_)))
}

fn leaves(node: &Node) -> usize {
    match node {
        Node::Leaf(_) => 1,
        Node::List { items, .. } => items.iter().map(leaves).sum(),
        Node::Map { items, .. } => items.iter().map(|(_, item)| leaves(item)).sum(),
    }
}

/// A value in one line.
fn shown(node: &Node) -> String {
    let mut out = String::new();
    write(node, &mut out);
    one_line(&out, SIDE)
}

fn write(node: &Node, out: &mut String) {
    // What is cut anyway is not written.
    if out.len() > 4 * SIDE {
        return;
    }
    match node {
        Node::Leaf(text) => out.push_str(text),
        Node::List { head, items } => {
            out.push_str(head);
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                write(item, out);
            }
            out.push(']');
        }
        Node::Map { head, items } => {
            out.push_str(head);
            out.push('{');
            for (i, (name, item)) in items.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                out.push_str(name);
                out.push_str(": ");
                write(item, out);
            }
            out.push('}');
        }
    }
}

struct Found {
    format: Format,
    changes: Vec<Change>,
    more: usize,
}

impl Found {
    fn put(&mut self, path: &str, before: Option<&Node>, after: Option<&Node>) {
        if self.changes.len() >= MOST {
            self.more += 1;
            return;
        }
        let path = if path.is_empty() { "the whole value".to_string() } else { one_line(path, 2 * SIDE) };
        self.changes.push(Change { path, before: before.map(shown), after: after.map(shown) });
    }

    fn compare(&mut self, path: &str, before: &Node, after: &Node, depth: usize) {
        if before == after || depth > DEEPEST {
            return;
        }
        match (before, after) {
            (Node::List { head: b, items: old }, Node::List { head: a, items: new }) if b == a => {
                self.lists(path, old, new, depth);
            }
            (Node::Map { head: b, items: old }, Node::Map { head: a, items: new })
                if b == a && unique(old) && unique(new) =>
            {
                let (known, now) = (by_name(old), by_name(new));
                for (name, node) in old {
                    let path = self.named(path, name);
                    match now.get(name.as_str()) {
                        Some(other) => self.compare(&path, node, other, depth + 1),
                        None => self.put(&path, Some(node), None),
                    }
                }
                for (name, node) in new.iter().filter(|(name, _)| !known.contains_key(name.as_str())) {
                    let path = self.named(path, name);
                    self.put(&path, None, Some(node));
                }
                // The same names and values in another order.
                if self.changes.is_empty() && depth == 0 {
                    let names = |items: &[(String, Node)]| Node::List {
                        head: String::new(),
                        items: items.iter().map(|(name, _)| Node::Leaf(name.clone())).collect(),
                    };
                    if names(old) != names(new) {
                        self.put("order of the names", Some(&names(old)), Some(&names(new)));
                    }
                }
            }
            _ => self.put(path, Some(before), Some(after)),
        }
    }

    fn lists(&mut self, path: &str, old: &[Node], new: &[Node], depth: usize) {
        if old.len() == new.len() {
            for (i, (b, a)) in old.iter().zip(new).enumerate() {
                self.compare(&self.indexed(path, i), b, a, depth + 1);
            }
            return;
        }
        let text = |nodes: &[Node]| -> Vec<String> {
            nodes
                .iter()
                .map(|node| {
                    let mut out = String::new();
                    write(node, &mut out);
                    out
                })
                .collect()
        };
        let (b, a) = (text(old), text(new));
        for op in align(&b, &a, std::time::Duration::from_millis(20)) {
            if matches!(op, DiffOp::Equal { .. }) {
                continue;
            }
            let (gone, came) = (op.old_range(), op.new_range());
            if gone.len() == came.len() {
                for (i, j) in gone.zip(came) {
                    if let (Some(b), Some(a)) = (old.get(i), new.get(j)) {
                        self.compare(&self.indexed(path, i), b, a, depth + 1);
                    }
                }
                continue;
            }
            for i in gone {
                self.put(&self.indexed(path, i), old.get(i), None);
            }
            for j in came {
                self.put(&self.indexed(path, j), None, new.get(j));
            }
        }
    }

    fn indexed(&self, path: &str, index: usize) -> String {
        match (self.format, path) {
            (Format::Csv, "") => format!("row {}", index + 1),
            (Format::Csv, _) => format!("{path}, column {}", index + 1),
            _ => format!("{path}[{index}]"),
        }
    }

    fn named(&self, path: &str, name: &str) -> String {
        let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '@' | '#'));
        match (self.format, path) {
            (Format::Csv, _) => format!("{path}, {name}"),
            (Format::Xml, "") => name.to_string(),
            (Format::Xml, _) => format!("{path}/{name}"),
            (_, "") if plain => name.to_string(),
            _ if plain => format!("{path}.{name}"),
            _ => format!("{path}[{name:?}]"),
        }
    }
}

fn by_name(items: &[(String, Node)]) -> HashMap<&str, &Node> {
    items.iter().map(|(name, node)| (name.as_str(), node)).collect()
}

fn unique(items: &[(String, Node)]) -> bool {
    let mut names: Vec<&str> = items.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.windows(2).all(|pair| pair.first() != pair.get(1))
}

#[cfg(test)]
mod tests;
