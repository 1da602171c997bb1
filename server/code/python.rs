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

use std::sync::OnceLock;

use tree_sitter::{Node, Tree, TreeCursor};

use super::{
    Arg, Binding, Doc, Expr, ExprKind, Function, Import, Op, Param, Piece, Scope, Stmt, StmtKind, Target, Unit,
};
use crate::places::RelPath;
use crate::syntax::{DEEPEST, Language};
use crate::text::{Span, Text};

pub mod numbers;
pub mod strings;

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

macro_rules! words {
    ($kind:ident, $($name:ident = $text:literal),* $(,)?) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum $kind { $($name,)* Other }

        impl $kind {
            fn of(text: &str) -> $kind {
                match text {
                    $($text => $kind::$name,)*
                    _ => $kind::Other,
                }
            }
        }
    };
}

words! { Kind,
    ArgumentList = "argument_list", AsPattern = "as_pattern", AsPatternTarget = "as_pattern_target",
    AliasedImport = "aliased_import", AssertStatement = "assert_statement", Assignment = "assignment",
    Attribute = "attribute", AugmentedAssignment = "augmented_assignment", Await = "await",
    BinaryOperator = "binary_operator", Block = "block", BooleanOperator = "boolean_operator", Call = "call",
    CaseClause = "case_clause", ClassDefinition = "class_definition", Comment = "comment",
    ComparisonOperator = "comparison_operator", ConcatenatedString = "concatenated_string",
    ConditionalExpression = "conditional_expression", DecoratedDefinition = "decorated_definition",
    Decorator = "decorator", DefaultParameter = "default_parameter", Dictionary = "dictionary",
    DictionaryComprehension = "dictionary_comprehension", DictionarySplat = "dictionary_splat",
    DictionarySplatPattern = "dictionary_splat_pattern", DottedName = "dotted_name", ElifClause = "elif_clause",
    Ellipsis = "ellipsis", ElseClause = "else_clause", ExceptClause = "except_clause",
    ExpressionList = "expression_list", ExpressionStatement = "expression_statement", False = "false",
    FinallyClause = "finally_clause", Float = "float", ForInClause = "for_in_clause",
    ForStatement = "for_statement", FormatSpecifier = "format_specifier",
    FunctionDefinition = "function_definition", GeneratorExpression = "generator_expression",
    Identifier = "identifier", IfClause = "if_clause", IfStatement = "if_statement",
    ImportFromStatement = "import_from_statement", ImportStatement = "import_statement", Integer = "integer",
    Interpolation = "interpolation", KeywordArgument = "keyword_argument", KeywordSeparator = "keyword_separator",
    Lambda = "lambda", LineContinuation = "line_continuation", List = "list",
    ListComprehension = "list_comprehension", ListPattern = "list_pattern", ListSplat = "list_splat",
    ListSplatPattern = "list_splat_pattern", MatchStatement = "match_statement",
    NamedExpression = "named_expression", None = "none", NotOperator = "not_operator", Pair = "pair",
    ParenthesizedExpression = "parenthesized_expression", ParenthesizedListSplat = "parenthesized_list_splat",
    PatternList = "pattern_list", RaiseStatement = "raise_statement", RelativeImport = "relative_import",
    ReturnStatement = "return_statement", Set = "set", SetComprehension = "set_comprehension", Slice = "slice",
    Str = "string", StringEnd = "string_end", StringStart = "string_start", Subscript = "subscript",
    True = "true", TryStatement = "try_statement", Tuple = "tuple", TuplePattern = "tuple_pattern",
    TypeConversion = "type_conversion", TypedDefaultParameter = "typed_default_parameter",
    TypedParameter = "typed_parameter", UnaryOperator = "unary_operator", WhileStatement = "while_statement",
    WildcardImport = "wildcard_import", WithClause = "with_clause", WithItem = "with_item",
    WithStatement = "with_statement", Yield = "yield",
    Equal = "==", NotEqual = "!=", Differ = "<>", Less = "<", LessEqual = "<=", More = ">", MoreEqual = ">=",
    In = "in", NotIn = "not in", Is = "is", IsNot = "is not", Or = "or", Plus = "+", Minus = "-", Star = "*",
    Slash = "/", Percent = "%", Becomes = "=", Comma = ",", Error = "ERROR",
}

