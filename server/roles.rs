//! Characterization, specification or unlabelled: the nearest word wins, then the mechanism.
//! Takes a unit, a test and the settings, gives a role. Never reads a file.
//!
//! Words, nearest first: docstring, doc comment or comment on the test, a marker on it, its name; the same of
//! the functions, classes and modules around it; the file's own; a folder `characterization/`; the globs of
//! `[roles]`. Without a word a recorded baseline is a characterization and a plain literal is unlabelled.

use std::sync::LazyLock;

use globset::GlobBuilder;
use regex::Regex;

use crate::code::{Expr, ExprKind, Function, Scope, Unit};
use crate::settings::Settings;
use crate::syntax::Language;
use crate::text::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    Characterization,
    Specification,
    Unlabelled,
}

impl Role {
    pub fn word(self) -> &'static str {
        match self {
            Role::Characterization => "characterization",
            Role::Specification => "specification",
            Role::Unlabelled => "unlabelled",
        }
    }
}

/// The role of a test. `recorded`: the oracle is a recorded baseline, not a plain literal.
pub fn role(unit: &Unit, function: Option<&Function>, settings: &Settings, recorded: bool) -> Role {
    labelled(unit, function, settings).unwrap_or(if recorded { Role::Characterization } else { Role::Unlabelled })
}

/// The role that somebody gave in words; `None` when nobody did.
pub fn labelled(unit: &Unit, function: Option<&Function>, settings: &Settings) -> Option<Role> {
    around(unit, function)
        .into_iter()
        .find_map(|place| match place {
            Place::Function(function) => of_function(unit, function),
            Place::Scope(scope) => of_scope(unit, scope),
        })
        .or_else(|| of_file(unit))
        .or_else(|| of_folder(unit))
        .or_else(|| of_globs(unit, settings))
}

enum Place<'a> {
    Function(&'a Function),
    Scope(&'a Scope),
}

impl Place<'_> {
    fn span(&self) -> Span {
        match self {
            Place::Function(function) => function.span,
            Place::Scope(scope) => scope.span,
        }
    }
}

/// The test and everything around it, innermost first.
fn around<'a>(unit: &'a Unit, function: Option<&'a Function>) -> Vec<Place<'a>> {
    let Some(function) = function else { return Vec::new() };
    let outer = unit.functions.iter().filter(|other| other.span != function.span && other.span.contains(function.span));
    let scopes = unit.scopes.iter().filter(|scope| !scope.elsewhere && scope.span.contains(function.span));
    let mut places: Vec<Place> = outer.map(Place::Function).chain(scopes.map(Place::Scope)).collect();
    places.sort_by_key(|place| place.span().end - place.span().start);
    places.insert(0, Place::Function(function));
    places
}

fn of_function(unit: &Unit, function: &Function) -> Option<Role> {
    function
        .doc
        .as_ref()
        .and_then(|doc| said(&doc.text))
        .or_else(|| above(unit, function.span.start).and_then(|text| said(&text)))
        .or_else(|| inside(unit, function))
        .or_else(|| marked(&function.marks))
        .or_else(|| named(&function.name))
}

fn of_scope(unit: &Unit, scope: &Scope) -> Option<Role> {
    let marks = match unit.language {
        Language::Python => assigned_marks(unit, Some(scope)),
        Language::Rust => None,
    };
    scope
        .doc
        .as_ref()
        .and_then(|doc| said(&doc.text))
        .or_else(|| above(unit, scope.span.start).and_then(|text| said(&text)))
        .or_else(|| marked(&scope.marks))
        .or(marks)
        .or_else(|| (unit.language == Language::Rust && is_folder_word(&scope.name)).then_some(Role::Characterization))
}

fn of_file(unit: &Unit) -> Option<Role> {
    unit.doc
        .as_ref()
        .and_then(|doc| said(&doc.text))
        .or_else(|| head(unit).and_then(|text| said(&text)))
        .or_else(|| assigned_marks(unit, None))
        .or_else(|| {
            let named = unit.language == Language::Rust && is_folder_word(unit.path.stem());
            named.then_some(Role::Characterization)
        })
}

