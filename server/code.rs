//! Source files as the part that can be evaluated without running them: functions, bindings, calls,
//! literals, with the byte span of each. One small tree for both languages, so that everything after
//! this step is written once. Takes a parsed text (`code/python.rs`, `code/rust.rs`), gives a [`Unit`].
//! Never knows a test framework, never looks at another file. What it does not understand is
//! [`ExprKind::Opaque`], never a guess; nothing is taken from inside a syntax error.

use std::sync::OnceLock;

use crate::places::RelPath;
use crate::syntax::Language;
use crate::text::{Span, Text};

pub mod python;
pub mod rust;

/// Everything kept of one source file. The syntax tree is not kept.
#[derive(Debug, Clone)]
pub struct Unit {
    pub path: RelPath,
    pub language: Language,
    pub text: Text,
    /// All functions of the file, nested ones and methods too, in source order.
    pub functions: Vec<Function>,
    /// Module-level and class-level bindings (Python assignments, Rust `const`/`static`), in order. The
    /// last one of a name counts; a Python name bound under a condition is there with an unknown value.
    pub globals: Vec<Binding>,
    pub imports: Vec<Import>,
    /// Python classes; Rust `mod` blocks (inline and `mod x;`).
    pub scopes: Vec<Scope>,
    /// Rust `macro_rules!` definitions.
    pub macros: Vec<MacroRules>,
    /// Statements at module level that run on import (Python), or item macros (Rust). Those that are in
    /// `globals` with their value, definitions and imports are left out.
    pub top: Vec<Stmt>,
    /// Docstring of the module, inner doc comment of the file.
    pub doc: Option<Doc>,
    /// All comments, in order.
    pub comments: Vec<Span>,
    /// Places the parser could not read. No fact is taken from inside them.
    pub errors: Vec<Span>,
    /// Made when first asked.
    pub by_name: ByName,
}

/// Functions, globals and imports of a unit in the order of their names.
#[derive(Default)]
pub struct ByName {
    functions: OnceLock<Vec<u32>>,
    globals: OnceLock<Vec<u32>>,
    imports: OnceLock<Vec<u32>>,
}

impl Clone for ByName {
    fn clone(&self) -> ByName {
        ByName::default()
    }
}

impl std::fmt::Debug for ByName {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("ByName")
    }
}

/// Indices of the items of that name, in source order.
fn of_name<'a, T>(
    order: &'a OnceLock<Vec<u32>>,
    items: &'a [T],
    key: fn(&T) -> &str,
    name: &str,
) -> impl DoubleEndedIterator<Item = (usize, &'a T)> {
    let order = order.get_or_init(|| {
        let mut order: Vec<u32> = (0..items.len() as u32).collect();
        order.sort_by_key(|at| (items.get(*at as usize).map_or("", key), *at));
        order
    });
    let named = |at: &u32| items.get(*at as usize).map_or("", key);
    let from = order.partition_point(|at| named(at) < name);
    let to = from + order[from..].partition_point(|at| named(at) == name);
    order[from..to].iter().filter_map(|at| Some((*at as usize, items.get(*at as usize)?)))
}

