//! What a pin looks like: the queries compiled in, and those of the workspace. Takes `.scm` texts, gives
//! the matches in a tree and what is wrong with the workspace's queries. A bad one costs only itself.
//! Never evaluates, never reads a file other than `.pindrift/queries/<language>/*.scm`.
//! `queries/README.md` documents the captures and properties.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use regex::Regex;
use tree_sitter::{Node, Query, QueryCursor, QueryCursorOptions, QueryErrorKind, StreamingIterator, Tree};

use crate::places::RelPath;
use crate::shelf::{Read, Shelf};
use crate::syntax::Language;
use crate::text::{Span, Text};

/// One file a framework: `(language, file name, text)`. Adding a framework adds a line here.
const BUILT_IN: &[(Language, &str, &str)] = &[
    (Language::Python, "assert.scm", include_str!("../queries/python/assert.scm")),
    (Language::Python, "golden.scm", include_str!("../queries/python/golden.scm")),
    (Language::Python, "approvaltests.scm", include_str!("../queries/python/approvaltests.scm")),
    (Language::Python, "regressions.scm", include_str!("../queries/python/regressions.scm")),
    (Language::Python, "snapshottest.scm", include_str!("../queries/python/snapshottest.scm")),
    (Language::Python, "expecttest.scm", include_str!("../queries/python/expecttest.scm")),
    (Language::Python, "pytest_snapshot.scm", include_str!("../queries/python/pytest_snapshot.scm")),
    (Language::Python, "inline_snapshot.scm", include_str!("../queries/python/inline_snapshot.scm")),
    (Language::Python, "param_files.scm", include_str!("../queries/python/param_files.scm")),
    (Language::Python, "textual.scm", include_str!("../queries/python/textual.scm")),
    (Language::Python, "snapshot.scm", include_str!("../queries/python/snapshot.scm")),
    (Language::Rust, "golden.scm", include_str!("../queries/rust/golden.scm")),
    (Language::Rust, "assert.scm", include_str!("../queries/rust/assert.scm")),
    (Language::Rust, "insta.scm", include_str!("../queries/rust/insta.scm")),
    (Language::Rust, "expect_test.scm", include_str!("../queries/rust/expect_test.scm")),
    (Language::Rust, "snapbox.scm", include_str!("../queries/rust/snapbox.scm")),
    (Language::Rust, "goldenfile.scm", include_str!("../queries/rust/goldenfile.scm")),
    (Language::Rust, "expectorate.scm", include_str!("../queries/rust/expectorate.scm")),
    (Language::Rust, "goldie.scm", include_str!("../queries/rust/goldie.scm")),
    (Language::Rust, "k9.scm", include_str!("../queries/rust/k9.scm")),
    (Language::Rust, "trybuild.scm", include_str!("../queries/rust/trybuild.scm")),
    (Language::Rust, "trycmd.scm", include_str!("../queries/rust/trycmd.scm")),
];

/// Folder of the workspace's own queries; below it one folder a language.
pub const FOLDER: &str = ".pindrift/queries";

/// Matches in progress that a cursor holds at once; beyond it some are lost, and that is said.
const MATCH_LIMIT: u32 = 256;

/// Longest time that one pattern of the workspace may take in one file; then it is switched off.
const BUDGET: Duration = Duration::from_secs(1);

/// Captures that mean something. Others are private when they begin with `_`, else a slip.
const CAPTURES: &[&str] =
    &["pin", "pin.actual", "pin.expected", "pin.baseline", "pin.name", "test", "test.name", "note"];

/// Properties that mean something.
const PROPERTIES: &[&str] = &["pin.framework", "pin.form", "pin.root", "pin.suffix", "pin.id", "pin.off"];

/// One match of a query in one file: what `queries/README.md` documents.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// `pin.framework` of the pattern: the name of an oracle family, or the id of a user's query. A
    /// pattern without `@pin` gives `test` or `note`.
    pub framework: String,
    /// All `#set!` properties of the pattern.
    pub properties: Arc<BTreeMap<String, String>>,
    /// The whole assertion (`@pin`).
    pub span: Span,
    /// The other captures, by name without the `pin.` prefix, in source order.
    pub captures: Vec<(String, Span)>,
}

impl Match {
    /// The first capture of that name (without `pin.`).
    pub fn capture(&self, name: &str) -> Option<Span> {
        self.captures.iter().find(|(found, _)| found == name).map(|(_, span)| *span)
    }

    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.get(name).map(String::as_str)
    }
}