fn of_folder(unit: &Unit) -> Option<Role> {
    unit.path.parent().as_str().split('/').any(is_folder_word).then_some(Role::Characterization)
}

fn of_globs(unit: &Unit, settings: &Settings) -> Option<Role> {
    let matches = |globs: &[String]| globs.iter().any(|glob| glob_matches(glob, unit.path.as_str()));
    if matches(&settings.specification) {
        Some(Role::Specification)
    } else if matches(&settings.characterization) {
        Some(Role::Characterization)
    } else {
        None
    }
}

/// `*` stays within a folder, `**` does not; a glob that names a folder holds what is below it.
fn glob_matches(glob: &str, path: &str) -> bool {
    let glob = glob.trim_start_matches("./").trim_end_matches('/');
    let fits = |glob: &str| {
        GlobBuilder::new(glob).literal_separator(true).build().is_ok_and(|glob| glob.compile_matcher().is_match(path))
    };
    fits(glob) || fits(&format!("{glob}/**"))
}

fn is_folder_word(name: &str) -> bool {
    matches!(name, "characterization" | "characterisation")
}

/// A sentence that begins by saying what the test is. Anything else about such tests says nothing about
/// this one: "not a characterization test", "see the specification".
static SAYS: LazyLock<Option<[Regex; 3]>> = LazyLock::new(|| {
    let a = r"^(?:(?:this|these|it)(?: test| tests| module| file| class)? (?:is|are) )?(?:an? )?";
    let goes_on = r"(?:$|[.:;,(—–-]| - | of | for | that | which )";
    Some([
        Regex::new(&format!(r"(?i){a}characteri[sz]ation(?: tests?| suite)?\s*{goes_on}")).ok()?,
        Regex::new(&format!(r"(?i){a}specification(?: tests?\s*{goes_on}|\s*(?:$|[.:;,(—–]| - ))")).ok()?,
        Regex::new(
            r"(?i)^(?:(?:this test|this|it|these tests|they) )?(?:pins?|pinning|pinned)(?: down)?:? (?:.*\b)?(?:current|legacy|existing|observed|today|today's|right or wrong|what the old)\b",
        )
        .ok()?,
    ])
});

/// The role that a docstring or comment gives, by the first of its sentences that gives one.
pub fn said(text: &str) -> Option<Role> {
    let [characterization, specification, pins] = SAYS.as_ref()?;
    sentences(text).into_iter().find_map(|sentence| {
        if specification.is_match(&sentence) {
            Some(Role::Specification)
        } else if characterization.is_match(&sentence) || pins.is_match(&sentence) {
            Some(Role::Characterization)
        } else {
            None
        }
    })
}

/// At most 40 sentences of a text, each as one line without comment signs.
fn sentences(text: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    for line in text.lines() {
        let line = line.trim().trim_start_matches(['#', '/', '!', '*', '"', '\'']).trim();
        let open = out.last().is_some_and(|last| !last.is_empty());
        if line.is_empty() || line.starts_with("- ") {
            out.push(String::new());
        }
        let line = line.strip_prefix("- ").unwrap_or(line);
        let mut from = 0;
        for (at, _) in line.match_indices(". ").chain(line.match_indices("! ")).chain(line.match_indices("? ")) {
            if at < from {
                continue;
            }
            add(&mut out, &line[from..at + 1], open && from == 0);
            out.push(String::new());
            from = at + 2;
        }
        add(&mut out, &line[from..], open);
        if line.ends_with(['.', '!', '?']) {
            out.push(String::new());
        }
        if out.len() > 40 {
            break;
        }
    }
    out.retain(|sentence| !sentence.is_empty());
    out
}

fn add(out: &mut [String], part: &str, joined: bool) {
    if let Some(last) = out.last_mut() {
        if joined && !last.is_empty() {
            last.push(' ');
        }
        last.push_str(part.trim());
    }
}

/// The comment block that ends on the line directly above `start`.
fn above(unit: &Unit, start: usize) -> Option<String> {
    let mut line = unit.text.line_of(start);
    let mut block = Vec::new();
    while line > 0 && block.len() < 40 {
        line -= 1;
        let text = unit.text.line(line).trim();
        let comment = text.starts_with('#') && unit.language == Language::Python && !text.starts_with("#!")
            || text.starts_with("//") && !text.starts_with("//!") && unit.language == Language::Rust;
        if !comment {
            break;
        }
        block.push(text.to_string());
    }
    block.reverse();
    (!block.is_empty()).then(|| block.join("\n"))
}