#[derive(Debug, Clone)]
pub struct Doc {
    pub text: String,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct Scope {
    pub name: String,
    /// Names of the scopes around it, outermost first.
    pub path: Vec<String>,
    pub span: Span,
    /// Python decorators, Rust attributes (see [`Function::marks`]).
    pub marks: Vec<Expr>,
    /// Python base classes.
    pub bases: Vec<Expr>,
    pub doc: Option<Doc>,
    /// Rust `mod name;` without a body: the file it names, by `#[path]` or by the module rule, is not
    /// known here.
    pub elsewhere: bool,
}

#[derive(Debug, Clone)]
pub struct Function {
    pub name: String,
    /// Names of the classes or modules around it, outermost first; a function inside a function has
    /// the outer function's name in it too.
    pub path: Vec<String>,
    /// From the first decorator or attribute to the end of the body.
    pub span: Span,
    pub name_span: Span,
    /// From the `def`/`fn` line to the end of the body.
    pub def_span: Span,
    pub params: Vec<Param>,
    /// Python decorators (`pytest.mark.parametrize(...)` as a call); Rust attributes: `#[test]` is a
    /// [`ExprKind::Name`], `#[tokio::test]` an [`ExprKind::Attr`] chain or name, `#[case(1, "x")]` a
    /// [`ExprKind::Macro`] with that name and arguments.
    pub marks: Vec<Expr>,
    pub doc: Option<Doc>,
    pub body: Vec<Stmt>,
    /// Python: indentation of the body; Rust: of the `fn` line. Blanks or tabs as written.
    pub indent: String,
}

#[derive(Debug, Clone)]
pub struct Param {
    /// Python's `*args` and `**kwargs` keep their stars; a bare `*` is a parameter of that name.
    pub name: String,
    pub span: Span,
    pub default: Option<Expr>,
    /// Marks on the parameter (`#[case]`, `#[values(..)]` of rstest).
    pub marks: Vec<Expr>,
}

/// `name` bound to `value` at module or class level.
#[derive(Debug, Clone)]
pub struct Binding {
    pub name: String,
    /// Scopes around it, as in [`Function::path`].
    pub path: Vec<String>,
    pub span: Span,
    pub value: Expr,
}

/// A name brought in from elsewhere: `from a.b import c as d` is local `d`, path `a.b.c`;
/// `use a::b as d` the same with `.` between; `import a.b` is local `a`, path `a`;
/// a glob has the local name `*` and the path of what it opens. Relative Python imports begin with their
/// dots.
#[derive(Debug, Clone)]
pub struct Import {
    pub local: String,
    pub path: String,
    /// Scopes (functions or modules) in which it stands.
    pub scope: Vec<String>,
    pub span: Span,
}

/// One `macro_rules!`: its arms, each a pattern and a transcriber, as text spans.
#[derive(Debug, Clone)]
pub struct MacroRules {
    pub name: String,
    pub path: Vec<String>,
    pub span: Span,
    pub arms: Vec<MacroArm>,
}

#[derive(Debug, Clone)]
pub struct MacroArm {
    /// Matcher without its outer delimiters.
    pub matcher: Span,
    /// Transcriber without its outer delimiters.
    pub body: Span,
    /// Macro calls inside the body, `$x` in an argument is a [`ExprKind::Name`] `$x`.
    pub calls: Vec<Expr>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Stmt {
    pub span: Span,
    pub kind: StmtKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum StmtKind {
    /// `a = value`, `let a = value`; several targets of one assignment are several statements.
    Bind {
        target: Target,
        value: Expr,
    },
    Expr(Expr),
    /// Python `assert cond, message`.
    Assert {
        cond: Expr,
        message: Option<Expr>,
    },
    Return(Option<Expr>),
    For {
        target: Target,
        iter: Expr,
        body: Vec<Stmt>,
    },
    While {
        cond: Expr,
        body: Vec<Stmt>,
    },
    If {
        cond: Expr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    /// Python `with a as b, c:`; the items in order.
    With {
        items: Vec<(Expr, Option<Target>)>,
        body: Vec<Stmt>,
    },
    /// `try` and its parts, `match` arms, plain blocks, `unsafe`: any may run.
    Block(Vec<Vec<Stmt>>),
    /// A nested function; its body is in [`Unit::functions`] under that name and path.
    Def(String),
    /// Python `raise`; what is raised stands before it as an expression.
    Raise,
    Break,
    Continue,
    /// Nothing that can be followed.
    Other,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    Name(String, Span),
    Tuple(Vec<Target>),
    /// `self.x` and `cls.x` of Python.
    Member(String),
    /// `a[0]`, a pattern that is not followed.
    Other,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    pub span: Span,
    pub kind: ExprKind,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Arg {
    /// Keyword of a Python argument, label of a labelled macro argument (`got: x`).
    pub name: Option<String>,
    pub value: Expr,
    /// `*args` or `**kwargs`.
    pub spread: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    Text(String),
    /// A hole of an f-string or of `format!`, with its conversion and format spec as text (`""` if none).
    Hole(Expr, String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Add,
    Div,
    Mul,
    Sub,
    Mod,
    Eq,
    Ne,
    In,
    NotIn,
    Is,
    IsNot,
    Order,
    And,
    Or,
    Other,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// Value after escapes and concatenation of adjacent literals (`concat!` of literals in Rust too).
    Str(String),
    Bytes(Vec<u8>),
    /// An f-string, or `format!("…", …)` with its holes filled in place.
    Format(Vec<Piece>),
    /// As written, without `_` and suffix.
    Int(String),
    Float(String),
    Char(char),
    Bool(bool),
    /// Python `None`.
    None,
    /// Python `...`.
    Ellipsis,
    Name(String),
    /// `a.b`, and `a::b` in Rust paths.
    Attr(Box<Expr>, String),
    Index(Box<Expr>, Box<Expr>),
    /// A call or method call; a method's callee is an [`ExprKind::Attr`].
    Call {
        callee: Box<Expr>,
        args: Vec<Arg>,
    },
    /// A Rust macro call other than the ones folded into other kinds; `name` with `::` as written.
    /// Arguments are split at top-level commas (also at `;`); `tokens` is what stands between the
    /// delimiters. A leading `@` argument (insta inline) is [`ExprKind::At`].
    Macro {
        name: String,
        args: Vec<Arg>,
        tokens: Span,
    },
    /// `@"literal"`.
    At(Box<Expr>),
    Neg(Box<Expr>),
    Not(Box<Expr>),
    Binary(Op, Box<Expr>, Box<Expr>),
    List(Vec<Expr>),
    Tuple(Vec<Expr>),
    Set(Vec<Expr>),
    Dict(Vec<(Expr, Expr)>),
    /// Rust `Name { field: value, .. }`.
    Struct {
        name: String,
        fields: Vec<(String, Expr)>,
    },
    /// Lambda or closure.
    Closure {
        params: Vec<Target>,
        body: Vec<Stmt>,
    },
    /// `a if c else b`; Rust `if` as an expression: condition, then, otherwise.
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A block, `match`, `unsafe`: what stands inside, to be searched, not valued. A comprehension is its
    /// loops and conditions, each item in a call of `yield`; one that makes a dictionary has them in a call
    /// of `dict`.
    Block(Vec<Stmt>),
    /// A file or folder by its path from the root, as a listing gives it; never written in a source.
    File(RelPath),
    /// Something that is not followed.
    Opaque,
}

impl Expr {
    pub fn new(span: Span, kind: ExprKind) -> Expr {
        Expr { span, kind }
    }

    pub fn opaque(span: Span) -> Expr {
        Expr { span, kind: ExprKind::Opaque }
    }

    /// `a.b.c` of a chain of names, without calls; `None` for anything else.
    pub fn dotted(&self) -> Option<String> {
        match &self.kind {
            ExprKind::Name(name) => Some(name.clone()),
            ExprKind::Attr(base, name) => Some(format!("{}.{name}", base.dotted()?)),
            _ => None,
        }
    }

    /// Calls `see` for this expression and everything inside it, outermost first; closures and blocks
    /// included.
    pub fn walk<'a>(&'a self, see: &mut dyn FnMut(&'a Expr)) {
        see(self);
        self.parts(&mut |part| part.walk(see));
    }

    /// Calls `see` for the expressions that this one is directly made of.
    pub fn parts<'a>(&'a self, see: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            ExprKind::Format(pieces) => {
                for piece in pieces {
                    if let Piece::Hole(hole, _) = piece {
                        see(hole);
                    }
                }
            }
            ExprKind::Attr(base, _) | ExprKind::At(base) | ExprKind::Neg(base) | ExprKind::Not(base) => see(base),
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => {
                see(a);
                see(b);
            }
            ExprKind::Call { callee, args } => {
                see(callee);
                args.iter().for_each(|arg| see(&arg.value));
            }
            ExprKind::Macro { args, .. } => args.iter().for_each(|arg| see(&arg.value)),
            ExprKind::List(items) | ExprKind::Tuple(items) | ExprKind::Set(items) => items.iter().for_each(&mut *see),
            ExprKind::Dict(items) => {
                for (key, value) in items {
                    see(key);
                    see(value);
                }
            }
            ExprKind::Struct { fields, .. } => fields.iter().for_each(|(_, value)| see(value)),
            ExprKind::Closure { body, .. } | ExprKind::Block(body) => body.iter().for_each(|stmt| stmt.parts(see)),
            ExprKind::Cond(a, b, c) => {
                see(a);
                see(b);
                see(c);
            }
            ExprKind::Str(_)
            | ExprKind::Bytes(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Char(_)
            | ExprKind::Bool(_)
            | ExprKind::None
            | ExprKind::Ellipsis
            | ExprKind::Name(_)
            | ExprKind::File(_)
            | ExprKind::Opaque => {}
        }
    }
}

/// Calls `see` for each statement of a body and of the blocks in it, outermost first.
pub fn each<'a>(body: &'a [Stmt], see: &mut dyn FnMut(&'a Stmt)) {
    for stmt in body {
        see(stmt);
        match &stmt.kind {
            StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::With { body, .. } => each(body, see),
            StmtKind::If { then, otherwise, .. } => {
                each(then, see);
                each(otherwise, see);
            }
            StmtKind::Block(parts) => parts.iter().for_each(|part| each(part, see)),
            _ => {}
        }
    }
}

impl Stmt {
    /// Calls `see` for every expression of this statement and of the statements inside it.
    pub fn walk<'a>(&'a self, see: &mut dyn FnMut(&'a Expr)) {
        self.parts(&mut |part| part.walk(see));
    }

    /// Calls `see` for the outermost expressions of this statement and of the statements inside it.
    pub fn parts<'a>(&'a self, see: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            StmtKind::Bind { value, .. } => see(value),
            StmtKind::Expr(expr) => see(expr),
            StmtKind::Assert { cond, message } => {
                see(cond);
                if let Some(message) = message {
                    see(message);
                }
            }
            StmtKind::Return(value) => {
                if let Some(value) = value {
                    see(value);
                }
            }
            StmtKind::For { iter, body, .. } => {
                see(iter);
                body.iter().for_each(|stmt| stmt.parts(see));
            }
            StmtKind::While { cond, body } => {
                see(cond);
                body.iter().for_each(|stmt| stmt.parts(see));
            }
            StmtKind::If { cond, then, otherwise } => {
                see(cond);
                then.iter().chain(otherwise).for_each(|stmt| stmt.parts(see));
            }
            StmtKind::With { items, body } => {
                items.iter().for_each(|(item, _)| see(item));
                body.iter().for_each(|stmt| stmt.parts(see));
            }
            StmtKind::Block(parts) => parts.iter().flatten().for_each(|stmt| stmt.parts(see)),
            StmtKind::Def(_) | StmtKind::Raise | StmtKind::Break | StmtKind::Continue | StmtKind::Other => {}
        }
    }
}

impl Unit {
    /// Functions of that name with their index, in source order.
    pub fn functions_named(&self, name: &str) -> impl DoubleEndedIterator<Item = (usize, &Function)> {
        of_name(&self.by_name.functions, &self.functions, |function| &function.name, name)
    }

    /// Bindings of that name with their index, in source order.
    pub fn globals_named(&self, name: &str) -> impl DoubleEndedIterator<Item = (usize, &Binding)> {
        of_name(&self.by_name.globals, &self.globals, |binding| &binding.name, name)
    }

    /// Imports under that local name, in source order.
    pub fn imports_named(&self, local: &str) -> impl DoubleEndedIterator<Item = &Import> {
        of_name(&self.by_name.imports, &self.imports, |import| &import.local, local).map(|(_, import)| import)
    }

    /// The innermost function whose body or signature holds `span`.
    pub fn function_at(&self, span: Span) -> Option<&Function> {
        self.functions.iter().filter(|f| f.span.contains(span)).min_by_key(|f| f.span.end - f.span.start)
    }

    /// The scopes (classes, modules) around `span`, outermost first.
    pub fn scopes_at(&self, span: Span) -> impl Iterator<Item = &Scope> {
        self.scopes.iter().filter(move |s| !s.elsewhere && s.span.contains(span))
    }

    /// 1-based line of a byte offset.
    pub fn line(&self, byte: usize) -> usize {
        self.text.line_of(byte) + 1
    }
}

impl Unit {
    pub fn empty(path: RelPath, language: Language, text: Text) -> Unit {
        Unit {
            path,
            language,
            text,
            functions: Vec::new(),
            globals: Vec::new(),
            imports: Vec::new(),
            scopes: Vec::new(),
            macros: Vec::new(),
            top: Vec::new(),
            doc: None,
            comments: Vec::new(),
            errors: Vec::new(),
            by_name: ByName::default(),
        }
    }
}
