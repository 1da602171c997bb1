//! Items, statements and expressions of a Rust tree to the code tree.

use tree_sitter::{Node, Parser, Tree};

use super::literal;
use super::tokens::{self, Kind, Piece as Part, Token, closing};
use crate::code::{
    Arg, Binding, Doc, Expr, ExprKind, Function, Import, MacroArm, MacroRules, Op, Param, Piece, Scope, Stmt, StmtKind,
    Target, Unit,
};
use crate::places::RelPath;
use crate::syntax::{DEEPEST, Language, readable};
use crate::text::{Span, Text};

/// Fills `unit` from the root of a file's tree.
pub(super) fn file(unit: &mut Unit, root: Node) {
    let text = unit.text.clone();
    let mut parser = Parser::new();
    if parser.set_language(&Language::Rust.grammar()).is_err() {
        return;
    }
    let mut lower = Lower {
        source: text.as_str(),
        text: &text,
        unit,
        parser,
        scope: Vec::new(),
        shift: 0,
        depth: 0,
        in_code: false,
        budget: 8 * text.len() + (64 << 10),
    };
    lower.items(root);
    lower.inner_doc(root);
}

/// Lowers the text of `span` as one argument of a macro call.
pub(super) fn expression(text: &Text, span: Span) -> Expr {
    let mut scratch = Unit::empty(RelPath::default(), Language::Rust, text.clone());
    let mut parser = Parser::new();
    let tokens = tokens::tokens(text.as_str(), span);
    if parser.set_language(&Language::Rust.grammar()).is_err() || tokens.is_empty() {
        return Expr::opaque(span);
    }
    let mut lower = Lower {
        source: text.as_str(),
        text,
        unit: &mut scratch,
        parser,
        scope: Vec::new(),
        shift: 0,
        depth: 0,
        in_code: true,
        budget: 8 * (span.end - span.start) + (1 << 10),
    };
    lower.part(&Part { tokens, after: 0 }).value
}

struct Lower<'a> {
    source: &'a str,
    text: &'a Text,
    unit: &'a mut Unit,
    parser: Parser,
    /// Names of modules, types and functions around the present place.
    scope: Vec<String>,
    /// Added to a node's offsets: the text inside a macro call is parsed apart, between other delimiters.
    shift: isize,
    depth: usize,
    /// Inside a function's body.
    in_code: bool,
    /// Bytes that may still be read a second time: macro calls nested without end would cost a square.
    budget: usize,
}

/// Macros whose arguments hold nothing to be followed.
fn is_talk(name: &str) -> bool {
    matches!(
        name.rsplit("::").next().unwrap_or(name),
        "println"
            | "eprintln"
            | "print"
            | "eprint"
            | "debug"
            | "info"
            | "warn"
            | "error"
            | "trace"
            | "todo"
            | "unreachable"
            | "unimplemented"
            | "dbg"
            | "bail"
            | "anyhow"
            | "log"
    )
}

fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .filter(|child| !child.is_error() && !child.is_missing() && !child.is_extra())
        .collect()
}

fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name).filter(|child| !child.is_error() && !child.is_missing())
}

impl<'a> Lower<'a> {
    fn span(&self, node: Node) -> Span {
        let moved = |at: usize| at.saturating_add_signed(self.shift).min(self.source.len());
        Span::new(moved(node.start_byte()), moved(node.end_byte()))
    }

