//! What an expression is worth, as far as that can be known without running. Takes a site and its frames,
//! gives one [`World`] for each case (parameter rows, loop items, helper calls) and values in it; bounded.
//! What cannot be known is [`Value::Unknown`], what is known in part a pattern. Never reads a file's
//! content: a read is a [`Value::Content`] with the path and what was done to the content since.

pub mod parametrize;

use crate::code::Expr;
use crate::pins::{Project, Site};
use crate::places::RelPath;

mod cases;
mod files;
mod known;
mod lists;
pub mod origin;
mod parts;
mod run;
mod scope;
mod worlds;

pub use files::{PerFile, per_file};
pub use known::algorithm;
pub use parts::fits;
use scope::Eval;
pub use worlds::worlds;

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Str(String),
    Bytes(Vec<u8>),
    Int(i64),
    Float(String),
    Bool(bool),
    None,
    /// A file system path from the root. A path relative to the working directory is a [`Value::Str`]
    /// until a file is opened by it.
    Path(RelPath),
    /// A text or relative path of which only parts are known: a `None` part may be anything.
    Pattern(Vec<Option<String>>),
    /// A path from the root of which only parts are known.
    Paths(Vec<Option<String>>),
    List(Vec<Value>),
    Dict(Vec<(Value, Value)>),
    /// The content of a file, with the transformations that were applied to it since.
    Content {
        path: Box<Value>,
        steps: Vec<Step>,
    },
    /// Hexadecimal digest, by the named algorithm, of something that is not known.
    Digest(String),
    Unknown,
}

/// What the comparison sees of the bytes: every transformation between file and comparison, in order.
/// Both sides are held to it, so that two contents are equal exactly when the framework says so.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step {
    /// Read as bytes: what is not UTF-8 is compared all the same. Without it the content is a text.
    Bytes,
    /// CRLF and lone CR become LF (Python text mode).
    UniversalNewlines,
    /// CRLF becomes LF, a lone CR stays (insta, approvaltests).
    CrlfToLf,
    /// A leading byte-order mark is dropped (`utf-8-sig`).
    DropBom,
    /// White space of both ends, of the start, of the end (`strip`, `trim_end` …).
    Trim,
    TrimStart,
    TrimEnd,
    /// These characters at both ends, at the start, at the end (`strip("\n")`, `trim_end_matches('\n')`).
    TrimOf(String),
    TrimStartOf(String),
    TrimEndOf(String),
    /// Every occurrence of the first text becomes the second.
    Replace(String, String),
    /// One final newline is added where there is none.
    FinalNewline,
    /// Compared as a list of lines (`splitlines`).
    Lines,
    /// Compared as a parsed JSON value.
    Json,
    /// Parsed as a number of that language.
    Number,
    /// The file holds the digest of the text in hexadecimal; the algorithm's name.
    Digest(String),
    /// The framework's own serializer of that name wrote it; compared as written.
    Serialised(&'static str),
    /// A transformation that is not understood: shown, never accepted.
    Unknown(String),
    /// What that function of the project makes of the file it reads: shown, never accepted.
    Made(String),
    /// The value is made from the file itself: a check that it stays as it is.
    Itself,
}

/// One combination of parameter rows and loop items in which a site is reached.
#[derive(Debug, Clone, PartialEq)]
pub struct World {
    /// Parameter id as the runner prints it, where the test is parametrised.
    pub case: Option<String>,
    /// Bindings of loop variables and parameters, by frame. An expression that does not stand in that
    /// frame's file has the empty span.
    pub bound: Vec<Vec<(String, Expr)>>,
    /// By frame, the round of each `for` loop around its call, outermost first; `None` where the items are not
    /// known.
    pub rounds: Vec<Vec<Option<usize>>>,
}

impl World {
    /// The world of a site of which no case is known.
    pub fn empty(site: &Site) -> World {
        let frames = site.frames.len();
        World { case: None, bound: vec![Vec::new(); frames], rounds: vec![Vec::new(); frames] }
    }

