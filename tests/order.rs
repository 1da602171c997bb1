//! The flow has one direction: a module uses the ones before it and never a later one. The list here is
//! the order; `server/lib.rs` shows the same one to a reader. What stands under `#[cfg(test)]` may look
//! anywhere.

use std::path::{Path, PathBuf};

const FLOW: &[&str] = &[
    "text",
    "places",
    "settings",
    "syntax",
    "shelf",
    "vocabulary",
    "code",
    "pins",
    "evaluate",
    "roles",
    "oracles",
    "git",
    "switches",
    "observations",
    "drift",
    "rationale",
    "ledger",
    "proposals",
    "survey",
    "changes",
    "past",
    "observe",
    "proof",
    "reviewer",
    "amendment",
    "audit",
    "findings",
    "hover",
    "actions",
    "report",
    "wire",
    "cli",
];

/// Pairs that may look at each other: parts of one step, split for reading.
const TOGETHER: &[(&str, &str)] = &[];

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("server/ can be read") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            into.push(path);
        }
    }
}

/// The part of a source that is compiled into the product, without comments: what comes before its tests.
fn product(source: &str) -> String {
    let end = source.find("#[cfg(test)]\nmod ").unwrap_or(source.len());
    source[..end]
        .lines()
        .map(|line| line.split_once("//").map_or(line, |(code, _)| code))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Top-level names after each `crate::`, groups in braces opened one level.
fn used(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        let Some(group) = rest.strip_prefix('{') else {
            names.push(first_word(rest));
            continue;
        };
        let (mut depth, mut start) = (0, 0);
        for (i, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    names.push(first_word(&group[start..i]));
                    start = i + 1;
                    if c == '}' {
                        break;
                    }
                }
                _ => {}
            }
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

fn first_word(text: &str) -> String {
    text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// Every `module uses later-or-unknown` of one source.
fn wrong(file: &str, source: &str) -> Vec<String> {
    let top = file.split(['/', '.']).next().unwrap_or_default();
    if top == "main" || top == "lib" || file.ends_with("tests.rs") || file.contains("/tests/") {
        return Vec::new();
    }
    let Some(own) = FLOW.iter().position(|name| *name == top) else {
        return vec![format!("{file}: module `{top}` is not in the list of tests/order.rs")];
    };
    let code = product(source);
    let mut wrong: Vec<String> = used(&code)
        .into_iter()
        .filter_map(|name| {
            let together = TOGETHER.iter().any(|(a, b)| (*a == top && *b == name) || (*b == top && *a == name));
            match FLOW.iter().position(|listed| *listed == name) {
                _ if together => None,
                Some(at) if at <= own => None,
                Some(_) => Some(format!("{file}: `{top}` uses `{name}`, which comes later")),
                None => Some(format!("{file}: uses `crate::{name}`, which is not in the list")),
            }
        })
        .collect();
    wrong.sort();
    wrong.dedup();
    wrong
}

#[test]
fn no_module_uses_a_later_one() {
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("server");
    let mut files = Vec::new();
    sources(&server, &mut files);
    assert!(files.len() >= FLOW.len(), "server/ holds fewer files than the flow has steps");
    let wrong: Vec<String> = files
        .iter()
        .flat_map(|path| {
            let name = path.strip_prefix(&server).expect("below server/").to_string_lossy().replace('\\', "/");
            wrong(&name, &std::fs::read_to_string(path).expect("a source"))
        })
        .collect();
    assert!(wrong.is_empty(), "the flow runs backwards:\n{}", wrong.join("\n"));
}

#[test]
fn the_list_is_what_lib_declares_in_that_order() {
    let lib = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("server/lib.rs")).expect("lib.rs");
    let declared: Vec<&str> = lib
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .filter(|name| *name != "fixture")
        .collect();
    assert_eq!(declared, FLOW);
}

#[test]
fn a_backward_or_unknown_import_is_caught() {
    assert_eq!(wrong("drift/kinds.rs", "use crate::{text::Text, survey::{Case, State}};").len(), 1);
    assert_eq!(wrong("pins.rs", "fn f() { crate::wire::serve() }").len(), 1);
    assert_eq!(wrong("pins.rs", "use crate::nowhere::X;").len(), 1);
    assert_eq!(wrong("stranger.rs", "").len(), 1);
    assert_eq!(wrong("cli.rs", "use crate::wire; use crate::text::Text; // crate::nowhere"), Vec::<String>::new());
    assert_eq!(
        wrong("pins.rs", "fn f() {}\n#[cfg(test)]\nmod tests { use crate::survey::Case; }"),
        Vec::<String>::new()
    );
}
