//! TOML, YAML, XML and CSV as nodes, by their libraries.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};
use toml_edit::{Item, Value};

use super::{DEEPEST, Node};

/// TOML 1.0 with at least one name. Numbers and dates stay as they are written.
pub fn toml(text: &str) -> Option<Node> {
    let document: toml_edit::DocumentMut = text.parse().ok()?;
    table(document.as_table(), 0).filter(|node| matches!(node, Node::Map { items, .. } if !items.is_empty()))
}

fn table(table: &toml_edit::Table, depth: usize) -> Option<Node> {
    let items = table.iter().map(|(name, item)| Some((name.to_string(), item_of(item, depth + 1)?)));
    Some(Node::Map { head: String::new(), items: items.collect::<Option<_>>()? })
}

fn item_of(item: &Item, depth: usize) -> Option<Node> {
    if depth > DEEPEST {
        return None;
    }
    match item {
        Item::None => None,
        Item::Value(value) => value_of(value, depth),
        Item::Table(inner) => table(inner, depth),
        Item::ArrayOfTables(tables) => {
            let items = tables.iter().map(|inner| table(inner, depth)).collect::<Option<_>>()?;
            Some(Node::List { head: String::new(), items })
        }
    }
}

fn value_of(value: &Value, depth: usize) -> Option<Node> {
    if depth > DEEPEST {
        return None;
    }
    Some(match value {
        Value::String(text) => Node::Leaf(format!("{:?}", text.value())),
        Value::Array(items) => {
            let items = items.iter().map(|item| value_of(item, depth + 1)).collect::<Option<_>>()?;
            Node::List { head: String::new(), items }
        }
        Value::InlineTable(inner) => {
            let items = inner.iter().map(|(name, item)| Some((name.to_string(), value_of(item, depth + 1)?)));
            Node::Map { head: String::new(), items: items.collect::<Option<_>>()? }
        }
        other => Node::Leaf(other.to_string().trim().to_string()),
    })
}

/// A level of a YAML text that is not closed yet.
struct Level {
    map: bool,
    head: String,
    name: Option<String>,
    items: Vec<(String, Node)>,
}

/// YAML 1.2, its documents as a list where there are several. A quoted text that a plain one would make a
/// number, a truth value or nothing keeps its quotes; an alias stands as its name.
pub fn yaml(text: &str) -> Option<Node> {
    let mut levels: Vec<Level> = Vec::new();
    let mut documents: Vec<Node> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, _) = event.ok()?;
        let node = match event {
            Event::Scalar(value, style, anchor, tag) => {
                let tag = tag.map(|tag| format!("!{} ", tag.suffix)).unwrap_or_default();
                let anchor = if anchor > 0 { "&" } else { "" };
                let quoted = !matches!(style, ScalarStyle::Plain) && not_a_text(&value);
                let value = if quoted || value.contains('\n') { format!("{value:?}") } else { value.into_owned() };
                Node::Leaf(format!("{tag}{anchor}{value}"))
            }
            Event::Alias(number) => Node::Leaf(format!("*{number}")),
            Event::SequenceStart(_, tag) | Event::MappingStart(_, tag) if levels.len() >= DEEPEST && tag.is_none() => {
                return None;
            }
            Event::SequenceStart(_, tag) => {
                let head = tag.map(|tag| format!("!{} ", tag.suffix)).unwrap_or_default();
                levels.push(Level { map: false, head, name: None, items: Vec::new() });
                continue;
            }
            Event::MappingStart(_, tag) => {
                let head = tag.map(|tag| format!("!{} ", tag.suffix)).unwrap_or_default();
                levels.push(Level { map: true, head, name: None, items: Vec::new() });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let level = levels.pop()?;
                if level.map {
                    Node::Map { head: level.head, items: level.items }
                } else {
                    Node::List { head: level.head, items: level.items.into_iter().map(|(_, node)| node).collect() }
                }
            }
            _ => continue,
        };
        if levels.len() > DEEPEST {
            return None;
        }
        match levels.last_mut() {
            None => documents.push(node),
            Some(level) if level.map && level.name.is_none() => {
                // A name that is not one plain value is not followed.
                let Node::Leaf(name) = node else { return None };
                level.name = Some(name);
            }
            Some(level) => {
                let name = level.name.take().unwrap_or_default();
                level.items.push((name, node));
            }
        }
    }
    match documents.len() {
        0 => None,
        1 => documents.pop(),
        _ => Some(Node::List { head: String::new(), items: documents }),
    }
}

