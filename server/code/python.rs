//! Python syntax to [`Unit`](super::Unit). Takes one parsed file, gives what can be evaluated of it, in one
//! pass over the tree. Never follows nesting deeper than [`syntax::DEEPEST`](crate::syntax::DEEPEST), never
//! takes anything from inside a syntax error.
//!
//! How Python's own shapes are written in the shared tree:
//! * `*args`, `**kwargs` and a bare `*` are parameters whose name begins with the star.
//! * `await x` is `x`; parentheses are left out, the span is that of what stands inside them.
//! * `yield x` is a call of the name `yield`, which no program can define.
//! * `x += 1` binds `x` to something unknown; a list with a `*splat` in it is a block.
//! * A comprehension is a block with its loop; `x := v` a block with its binding.
//! * A chained comparison is the `and` of its pairs.
//! * A name bound under a module-level `if`, `try`, `for` or `with` is a global of unknown value, since
//!   which binding counts is not known.

use tree_sitter::{Tree, TreeCursor};

use super::{Binding, Doc, Expr, ExprKind, Function, Import, Param, Scope, Stmt, StmtKind, Target, Unit};
use crate::places::RelPath;
use crate::syntax::{DEEPEST, Language};
use crate::text::{Span, Text};

mod expressions;
mod grammar;
pub mod numbers;
pub mod repr;
pub mod strings;

use grammar::{Field, Kind, grammar, is_expression, span_of};

/// Longest `elif` chain that is kept as nested conditions; a longer one is a block of its parts.
const LONGEST_ELIF: usize = 50;

/// Lowers one parsed file.
pub fn unit(path: &RelPath, text: &Text, tree: &Tree) -> Unit {
    let root = tree.root_node();
    let mut lower = Lower {
        cursor: root.walk(),
        source: text.as_str(),
        depth: 0,
        path: Vec::new(),
        broken: root.has_error(),
        unit: Unit::empty(path.clone(), Language::Python, text.clone()),
    };
    if root.is_error() {
        lower.unit.errors.push(span_of(root));
        return lower.unit;
    }
    let (doc, body) = lower.body(Place::Module);
    let mut unit = lower.unit;
    unit.doc = doc;
    unit.top = body;
    unit.functions.sort_by_key(|function| function.span);
    unit.scopes.sort_by_key(|scope| scope.span);
    unit.comments.sort();
    unit.comments.dedup();
    unit
}

/// Lowers one expression that stands alone (a recorded value, a rendered literal). Spans count from the
/// start of `source`. `None` when it is not exactly one expression.
pub fn expression(source: &str) -> Option<Expr> {
    let tree = crate::syntax::parse(source, Language::Python, None, crate::syntax::BUDGET)?;
    let root = tree.root_node();
    if root.has_error() {
        return None;
    }
    let text = Text::new(source);
    let mut lower = Lower {
        cursor: root.walk(),
        source,
        depth: 0,
        path: Vec::new(),
        broken: false,
        unit: Unit::empty(RelPath::default(), Language::Python, text),
    };
    let mut stmts = Vec::new();
    lower.each(|this, _, kind| this.stmt(kind, Place::Function, &mut stmts));
    match stmts.pop()?.kind {
        StmtKind::Expr(expr) if stmts.is_empty() => Some(expr),
        _ => None,
    }
}

/// Where a statement stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Module,
    Class,
    Function,
    /// Under a condition of the module or a class.
    Perhaps,
}

struct Lower<'t> {
    cursor: TreeCursor<'t>,
    source: &'t str,
    depth: usize,
    path: Vec<String>,
    /// The tree holds an error somewhere.
    broken: bool,
    unit: Unit,
}

impl<'t> Lower<'t> {
    fn span(&self) -> Span {
        span_of(self.cursor.node())
    }