/// Something unreadable, with its place; shown once, never fatal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trouble {
    pub file: RelPath,
    /// 1-based line and column (scalar values), where known.
    pub at: Option<(usize, usize)>,
    pub message: String,
}

/// Compiled queries of both languages. Cheap to share behind an `Arc`.
pub struct Vocabulary {
    /// Built-in patterns that the workspace replaced or switched off, by language and index.
    off: BTreeSet<(Language, usize)>,
    own: Vec<Own>,
}

/// A pattern of the workspace, compiled alone so that a slow one can be told and stopped.
struct Own {
    language: Language,
    compiled: Compiled,
    file: RelPath,
    line: usize,
    off: AtomicBool,
}

struct Compiled {
    query: Query,
    patterns: Vec<Pattern>,
    /// By node kind: whether a pattern can begin there, and at which called names only.
    starts: Vec<Start>,
    /// Patterns of Rust macros that ask for nothing but the macro's name.
    macros: BTreeMap<String, usize>,
}

/// Framework and properties that the built-in queries give to a call of this Rust macro; for calls that no
/// query can see, because they stand among the tokens of another macro.
pub fn known_macro(name: &str) -> Option<(String, Arc<BTreeMap<String, String>>)> {
    let known = built_in(Language::Rust);
    let pattern = known.patterns.get(*known.macros.get(name)?)?;
    Some((pattern.framework.clone(), Arc::clone(&pattern.properties)))
}

struct Pattern {
    framework: String,
    properties: Arc<BTreeMap<String, String>>,
}

#[derive(Clone, Default)]
struct Start {
    any: bool,
    calls: BTreeSet<String>,
}

impl Start {
    fn never(&self) -> bool {
        !self.any && self.calls.is_empty()
    }
}

fn built_in(language: Language) -> &'static Compiled {
    static PYTHON: OnceLock<Compiled> = OnceLock::new();
    static RUST: OnceLock<Compiled> = OnceLock::new();
    let slot = match language {
        Language::Python => &PYTHON,
        Language::Rust => &RUST,
    };
    slot.get_or_init(|| {
        let texts: Vec<&str> = BUILT_IN.iter().filter(|(of, ..)| *of == language).map(|(_, _, text)| *text).collect();
        let source = texts.join("\n");
        match Query::new(&language.grammar(), &source) {
            Ok(query) => Compiled::new(query, &source, language),
            // A test compiles every file; a build that passed it never comes here.
            Err(_) => {
                Compiled { query: empty(language), patterns: Vec::new(), starts: Vec::new(), macros: BTreeMap::new() }
            }
        }
    })
}

#[expect(clippy::expect_used, reason = "a query without patterns fits every grammar")]
fn empty(language: Language) -> Query {
    Query::new(&language.grammar(), "").expect("an empty query")
}

impl Compiled {
    fn new(query: Query, source: &str, language: Language) -> Compiled {
        let grammar = language.grammar();
        let mut starts = vec![Start::default(); grammar.node_kind_count()];
        let mut patterns = Vec::new();
        let mut macros = BTreeMap::new();
        for index in 0..query.pattern_count() {
            let range = query.start_byte_for_pattern(index)..query.end_byte_for_pattern(index);
            let text = source.get(range).unwrap_or("");
            let properties: BTreeMap<String, String> = query
                .property_settings(index)
                .iter()
                .map(|property| (property.key.to_string(), property.value.as_deref().unwrap_or("").to_string()))
                .collect();
            let kind = start_kind(text);
            let calls = called_names(text);
            for (id, start) in starts.iter_mut().enumerate() {
                let id = id as u16;
                if kind.is_some_and(|kind| grammar.node_kind_for_id(id) != Some(kind)) {
                    continue;
                }
                if calls.is_empty() {
                    start.any = true;
                } else {
                    start.calls.extend(calls.iter().cloned());
                }
            }
            if kind == Some("macro_invocation") && !text.contains("@pin.") {
                macros.extend(calls.iter().map(|name| (name.clone(), index)));
            }
            let has = |name: &str| text.contains(&format!("@{name}"));
            let framework = match () {
                () if has("pin") => properties
                    .get("pin.framework")
                    .or(properties.get("pin.id"))
                    .cloned()
                    .unwrap_or_else(|| "golden-file".to_string()),
                () if has("test") => "test".to_string(),
                () => "note".to_string(),
            };
            patterns.push(Pattern { framework, properties: Arc::new(properties) });
        }
        Compiled { query, patterns, starts, macros }
    }

