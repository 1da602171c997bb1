//! Just enough of literals (JSON, Python, Rust) to move their items and to look inside their strings.
//! Takes a text, gives texts. What does not nest properly, or nests too deep, is left alone.

/// Deepest nesting that is followed.
const DEEPEST: usize = 100;

pub enum Token<'a> {
    /// A whole string literal with its quotes; the part between them and whether it is raw.
    Str {
        whole: &'a str,
        open: usize,
        close: usize,
        raw: bool,
    },
    Open(char),
    Close(char),
    Comma,
    /// White space outside strings.
    Blank,
    Other(&'a str),
}

/// Splits a text into tokens; `None` when a string does not end.
pub fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        match byte {
            b'[' | b'{' | b'(' => {
                out.push(Token::Open(byte as char));
                at += 1;
            }
            b']' | b'}' | b')' => {
                out.push(Token::Close(byte as char));
                at += 1;
            }
            b',' => {
                out.push(Token::Comma);
                at += 1;
            }
            b' ' | b'\n' | b'\r' | b'\t' => {
                while bytes.get(at).is_some_and(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')) {
                    at += 1;
                }
                out.push(Token::Blank);
            }
            b'"' | b'\'' => {
                // A prefix (`b`, `r`, `r#`) directly before belongs to the string.
                let prefix = match out.last() {
                    Some(Token::Other(word)) if word.len() <= 2 || word.trim_end_matches('#').len() <= 2 => *word,
                    _ => "",
                };
                let hashes = prefix.bytes().filter(|byte| *byte == b'#').count();
                let raw = prefix.contains(['r', 'R']);
                let triple = bytes.get(at..at + 3).is_some_and(|three| three == [byte; 3]);
                let quotes = if triple { 3 } else { 1 };
                let open = at + quotes;
                let end: Vec<u8> = std::iter::repeat_n(byte, quotes).chain(std::iter::repeat_n(b'#', hashes)).collect();
                let mut close = open;
                loop {
                    let rest = bytes.get(close..).filter(|rest| !rest.is_empty())?;
                    if rest.starts_with(&end) {
                        break;
                    }
                    close += if rest[0] == b'\\' && !(raw && hashes > 0) { 2 } else { 1 };
                }
                at = close + end.len();
                let whole = text.get(start..at)?;
                out.push(Token::Str { whole, open: quotes, close: close - start, raw });
            }
            _ => {
                while bytes.get(at).is_some_and(|byte| !b"[]{}(),\"' \n\r\t".contains(byte)) {
                    at += 1;
                }
                out.push(Token::Other(text.get(start..at)?));
            }
        }
    }
    Some(out)
}

/// Whether the whole text is one bracketed value or one string literal, as JSON and `repr` write them.
pub fn is_whole(text: &str) -> bool {
    let trimmed = text.trim();
    if !trimmed.starts_with(['[', '{', '"', '\'']) && !trimmed.starts_with("b'") && !trimmed.starts_with("b\"") {
        return false;
    }
    let Some(tokens) = tokens(trimmed) else { return false };
    let mut depth = 0usize;
    let mut ended = 0;
    for (i, token) in tokens.iter().enumerate() {
        match token {
            Token::Open(_) => depth += 1,
            Token::Close(_) if depth == 0 => return false,
            Token::Close(_) => depth -= 1,
            _ => {}
        }
        if depth == 0 && !matches!(token, Token::Other("b")) {
            ended += 1;
            if i + 1 != tokens.len() {
                return false;
            }
        }
    }
    depth == 0 && ended == 1
}

/// The text with the inside of every string literal replaced; `change` is also told whether it is raw.
pub fn in_strings(text: &str, change: impl Fn(&str, bool) -> String) -> String {
    let Some(tokens) = tokens(text) else { return text.to_string() };
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    let base = text.as_ptr() as usize;
    for token in tokens {
        if let Token::Str { whole, open, close, raw } = token {
            let start = whole.as_ptr() as usize - base;
            out.push_str(&text[from..start + open]);
            out.push_str(&change(&whole[open..close], raw));
            from = start + close;
        }
    }
    out.push_str(&text[from..]);
    out
}

/// The value without layout, the items of every `[…]` and `{…}` in the order of `key`. `None` when the
/// brackets do not match or nothing in it is a list of items.
pub fn sorted<K: Ord>(text: &str, key: &dyn Fn(&str) -> K) -> Option<String> {
    let tokens = tokens(text)?;
    // One level a bracket: (its character, finished items, the item being read).
    let mut levels: Vec<(char, Vec<String>, String)> = vec![('\0', Vec::new(), String::new())];
    let mut lists = false;
    for token in tokens {
        match token {
            Token::Open(open) => {
                if levels.len() > DEEPEST {
                    return None;
                }
                levels.push((open, Vec::new(), String::new()));
            }
            Token::Close(close) => {
                let (open, mut items, last) = levels.pop()?;
                if !matches!((open, close), ('[', ']') | ('{', '}') | ('(', ')')) {
                    return None;
                }
                if !last.is_empty() {
                    items.push(last);
                }
                if open != '(' {
                    lists |= items.len() > 1;
                    items.sort_by_cached_key(|item| key(item));
                }
                let (_, _, outer) = levels.last_mut()?;
                outer.push(open);
                outer.push_str(&items.join(","));
                outer.push(close);
            }
            Token::Comma => {
                let (open, items, item) = levels.last_mut()?;
                if *open == '\0' {
                    item.push(',');
                } else {
                    items.push(std::mem::take(item));
                }
            }
            Token::Blank => {}
            Token::Str { whole, .. } => levels.last_mut()?.2.push_str(whole),
            Token::Other(word) => {
                let item = &mut levels.last_mut()?.2;
                if item.ends_with(|c: char| c.is_alphanumeric()) {
                    item.push(' ');
                }
                item.push_str(word);
            }
        }
    }
    let (open, _, whole) = levels.pop()?;
    (open == '\0' && lists).then_some(whole)
}