/// Written plain, it would be a number, a truth value, a date or nothing (YAML 1.1 and 1.2).
fn not_a_text(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let word = ["", "~", "null", "true", "false", "yes", "no", "on", "off", ".nan", ".inf", "-.inf", "y", "n"];
    word.contains(&lower.as_str()) || value.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))
}

/// An XML document without a document type. Blanks between elements are layout; attributes are named `@x`.
pub fn xml(text: &str) -> Option<Node> {
    if !text.trim_start().starts_with('<') {
        return None;
    }
    let document = roxmltree::Document::parse(text.trim_start()).ok()?;
    let root = document.root_element();
    let mut beside: Vec<(String, Node)> = Vec::new();
    for node in document.root().children().filter(|node| !node.is_element()) {
        beside.push(("#beside".into(), Node::Leaf(node.text().unwrap_or("").trim().to_string())));
    }
    let element = element(root, 0)?;
    let name = name_of(root);
    let mut items = vec![(name, element)];
    items.extend(beside);
    Some(Node::Map { head: String::new(), items })
}

fn name_of(node: roxmltree::Node) -> String {
    match node.tag_name().namespace() {
        Some(space) => format!("{{{space}}}{}", node.tag_name().name()),
        None => node.tag_name().name().to_string(),
    }
}

fn element(node: roxmltree::Node, depth: usize) -> Option<Node> {
    if depth > DEEPEST {
        return None;
    }
    let mut items: Vec<(String, Node)> =
        node.attributes().map(|it| (format!("@{}", it.name()), Node::Leaf(it.value().to_string()))).collect();
    items.sort_by(|(b, _), (a, _)| b.cmp(a));
    let mixed = node.children().any(|child| child.is_text() && !child.text().unwrap_or("").trim().is_empty());
    let mut alike: HashMap<String, usize> = HashMap::new();
    for child in node.children().filter(|child| child.is_element()) {
        *alike.entry(name_of(child)).or_default() += 1;
    }
    let mut nth: HashMap<String, usize> = HashMap::new();
    for child in node.children() {
        if child.is_element() {
            let mut name = name_of(child);
            if alike.get(&name).is_some_and(|count| *count > 1) {
                let nth = nth.entry(name.clone()).or_default();
                *nth += 1;
                name = format!("{name}[{nth}]");
            }
            items.push((name, element(child, depth + 1)?));
        } else {
            let text = child.text().unwrap_or("");
            if !text.trim().is_empty() || (mixed && child.is_text()) {
                let kind = if child.is_text() { "#text" } else { "#note" };
                items.push((kind.to_string(), Node::Leaf(text.to_string())));
            }
        }
    }
    match items.as_slice() {
        [] => Some(Node::Leaf(String::new())),
        [(name, Node::Leaf(text))] if name == "#text" => Some(Node::Leaf(text.clone())),
        _ => Some(Node::Map { head: String::new(), items }),
    }
}

/// A table of at least two rows and columns, every row as wide as the first. Rows are named by the first
/// one where its cells are names.
pub fn csv(text: &str) -> Option<Node> {
    let rows = [b',', b';', b'\t'].into_iter().find_map(|mark| rows(text, mark))?;
    let (first, rest) = rows.split_first()?;
    let mut names: Vec<&String> = first.iter().collect();
    names.sort();
    names.dedup();
    let header = names.len() == first.len()
        && first.iter().all(|cell| cell.starts_with(|c: char| c.is_alphabetic() || c == '_'));
    let cells = |row: &Vec<String>| row.iter().map(|cell| Node::Leaf(cell.clone())).collect::<Vec<Node>>();
    let mut items = vec![Node::List { head: String::new(), items: cells(first) }];
    for row in rest {
        items.push(if header {
            Node::Map { head: String::new(), items: first.iter().cloned().zip(cells(row)).collect() }
        } else {
            Node::List { head: String::new(), items: cells(row) }
        });
    }
    Some(Node::List { head: String::new(), items })
}

fn rows(text: &str, mark: u8) -> Option<Vec<Vec<String>>> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).delimiter(mark).flexible(false).from_reader(text.as_bytes());
    let mut rows = Vec::new();
    for record in reader.records() {
        rows.push(record.ok()?.iter().map(str::to_string).collect::<Vec<String>>());
    }
    (rows.len() >= 2 && rows.first().is_some_and(|row| row.len() >= 2)).then_some(rows)
}