    /// Value of an expression that stands in frame `frame` of the site.
    pub fn value(&self, project: &Project, site: &Site, frame: usize, expr: &Expr) -> Value {
        let eval = Eval::new(project, Some(site), Some(self));
        match eval.frame(frame) {
            Some(mut place) => {
                if expr.span.end > 0 && place.function.is_some_and(|f| f.span.contains(expr.span)) {
                    place.at = expr.span.start.max(1);
                }
                eval.value(&place, expr, 0)
            }
            None => Value::Unknown,
        }
    }

    /// The same with the patience that a list of many cases takes.
    pub fn listed(&self, project: &Project, site: &Site, frame: usize, expr: &Expr) -> Value {
        let eval = Eval::patient(project, Some(site), Some(self));
        match eval.frame(frame) {
            Some(place) => eval.value(&place, expr, 0),
            None => Value::Unknown,
        }
    }

    /// The expression that a name at `expr` is bound to, and the frame in which that stands.
    pub fn binding<'a>(
        &'a self,
        project: &'a Project,
        site: &'a Site,
        frame: usize,
        expr: &Expr,
        name: &str,
    ) -> Option<(&'a Expr, usize)> {
        let eval = Eval::new(project, Some(site), Some(self));
        let mut place = eval.frame(frame)?;
        if expr.span.end > 0 && place.function.is_some_and(|f| f.span.contains(expr.span)) {
            place.at = expr.span.start.max(1);
        }
        let (bound, place) = eval.binding(&place, name)?;
        Some((bound, place.frame?))
    }

    /// A value as the path of a file that is opened in that frame: relative ones are read from the working
    /// folder (pytest's root, the Cargo package).
    pub fn file(&self, project: &Project, site: &Site, frame: usize, value: Value) -> Value {
        let eval = Eval::new(project, Some(site), Some(self));
        eval.frame(frame).map_or(Value::Unknown, |place| eval.file(&place, value))
    }
}

/// A name below a folder of the root, with something behind it.
pub fn below(root: &str, name: &Value, suffix: &str) -> Value {
    let Some(root) = RelPath::new(root) else { return Value::Unknown };
    let name = match name {
        Value::Path(_) | Value::Paths(_) => return suffixed(name, suffix),
        name => parts::Parts::of(name).then(parts::Parts::text(suffix)),
    };
    parts::Parts::of(&Value::Path(root)).join(name).value()
}

/// A text or path with something behind it.
pub fn suffixed(value: &Value, suffix: &str) -> Value {
    parts::Parts::of(value).then(parts::Parts::text(suffix)).value()
}

/// Value of an expression where it stands, without a site: parameters and loop variables are unknown.
pub fn alone(project: &Project, unit: &crate::code::Unit, expr: &Expr) -> Value {
    let eval = Eval::new(project, None, None);
    let mut place = eval.module(unit);
    place.function = unit.function_at(expr.span);
    if place.function.is_some() {
        place.at = expr.span.start;
    }
    eval.value(&place, expr, 0)
}

/// Listed files that fit a path of which only parts are known; empty when none or more than 20 do.
pub fn candidates(project: &Project, path: &Value) -> Vec<RelPath> {
    let Value::Paths(parts) = path else { return Vec::new() };
    let Some(Some(first)) = parts.first() else { return Vec::new() };
    let folder = first.rsplit_once('/').map_or("", |(folder, _)| folder);
    let Some(folder) = RelPath::new(folder) else { return Vec::new() };
    if folder.as_str().is_empty() && !first.contains('/') && parts.len() < 3 {
        return Vec::new();
    }
    let mut fitting = project.shelf.below(&folder).filter(|path| parts::fits(parts, path.as_str()));
    let found: Vec<RelPath> = fitting.by_ref().take(MOST_CANDIDATES + 1).cloned().collect();
    if found.len() > MOST_CANDIDATES { Vec::new() } else { found }
}

/// Most files that a pattern may stand for.
pub const MOST_CANDIDATES: usize = 20;