/// The comment block at the head of a file, before any code.
fn head(unit: &Unit) -> Option<String> {
    let mark = if unit.language == Language::Python { "#" } else { "//" };
    let lines: Vec<&str> = (0..unit.text.line_count().min(60))
        .map(|line| unit.text.line(line).trim())
        .take_while(|line| line.is_empty() || line.starts_with(mark))
        .collect();
    // The last block, when code follows at once, stands on that code.
    let end = lines.iter().rposition(|line| line.is_empty()).map_or(0, |at| at + 1);
    let own = if lines.len() == unit.text.line_count().min(60) { &lines[..] } else { &lines[..end] };
    (!own.is_empty()).then(|| own.join("\n"))
}

/// Comments in the body of the function itself, neighbouring lines as one text.
fn inside(unit: &Unit, function: &Function) -> Option<Role> {
    let from = unit.comments.partition_point(|comment| comment.start < function.span.start);
    let nested: Vec<Span> = unit
        .functions
        .iter()
        .filter(|other| other.span != function.span && function.span.contains(other.span))
        .map(|other| other.span)
        .collect();
    let mut block = String::new();
    let mut last_line = None;
    let own = unit.comments[from..].iter().take_while(|comment| comment.start < function.span.end);
    for comment in own.filter(|comment| !nested.iter().any(|span| span.contains(**comment))).take(500) {
        let line = unit.text.line_of(comment.start);
        if last_line.is_none_or(|last| last + 1 != line) {
            if let Some(role) = said(&block) {
                return Some(role);
            }
            block.clear();
        }
        last_line = Some(line);
        block.push_str(unit.text.slice(*comment));
        block.push('\n');
    }
    said(&block)
}

/// `pytest.mark.characterization` among marks, called or not.
fn marked<'a>(marks: impl IntoIterator<Item = &'a Expr>) -> Option<Role> {
    marks.into_iter().find_map(|mark| {
        let mark = match &mark.kind {
            ExprKind::Call { callee, .. } => callee,
            _ => mark,
        };
        let name = mark.dotted()?;
        let word = name.strip_prefix("pytest.mark.").or_else(|| name.strip_prefix("mark."))?;
        match word {
            "characterization" | "characterisation" => Some(Role::Characterization),
            "specification" => Some(Role::Specification),
            _ => None,
        }
    })
}

/// `pytestmark = …` of the module, or of a class.
fn assigned_marks(unit: &Unit, scope: Option<&Scope>) -> Option<Role> {
    let binding = unit.globals.iter().rev().find(|binding| {
        binding.name == "pytestmark"
            && match scope {
                None => binding.path.is_empty(),
                Some(scope) => scope.span.contains(binding.span) && binding.path.last() == Some(&scope.name),
            }
    })?;
    match &binding.value.kind {
        ExprKind::List(marks) | ExprKind::Tuple(marks) => marked(marks),
        _ => marked([&binding.value]),
    }
}

/// A test name that says that something as it is now is pinned: `…_pins_legacy_output`,
/// `existing_behaviour_is_pinned`. `pin` or `characterization` alone say nothing.
pub fn named(name: &str) -> Option<Role> {
    let mut words: Vec<String> = vec![String::new()];
    let mut lower = false;
    for c in name.chars() {
        if c == '_' || (c.is_uppercase() && lower) {
            words.push(String::new());
        }
        lower = c.is_lowercase();
        if c != '_'
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    let now = |word: &String| {
        matches!(word.as_str(), "legacy" | "current" | "existing" | "observed" | "output" | "behaviour" | "behavior")
    };
    let pins = words.iter().position(|word| word == "pins");
    let after_pins = pins.is_some_and(|at| words[at..].iter().any(now));
    let pinned = words.iter().any(|word| word == "pinned") && words.iter().any(now);
    (after_pins || pinned).then_some(Role::Characterization)
}

#[cfg(test)]
mod tests;
