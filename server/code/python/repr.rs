//! Python's `repr` of plain values. Takes expressions and texts, gives the source that `repr` writes; nothing
//! where that is not certain (a character of which it is not known here whether it can be printed).

use super::numbers::{float_repr, int_repr};
use super::strings;
use crate::code::{Expr, ExprKind};

/// A number, a constant or bytes.
pub fn plain(expr: &Expr) -> Option<String> {
    Some(match &expr.kind {
        ExprKind::Int(text) => int_repr(text)?,
        ExprKind::Float(text) => float_repr(text)?,
        ExprKind::Bool(true) => "True".into(),
        ExprKind::Bool(false) => "False".into(),
        ExprKind::None => "None".into(),
        ExprKind::Ellipsis => "Ellipsis".into(),
        ExprKind::Bytes(bytes) => {
            let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') { '"' } else { '\'' };
            strings::quoted_bytes(bytes, quote)
        }
        ExprKind::Neg(inner) => match &inner.kind {
            ExprKind::Int(text) if int_repr(text)? == "0" => "0".into(),
            ExprKind::Int(_) | ExprKind::Float(_) => format!("-{}", plain(inner)?),
            _ => return None,
        },
        _ => return None,
    })
}

/// Whether it is known here if `str.isprintable` holds for a character.
pub fn is_certain(c: char) -> bool {
    c.is_ascii()
        || c.is_alphanumeric()
        || strings::is_dangerous(c)
        || matches!(c, '\u{a1}'..='\u{ff}' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{20a0}'..='\u{20bf}')
        || matches!(c, '\u{2190}'..='\u{23ff}' | '\u{2500}'..='\u{27bf}' | '\u{1f300}'..='\u{1f64f}' | '\u{1f680}'..='\u{1f6c5}')
}

/// A text.
pub fn text(text: &str) -> Option<String> {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    text.chars().all(is_certain).then(|| strings::quoted(text, quote))
}