words! { Field,
    Alias = "alias", Alternative = "alternative", Arguments = "arguments", Argument = "argument", Body = "body",
    Condition = "condition", Consequence = "consequence", Definition = "definition", Expression = "expression",
    Function = "function", Key = "key", Left = "left", ModuleName = "module_name", Name = "name",
    Object = "object", Parameters = "parameters", Right = "right", Subject = "subject", Subscripted = "subscript",
    Superclasses = "superclasses", Type = "type", Value = "value", AttributeName = "attribute",
    ReturnType = "return_type",
}

struct Grammar {
    kinds: Vec<Kind>,
    fields: Vec<Field>,
}

fn grammar() -> &'static Grammar {
    static GRAMMAR: OnceLock<Grammar> = OnceLock::new();
    GRAMMAR.get_or_init(|| {
        let language = Language::Python.grammar();
        Grammar {
            kinds: (0..language.node_kind_count())
                .map(|id| {
                    let kind = language.node_kind_for_id(id as u16).map_or(Kind::Other, Kind::of);
                    // The tokens `lambda`, `await` and `yield` are called like the nodes that they open.
                    if is_expression(kind) && !language.node_kind_is_named(id as u16) { Kind::Other } else { kind }
                })
                .collect(),
            fields: (0..=language.field_count())
                .map(|id| language.field_name_for_id(id as u16).map_or(Field::Other, Field::of))
                .collect(),
        }
    })
}

