//! Expressions, targets and string literals of Python. Takes the cursor of a [`Lower`], gives [`Expr`]s.

use super::grammar::{Field, Kind, grammar, is_expression, span_of};
use super::{LONGEST_ELIF, Lower, strings};
use crate::code::{Arg, Expr, ExprKind, Op, Piece, Stmt, StmtKind, Target};
use crate::syntax::DEEPEST;
use crate::text::Span;

impl Lower<'_> {
    pub(super) fn target(&mut self, kind: Kind) -> Target {
        match kind {
            Kind::Identifier => Target::Name(self.here().to_string(), self.span()),
            Kind::Attribute => match self.here().split_once('.') {
                Some(("self" | "cls", name)) if name.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                    Target::Member(name.to_string())
                }
                _ => Target::Other,
            },
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
    pub(super) fn expr(&mut self) -> Expr {
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
            | Kind::GeneratorExpression => self.comprehension(kind, span),
            Kind::Slice => self.slice_of(span),
            Kind::ListSplat | Kind::DictionarySplat | Kind::ParenthesizedListSplat | Kind::AsPattern => self.searched(),
            _ => ExprKind::Opaque,
        }
    }

    /// `a:b:c` as the call `slice(a, b, c)`.
    fn slice_of(&mut self, span: Span) -> ExprKind {
        let mut parts = vec![Expr::new(span, ExprKind::None)];
        let sound = self.each(|this, _, kind| match kind {
            Kind::Colon => parts.push(Expr::new(span, ExprKind::None)),
            kind if is_expression(kind) => {
                let value = this.expr();
                if let Some(last) = parts.last_mut() {
                    *last = value;
                }
            }
            _ => {}
        });
        if !sound {
            return ExprKind::Opaque;
        }
        let args = parts.into_iter().map(|value| Arg { name: None, value, spread: false }).collect();
        ExprKind::Call { callee: Box::new(Expr::new(span, ExprKind::Name("slice".into()))), args }
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
    fn comprehension(&mut self, whole: Kind, span: Span) -> ExprKind {
        let mut items = Vec::new();
        let mut conditions = Vec::new();
        let mut loops = Vec::new();
        let sound = self.each(|this, field, kind| match (field, kind) {
            (Field::Body, Kind::Pair) => {
                this.each(|this, _, kind| {
                    if is_expression(kind) {
                        items.push(this.expr());
                    }
                });
            }
            (Field::Body, _) => items.push(this.expr()),
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
                        conditions.push(this.expr());
                    }
                });
            }
            _ => {}
        });
        if !sound || loops.len() > LONGEST_ELIF || conditions.len() > LONGEST_ELIF {
            return ExprKind::Opaque;
        }
        let item = match items.len() {
            1 => items.remove(0),
            _ => Expr::new(span, ExprKind::Tuple(items)),
        };
        let call = |name: &str, value: Expr| {
            let callee = Box::new(Expr::new(Span::new(span.start, span.start), ExprKind::Name(name.into())));
            ExprKind::Call { callee, args: vec![Arg { name: None, value, spread: false }] }
        };
        let at = item.span;
        let mut body = vec![Stmt { span: at, kind: StmtKind::Expr(Expr::new(at, call("yield", item))) }];
        for cond in conditions.into_iter().rev() {
            body = vec![Stmt { span, kind: StmtKind::If { cond, then: body, otherwise: Vec::new() } }];
        }
        for (target, iter) in loops.into_iter().rev() {
            body = vec![Stmt { span, kind: StmtKind::For { target, iter, body } }];
        }
        match whole {
            Kind::DictionaryComprehension => call("dict", Expr::new(span, ExprKind::Block(body))),
            _ => ExprKind::Block(body),
        }
    }

    /// The string literal at the cursor.
    pub(super) fn string(&mut self) -> ExprKind {
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

    pub(super) fn concatenated(&mut self) -> ExprKind {
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