    fn slice(&self, span: Span) -> &'t str {
        self.source.get(span.start..span.end).unwrap_or("")
    }

    fn here(&self) -> &'t str {
        self.slice(self.span())
    }

    /// Calls `see` at every child that means something; comments and errors are noted on the way.
    /// `false` when something could not be read among the direct children.
    fn each(&mut self, mut see: impl FnMut(&mut Self, Field, Kind)) -> bool {
        let mut sound = true;
        if !self.cursor.goto_first_child() {
            return true;
        }
        loop {
            let node = self.cursor.node();
            let kind = grammar().kinds.get(node.kind_id() as usize).copied().unwrap_or(Kind::Error);
            match kind {
                Kind::Comment => self.unit.comments.push(span_of(node)),
                Kind::LineContinuation => {}
                _ if kind == Kind::Error || (self.broken && node.is_missing()) => {
                    self.unit.errors.push(span_of(node));
                    sound = false;
                }
                _ => {
                    let field = match self.cursor.field_id() {
                        Some(id) => grammar().fields.get(id.get() as usize).copied().unwrap_or(Field::Other),
                        None => Field::Other,
                    };
                    see(self, field, kind);
                }
            }
            if !self.cursor.goto_next_sibling() {
                break;
            }
        }
        self.cursor.goto_parent();
        sound
    }

    /// Statements below the current node (a module or block), and the docstring they open with.
    fn body(&mut self, place: Place) -> (Option<Doc>, Vec<Stmt>) {
        let mut doc = None;
        let mut first = true;
        let mut out = Vec::new();
        self.each(|this, _, kind| {
            if first {
                first = false;
                if place != Place::Perhaps {
                    doc = this.docstring(kind);
                }
            }
            this.stmt(kind, place, &mut out);
        });
        (doc, out)
    }

    fn docstring(&mut self, kind: Kind) -> Option<Doc> {
        if kind != Kind::ExpressionStatement {
            return None;
        }
        let node = self.cursor.node();
        let inner = node.child(0)?;
        let kind = grammar().kinds.get(inner.kind_id() as usize).copied()?;
        if node.child_count() != 1 || !matches!(kind, Kind::Str | Kind::ConcatenatedString) {
            return None;
        }
        self.cursor.goto_first_child();
        let value = if kind == Kind::Str { self.string() } else { self.concatenated() };
        self.cursor.goto_parent();
        match value {
            ExprKind::Str(text) => Some(Doc { text, span: span_of(inner) }),
            _ => None,
        }
    }

    fn stmt(&mut self, kind: Kind, place: Place, out: &mut Vec<Stmt>) {
        let span = self.span();
        if self.depth >= DEEPEST {
            out.push(Stmt { span, kind: StmtKind::Other });
            return;
        }
        self.depth += 1;
        match kind {
            Kind::ExpressionStatement => self.expression_statement(span, place, out),
            Kind::AssertStatement => self.assert_statement(span, out),
            Kind::ReturnStatement => self.return_statement(span, out),
            Kind::RaiseStatement => {
                self.each(|this, _, kind| {
                    if is_expression(kind) {
                        let value = this.expr();
                        out.push(Stmt { span, kind: StmtKind::Expr(value) });
                    }
                });
                out.push(Stmt { span, kind: StmtKind::Raise });
            }
            Kind::BreakStatement => out.push(Stmt { span, kind: StmtKind::Break }),
            Kind::ContinueStatement => out.push(Stmt { span, kind: StmtKind::Continue }),
            Kind::ImportStatement => self.import(span),
            Kind::ImportFromStatement => self.import_from(span),
            Kind::IfStatement => self.if_statement(span, place, out),
            Kind::ForStatement => self.for_statement(span, place, out),
            Kind::WhileStatement => self.while_statement(span, place, out),
            Kind::WithStatement => self.with_statement(span, place, out),
            Kind::TryStatement | Kind::MatchStatement => {
                let parts = self.parts(place);
                out.push(Stmt { span, kind: StmtKind::Block(parts) });
            }
            Kind::FunctionDefinition => self.function(span, Vec::new(), place, out),
            Kind::ClassDefinition => self.class(span, Vec::new()),
            Kind::DecoratedDefinition => self.decorated(span, place, out),
            Kind::Comma | Kind::Other => {
                if self.cursor.node().is_named() {
                    out.push(Stmt { span, kind: StmtKind::Other });
                }
            }
            _ => out.push(Stmt { span, kind: StmtKind::Other }),
        }
        self.depth -= 1;
    }

    fn expression_statement(&mut self, span: Span, place: Place, out: &mut Vec<Stmt>) {
        let mut items = Vec::new();
        let mut comma = false;
        let sound = self.each(|this, _, kind| match kind {
            Kind::Assignment => this.assignment(place, out),
            Kind::AugmentedAssignment => this.augmented(place, out),
            Kind::Comma => comma = true,
            _ => items.push(this.expr()),
        });
        if !sound {
            out.push(Stmt { span, kind: StmtKind::Other });
        } else if items.len() > 1 || (comma && !items.is_empty()) {
            out.push(Stmt { span, kind: StmtKind::Expr(Expr::new(span, ExprKind::Tuple(items))) });
        } else if let Some(item) = items.pop() {
            out.push(Stmt { span, kind: StmtKind::Expr(item) });
        }
    }

    fn assignment(&mut self, place: Place, out: &mut Vec<Stmt>) {
        let span = self.span();
        let mut targets = Vec::new();
        let value = self.assigned(&mut targets);
        let Some(value) = value else {
            out.push(Stmt { span, kind: StmtKind::Other });
            return;
        };
        let last = targets.len().saturating_sub(1);
        let mut value = Some(value);
        for (i, target) in targets.into_iter().enumerate() {
            let value = if i == last { value.take() } else { value.clone() };
            if let Some(value) = value {
                self.bind(span, target, value, place, out);
            }
        }
    }

    /// Targets and value of an assignment and of those chained to its right.
    fn assigned(&mut self, targets: &mut Vec<Target>) -> Option<Expr> {
        if self.depth >= DEEPEST {
            return None;
        }
        self.depth += 1;
        let mut value = None;
        let sound = self.each(|this, field, kind| match field {
            Field::Left => targets.push(this.target(kind)),
            Field::Right if kind == Kind::Assignment => value = this.assigned(targets),
            Field::Right => value = Some(this.expr()),
            _ => {}
        });
        self.depth -= 1;
        value.filter(|_| sound)
    }

    /// Notes a binding: at module and class level as a global, elsewhere as a statement.
    fn bind(&mut self, span: Span, target: Target, value: Expr, place: Place, out: &mut Vec<Stmt>) {
        match (place, target) {
            (Place::Function, target) => out.push(Stmt { span, kind: StmtKind::Bind { target, value } }),
            (Place::Module | Place::Class, Target::Name(name, _)) => {
                self.unit.globals.push(Binding { name, path: self.path.clone(), span, value });
            }
            (Place::Module | Place::Class, Target::Tuple(targets)) => match value.kind {
                ExprKind::Tuple(values) | ExprKind::List(values) if values.len() == targets.len() => {
                    for (target, value) in targets.into_iter().zip(values) {
                        self.bind(span, target, value, place, out);
                    }
                }
                _ => {
                    let target = Target::Tuple(targets);
                    self.unknown_names(&target);
                    out.push(Stmt { span, kind: StmtKind::Bind { target, value } });
                }
            },
            (_, target) => {
                self.unknown_names(&target);
                out.push(Stmt { span, kind: StmtKind::Bind { target, value } });
            }
        }
    }

    /// Globals of unknown value for every name of a target.
    fn unknown_names(&mut self, target: &Target) {
        match target {
            Target::Name(name, span) => self.unit.globals.push(Binding {
                name: name.clone(),
                path: self.path.clone(),
                span: *span,
                value: Expr::opaque(*span),
            }),
            Target::Tuple(targets) => targets.iter().for_each(|target| self.unknown_names(target)),
            Target::Member(_) | Target::Other => {}
        }
    }

    fn augmented(&mut self, place: Place, out: &mut Vec<Stmt>) {
        let span = self.span();
        let (mut target, mut value) = (Target::Other, None);
        self.each(|this, field, kind| match field {
            Field::Left => target = this.target(kind),
            Field::Right => value = Some(this.expr()),
            _ => {}
        });
        let stmts = value.map(|value| Stmt { span: value.span, kind: StmtKind::Expr(value) });
        let value = Expr::new(span, ExprKind::Block(stmts.into_iter().collect()));
        self.bind(span, target, value, place, out);
    }

    fn assert_statement(&mut self, span: Span, out: &mut Vec<Stmt>) {
        let mut parts = Vec::new();
        let sound = self.each(|this, _, kind| {
            if is_expression(kind) {
                parts.push(this.expr());
            }
        });
        let mut parts = parts.into_iter();
        let kind = match parts.next() {
            Some(cond) if sound => StmtKind::Assert { cond, message: parts.next() },
            _ => StmtKind::Other,
        };
        out.push(Stmt { span, kind });
    }

    fn return_statement(&mut self, span: Span, out: &mut Vec<Stmt>) {
        let mut value = None;
        let sound = self.each(|this, _, kind| {
            if is_expression(kind) {
                value = Some(this.expr());
            }
        });
        let value = if sound { value } else { Some(Expr::opaque(span)) };
        out.push(Stmt { span, kind: StmtKind::Return(value) });
    }

    fn import(&mut self, span: Span) {
        let mut found = Vec::new();
        self.each(|this, _, kind| match kind {
            Kind::DottedName => {
                let path = this.dotted();
                let first = path.split('.').next().unwrap_or("").to_string();
                found.push((first.clone(), first));
            }
            Kind::AliasedImport => found.push(this.aliased()),
            _ => {}
        });
        let scope = &self.path;
        let imports = found.into_iter().map(|(local, path)| Import { local, path, scope: scope.clone(), span });
        self.unit.imports.extend(imports);
    }

    fn import_from(&mut self, span: Span) {
        let mut module = String::new();
        let mut found = Vec::new();
        let sound = self.each(|this, field, kind| match (field, kind) {
            (Field::ModuleName, _) => module = this.dotted(),
            (_, Kind::DottedName) => {
                let name = this.dotted();
                found.push((name.clone(), name));
            }
            (_, Kind::AliasedImport) => found.push(this.aliased()),
            (_, Kind::WildcardImport) => found.push(("*".to_string(), String::new())),
            _ => {}
        });
        if !sound {
            return;
        }
        for (local, name) in found {
            let dot = if module.ends_with('.') || name.is_empty() { "" } else { "." };
            let path = format!("{module}{dot}{name}");
            self.unit.imports.push(Import { local, path, scope: self.path.clone(), span });
        }
    }

    /// Text of a (relative) dotted name without white space.
    fn dotted(&self) -> String {
        self.here().chars().filter(|c| !c.is_whitespace() && *c != '\\').collect()
    }

    /// `(local, path)` of `path as local`.
    fn aliased(&mut self) -> (String, String) {
        let (mut local, mut path) = (String::new(), String::new());
        self.each(|this, field, _| match field {
            Field::Name => path = this.dotted(),
            Field::Alias => local = this.here().to_string(),
            _ => {}
        });
        (local, path)
    }

    fn inner(place: Place) -> Place {
        if place == Place::Function { Place::Function } else { Place::Perhaps }
    }

    fn if_statement(&mut self, span: Span, place: Place, out: &mut Vec<Stmt>) {
        let place = Self::inner(place);
        let mut branches: Vec<(Span, Expr, Vec<Stmt>)> = Vec::new();
        let mut otherwise = Vec::new();
        let mut cond = None;
        self.each(|this, field, kind| match (field, kind) {
            (Field::Condition, _) => cond = Some(this.expr()),
            (Field::Consequence, _) => {
                let then = this.body(place).1;
                branches.push((span, cond.take().unwrap_or(Expr::opaque(span)), then));
            }
            (_, Kind::ElifClause) => {
                let span = this.span();
                let (mut cond, mut then) = (None, Vec::new());
                this.each(|this, field, _| match field {
                    Field::Condition => cond = Some(this.expr()),
                    Field::Consequence => then = this.body(place).1,
                    _ => {}
                });
                branches.push((span, cond.unwrap_or(Expr::opaque(span)), then));
            }
            (_, Kind::ElseClause) => otherwise = this.clause_body(place),
            _ => {}
        });
        if branches.len() > LONGEST_ELIF {
            let mut parts: Vec<Vec<Stmt>> = branches.into_iter().map(|(_, _, then)| then).collect();
            parts.push(otherwise);
            out.push(Stmt { span, kind: StmtKind::Block(parts) });
            return;
        }
        for (span, cond, then) in branches.into_iter().rev() {
            otherwise = vec![Stmt { span, kind: StmtKind::If { cond, then, otherwise } }];
        }
        out.append(&mut otherwise);
    }

    /// Statements of the block of an `else`, `except`, `finally` or `case` clause.
    fn clause_body(&mut self, place: Place) -> Vec<Stmt> {
        let mut body = Vec::new();
        self.each(|this, _, kind| {
            if kind == Kind::Block {
                body = this.body(place).1;
            }
        });
        body
    }

    fn for_statement(&mut self, span: Span, place: Place, out: &mut Vec<Stmt>) {
        let (mut target, mut iter) = (Target::Other, None);
        let (mut body, mut after) = (Vec::new(), Vec::new());
        let within = Self::inner(place);
        self.each(|this, field, kind| match (field, kind) {
            (Field::Left, _) => target = this.target(kind),
            (Field::Right, _) => iter = Some(this.expr()),
            (Field::Body, _) => body = this.body(within).1,
            (_, Kind::ElseClause) => after = this.clause_body(within),
            _ => {}
        });
        if place != Place::Function {
            self.unknown_names(&target);
        }
        let iter = iter.unwrap_or(Expr::opaque(span));
        out.push(Stmt { span, kind: StmtKind::For { target, iter, body } });
        out.append(&mut after);
    }

    fn while_statement(&mut self, span: Span, place: Place, out: &mut Vec<Stmt>) {
        let (mut cond, mut body, mut after) = (None, Vec::new(), Vec::new());
        let within = Self::inner(place);
        self.each(|this, field, kind| match (field, kind) {
            (Field::Condition, _) => cond = Some(this.expr()),
            (Field::Body, _) => body = this.body(within).1,
            (_, Kind::ElseClause) => after = this.clause_body(within),
            _ => {}
        });
        let cond = cond.unwrap_or(Expr::opaque(span));
        out.push(Stmt { span, kind: StmtKind::While { cond, body } });
        out.append(&mut after);
    }

    fn with_statement(&mut self, span: Span, place: Place, out: &mut Vec<Stmt>) {
        let (mut items, mut body) = (Vec::new(), Vec::new());
        let within = Self::inner(place);
        self.each(|this, field, kind| match (field, kind) {
            (Field::Body, _) => body = this.body(within).1,
            (_, Kind::WithClause) => {
                this.each(|this, _, kind| {
                    if kind == Kind::WithItem {
                        this.each(|this, _, kind| this.with_item(kind, &mut items));
                    }
                });
            }
            _ => {}
        });
        if place != Place::Function {
            for target in items.iter().filter_map(|(_, target)| target.clone()).collect::<Vec<_>>() {
                self.unknown_names(&target);
            }
        }
        out.push(Stmt { span, kind: StmtKind::With { items, body } });
    }

    fn with_item(&mut self, kind: Kind, items: &mut Vec<(Expr, Option<Target>)>) {
        match kind {
            Kind::AsPattern => {
                let (mut value, mut target) = (None, None);
                self.each(|this, _, kind| match kind {
                    Kind::AsPatternTarget => {
                        this.each(|this, _, kind| target = Some(this.target(kind)));
                    }
                    kind if is_expression(kind) => value = Some(this.expr()),
                    _ => {}
                });
                items.extend(value.map(|value| (value, target)));
            }
            Kind::Tuple | Kind::ParenthesizedExpression if self.depth < DEEPEST => {
                self.depth += 1;
                self.each(|this, _, kind| this.with_item(kind, items));
                self.depth -= 1;
            }
            kind if is_expression(kind) => {
                let value = self.expr();
                items.push((value, None));
            }
            _ => {}
        }
    }

    /// The parts of `try` and `match`, any of which may run.
    fn parts(&mut self, place: Place) -> Vec<Vec<Stmt>> {
        let place = Self::inner(place);
        let mut parts = Vec::new();
        self.each(|this, field, kind| match (field, kind) {
            (Field::Subject, _) => {
                let value = this.expr();
                parts.push(vec![Stmt { span: value.span, kind: StmtKind::Expr(value) }]);
            }
            (Field::Body, Kind::Block) => {
                let mut cases = Vec::new();
                let mut stmts = Vec::new();
                this.each(|this, _, kind| match kind {
                    Kind::CaseClause => cases.push(this.clause_body(place)),
                    kind => this.stmt(kind, place, &mut stmts),
                });
                if !stmts.is_empty() {
                    parts.push(stmts);
                }
                parts.append(&mut cases);
            }
            (_, Kind::ExceptClause | Kind::ElseClause | Kind::FinallyClause) => {
                let body = this.clause_body(place);
                parts.push(body);
            }
            _ => {}
        });
        parts
    }

    fn decorated(&mut self, span: Span, place: Place, out: &mut Vec<Stmt>) {
        let mut marks = Vec::new();
        self.each(|this, _, kind| match kind {
            Kind::Decorator => {
                this.each(|this, _, kind| {
                    if is_expression(kind) {
                        marks.push(this.expr());
                    }
                });
            }
            Kind::FunctionDefinition => this.function(span, std::mem::take(&mut marks), place, out),
            Kind::ClassDefinition => this.class(span, std::mem::take(&mut marks)),
            _ => {}
        });
    }

    fn function(&mut self, span: Span, marks: Vec<Expr>, place: Place, out: &mut Vec<Stmt>) {
        let def_span = self.span();
        let (mut name, mut name_span) = (String::new(), def_span);
        let mut params = Vec::new();
        let (mut doc, mut body, mut indent) = (None, Vec::new(), None);
        self.each(|this, field, _| match field {
            Field::Name => {
                name_span = this.span();
                name = this.here().to_string();
            }
            Field::Parameters => {
                this.each(|this, _, kind| this.param(kind, &mut params));
            }
            Field::Body => {
                indent = this.indent_of_block(def_span);
                this.path.push(name.clone());
                (doc, body) = this.body(Place::Function);
                this.path.pop();
            }
            _ => {}
        });
        if place == Place::Function {
            out.push(Stmt { span, kind: StmtKind::Def(name.clone()) });
        }
        let indent = indent.unwrap_or_else(|| format!("{}    ", self.line_indent(def_span.start)));
        self.unit.functions.push(Function {
            name,
            path: self.path.clone(),
            span,
            name_span,
            def_span,
            params,
            marks,
            doc,
            body,
            indent,
        });
    }

    /// Blanks and tabs at the start of the line of `at`.
    fn line_indent(&self, at: usize) -> &'t str {
        let before = self.source.get(..at).unwrap_or("");
        let line = &self.source[before.rfind('\n').map_or(0, |i| i + 1)..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// Indentation of the block at the cursor, if its first statement begins a line.
    fn indent_of_block(&self, def: Span) -> Option<String> {
        let start = self.span().start;
        let between = self.source.get(def.start..start)?;
        let line = between.rfind('\n').map(|i| &between[i + 1..])?;
        line.bytes().all(|b| matches!(b, b' ' | b'\t')).then(|| line.to_string())
    }

    fn param(&mut self, kind: Kind, params: &mut Vec<Param>) {
        let span = self.span();
        let mut add = |name: String, default| params.push(Param { name, span, default, marks: Vec::new() });
        match kind {
            Kind::Identifier | Kind::ListSplatPattern | Kind::DictionarySplatPattern => {
                add(self.here().to_string(), None);
            }
            Kind::KeywordSeparator => add("*".to_string(), None),
            Kind::TypedParameter => {
                let mut name = String::new();
                self.each(|this, field, _| {
                    if field != Field::Type && name.is_empty() {
                        name = this.here().to_string();
                    }
                });
                add(name, None);
            }
            Kind::DefaultParameter | Kind::TypedDefaultParameter => {
                let (mut name, mut default) = (String::new(), None);
                self.each(|this, field, _| match field {
                    Field::Name => name = this.here().to_string(),
                    Field::Value => default = Some(this.expr()),
                    _ => {}
                });
                add(name, default);
            }
            _ => {}
        }
    }

    fn class(&mut self, span: Span, marks: Vec<Expr>) {
        let mut name = String::new();
        let (mut bases, mut doc) = (Vec::new(), None);
        self.each(|this, field, _| match field {
            Field::Name => name = this.here().to_string(),
            Field::Superclasses => {
                this.each(|this, _, kind| {
                    if is_expression(kind) {
                        bases.push(this.expr());
                    }
                });
            }
            Field::Body => {
                this.path.push(name.clone());
                doc = this.body(Place::Class).0;
                this.path.pop();
            }
            _ => {}
        });
        self.unit.scopes.push(Scope { name, path: self.path.clone(), span, marks, bases, doc, elsewhere: false });
    }
}

#[cfg(test)]
mod tests;