    /// Gives `see` the matches that begin at `node`, with the index of their pattern.
    fn at(
        &self,
        node: Node,
        text: &str,
        cursor: &mut QueryCursor,
        until: Option<Instant>,
        see: &mut dyn FnMut(usize, Match),
    ) -> Outcome {
        let names = self.query.capture_names();
        let mut late = false;
        let mut watch = |_: &tree_sitter::QueryCursorState| match until {
            Some(until) if Instant::now() > until => {
                late = true;
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        };
        let options = match until {
            Some(_) => QueryCursorOptions::new().progress_callback(&mut watch),
            None => QueryCursorOptions::new(),
        };
        let mut matches = cursor.matches_with_options(&self.query, node, text.as_bytes(), options);
        while let Some(found) = matches.next() {
            let Some(pattern) = self.patterns.get(found.pattern_index) else { continue };
            let mut whole = None;
            let mut captures = Vec::new();
            for capture in found.captures() {
                let name = names.get(capture.index as usize).copied().unwrap_or("_");
                let span = Span::new(capture.node.start_byte(), capture.node.end_byte());
                match name {
                    "pin" => whole = Some((span, capture.node.has_error())),
                    "test" | "note" if whole.is_none() && pattern.framework == name => whole = Some((span, false)),
                    name if name.starts_with('_') => {}
                    name => captures.push((name.strip_prefix("pin.").unwrap_or(name).to_string(), span)),
                }
            }
            let Some((span, false)) = whole else { continue };
            captures.sort_by_key(|(_, span)| *span);
            let found_match = Match {
                framework: pattern.framework.clone(),
                properties: Arc::clone(&pattern.properties),
                span,
                captures,
            };
            see(found.pattern_index, found_match);
        }
        drop(matches);
        Outcome { late, exceeded: cursor.did_exceed_match_limit() }
    }
}

struct Outcome {
    late: bool,
    exceeded: bool,
}

/// Kind of the node that a pattern begins with; `None` for an alternation or a wildcard.
fn start_kind(pattern: &str) -> Option<&str> {
    let mut rest = pattern;
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix(';') {
            rest = comment.split_once('\n').map_or("", |(_, rest)| rest);
        } else if let Some(inner) = rest.strip_prefix('(') {
            rest = inner;
        } else {
            break;
        }
    }
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let kind = &rest[..end];
    (!kind.is_empty() && kind != "_" && !rest[end..].starts_with('/')).then_some(kind)
}

/// Names that `@_call` must have by `#eq?` or `#any-of?`; empty when the pattern does not say.
fn called_names(pattern: &str) -> Vec<String> {
    static NAMES: OnceLock<Option<(Regex, Regex)>> = OnceLock::new();
    let regexes = NAMES.get_or_init(|| {
        let list = Regex::new(r##"#(?:eq|any-of)\?\s+@_call((?:\s+"[^"\\]*")+)\s*\)"##).ok()?;
        let word = Regex::new(r#""([^"\\]*)""#).ok()?;
        Some((list, word))
    });
    let Some((list, word)) = regexes else { return Vec::new() };
    let Some(found) = list.captures(pattern) else { return Vec::new() };
    word.captures_iter(&found[1]).map(|name| name[1].to_string()).collect()
}

/// The last name of what a call or macro call calls.
fn called<'t>(node: Node, text: &'t str) -> Option<&'t str> {
    let callee = node.child_by_field_name("function").or_else(|| node.child_by_field_name("macro"))?;
    let last =
        ["attribute", "field", "name"].iter().find_map(|field| callee.child_by_field_name(field)).unwrap_or(callee);
    text.get(last.byte_range())
}

impl Vocabulary {
    pub fn built_in() -> Vocabulary {
        Vocabulary { off: BTreeSet::new(), own: Vec::new() }
    }

