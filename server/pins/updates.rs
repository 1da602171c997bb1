//! Comparisons that write the file where it differs: `if !same(&out, &text) { if bless { fs::write(…) } … }`.
//! What the queries cannot say, because the write stands anywhere inside. Takes a unit, adds matches.

use std::collections::BTreeMap;

use super::Match;
use crate::code::{Expr, ExprKind, Op, Stmt, StmtKind, Unit};

/// `pin.form` of such a match.
pub const UPDATES: &str = "updates";

/// Adds the conditions of a unit that compare two texts and write a file.
pub fn found(unit: &Unit, matches: &mut Vec<Match>) {
    let source = unit.text.as_str();
    if !["fs::write", "File::create", "write_text", "write_bytes", "open("].iter().any(|word| source.contains(word)) {
        return;
    }
    for function in &unit.functions {
        look(&function.body, matches);
    }
}

fn look(body: &[Stmt], matches: &mut Vec<Match>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::If { cond, then, otherwise } => {
                if unequal(cond).is_some()
                    && then.iter().any(writes)
                    && !matches.iter().any(|found| found.span == stmt.span)
                {
                    let form = ("pin.form".to_string(), UPDATES.to_string());
                    matches.push(Match {
                        framework: "golden-file".into(),
                        properties: BTreeMap::from([form]).into(),
                        span: stmt.span,
                        captures: Vec::new(),
                    });
                }
                look(then, matches);
                look(otherwise, matches);
            }
            StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::With { body, .. } => {
                look(body, matches);
            }
            StmtKind::Block(parts) => parts.iter().for_each(|part| look(part, matches)),
            _ => {}
        }
    }
}

/// The two sides of a condition that is true where they differ.
pub fn unequal(cond: &Expr) -> Option<(&Expr, &Expr)> {
    match &cond.kind {
        ExprKind::Binary(Op::Ne, left, right) => Some((left, right)),
        ExprKind::Not(inner) => match &inner.kind {
            ExprKind::Binary(Op::Eq, left, right) => Some((left, right)),
            ExprKind::Call { args, .. } => match args.as_slice() {
                [left, right] if left.name.is_none() && right.name.is_none() => Some((&left.value, &right.value)),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// Whether a statement writes a file, or something inside it does.
pub fn writes(stmt: &Stmt) -> bool {
    let mut found = false;
    stmt.walk(&mut |expr| {
        let ExprKind::Call { callee, args } = &expr.kind else { return };
        found |= match &callee.kind {
            ExprKind::Attr(base, name) => match name.as_str() {
                "write_text" | "write_bytes" => true,
                "write" => base.dotted().is_some_and(|owner| owner.ends_with("fs") || owner == "fs_err"),
                "create" => base.dotted().is_some_and(|owner| owner.ends_with("File")),
                _ => false,
            },
            ExprKind::Name(name) if name == "open" => args.iter().any(
                |arg| matches!(&arg.value.kind, ExprKind::Str(mode) if mode.len() < 5 && mode.starts_with(['w', 'x'])),
            ),
            _ => false,
        };
    });
    found
}