fn span_of(node: Node) -> Span {
    Span::new(node.start_byte(), node.end_byte())
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
            }
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
            Target::Other => {}
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

    fn target(&mut self, kind: Kind) -> Target {
        match kind {
            Kind::Identifier => Target::Name(self.here().to_string(), self.span()),
            Kind::PatternList | Kind::TuplePattern | Kind::ListPattern | Kind::Tuple | Kind::List
                if self.depth < DEEPEST =>
            {
                self.depth += 1;
                let mut targets = Vec::new();
                self.each(|this, _, kind| {
                    if this.cursor.node().is_named() {
                        targets.push(this.target(kind));
                    }
                });
                self.depth -= 1;
                Target::Tuple(targets)
            }
            _ => Target::Other,
        }
    }

    /// The expression at the cursor.
    fn expr(&mut self) -> Expr {
        let node = self.cursor.node();
        let span = span_of(node);
        if self.depth >= DEEPEST {
            return Expr::opaque(span);
        }
        self.depth += 1;
        let kind = grammar().kinds.get(node.kind_id() as usize).copied().unwrap_or(Kind::Error);
        let expr = match kind {
            Kind::Identifier => Expr::new(span, ExprKind::Name(self.here().to_string())),
            Kind::Str => Expr::new(span, self.string()),
            Kind::ParenthesizedExpression | Kind::Await => self.only_child(span),
            _ => {
                let kind = self.expr_kind(kind, span);
                Expr::new(span, kind)
            }
        };
        self.depth -= 1;
        expr
    }

    fn only_child(&mut self, span: Span) -> Expr {
        let mut inner = None;
        let sound = self.each(|this, _, kind| {
            if is_expression(kind) {
                inner = Some(this.expr());
            }
        });
        inner.filter(|_| sound).unwrap_or(Expr::opaque(span))
    }

    fn expr_kind(&mut self, kind: Kind, span: Span) -> ExprKind {
        match kind {
            Kind::Integer => integer(self.here()).map_or(ExprKind::Opaque, ExprKind::Int),
            Kind::Float => float(self.here()).map_or(ExprKind::Opaque, ExprKind::Float),
            Kind::True => ExprKind::Bool(true),
            Kind::False => ExprKind::Bool(false),
            Kind::None => ExprKind::None,
            Kind::Ellipsis => ExprKind::Ellipsis,
            Kind::ConcatenatedString => self.concatenated(),
            Kind::Attribute => self.attribute(),
            Kind::Subscript => self.subscript(span),
            Kind::Call => self.call(),
            Kind::ComparisonOperator => self.comparison(span),
            Kind::BooleanOperator | Kind::BinaryOperator => self.binary(),
            Kind::NotOperator | Kind::UnaryOperator => self.unary(),
            Kind::List | Kind::Tuple | Kind::Set | Kind::ExpressionList | Kind::PatternList => self.sequence(kind),
            Kind::Dictionary => self.dictionary(),
            Kind::ConditionalExpression => self.conditional(),
            Kind::Lambda => self.lambda(),
            Kind::NamedExpression => self.walrus(span),
            Kind::Yield => self.yielded(span),
            Kind::ListComprehension
            | Kind::SetComprehension
            | Kind::DictionaryComprehension
            | Kind::GeneratorExpression => self.comprehension(span),
            Kind::Slice | Kind::ListSplat | Kind::DictionarySplat | Kind::ParenthesizedListSplat | Kind::AsPattern => {
                self.searched()
            }
            _ => ExprKind::Opaque,
        }
    }

    /// What stands inside, to be searched and not valued.
    fn searched(&mut self) -> ExprKind {
        let mut stmts = Vec::new();
        let sound = self.each(|this, _, kind| {
            if is_expression(kind) {
                let value = this.expr();
                stmts.push(Stmt { span: value.span, kind: StmtKind::Expr(value) });
            }
        });
        if sound { ExprKind::Block(stmts) } else { ExprKind::Opaque }
    }

    fn attribute(&mut self) -> ExprKind {
        let (mut base, mut name) = (None, String::new());
        let sound = self.each(|this, field, _| match field {
            Field::Object => base = Some(Box::new(this.expr())),
            Field::AttributeName => name = this.here().to_string(),
            _ => {}
        });
        match base {
            Some(base) if sound => ExprKind::Attr(base, name),
            _ => ExprKind::Opaque,
        }
    }

    fn subscript(&mut self, span: Span) -> ExprKind {
        let (mut base, mut keys) = (None, Vec::new());
        let sound = self.each(|this, field, _| match field {
            Field::Value => base = Some(Box::new(this.expr())),
            Field::Subscripted => keys.push(this.expr()),
            _ => {}
        });
        let key = match keys.len() {
            1 => keys.pop(),
            _ => Some(Expr::new(span, ExprKind::Tuple(keys))),
        };
        match (base, key) {
            (Some(base), Some(key)) if sound => ExprKind::Index(base, Box::new(key)),
            _ => ExprKind::Opaque,
        }
    }

    fn call(&mut self) -> ExprKind {
        let (mut callee, mut args) = (None, Vec::new());
        let mut whole = true;
        let sound = self.each(|this, field, kind| match (field, kind) {
            (Field::Function, _) => callee = Some(Box::new(this.expr())),
            (_, Kind::ArgumentList) => whole &= this.each(|this, _, kind| this.arg(kind, &mut args)),
            (_, Kind::GeneratorExpression) => {
                let value = this.expr();
                args.push(Arg { name: None, value, spread: false });
            }
            _ => {}
        });
        match callee {
            Some(callee) if sound && whole => ExprKind::Call { callee, args },
            _ => ExprKind::Opaque,
        }
    }

    fn arg(&mut self, kind: Kind, args: &mut Vec<Arg>) {
        match kind {
            Kind::KeywordArgument => {
                let (mut name, mut value) = (None, None);
                let span = self.span();
                let sound = self.each(|this, field, _| match field {
                    Field::Name => name = Some(this.here().to_string()),
                    Field::Value => value = Some(this.expr()),
                    _ => {}
                });
                let value = value.filter(|_| sound).unwrap_or(Expr::opaque(span));
                args.push(Arg { name, value, spread: false });
            }
            Kind::ListSplat | Kind::DictionarySplat | Kind::ParenthesizedListSplat => {
                let span = self.span();
                let value = self.only_child(span);
                args.push(Arg { name: None, value, spread: true });
            }
            kind if is_expression(kind) => {
                let value = self.expr();
                args.push(Arg { name: None, value, spread: false });
            }
            _ => {}
        }
    }

    fn comparison(&mut self, span: Span) -> ExprKind {
        let (mut operands, mut ops) = (Vec::new(), Vec::new());
        let sound = self.each(|this, _, kind| match kind {
            Kind::Equal => ops.push(Op::Eq),
            Kind::NotEqual | Kind::Differ => ops.push(Op::Ne),
            Kind::Less | Kind::LessEqual | Kind::More | Kind::MoreEqual => ops.push(Op::Order),
            Kind::In => ops.push(Op::In),
            Kind::NotIn => ops.push(Op::NotIn),
            Kind::Is => ops.push(Op::Is),
            Kind::IsNot => ops.push(Op::IsNot),
            kind if is_expression(kind) => operands.push(this.expr()),
            _ => {}
        });
        if !sound || operands.len() != ops.len() + 1 || ops.is_empty() || ops.len() > LONGEST_ELIF {
            return ExprKind::Opaque;
        }
        let last = operands.len() - 1;
        let mut pairs = ops.into_iter().enumerate().map(|(i, op)| {
            let left = operands[i].clone();
            let right = if i + 1 == last {
                std::mem::replace(&mut operands[last], Expr::opaque(span))
            } else {
                operands[i + 1].clone()
            };
            Expr::new(Span::new(left.span.start, right.span.end), ExprKind::Binary(op, Box::new(left), Box::new(right)))
        });
        let Some(first) = pairs.next() else { return ExprKind::Opaque };
        pairs
            .fold(first, |all, pair| {
                let span = Span::new(all.span.start, pair.span.end);
                Expr::new(span, ExprKind::Binary(Op::And, Box::new(all), Box::new(pair)))
            })
            .kind
    }

    fn binary(&mut self) -> ExprKind {
        let (mut left, mut right, mut op) = (None, None, Op::And);
        let sound = self.each(|this, field, kind| match (field, kind) {
            (Field::Left, _) => left = Some(Box::new(this.expr())),
            (Field::Right, _) => right = Some(Box::new(this.expr())),
            (_, Kind::Or) => op = Op::Or,
            (_, Kind::Plus) => op = Op::Add,
            (_, Kind::Minus) => op = Op::Sub,
            (_, Kind::Star) => op = Op::Mul,
            (_, Kind::Slash) => op = Op::Div,
            (_, Kind::Percent) => op = Op::Mod,
            (_, _) if this.here() != "and" => op = Op::Other,
            _ => {}
        });
        match (left, right) {
            (Some(left), Some(right)) if sound => ExprKind::Binary(op, left, right),
            _ => ExprKind::Opaque,
        }
    }

    fn unary(&mut self) -> ExprKind {
        let (mut value, mut op) = (None, "");
        let sound = self.each(|this, field, kind| {
            if field == Field::Argument || is_expression(kind) {
                value = Some(this.expr());
            } else {
                op = this.here();
            }
        });
        match (op, value) {
            ("not", Some(value)) if sound => ExprKind::Not(Box::new(value)),
            ("-", Some(value)) if sound => ExprKind::Neg(Box::new(value)),
            (_, Some(value)) if sound => ExprKind::Block(vec![Stmt { span: value.span, kind: StmtKind::Expr(value) }]),
            _ => ExprKind::Opaque,
        }
    }

    fn sequence(&mut self, kind: Kind) -> ExprKind {
        let mut items = Vec::new();
        let mut splat = false;
        let sound = self.each(|this, _, kind| {
            if is_expression(kind) || matches!(kind, Kind::ListSplat | Kind::ParenthesizedListSplat) {
                splat |= matches!(kind, Kind::ListSplat | Kind::ParenthesizedListSplat);
                items.push(this.expr());
            }
        });
        if !sound {
            return ExprKind::Opaque;
        }
        if splat {
            let stmts = items.into_iter().map(|item| Stmt { span: item.span, kind: StmtKind::Expr(item) });
            return ExprKind::Block(stmts.collect());
        }
        match kind {
            Kind::List => ExprKind::List(items),
            Kind::Set => ExprKind::Set(items),
            _ => ExprKind::Tuple(items),
        }
    }

    fn dictionary(&mut self) -> ExprKind {
        let mut items = Vec::new();
        let mut whole = true;
        let sound = self.each(|this, _, kind| match kind {
            Kind::Pair => {
                let (mut key, mut value) = (None, None);
                whole &= this.each(|this, field, _| match field {
                    Field::Key => key = Some(this.expr()),
                    Field::Value => value = Some(this.expr()),
                    _ => {}
                });
                match (key, value) {
                    (Some(key), Some(value)) => items.push((key, value)),
                    _ => whole = false,
                }
            }
            Kind::DictionarySplat => {
                whole = false;
                let value = this.expr();
                items.push((value.clone(), value));
            }
            _ => {}
        });
        match (sound, whole) {
            (true, true) => ExprKind::Dict(items),
            (true, false) => {
                let values = items.into_iter().map(|(_, value)| Stmt { span: value.span, kind: StmtKind::Expr(value) });
                ExprKind::Block(values.collect())
            }
            _ => ExprKind::Opaque,
        }
    }

    fn conditional(&mut self) -> ExprKind {
        let mut parts = Vec::new();
        let sound = self.each(|this, _, kind| {
            if is_expression(kind) {
                parts.push(Box::new(this.expr()));
            }
        });
        match <[Box<Expr>; 3]>::try_from(parts) {
            Ok([then, cond, otherwise]) if sound => ExprKind::Cond(cond, then, otherwise),
            _ => ExprKind::Opaque,
        }
    }

    fn lambda(&mut self) -> ExprKind {
        let mut params = Vec::new();
        let mut body = Vec::new();
        let sound = self.each(|this, field, _| match field {
            Field::Parameters => {
                let mut found = Vec::new();
                this.each(|this, _, kind| this.param(kind, &mut found));
                params = found.into_iter().map(|param| Target::Name(param.name, param.span)).collect();
            }
            Field::Body => {
                let value = this.expr();
                body.push(Stmt { span: value.span, kind: StmtKind::Return(Some(value)) });
            }
            _ => {}
        });
        if sound { ExprKind::Closure { params, body } } else { ExprKind::Opaque }
    }

    fn walrus(&mut self, span: Span) -> ExprKind {
        let (mut target, mut value) = (Target::Other, None);
        self.each(|this, field, kind| match field {
            Field::Name => target = this.target(kind),
            Field::Value => value = Some(this.expr()),
            _ => {}
        });
        match value {
            Some(value) => ExprKind::Block(vec![Stmt { span, kind: StmtKind::Bind { target, value } }]),
            None => ExprKind::Opaque,
        }
    }

    fn yielded(&mut self, span: Span) -> ExprKind {
        let mut args = Vec::new();
        self.each(|this, _, kind| {
            if is_expression(kind) {
                let value = this.expr();
                args.push(Arg { name: None, value, spread: false });
            }
        });
        let callee = Expr::new(Span::new(span.start, span.start), ExprKind::Name("yield".into()));
        ExprKind::Call { callee: Box::new(callee), args }
    }

    /// A comprehension as the loops that it is, the first outermost.
    fn comprehension(&mut self, span: Span) -> ExprKind {
        let mut body = Vec::new();
        let mut loops = Vec::new();
        let sound = self.each(|this, field, kind| match (field, kind) {
            (Field::Body, Kind::Pair) => {
                this.each(|this, _, kind| {
                    if is_expression(kind) {
                        let value = this.expr();
                        body.push(Stmt { span: value.span, kind: StmtKind::Expr(value) });
                    }
                });
            }
            (Field::Body, _) => {
                let value = this.expr();
                body.push(Stmt { span: value.span, kind: StmtKind::Expr(value) });
            }
            (_, Kind::ForInClause) => {
                let (mut target, mut iter) = (Target::Other, None);
                this.each(|this, field, kind| match field {
                    Field::Left => target = this.target(kind),
                    Field::Right if is_expression(kind) => iter = Some(this.expr()),
                    _ => {}
                });
                loops.push((target, iter.unwrap_or(Expr::opaque(span))));
            }
            (_, Kind::IfClause) => {
                this.each(|this, _, kind| {
                    if is_expression(kind) {
                        let value = this.expr();
                        body.push(Stmt { span: value.span, kind: StmtKind::Expr(value) });
                    }
                });
            }
            _ => {}
        });
        if !sound || loops.len() > LONGEST_ELIF {
            return ExprKind::Opaque;
        }
        for (target, iter) in loops.into_iter().rev() {
            body = vec![Stmt { span, kind: StmtKind::For { target, iter, body } }];
        }
        ExprKind::Block(body)
    }

    /// The string literal at the cursor.
    fn string(&mut self) -> ExprKind {
        let span = self.span();
        let Some(form) = strings::Form::of(self.slice(span)) else { return ExprKind::Opaque };
        let start = span.start + form.opening();
        let end = span.end.saturating_sub(form.quote.len());
        if form.template || end < start || !self.slice(Span::new(end, span.end)).starts_with(form.quote) {
            return ExprKind::Opaque;
        }
        if form.format {
            return self.format_string(Span::new(start, end), form.raw);
        }
        if self.broken && self.cursor.node().has_error() {
            return ExprKind::Opaque;
        }
        let body = self.slice(Span::new(start, end));
        if form.bytes {
            strings::bytes(body, form.raw).map_or(ExprKind::Opaque, ExprKind::Bytes)
        } else {
            strings::text(body, form.raw, false).map_or(ExprKind::Opaque, ExprKind::Str)
        }
    }

    fn format_string(&mut self, body: Span, raw: bool) -> ExprKind {
        let mut pieces = Vec::new();
        let mut from = body.start;
        let mut known = true;
        let mut text = |pieces: &mut Vec<Piece>, source: &str| match strings::text(source, raw, true) {
            Some(text) if text.is_empty() => {}
            Some(text) => pieces.push(Piece::Text(text)),
            None => known = false,
        };
        let sound = self.each(|this, _, kind| {
            if kind == Kind::Interpolation {
                let span = this.span();
                text(&mut pieces, this.slice(Span::new(from, span.start)));
                from = span.end;
                this.hole(span, &mut pieces);
            }
        });
        text(&mut pieces, self.slice(Span::new(from, body.end)));
        if sound && known { ExprKind::Format(pieces) } else { ExprKind::Opaque }
    }

    fn hole(&mut self, span: Span, pieces: &mut Vec<Piece>) {
        let mut value = None;
        let mut format = String::new();
        let mut shown = None;
        let sound = self.each(|this, field, kind| match (field, kind) {
            (Field::Expression, _) => value = Some(this.expr()),
            (_, Kind::TypeConversion | Kind::FormatSpecifier) => format.push_str(this.here()),
            (_, Kind::Becomes) => shown = Some(this.span().end),
            _ => {}
        });
        if let Some(end) = shown {
            let upto = self.source.get(end..).unwrap_or("");
            let blanks = upto.len() - upto.trim_start_matches(' ').len();
            pieces.push(Piece::Text(self.slice(Span::new(span.start + 1, end + blanks)).to_string()));
            if format.is_empty() {
                format.push_str("!r");
            }
        }
        pieces.push(Piece::Hole(value.filter(|_| sound).unwrap_or(Expr::opaque(span)), format));
    }

    fn concatenated(&mut self) -> ExprKind {
        let mut parts = Vec::new();
        let sound = self.each(|this, _, kind| {
            if kind == Kind::Str {
                parts.push(this.string());
            }
        });
        if sound { joined(parts) } else { ExprKind::Opaque }
    }
}