    /// The built-in queries and those under `.pindrift/queries/<language>/*.scm`.
    pub fn of(shelf: &Shelf) -> (Vocabulary, Vec<Trouble>) {
        let mut vocabulary = Vocabulary::built_in();
        let mut troubles = Vec::new();
        for language in [Language::Python, Language::Rust] {
            let Some(folder) = RelPath::new(&format!("{FOLDER}/{}", language.word())) else { continue };
            for path in shelf.below(&folder).filter(|path| path.as_str().ends_with(".scm")) {
                let trouble = |message: String| Trouble { file: path.clone(), at: None, message };
                match shelf.read(path) {
                    Read::Bytes(bytes) => match std::str::from_utf8(&bytes) {
                        Ok(source) => vocabulary.add(path, source, language, &mut troubles),
                        Err(_) => troubles.push(trouble(format!("{path} is not UTF-8 text; save it as UTF-8"))),
                    },
                    Read::Refused(why) => troubles.push(trouble(why)),
                    Read::Missing => {}
                }
            }
        }
        (vocabulary, troubles)
    }

    /// Adds the patterns of one file of the workspace.
    fn add(&mut self, path: &RelPath, source: &str, language: Language, troubles: &mut Vec<Trouble>) {
        let text = Text::new(source);
        let place = |byte: usize| Some((text.line_of(byte) + 1, text.column(byte)));
        let mut trouble = |at, message: String| troubles.push(Trouble { file: path.clone(), at, message });
        let query = match Query::new(&language.grammar(), source) {
            Ok(query) => query,
            Err(err) => {
                let named = err.message.trim_matches('"');
                let what = match err.kind {
                    QueryErrorKind::NodeType => {
                        format!("the {} grammar has no node `{}`", language.word(), named)
                    }
                    QueryErrorKind::Field => format!("the {} grammar has no field `{}`", language.word(), named),
                    QueryErrorKind::Capture => {
                        format!("`@{}` is used in a predicate and captured nowhere", named)
                    }
                    QueryErrorKind::Predicate => err.message.clone(),
                    QueryErrorKind::Structure => "this shape can never occur in the grammar".to_string(),
                    QueryErrorKind::Syntax | QueryErrorKind::Language => "this is not a query".to_string(),
                };
                let at = place(err.offset.min(source.trim_end().len()));
                trouble(at, format!("{what}; the patterns of this file are left out until it is mended"));
                return;
            }
        };
        for name in query.capture_names() {
            if !name.starts_with('_') && !CAPTURES.contains(name) {
                let at = source.find(&format!("@{name}")).and_then(place);
                trouble(at, format!("`@{name}` means nothing here; write `@_{name}` if only a predicate uses it"));
            }
        }
        for index in 0..query.pattern_count() {
            let range = query.start_byte_for_pattern(index)..query.end_byte_for_pattern(index);
            let at = place(range.start);
            let unknown = query.general_predicates(index).iter().map(|predicate| predicate.operator.to_string());
            let asked =
                query.property_predicates(index).iter().map(|(_, is)| if *is { "is?" } else { "is-not?" }.to_string());
            if let Some(name) = unknown.chain(asked).next() {
                trouble(at, format!("`#{name}` is not a predicate that is known here; this pattern is left out"));
                continue;
            }
            let settings = query.property_settings(index);
            for property in settings.iter().filter(|property| !PROPERTIES.contains(&&*property.key)) {
                trouble(at, format!("`#set! {}` means nothing here", property.key));
            }
            let value = |key: &str| settings.iter().find(|p| &*p.key == key).map(|p| p.value.as_deref().unwrap_or(""));
            if let Some(id) = value("pin.id") {
                let known = built_in(language);
                for (index, pattern) in known.patterns.iter().enumerate() {
                    if pattern.properties.get("pin.id").is_some_and(|known| known == id) {
                        self.off.insert((language, index));
                    }
                }
            }
            if value("pin.off").is_some() {
                if value("pin.id").is_none() {
                    trouble(at, "`pin.off` needs a `pin.id` that says which pattern to switch off".to_string());
                }
                continue;
            }
            if !query.is_pattern_rooted(index) {
                trouble(at, "a pattern must be one node with everything inside it; this one is left out".to_string());
                continue;
            }
            let slice = source.get(range.clone()).unwrap_or("");
            let Ok(alone) = Query::new(&language.grammar(), slice) else {
                trouble(at, "this pattern cannot stand alone and is left out".to_string());
                continue;
            };
            if !alone.capture_names().iter().any(|name| matches!(*name, "pin" | "test" | "note")) {
                trouble(at, "a pattern needs `@pin` on the whole assertion; this one is left out".to_string());
                continue;
            }
            self.own.push(Own {
                language,
                compiled: Compiled::new(alone, slice, language),
                file: path.clone(),
                line: text.line_of(range.start) + 1,
                off: AtomicBool::new(false),
            });
        }
    }