    fn slice(&self, span: Span) -> &'a str {
        self.source.get(span.start..span.end).unwrap_or("")
    }

    fn of(&self, node: Node) -> &'a str {
        self.slice(self.span(node))
    }

    /// Text of a path without blanks and type arguments.
    fn path(&self, node: Node) -> String {
        match node.kind() {
            "scoped_identifier" | "scoped_type_identifier" => {
                let name = field(node, "name").map_or("", |name| self.of(name));
                match field(node, "path") {
                    Some(path) => format!("{}::{name}", self.path(path)),
                    None => name.to_string(),
                }
            }
            "generic_type" | "generic_type_with_turbofish" => {
                field(node, "type").map_or_else(String::new, |inner| self.path(inner))
            }
            _ => self.of(node).split_whitespace().collect(),
        }
    }

    // Items.

    fn items(&mut self, parent: Node) {
        if self.depth >= DEEPEST {
            return;
        }
        self.depth += 1;
        let mut marks: Vec<Node> = Vec::new();
        let mut doc: Option<Doc> = None;
        let mut cursor = parent.walk();
        let nodes: Vec<Node> = parent.named_children(&mut cursor).collect();
        for node in nodes {
            if node.is_error() || node.is_missing() {
                marks.clear();
                doc = None;
                continue;
            }
            match node.kind() {
                "attribute_item" => marks.push(node),
                "line_comment" | "block_comment" => self.doc_comment(node, &mut doc),
                _ => {
                    self.item(node, &std::mem::take(&mut marks), doc.take());
                }
            }
        }
        self.depth -= 1;
    }

    fn doc_comment(&self, node: Node, doc: &mut Option<Doc>) {
        let text = self.of(node);
        let Some(body) = text.strip_prefix("///").filter(|rest| !rest.starts_with('/')) else { return };
        let span = self.span(node);
        let span = Span::new(span.start, span.start + text.trim_end().len());
        let body = body.trim_end();
        match doc {
            Some(doc) => {
                doc.text.push('\n');
                doc.text.push_str(body);
                doc.span.end = span.end;
            }
            None => *doc = Some(Doc { text: body.to_string(), span }),
        }
    }

    fn inner_doc(&mut self, root: Node) {
        let mut doc: Option<Doc> = None;
        let mut cursor = root.walk();
        for node in root.named_children(&mut cursor) {
            let text = self.of(node).trim_end();
            match node.kind() {
                "line_comment" if text.starts_with("//!") => {
                    let span = self.span(node);
                    let span = Span::new(span.start, span.start + text.len());
                    let body = &text[3..];
                    match &mut doc {
                        Some(doc) => {
                            doc.text.push('\n');
                            doc.text.push_str(body);
                            doc.span.end = span.end;
                        }
                        None => doc = Some(Doc { text: body.to_string(), span }),
                    }
                }
                "line_comment" | "block_comment" | "inner_attribute_item" | "shebang" => {}
                _ => break,
            }
        }
        self.unit.doc = doc;
    }

    /// `true` when the node is an item (also one that is not kept).
    fn item(&mut self, node: Node, marks: &[Node], doc: Option<Doc>) -> bool {
        match node.kind() {
            "function_item" => self.function(node, marks, doc),
            "mod_item" => {
                let Some(name) = field(node, "name") else { return true };
                let name = self.of(name).to_string();
                let marks: Vec<Expr> = marks.iter().filter_map(|mark| self.mark(*mark)).collect();
                let body = field(node, "body");
                self.unit.scopes.push(Scope {
                    name: name.clone(),
                    path: self.scope.clone(),
                    span: self.span(node),
                    marks,
                    bases: Vec::new(),
                    doc,
                    elsewhere: body.is_none(),
                });
                if let Some(body) = body {
                    self.scope.push(name);
                    self.items(body);
                    self.scope.pop();
                }
            }
            "impl_item" | "trait_item" => {
                let name = field(node, "type").or_else(|| field(node, "name")).map(|name| self.path(name));
                if let (Some(name), Some(body)) = (name, field(node, "body")) {
                    self.scope.push(name);
                    self.items(body);
                    self.scope.pop();
                }
            }
            "const_item" | "static_item" => {
                if !self.in_code
                    && let (Some(name), Some(value)) = (field(node, "name"), field(node, "value"))
                {
                    let value = self.expr(value);
                    let name = self.of(name).to_string();
                    self.unit.globals.push(Binding { name, path: self.scope.clone(), span: self.span(node), value });
                }
            }
            "use_declaration" => {
                if let Some(argument) = field(node, "argument") {
                    self.import(argument, "", self.span(node), 0);
                }
            }
            "macro_definition" => self.macro_rules(node),
            "macro_invocation" if !self.in_code => {
                let expr = self.expr(node);
                self.unit.top.push(Stmt { span: expr.span, kind: StmtKind::Expr(expr) });
            }
            "expression_statement" if !self.in_code => {
                if let Some(inner) = node.named_child(0).filter(|inner| inner.kind() == "macro_invocation") {
                    let expr = self.expr(inner);
                    self.unit.top.push(Stmt { span: expr.span, kind: StmtKind::Expr(expr) });
                }
            }
            "struct_item"
            | "enum_item"
            | "union_item"
            | "type_item"
            | "extern_crate_declaration"
            | "foreign_mod_item"
            | "function_signature_item"
            | "associated_type"
            | "empty_statement"
            | "inner_attribute_item"
            | "attribute_item" => {}
            _ => return false,
        }
        true
    }

    fn import(&mut self, node: Node, prefix: &str, span: Span, depth: usize) {
        if depth > 20 {
            return;
        }
        let dotted = |path: &str| {
            let path = path.replace("::", ".");
            if prefix.is_empty() { path } else { format!("{prefix}.{path}") }
        };
        let add = |lower: &mut Self, local: &str, path: String| {
            let scope = lower.scope.clone();
            lower.unit.imports.push(Import { local: local.to_string(), path, scope, span });
        };
        match node.kind() {
            "use_as_clause" => {
                if let (Some(path), Some(alias)) = (field(node, "path"), field(node, "alias")) {
                    add(self, self.of(alias), dotted(&self.path(path)));
                }
            }
            "use_wildcard" => {
                let path = node.named_child(0).map_or_else(String::new, |path| self.path(path));
                let path = if path.is_empty() { prefix.to_string() } else { dotted(&path) };
                add(self, "*", path);
            }
            "scoped_use_list" => {
                let prefix = match field(node, "path") {
                    Some(path) => dotted(&self.path(path)),
                    None => prefix.to_string(),
                };
                if let Some(list) = field(node, "list") {
                    for child in children(list) {
                        self.import(child, &prefix, span, depth + 1);
                    }
                }
            }
            "use_list" => {
                for child in children(node) {
                    self.import(child, prefix, span, depth + 1);
                }
            }
            "self" => {
                let local = prefix.rsplit('.').next().unwrap_or(prefix);
                if !local.is_empty() {
                    add(self, local, prefix.to_string());
                }
            }
            _ => {
                let path = self.path(node);
                let local = path.rsplit("::").next().unwrap_or(&path).to_string();
                add(self, &local, dotted(&path));
            }
        }
    }

    fn function(&mut self, node: Node, marks: &[Node], doc: Option<Doc>) {
        let (Some(name), Some(body)) = (field(node, "name"), field(node, "body")) else { return };
        let def_span = self.span(node);
        let start = marks.first().map_or(def_span.start, |mark| self.span(*mark).start);
        let marks: Vec<Expr> = marks.iter().filter_map(|mark| self.mark(*mark)).collect();
        let name_span = self.span(name);
        let name = self.of(name).to_string();
        let params = field(node, "parameters").map_or_else(Vec::new, |params| self.params(params));
        let line = self.text.line(self.text.line_of(def_span.start));
        let indent = line[..line.len() - line.trim_start_matches([' ', '\t']).len()].to_string();
        let path = self.scope.clone();
        self.scope.push(name.clone());
        let was = std::mem::replace(&mut self.in_code, true);
        let body = self.block(body, true);
        self.in_code = was;
        self.scope.pop();
        self.unit.functions.push(Function {
            name,
            path,
            span: Span::new(start, def_span.end),
            name_span,
            def_span,
            params,
            marks,
            doc,
            body,
            indent,
        });
    }

    fn params(&mut self, node: Node) -> Vec<Param> {
        let mut params = Vec::new();
        let mut marks = Vec::new();
        for child in children(node) {
            match child.kind() {
                "attribute_item" => marks.extend(self.mark(child)),
                "self_parameter" => params.push(Param {
                    name: "self".to_string(),
                    span: self.span(child),
                    default: None,
                    marks: std::mem::take(&mut marks),
                }),
                "parameter" => {
                    let name = field(child, "pattern").map(|pattern| self.target(pattern));
                    let name = if let Some(Target::Name(name, _)) = name { name } else { "_".to_string() };
                    let marks = std::mem::take(&mut marks);
                    params.push(Param { name, span: self.span(child), default: None, marks });
                }
                _ => {}
            }
        }
        params
    }

    fn macro_rules(&mut self, node: Node) {
        let Some(name) = field(node, "name") else { return };
        let name = self.of(name).to_string();
        let mut arms = Vec::new();
        for rule in children(node) {
            let (Some(left), Some(right)) = (field(rule, "left"), field(rule, "right")) else { continue };
            let inner = |span: Span| Span::new((span.start + 1).min(span.end), span.end.saturating_sub(1));
            let body = inner(self.span(right));
            let mut calls = Vec::new();
            self.calls_in(body, &mut calls);
            arms.push(MacroArm { matcher: inner(self.span(left)), body, calls });
        }
        self.unit.macros.push(MacroRules { name, path: self.scope.clone(), span: self.span(node), arms });
    }

    /// Every macro call among the tokens of `span`, outermost ones, wherever they stand.
    fn calls_in(&mut self, span: Span, found: &mut Vec<Expr>) {
        if !self.spend(span) {
            return;
        }
        let tokens = tokens::tokens(self.source, span);
        let mut at = 0;
        while at < tokens.len() {
            match self.call_at(&tokens, at) {
                Some((name, start, open, close)) => {
                    let whole = Span::new(tokens[start].span.start, tokens[close].span.end);
                    let inner = Span::new(tokens[open].span.end, tokens[close].span.start);
                    let brace = tokens[open].kind == Kind::Open(b'{');
                    let kind = self.macro_kind(name, inner, &tokens[open + 1..close], brace);
                    found.push(Expr::new(whole, kind));
                    at = close + 1;
                }
                None => at += 1,
            }
        }
    }

    /// A macro call whose name begins at token `at`: its path, first token, opening and closing token.
    fn call_at(&self, tokens: &[Token], at: usize) -> Option<(String, usize, usize, usize)> {
        let is = |nth: usize, byte: u8| tokens.get(nth).is_some_and(|token| token.kind == Kind::Punct(byte));
        let mut next = at;
        let mut name = String::new();
        if is(next, b'$') {
            name.push('$');
            next += 1;
        }
        loop {
            let token = tokens.get(next).filter(|token| token.kind == Kind::Ident)?;
            name.push_str(self.slice(token.span));
            next += 1;
            if is(next, b':') && is(next + 1, b':') {
                name.push_str("::");
                next += 2;
            } else {
                break;
            }
        }
        if !is(next, b'!') {
            return None;
        }
        let open = next + 1;
        let Kind::Open(_) = tokens.get(open)?.kind else { return None };
        Some((name, at, open, closing(tokens, open)?))
    }

    // Statements.

    /// Statements of a block node. `value`: the last expression is what the block gives back.
    fn block(&mut self, node: Node, value: bool) -> Vec<Stmt> {
        let mut out = Vec::new();
        if self.depth >= DEEPEST {
            return out;
        }
        self.depth += 1;
        let nodes: Vec<Node> = {
            let mut cursor = node.walk();
            node.named_children(&mut cursor).filter(|child| !child.is_error() && !child.is_missing()).collect()
        };
        let last = nodes.iter().rposition(|child| !child.is_extra());
        let mut marks: Vec<Node> = Vec::new();
        let mut doc = None;
        for (nth, child) in nodes.iter().copied().enumerate() {
            match child.kind() {
                "attribute_item" => marks.push(child),
                "line_comment" | "block_comment" => self.doc_comment(child, &mut doc),
                "label" => {}
                _ => {
                    let tail = value && Some(nth) == last && child.kind() != "expression_statement";
                    // An `if` or `match` at the end is wrapped in a statement only where it has a semicolon.
                    let ends = value
                        && Some(nth) == last
                        && child.kind() == "expression_statement"
                        && !self.of(child).ends_with(';');
                    self.stmt(child, &std::mem::take(&mut marks), doc.take(), tail || ends, &mut out);
                }
            }
        }
        self.depth -= 1;
        out
    }

    fn stmt(&mut self, node: Node, marks: &[Node], doc: Option<Doc>, tail: bool, out: &mut Vec<Stmt>) {
        if self.depth >= DEEPEST {
            return;
        }
        let span = self.span(node);
        match node.kind() {
            "let_declaration" => {
                let target = field(node, "pattern").map_or(Target::Other, |pattern| self.target(pattern));
                let value = field(node, "value").map_or_else(|| Expr::opaque(span), |value| self.expr(value));
                out.push(Stmt { span, kind: StmtKind::Bind { target, value } });
                if let Some(alternative) = field(node, "alternative") {
                    let body = self.block(alternative, false);
                    out.push(Stmt { span: self.span(alternative), kind: StmtKind::Block(vec![body]) });
                }
            }
            "const_item" | "static_item" => {
                if let (Some(name), Some(value)) = (field(node, "name"), field(node, "value")) {
                    let target = Target::Name(self.of(name).to_string(), self.span(name));
                    let value = self.expr(value);
                    out.push(Stmt { span, kind: StmtKind::Bind { target, value } });
                }
            }
            "function_item" => {
                if let Some(name) = field(node, "name") {
                    out.push(Stmt { span, kind: StmtKind::Def(self.of(name).to_string()) });
                }
                self.item(node, marks, doc);
            }
            "expression_statement" => {
                for inner in children(node) {
                    self.value_stmt(inner, span, tail, out);
                }
            }
            "macro_invocation" => self.value_stmt(node, span, tail, out),
            _ => {
                if !self.item(node, marks, doc) {
                    self.value_stmt(node, span, tail, out);
                }
            }
        }
    }

    /// An expression in the place of a statement; `tail`: its value is the block's.
    fn value_stmt(&mut self, node: Node, span: Span, tail: bool, out: &mut Vec<Stmt>) {
        if self.depth >= DEEPEST {
            return;
        }
        self.depth += 1;
        let kind = match node.kind() {
            "if_expression" => self.if_stmt(node, tail),
            "for_expression" => {
                let target = field(node, "pattern").map_or(Target::Other, |pattern| self.target(pattern));
                let iter = self.field_expr(node, "value");
                let body = field(node, "body").map_or_else(Vec::new, |body| self.block(body, false));
                StmtKind::For { target, iter, body }
            }
            "while_expression" => {
                let cond = self.field_expr(node, "condition");
                let body = field(node, "body").map_or_else(Vec::new, |body| self.block(body, false));
                StmtKind::While { cond, body }
            }
            "loop_expression" => {
                StmtKind::Block(vec![field(node, "body").map_or_else(Vec::new, |body| self.block(body, false))])
            }
            "match_expression" => {
                let value = self.field_expr(node, "value");
                out.push(Stmt { span: value.span, kind: StmtKind::Expr(value) });
                StmtKind::Block(self.arms(node, tail))
            }
            "block" => StmtKind::Block(vec![self.block(node, tail)]),
            "unsafe_block" | "const_block" | "async_block" | "gen_block" | "try_block" => StmtKind::Block(
                children(node)
                    .into_iter()
                    .filter(|child| child.kind() == "block")
                    .map(|b| self.block(b, tail))
                    .collect(),
            ),
            "break_expression" if children(node).is_empty() => StmtKind::Break,
            "continue_expression" => StmtKind::Continue,
            "return_expression" => StmtKind::Return(children(node).first().map(|value| self.expr(*value))),
            "assignment_expression" => {
                let value = self.field_expr(node, "right");
                match field(node, "left").map(|left| (left, self.target(left))) {
                    Some((_, target @ (Target::Name(..) | Target::Tuple(_)))) => StmtKind::Bind { target, value },
                    Some((left, Target::Member(_) | Target::Other)) => {
                        let left = self.expr(left);
                        out.push(Stmt { span: left.span, kind: StmtKind::Expr(left) });
                        StmtKind::Expr(value)
                    }
                    None => StmtKind::Expr(value),
                }
            }
            _ => {
                let expr = self.expr(node);
                if tail { StmtKind::Return(Some(expr)) } else { StmtKind::Expr(expr) }
            }
        };
        self.depth -= 1;
        out.push(Stmt { span, kind });
    }

    fn if_stmt(&mut self, node: Node, tail: bool) -> StmtKind {
        let cond = self.field_expr(node, "condition");
        let then = field(node, "consequence").map_or_else(Vec::new, |then| self.block(then, tail));
        let mut otherwise = Vec::new();
        if let Some(inner) = field(node, "alternative").and_then(|alternative| children(alternative).first().copied()) {
            if inner.kind() == "block" {
                otherwise = self.block(inner, tail);
            } else {
                self.value_stmt(inner, self.span(inner), tail, &mut otherwise);
            }
        }
        StmtKind::If { cond, then, otherwise }
    }

    fn arms(&mut self, node: Node, tail: bool) -> Vec<Vec<Stmt>> {
        let mut parts = Vec::new();
        let Some(body) = field(node, "body") else { return parts };
        for arm in children(body) {
            let mut part = Vec::new();
            if let Some(value) = field(arm, "value") {
                self.value_stmt(value, self.span(value), tail, &mut part);
            }
            parts.push(part);
        }
        parts
    }

    fn target(&self, node: Node) -> Target {
        let mut node = node;
        for _ in 0..20 {
            match node.kind() {
                "identifier" | "shorthand_field_identifier" => {
                    return Target::Name(self.of(node).to_string(), self.span(node));
                }
                "tuple_pattern" | "tuple_expression" => {
                    return Target::Tuple(children(node).into_iter().map(|child| self.shallow(child)).collect());
                }
                "mut_pattern" | "reference_pattern" | "ref_pattern" | "parameter" | "match_pattern" => {
                    let inner = field(node, "pattern")
                        .or_else(|| children(node).into_iter().find(|child| child.kind() != "mutable_specifier"));
                    match inner {
                        Some(inner) => node = inner,
                        None => return Target::Other,
                    }
                }
                _ => return Target::Other,
            }
        }
        Target::Other
    }

    /// One part of a tuple pattern: a name, or a tuple of names.
    fn shallow(&self, node: Node) -> Target {
        match node.kind() {
            "tuple_pattern" => Target::Tuple(
                children(node)
                    .into_iter()
                    .map(|child| if child.kind() == "tuple_pattern" { Target::Other } else { self.target(child) })
                    .collect(),
            ),
            _ => self.target(node),
        }
    }

    // Expressions.

    fn field_expr(&mut self, node: Node, name: &str) -> Expr {
        match field(node, name) {
            Some(inner) => self.expr(inner),
            None => Expr::opaque(self.span(node)),
        }
    }

    fn boxed(&mut self, node: Node, name: &str) -> Box<Expr> {
        Box::new(self.field_expr(node, name))
    }

    /// What is to be searched and has no value of its own.
    fn searched(&mut self, node: Node) -> ExprKind {
        let parts: Vec<Stmt> = children(node)
            .into_iter()
            .map(|child| self.expr(child))
            .filter(|expr| expr.kind != ExprKind::Opaque)
            .map(|expr| Stmt { span: expr.span, kind: StmtKind::Expr(expr) })
            .collect();
        if parts.is_empty() { ExprKind::Opaque } else { ExprKind::Block(parts) }
    }

    fn all(&mut self, node: Node) -> Vec<Expr> {
        children(node)
            .into_iter()
            .filter(|child| child.kind() != "attribute_item")
            .map(|child| self.expr(child))
            .collect()
    }

    /// Lowers one expression. References, parentheses, `?` and `.await` are their inner expression.
    pub(super) fn expr(&mut self, node: Node) -> Expr {
        let span = self.span(node);
        if self.depth >= DEEPEST || node.is_error() || node.is_missing() {
            return Expr::opaque(span);
        }
        self.depth += 1;
        let expr = self.expr_within(node, span);
        self.depth -= 1;
        expr
    }

    fn expr_within(&mut self, node: Node, span: Span) -> Expr {
        let kind = match node.kind() {
            "string_literal" | "raw_string_literal" | "integer_literal" | "float_literal" | "char_literal" => {
                literal::value(self.slice(span)).unwrap_or(ExprKind::Opaque)
            }
            "boolean_literal" => ExprKind::Bool(self.slice(span) == "true"),
            "identifier"
            | "self"
            | "crate"
            | "super"
            | "metavariable"
            | "primitive_type"
            | "type_identifier"
            | "field_identifier"
            | "shorthand_field_identifier" => ExprKind::Name(self.slice(span).to_string()),
            "scoped_identifier" => {
                let name = field(node, "name").map_or("", |name| self.of(name)).to_string();
                match field(node, "path") {
                    Some(path) => ExprKind::Attr(Box::new(self.expr(path)), name),
                    None => ExprKind::Name(name),
                }
            }
            "generic_type" | "generic_type_with_turbofish" | "bracketed_type" | "scoped_type_identifier" => {
                ExprKind::Name(self.path(node))
            }
            "generic_function" => return self.field_expr(node, "function"),
            "reference_expression" => return self.field_expr(node, "value"),
            "parenthesized_expression" | "try_expression" | "await_expression" => match children(node).first() {
                Some(inner) => return self.expr(*inner),
                None => ExprKind::Opaque,
            },
            "field_expression" => {
                let name = field(node, "field").map_or("", |name| self.of(name)).to_string();
                ExprKind::Attr(self.boxed(node, "value"), name)
            }
            "call_expression" => {
                let callee = self.boxed(node, "function");
                let args = field(node, "arguments").map_or_else(Vec::new, |args| self.all(args));
                ExprKind::Call { callee, args: args.into_iter().map(positional).collect() }
            }
            "index_expression" => {
                let mut parts = self.all(node).into_iter();
                match (parts.next(), parts.next()) {
                    (Some(base), Some(index)) => ExprKind::Index(Box::new(base), Box::new(index)),
                    _ => ExprKind::Opaque,
                }
            }
            "unary_expression" => {
                let inner = children(node).first().map(|inner| self.expr(*inner));
                match (self.slice(span).as_bytes().first(), inner) {
                    (Some(b'-'), Some(inner)) => ExprKind::Neg(Box::new(inner)),
                    (Some(b'!'), Some(inner)) => ExprKind::Not(Box::new(inner)),
                    (Some(b'*'), Some(inner)) => return inner,
                    _ => ExprKind::Opaque,
                }
            }
            "binary_expression" => {
                let op = match node.child_by_field_name("operator").map_or("", |op| op.kind()) {
                    "+" => Op::Add,
                    "-" => Op::Sub,
                    "*" => Op::Mul,
                    "/" => Op::Div,
                    "%" => Op::Mod,
                    "==" => Op::Eq,
                    "!=" => Op::Ne,
                    "<" | "<=" | ">" | ">=" => Op::Order,
                    "&&" => Op::And,
                    "||" => Op::Or,
                    _ => Op::Other,
                };
                ExprKind::Binary(op, self.boxed(node, "left"), self.boxed(node, "right"))
            }
            "array_expression" => match field(node, "length") {
                Some(_) => self.searched(node),
                None => ExprKind::List(self.all(node)),
            },
            "tuple_expression" | "unit_expression" => ExprKind::Tuple(self.all(node)),
            "struct_expression" => self.structure(node),
            "closure_expression" => {
                let params = field(node, "parameters").map_or_else(Vec::new, children);
                let params = params.into_iter().map(|param| self.target(param)).collect();
                let mut body = Vec::new();
                if let Some(node) = field(node, "body") {
                    if node.kind() == "block" {
                        body = self.block(node, true);
                    } else {
                        self.value_stmt(node, self.span(node), true, &mut body);
                    }
                }
                ExprKind::Closure { params, body }
            }
            "if_expression" => {
                let StmtKind::If { cond, mut then, mut otherwise } = self.if_stmt(node, false) else {
                    return Expr::opaque(span);
                };
                match (then.as_mut_slice(), otherwise.as_mut_slice()) {
                    ([Stmt { kind: StmtKind::Expr(then), .. }], [Stmt { kind: StmtKind::Expr(otherwise), .. }]) => {
                        let hollow = || Expr::opaque(span);
                        let then = std::mem::replace(then, hollow());
                        let otherwise = std::mem::replace(otherwise, hollow());
                        ExprKind::Cond(Box::new(cond), Box::new(then), Box::new(otherwise))
                    }
                    _ => ExprKind::Block(vec![Stmt { span, kind: StmtKind::If { cond, then, otherwise } }]),
                }
            }
            "block" => ExprKind::Block(self.block(node, false)),
            "range_expression" => {
                let name = if self.slice(span).contains("..=") { "..=" } else { ".." };
                let args: Vec<Arg> = self.all(node).into_iter().map(positional).collect();
                ExprKind::Call { callee: Box::new(Expr::new(span, ExprKind::Name(name.to_string()))), args }
            }
            "macro_invocation" => self.macro_call(node),
            "match_expression"
            | "for_expression"
            | "while_expression"
            | "loop_expression"
            | "unsafe_block"
            | "async_block"
            | "const_block"
            | "try_block"
            | "return_expression"
            | "assignment_expression" => {
                let mut body = Vec::new();
                self.value_stmt(node, span, false, &mut body);
                ExprKind::Block(body)
            }
            "let_condition" => {
                let value = self.field_expr(node, "value");
                ExprKind::Block(vec![Stmt { span: value.span, kind: StmtKind::Expr(value) }])
            }
            "type_cast_expression" => {
                let value = self.field_expr(node, "value");
                ExprKind::Block(vec![Stmt { span: value.span, kind: StmtKind::Expr(value) }])
            }
            "compound_assignment_expr" | "let_chain" | "break_expression" | "yield_expression" => self.searched(node),
            _ => ExprKind::Opaque,
        };
        Expr { span, kind }
    }

    fn structure(&mut self, node: Node) -> ExprKind {
        let name = field(node, "name").map_or_else(String::new, |name| self.path(name));
        let mut fields = Vec::new();
        for child in field(node, "body").map_or_else(Vec::new, children) {
            match child.kind() {
                "field_initializer" => {
                    let label = field(child, "field").map_or("", |label| self.of(label)).to_string();
                    fields.push((label, self.field_expr(child, "value")));
                }
                "shorthand_field_initializer" => {
                    let label = self.of(child).to_string();
                    let value = Expr::new(self.span(child), ExprKind::Name(label.clone()));
                    fields.push((label, value));
                }
                "base_field_initializer" => {
                    if let Some(base) = children(child).first() {
                        fields.push(("..".to_string(), self.expr(*base)));
                    }
                }
                _ => {}
            }
        }
        ExprKind::Struct { name, fields }
    }

    // Macro calls.

    fn macro_call(&mut self, node: Node) -> ExprKind {
        let Some(name) = field(node, "macro") else { return ExprKind::Opaque };
        let name = self.path(name);
        let Some(tree) = children(node).into_iter().rfind(|child| child.kind() == "token_tree") else {
            return ExprKind::Opaque;
        };
        let whole = self.span(tree);
        let inner = Span::new((whole.start + 1).min(whole.end), whole.end.saturating_sub(1));
        if is_talk(&name) {
            return ExprKind::Macro { name, args: Vec::new(), tokens: inner };
        }
        let tokens = tokens::tokens(self.source, inner);
        let brace = self.source.as_bytes().get(whole.start) == Some(&b'{');
        self.macro_kind(name, inner, &tokens, brace)
    }

    fn macro_kind(&mut self, name: String, inner: Span, tokens: &[Token], brace: bool) -> ExprKind {
        let args = if self.depth < DEEPEST {
            self.depth += 1;
            let args = self.macro_args(inner, tokens, brace);
            self.depth -= 1;
            args
        } else {
            Vec::new()
        };
        match name.rsplit("::").next().unwrap_or(&name) {
            "vec" if !args.iter().any(|arg| arg.name.is_some()) && !args.is_empty() => {
                return ExprKind::List(args.into_iter().map(|arg| arg.value).collect());
            }
            "vec" if tokens.is_empty() => return ExprKind::List(Vec::new()),
            "concat" => {
                let mut text = String::new();
                let all = args.iter().all(|arg| match &arg.value.kind {
                    ExprKind::Str(part) | ExprKind::Int(part) => {
                        text.push_str(part);
                        true
                    }
                    ExprKind::Char(part) => {
                        text.push(*part);
                        true
                    }
                    ExprKind::Bool(part) => {
                        text.push_str(if *part { "true" } else { "false" });
                        true
                    }
                    _ => false,
                });
                if all && !args.is_empty() {
                    return ExprKind::Str(text);
                }
            }
            "format" => {
                if let Some(kind) = format_pieces(&args) {
                    return kind;
                }
            }
            _ => {}
        }
        ExprKind::Macro { name, args, tokens: inner }
    }

    fn macro_args(&mut self, inner: Span, tokens: &[Token], brace: bool) -> Vec<Arg> {
        let parts = tokens::pieces(tokens);
        if let Some(args) = parts.iter().map(|part| self.simple(part)).collect::<Option<Vec<Arg>>>() {
            return args;
        }
        if brace && let Some(body) = self.statements(inner) {
            return vec![positional(Expr::new(inner, ExprKind::Block(body)))];
        }
        parts.iter().map(|part| self.part(part)).collect()
    }

    /// One argument of a macro call, of whatever form.
    pub(super) fn part(&mut self, part: &Part) -> Arg {
        if let Some(arg) = self.simple(part) {
            return arg;
        }
        let tokens = part.tokens.as_slice();
        let name = (part.after == b';').then(|| ";".to_string());
        let colon = |nth: usize| tokens.get(nth).is_some_and(|token| token.kind == Kind::Punct(b':'));
        if tokens[0].kind == Kind::Ident && colon(1) && !colon(2) && tokens.len() > 2 {
            let label = self.slice(tokens[0].span).to_string();
            let rest = Part { tokens: tokens[2..].to_vec(), after: 0 };
            return Arg { name: Some(label), value: self.part(&rest).value, spread: false };
        }
        let is = |nth: usize, byte: u8| tokens.get(nth).is_some_and(|token| token.kind == Kind::Punct(byte));
        if tokens[0].kind == Kind::Ident && is(1, b'=') && !is(2, b'=') && !is(2, b'>') && tokens.len() > 2 {
            let label = self.slice(tokens[0].span).to_string();
            let rest = Part { tokens: tokens[2..].to_vec(), after: 0 };
            return Arg { name: Some(label), value: self.part(&rest).value, spread: false };
        }
        let span = part.span();
        if is(0, b'@') && tokens.len() > 1 {
            let rest = Part { tokens: tokens[1..].to_vec(), after: 0 };
            let value = self.part(&rest).value;
            return Arg { name, value: Expr::new(span, ExprKind::At(Box::new(value))), spread: false };
        }
        if let Some(pairs) = self.pairs(tokens) {
            return Arg { name, value: Expr::new(span, ExprKind::Dict(pairs)), spread: false };
        }
        let value = self.parsed(span).unwrap_or_else(|| self.rest(span));
        Arg { name, value, spread: false }
    }

    /// Not an expression: the macro calls in it.
    fn rest(&mut self, span: Span) -> Expr {
        let mut calls = Vec::new();
        self.calls_in(span, &mut calls);
        if calls.is_empty() {
            return Expr::opaque(span);
        }
        let body = calls.into_iter().map(|call| Stmt { span: call.span, kind: StmtKind::Expr(call) }).collect();
        Expr::new(span, ExprKind::Block(body))
    }

    /// `{ a => b, c => d }`, or one bare `a => b`.
    fn pairs(&mut self, tokens: &[Token]) -> Option<Vec<(Expr, Expr)>> {
        let whole = tokens[0].kind == Kind::Open(b'{') && closing(tokens, 0) == Some(tokens.len() - 1);
        let parts = if whole {
            tokens::pieces(&tokens[1..tokens.len() - 1])
        } else {
            vec![Part { tokens: tokens.to_vec(), after: 0 }]
        };
        if whole && parts.is_empty() {
            return None;
        }
        let mut pairs = Vec::new();
        for part in parts {
            let arrow = arrow(&part.tokens)?;
            if arrow == 0 || arrow + 2 >= part.tokens.len() || (!whole && part.tokens[0].kind == Kind::Punct(b'|')) {
                return None;
            }
            let key = Part { tokens: part.tokens[..arrow].to_vec(), after: 0 };
            let value = Part { tokens: part.tokens[arrow + 2..].to_vec(), after: 0 };
            pairs.push((self.part(&key).value, self.part(&value).value));
        }
        Some(pairs)
    }

    /// Arguments that need no second parse: one literal or name, a sign, `@`, `&` before it, a path.
    fn simple(&self, part: &Part) -> Option<Arg> {
        let mut tokens = part.tokens.as_slice();
        let span = part.span();
        let mut at = false;
        let mut negative = None;
        if tokens.first()?.kind == Kind::Punct(b'@') {
            at = true;
            tokens = &tokens[1..];
        }
        if let [first, rest @ ..] = tokens {
            match first.kind {
                Kind::Punct(b'&') if rest.first().is_some_and(|token| !matches!(token.kind, Kind::Punct(_))) => {
                    tokens = rest;
                }
                Kind::Punct(b'-') => {
                    negative = Some(first.span.start);
                    tokens = rest;
                }
                _ => {}
            }
        }
        let mut expr = match tokens {
            [token] => match token.kind {
                Kind::Str | Kind::Bytes | Kind::Char | Kind::Number => {
                    Expr::new(token.span, literal::value(self.slice(token.span))?)
                }
                Kind::Ident => {
                    let kind = match self.slice(token.span) {
                        "true" => ExprKind::Bool(true),
                        "false" => ExprKind::Bool(false),
                        "return" | "break" | "continue" | "mut" | "_" => return None,
                        name => ExprKind::Name(name.to_string()),
                    };
                    Expr::new(token.span, kind)
                }
                Kind::OtherLiteral => Expr::opaque(token.span),
                _ => return None,
            },
            [dollar, name] if dollar.kind == Kind::Punct(b'$') && name.kind == Kind::Ident => {
                let span = Span::new(dollar.span.start, name.span.end);
                Expr::new(span, ExprKind::Name(self.slice(span).to_string()))
            }
            [first, rest @ ..] if first.kind == Kind::Ident && rest.len() <= 12 => {
                let mut expr = Expr::new(first.span, ExprKind::Name(self.slice(first.span).to_string()));
                let mut rest = rest;
                while !rest.is_empty() {
                    let (name, after) = match rest {
                        [a, b, name, after @ ..]
                            if a.kind == Kind::Punct(b':')
                                && b.kind == Kind::Punct(b':')
                                && name.kind == Kind::Ident =>
                        {
                            (name, after)
                        }
                        [dot, name, after @ ..] if dot.kind == Kind::Punct(b'.') && name.kind == Kind::Ident => {
                            (name, after)
                        }
                        _ => return None,
                    };
                    if self.slice(name.span) == "await" {
                        return None;
                    }
                    let whole = Span::new(first.span.start, name.span.end);
                    expr = Expr::new(whole, ExprKind::Attr(Box::new(expr), self.slice(name.span).to_string()));
                    rest = after;
                }
                expr
            }
            _ => return None,
        };
        if let Some(start) = negative {
            expr = Expr::new(Span::new(start, expr.span.end), ExprKind::Neg(Box::new(expr)));
        }
        if at {
            expr = Expr::new(span, ExprKind::At(Box::new(expr)));
        }
        let name = (part.after == b';').then(|| ";".to_string());
        Some(Arg { name, value: expr, spread: false })
    }

    fn spend(&mut self, span: Span) -> bool {
        let left = self.budget.checked_sub(span.end - span.start);
        self.budget = left.unwrap_or(0);
        left.is_some()
    }

    /// Parses `before`, the text of `span` and `after` together and hands the tree on, if it is sound.
    fn apart<T>(
        &mut self,
        before: &str,
        span: Span,
        after: &str,
        see: impl FnOnce(&mut Self, &Tree) -> Option<T>,
    ) -> Option<T> {
        if self.depth >= DEEPEST || !self.spend(span) {
            return None;
        }
        let wrapped = [before, self.slice(span), after].concat();
        let tree = self.parser.parse(readable(&wrapped).as_bytes(), None)?;
        if tree.root_node().has_error() {
            return None;
        }
        let shift = span.start as isize - before.len() as isize;
        let was = std::mem::replace(&mut self.shift, shift);
        self.depth += 1;
        let seen = see(self, &tree);
        self.depth -= 1;
        self.shift = was;
        seen
    }

    /// The text of `span` as one expression.
    fn parsed(&mut self, span: Span) -> Option<Expr> {
        self.apart("fn f(){m(", span, "\n)}", |lower, tree| {
            let call = tree.root_node().named_descendant_for_byte_range(7, 8)?.parent()?;
            let args = children(field(call, "arguments")?);
            match args.as_slice() {
                [one] => Some(lower.expr(*one)),
                _ => None,
            }
        })
    }

    /// The text of `span` as the statements of a block.
    fn statements(&mut self, span: Span) -> Option<Vec<Stmt>> {
        self.apart("fn f(){", span, "\n}", |lower, tree| {
            let body = field(tree.root_node().named_child(0)?, "body")?;
            let was = lower.in_code;
            let body = lower.block(body, false);
            lower.in_code = was;
            Some(body)
        })
    }
}