/// The value of adjacent string literals.
fn joined(parts: Vec<ExprKind>) -> ExprKind {
    let mut parts = parts.into_iter();
    let Some(mut all) = parts.next() else { return ExprKind::Opaque };
    for part in parts {
        all = match (all, part) {
            (ExprKind::Str(mut a), ExprKind::Str(b)) => {
                a.push_str(&b);
                ExprKind::Str(a)
            }
            (ExprKind::Bytes(mut a), ExprKind::Bytes(b)) => {
                a.extend(b);
                ExprKind::Bytes(a)
            }
            (ExprKind::Format(mut a), ExprKind::Format(b)) => {
                a.extend(b);
                ExprKind::Format(a)
            }
            (ExprKind::Format(mut a), ExprKind::Str(b)) => {
                a.push(Piece::Text(b));
                ExprKind::Format(a)
            }
            (ExprKind::Str(a), ExprKind::Format(mut b)) => {
                b.insert(0, Piece::Text(a));
                ExprKind::Format(b)
            }
            _ => return ExprKind::Opaque,
        };
    }
    all
}

/// Whether a child is an operand rather than punctuation or a clause.
fn is_expression(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::AsPattern
            | Kind::Attribute
            | Kind::Await
            | Kind::BinaryOperator
            | Kind::BooleanOperator
            | Kind::Call
            | Kind::ComparisonOperator
            | Kind::ConcatenatedString
            | Kind::ConditionalExpression
            | Kind::Dictionary
            | Kind::DictionaryComprehension
            | Kind::Ellipsis
            | Kind::ExpressionList
            | Kind::False
            | Kind::Float
            | Kind::GeneratorExpression
            | Kind::Identifier
            | Kind::Integer
            | Kind::Lambda
            | Kind::List
            | Kind::ListComprehension
            | Kind::NamedExpression
            | Kind::None
            | Kind::NotOperator
            | Kind::ParenthesizedExpression
            | Kind::Set
            | Kind::SetComprehension
            | Kind::Str
            | Kind::Subscript
            | Kind::True
            | Kind::Tuple
            | Kind::UnaryOperator
            | Kind::Yield
    )
}

fn integer(source: &str) -> Option<String> {
    let text: String = source.chars().filter(|c| *c != '_').collect();
    let digits = match text.get(..2) {
        Some("0x" | "0X") => return text[2..].bytes().all(|b| b.is_ascii_hexdigit()).then_some(text),
        Some("0o" | "0O" | "0b" | "0B") => &text[2..],
        _ => &text[..],
    };
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some(text)
}

fn float(source: &str) -> Option<String> {
    let text: String = source.chars().filter(|c| *c != '_').collect();
    text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')).then_some(text)
}

#[cfg(test)]
mod tests;