    /// All matches in one file in source order, none from inside a syntax error. What went wrong with a
    /// pattern of the workspace is told once.
    pub fn matches(&self, tree: &Tree, text: &Text, language: Language, troubles: &mut Vec<Trouble>) -> Vec<Match> {
        let mut found: Vec<Match> = Vec::new();
        let known = built_in(language);
        let mut cursor = QueryCursor::new();
        cursor.set_match_limit(MATCH_LIMIT);
        cursor.set_max_start_depth(Some(0));
        let source = text.as_str();
        let own: Vec<&Own> =
            self.own.iter().filter(|own| own.language == language && !own.off.load(Ordering::Relaxed)).collect();
        let mut spent = vec![Duration::ZERO; own.len()];
        each_node(tree, &mut |node| {
            if known.begins_at(node, source) {
                known.at(node, source, &mut cursor, None, &mut |index, one| {
                    if !self.off.contains(&(language, index)) {
                        add(&mut found, one);
                    }
                });
            }
            for (own, spent) in own.iter().zip(&mut spent) {
                if own.off.load(Ordering::Relaxed) || !own.compiled.begins_at(node, source) {
                    continue;
                }
                let started = Instant::now();
                let until = started + BUDGET.saturating_sub(*spent);
                let outcome =
                    own.compiled.at(node, source, &mut cursor, Some(until), &mut |_, one| add(&mut found, one));
                *spent += started.elapsed();
                let trouble = |message: String| Trouble { file: own.file.clone(), at: Some((own.line, 1)), message };
                if (outcome.late || *spent > BUDGET) && !own.off.swap(true, Ordering::Relaxed) {
                    troubles.push(trouble(format!(
                        "this pattern took longer than {} s in one file and is switched off; make it more particular",
                        BUDGET.as_secs()
                    )));
                } else if outcome.exceeded && !own.off.swap(true, Ordering::Relaxed) {
                    troubles.push(trouble(format!(
                        "this pattern had more than {MATCH_LIMIT} matches under way at once and is switched off; \
                         make it more particular"
                    )));
                }
            }
        });
        found.sort_by_key(|one| one.span);
        found
    }
}

impl Compiled {
    fn begins_at(&self, node: Node, text: &str) -> bool {
        match self.starts.get(node.kind_id() as usize) {
            None => false,
            Some(start) if start.never() => false,
            Some(start) => start.any || called(node, text).is_some_and(|name| start.calls.contains(name)),
        }
    }
}

/// Keeps one match for each pattern and place: the one with the most captures.
fn add(found: &mut Vec<Match>, one: Match) {
    let same = |known: &&mut Match| known.span == one.span && Arc::ptr_eq(&known.properties, &one.properties);
    match found.iter_mut().rev().take(8).find(same) {
        Some(known) if known.captures.len() < one.captures.len() => *known = one,
        Some(_) => {}
        None => found.push(one),
    }
}