impl Lower<'_> {
    /// `#[path(args)]`, `#[path = value]`, `#[path]`.
    fn mark(&mut self, node: Node) -> Option<Expr> {
        let attribute = children(node).into_iter().find(|child| child.kind() == "attribute")?;
        let path = children(attribute).first().copied()?;
        let span = self.span(attribute);
        let name = self.path(path);
        if let Some(value) = field(attribute, "value") {
            let value = self.expr(value);
            let args = vec![positional(value)];
            return Some(Expr::new(span, ExprKind::Macro { name, args, tokens: span }));
        }
        let Some(tree) = field(attribute, "arguments") else {
            return Some(self.expr(path));
        };
        let whole = self.span(tree);
        let inner = Span::new((whole.start + 1).min(whole.end), whole.end.saturating_sub(1));
        if matches!(name.as_str(), "cfg" | "cfg_attr" | "allow" | "derive" | "serde" | "doc" | "expect" | "deny") {
            return Some(Expr::new(span, ExprKind::Macro { name, args: Vec::new(), tokens: inner }));
        }
        let tokens = tokens::tokens(self.source, inner);
        let args = tokens::pieces(&tokens).iter().map(|part| self.part(part)).collect();
        Some(Expr::new(span, ExprKind::Macro { name, args, tokens: inner }))
    }
}

