//! Rust text to tokens, quickly and without a tree: for what stands inside macro calls, where the
//! grammar knows only tokens. Takes a text and a span, gives tokens with spans in that text.
//! Never fails: what is no token is one byte of punctuation.

use crate::text::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Ident,
    Lifetime,
    /// `"…"`, `r"…"`.
    Str,
    /// `b"…"`, `br"…"`.
    Bytes,
    /// `c"…"`, `'x'`, `b'x'`.
    Char,
    /// A byte character or a C string: not followed.
    OtherLiteral,
    Number,
    Punct(u8),
    Open(u8),
    Close(u8),
    /// Line or block comment.
    Comment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    pub kind: Kind,
    pub span: Span,
}

fn starts_ident(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn in_ident(byte: u8) -> bool {
    starts_ident(byte) || byte.is_ascii_digit()
}

/// Reads tokens one after the other.
pub struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Tokens<'a> {
    /// The tokens of `span`; comments are tokens too.
    pub fn new(source: &'a str, span: Span) -> Tokens<'a> {
        let end = span.end.min(source.len());
        Tokens { bytes: source.as_bytes(), at: span.start.min(end), end }
    }

    fn peek(&self, ahead: usize) -> u8 {
        let at = self.at + ahead;
        if at < self.end { self.bytes[at] } else { 0 }
    }

    /// Moves past a quoted text whose opening quote stands at `self.at`.
    fn quoted(&mut self, quote: u8) {
        self.at += 1;
        while self.at < self.end {
            match self.bytes[self.at] {
                b'\\' => self.at += 2,
                byte if byte == quote => {
                    self.at += 1;
                    return;
                }
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.end);
    }

    /// Moves past `r##"…"##` if one stands at `self.at + ahead` (on its first `#` or quote).
    fn raw(&mut self, ahead: usize) -> bool {
        let mut hashes = 0;
        while self.peek(ahead + hashes) == b'#' {
            hashes += 1;
        }
        if self.peek(ahead + hashes) != b'"' {
            return false;
        }
        let mut at = self.at + ahead + hashes + 1;
        while at < self.end {
            if self.bytes[at] == b'"' {
                let close = at + 1;
                let have = self.bytes[close..self.end].iter().take(hashes).take_while(|b| **b == b'#').count();
                if have == hashes {
                    self.at = close + hashes;
                    return true;
                }
            }
            at += 1;
        }
        self.at = self.end;
        true
    }

    fn number(&mut self) {
        let exponent = !(self.peek(0) == b'0' && matches!(self.peek(1), b'x' | b'o' | b'b'));
        let mut dot = false;
        while self.at < self.end {
            let byte = self.bytes[self.at];
            if in_ident(byte) {
                self.at += 1;
                if exponent && matches!(byte, b'e' | b'E') && matches!(self.peek(0), b'+' | b'-') {
                    self.at += 1;
                }
            } else if byte == b'.' && !dot && exponent && self.peek(1) != b'.' && !starts_ident(self.peek(1)) {
                dot = true;
                self.at += 1;
            } else {
                return;
            }
        }
    }

    fn kind(&mut self) -> Kind {
        let byte = self.bytes[self.at];
        match byte {
            b'/' if self.peek(1) == b'/' => {
                while self.at < self.end && self.bytes[self.at] != b'\n' {
                    self.at += 1;
                }
                Kind::Comment
            }
            b'/' if self.peek(1) == b'*' => {
                let mut depth = 0usize;
                while self.at < self.end {
                    if self.peek(0) == b'/' && self.peek(1) == b'*' {
                        depth += 1;
                        self.at += 2;
                    } else if self.peek(0) == b'*' && self.peek(1) == b'/' {
                        depth -= 1;
                        self.at += 2;
                        if depth == 0 {
                            break;
                        }
                    } else {
                        self.at += 1;
                    }
                }
                Kind::Comment
            }
            b'"' => {
                self.quoted(b'"');
                Kind::Str
            }
            b'r' if matches!(self.peek(1), b'"' | b'#') && self.raw(1) => Kind::Str,
            b'b' if self.peek(1) == b'r' && matches!(self.peek(2), b'"' | b'#') && self.raw(2) => Kind::Bytes,
            b'c' if self.peek(1) == b'r' && matches!(self.peek(2), b'"' | b'#') && self.raw(2) => Kind::OtherLiteral,
            b'b' | b'c' if self.peek(1) == b'"' => {
                self.at += 1;
                self.quoted(b'"');
                if byte == b'b' { Kind::Bytes } else { Kind::OtherLiteral }
            }
            b'b' if self.peek(1) == b'\'' => {
                self.at += 1;
                self.quoted(b'\'');
                Kind::OtherLiteral
            }
            b'\'' => {
                let next = self.peek(1);
                if next == b'\\' {
                    self.quoted(b'\'');
                    return Kind::Char;
                }
                // 'x' is a character, 'x without the second quote a lifetime.
                let mut width = 1;
                while self.peek(1 + width) & 0xc0 == 0x80 {
                    width += 1;
                }
                if self.peek(1 + width) == b'\'' {
                    self.at += width + 2;
                    return Kind::Char;
                }
                self.at += 1;
                while self.at < self.end && in_ident(self.bytes[self.at]) {
                    self.at += 1;
                }
                Kind::Lifetime
            }
            _ if starts_ident(byte) => {
                if byte == b'r' && self.peek(1) == b'#' && starts_ident(self.peek(2)) {
                    self.at += 2;
                }
                while self.at < self.end && in_ident(self.bytes[self.at]) {
                    self.at += 1;
                }
                Kind::Ident
            }
            _ if byte.is_ascii_digit() => {
                self.number();
                Kind::Number
            }
            b'(' | b'[' | b'{' => {
                self.at += 1;
                Kind::Open(byte)
            }
            b')' | b']' | b'}' => {
                self.at += 1;
                Kind::Close(byte)
            }
            _ => {
                self.at += 1;
                Kind::Punct(byte)
            }
        }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        while self.at < self.end && self.bytes[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        if self.at >= self.end {
            return None;
        }
        let start = self.at;
        let kind = self.kind();
        self.at = self.at.clamp(start + 1, self.end);
        Some(Token { kind, span: Span::new(start, self.at) })
    }
}

/// The tokens of a span without its comments.
pub fn tokens(source: &str, span: Span) -> Vec<Token> {
    Tokens::new(source, span).filter(|token| token.kind != Kind::Comment).collect()
}

/// One argument of a macro call, and the separator before it.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    pub tokens: Vec<Token>,
    pub after: u8,
}

impl Piece {
    pub fn span(&self) -> Span {
        match (self.tokens.first(), self.tokens.last()) {
            (Some(first), Some(last)) => Span::new(first.span.start, last.span.end),
            _ => Span::default(),
        }
    }
}

/// Tokens split at top-level `,` and `;`. Commas between the angle brackets of a turbofish do not count.
pub fn pieces(tokens: &[Token]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut piece = Piece { tokens: Vec::new(), after: 0 };
    let (mut depth, mut angle) = (0usize, 0usize);
    for (nth, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Open(_) => depth += 1,
            Kind::Close(_) => depth = depth.saturating_sub(1),
            Kind::Punct(b'<') if depth == 0 => {
                let colons = nth >= 2 && (1..=2).all(|back| tokens[nth - back].kind == Kind::Punct(b':'));
                if colons || angle > 0 {
                    angle += 1;
                }
            }
            Kind::Punct(b'>') if depth == 0 => angle = angle.saturating_sub(1),
            Kind::Punct(by @ (b',' | b';')) if depth == 0 && angle == 0 => {
                pieces.push(std::mem::replace(&mut piece, Piece { tokens: Vec::new(), after: by }));
                continue;
            }
            _ => {}
        }
        piece.tokens.push(*token);
    }
    if !piece.tokens.is_empty() {
        pieces.push(piece);
    }
    pieces.retain(|piece| !piece.tokens.is_empty());
    pieces
}

/// The token that closes the one at `open`.
pub fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (nth, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            Kind::Open(_) => depth += 1,
            Kind::Close(_) => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(nth);
                }
            }
            _ => {}
        }
    }
    None
}