/// Calls `see` for every named node with children in source order, without those inside syntax errors.
fn each_node(tree: &Tree, see: &mut dyn FnMut(Node)) {
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let inside = !node.is_error() && {
            if node.is_named() {
                see(node);
            }
            cursor.goto_first_child()
        };
        if inside || cursor.goto_next_sibling() {
            continue;
        }
        loop {
            if !cursor.goto_parent() {
                return;
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use crate::places::Root;
    use crate::syntax;

    fn with(queries: &str) -> (Vocabulary, Vec<String>) {
        let fixture = Fixture::new(queries);
        let shelf = Shelf::new(Root::of(fixture.path(), fixture.path()).unwrap());
        let (vocabulary, troubles) = Vocabulary::of(&shelf);
        let troubles = troubles.iter().map(|t| match t.at {
            Some((line, column)) => format!("{line}:{column} {}", t.message),
            None => t.message.clone(),
        });
        (vocabulary, troubles.collect())
    }

    fn matched(vocabulary: &Vocabulary, source: &str) -> Vec<String> {
        let tree = syntax::parse(source, Language::Python, None, syntax::BUDGET).unwrap();
        let text = Text::new(source);
        let mut troubles = Vec::new();
        let found = vocabulary.matches(&tree, &text, Language::Python, &mut troubles);
        let lines = found.iter().map(|one| {
            let captures = one.captures.iter().map(|(name, span)| format!(" {name}={}", text.slice(*span)));
            format!("{}{}", one.framework, captures.collect::<String>())
        });
        lines.chain(troubles.iter().map(|trouble| trouble.message.clone())).collect()
    }

    #[test]
    fn every_built_in_query_fits_its_grammar() {
        for (language, name, text) in BUILT_IN {
            if let Err(err) = Query::new(&language.grammar(), text) {
                panic!("queries/{}/{name}:{}:{}: {}", language.word(), err.row + 1, err.column + 1, err.message);
            }
            let query = Query::new(&language.grammar(), text).unwrap();
            for index in 0..query.pattern_count() {
                assert!(query.general_predicates(index).is_empty(), "{name}: an unknown predicate");
                assert!(query.is_pattern_rooted(index), "{name}: pattern {index} is not rooted");
            }
            for capture in query.capture_names() {
                assert!(capture.starts_with('_') || CAPTURES.contains(capture), "{name}: @{capture}");
            }
        }
        assert!(!built_in(Language::Python).patterns.is_empty());
    }

    #[test]
    fn python_comparisons_are_found_either_way_round() {
        let found = matched(
            &Vocabulary::built_in(),
            "assert f(x) == 'a', 'why'\nassert (1 == g())\nassert ok\nassert a == 1 and b == 2\n\
             self.assertEqual(f(), 3, 'msg')\nother.assertEqual(1, 2)\nassert f(1 2) == 3\nassert not a == b\n",
        );
        assert_eq!(
            found,
            [
                "assert actual=f(x) expected='a'",
                "assert actual=1 expected=g()",
                "assert",
                "assert actual=f() expected=3",
                "assert"
            ]
        );
    }

    #[test]
    fn a_comment_between_arguments_hides_nothing() {
        let found = matched(
            &Vocabulary::built_in(),
            "self.assertEqual(  # why\n    f(),  # got\n    3)\nverify(\n    # x\n    1)\n",
        );
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn a_house_helper_is_one_pattern() {
        let (vocabulary, troubles) = with(
            "//- .pindrift/queries/python/pins.scm\n\
             ((call function: (identifier) @_call arguments: (argument_list . (_) @pin.actual . (string) @pin.baseline)) @pin\n\
              (#eq? @_call \"check_golden\") (#set! pin.root \"tests/golden\") (#set! pin.id \"acme\"))\n",
        );
        assert_eq!(troubles, [""; 0]);
        assert_eq!(
            matched(&vocabulary, "check_golden(f(), 'a.txt')\ncheck(f(), 'b')\n"),
            ["acme actual=f() baseline='a.txt'"]
        );
    }

    #[test]
    fn what_is_wrong_with_a_query_is_told_at_its_place() {
        for (query, trouble) in [
            (
                "(call function: (identifer) @pin)",
                "1:18 the python grammar has no node `identifer`; the patterns of this file are left out until it is mended",
            ),
            (
                "(call fun: (identifier) @pin)",
                "1:7 the python grammar has no field `fun`; the patterns of this file are left out until it is mended",
            ),
            ("\n(call", "2:6 this is not a query; the patterns of this file are left out until it is mended"),
            (
                "((call) @pin (#oops? @pin))",
                "1:1 `#oops?` is not a predicate that is known here; this pattern is left out",
            ),
            (
                "(call (identifier) @zed) @pin",
                "1:20 `@zed` means nothing here; write `@_zed` if only a predicate uses it",
            ),
            ("(call) @_x", "1:1 a pattern needs `@pin` on the whole assertion; this one is left out"),
            (
                "((comment) . (call) @pin)",
                "1:1 a pattern must be one node with everything inside it; this one is left out",
            ),
            ("((call) @pin (#set! pin.off))", "1:1 `pin.off` needs a `pin.id` that says which pattern to switch off"),
            (
                "((call) @pin (#eq? @nowhere \"x\"))",
                "1:21 `@nowhere` is used in a predicate and captured nowhere; the patterns of this file are left out until it is mended",
            ),
        ] {
            let (_, troubles) = with(&format!("//- .pindrift/queries/python/a.scm\n{query}\n"));
            assert_eq!(troubles, [trouble], "{query}");
        }
    }

    #[test]
    fn a_broken_file_costs_only_itself() {
        let (vocabulary, troubles) = with(
            "//- .pindrift/queries/python/a.scm\n(call\n//- .pindrift/queries/python/b.scm\n((call) @pin (#set! pin.id \"b\"))\n",
        );
        assert_eq!(troubles.len(), 1);
        assert_eq!(matched(&vocabulary, "f(1)\n"), ["b"]);
    }
}