fn positional(value: Expr) -> Arg {
    Arg { name: None, value, spread: false }
}

/// The first top-level `=>`.
fn arrow(tokens: &[Token]) -> Option<usize> {
    let mut depth = 0usize;
    for (nth, pair) in tokens.windows(2).enumerate() {
        match (pair[0].kind, pair[1].kind) {
            (Kind::Open(_), _) => depth += 1,
            (Kind::Close(_), _) => depth = depth.saturating_sub(1),
            (Kind::Punct(b'='), Kind::Punct(b'>')) if depth == 0 && pair[0].span.end == pair[1].span.start => {
                return Some(nth);
            }
            _ => {}
        }
    }
    None
}

/// `format!`'s arguments as text and holes; `None` where the text is not known or does not fit them.
pub(super) fn format_pieces(args: &[Arg]) -> Option<ExprKind> {
    let first = args.first()?;
    let ExprKind::Str(template) = &first.value.kind else { return None };
    let span = first.value.span;
    let positional: Vec<&Expr> = args[1..].iter().filter(|arg| arg.name.is_none()).map(|arg| &arg.value).collect();
    let named = |name: &str| args[1..].iter().find(|arg| arg.name.as_deref() == Some(name)).map(|arg| &arg.value);
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut next = 0usize;
    let mut rest = template.as_str();
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            text.push_str(brace);
            rest = after;
            continue;
        }
        if brace == "}" {
            return None;
        }
        let close = rest.find('}')?;
        let (hole, spec) = rest[..close].split_once(':').unwrap_or((&rest[..close], ""));
        rest = &rest[close + 1..];
        let hole = hole.trim();
        let value = if hole.is_empty() {
            next += 1;
            (*positional.get(next - 1)?).clone()
        } else if let Ok(nth) = hole.parse::<usize>() {
            (*positional.get(nth)?).clone()
        } else {
            named(hole).cloned().unwrap_or_else(|| Expr::new(span, ExprKind::Name(hole.to_string())))
        };
        if !text.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
        }
        pieces.push(Piece::Hole(value, spec.to_string()));
    }
    text.push_str(rest);
    if pieces.is_empty() {
        return Some(ExprKind::Str(text));
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Some(ExprKind::Format(pieces))
}
