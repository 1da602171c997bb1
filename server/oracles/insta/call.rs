//! One assertion macro of insta 0.x to 1.49 (and insta-cmd): its arguments told apart.

use crate::code::{Arg, Expr, ExprKind, Unit};
use crate::pins::macros::{last, real_name};
use crate::pins::{Project, Site};
use crate::text::Span;

/// What the first arguments say about the snapshot's name.
#[derive(Debug, Clone, PartialEq)]
pub enum Name<'a> {
    /// From the function.
    Auto,
    Given(&'a Expr),
    /// `"name.ext"` of a binary snapshot, split at its first dot.
    Text(String),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Call<'a> {
    pub name: Name<'a>,
    /// The literal after `@`.
    pub inline: Option<&'a Expr>,
    pub value: Option<&'a Expr>,
    /// Extension of a binary snapshot.
    pub binary: Option<String>,
}

fn pick<'a>(expr: &'a Expr, span: Span, found: &mut Option<&'a Expr>) {
    if expr.span.end == span.end && expr.span.start <= span.start && matches!(expr.kind, ExprKind::Macro { .. }) {
        found.get_or_insert(expr);
    }
}

/// The macro call that ends where `span` ends, among the bodies and macro arms of a file.
pub fn macro_at(unit: &Unit, span: Span) -> Option<&Expr> {
    let mut found: Option<&Expr> = None;
    for function in unit.functions.iter().filter(|function| function.span.contains(span)) {
        for stmt in &function.body {
            if stmt.span.contains(span) {
                stmt.walk(&mut |expr| pick(expr, span, &mut found));
            }
        }
    }
    if found.is_none() {
        unit.top.iter().for_each(|stmt| stmt.walk(&mut |expr| pick(expr, span, &mut found)));
    }
    if found.is_none() {
        for arm in unit.macros.iter().flat_map(|rules| &rules.arms).filter(|arm| arm.body.contains(span)) {
            arm.calls.iter().for_each(|call| call.walk(&mut |expr| pick(expr, span, &mut found)));
        }
    }
    found
}

impl<'a> Call<'a> {
    /// Reads the arguments of an assertion macro. `None` where it is none.
    pub fn of(unit: &Unit, expr: &'a Expr) -> Option<Call<'a>> {
        let ExprKind::Macro { name, args, .. } = &expr.kind else { return None };
        let name = real_name(unit, name, expr.span);
        let mut inline = None;
        let mut plain: Vec<&Expr> = Vec::new();
        for Arg { value, .. } in args {
            match &value.kind {
                ExprKind::At(literal) => inline = Some(literal.as_ref()),
                ExprKind::Dict(_) => {}
                _ => plain.push(value),
            }
        }
        let mut call = Call { name: Name::Auto, inline, value: plain.first().copied(), binary: None };
        if last(name) == "assert_binary_snapshot" {
            let ExprKind::Str(text) = &plain.first()?.kind else { return None };
            let (stem, extension) = text.split_once('.')?;
            if !stem.is_empty() {
                call.name = Name::Text(stem.to_string());
            }
            call.binary = Some(extension.to_string());
            call.value = plain.get(1).copied();
            return Some(call);
        }
        if inline.is_none() && plain.len() >= 2 {
            call.name = given(plain[0]);
            call.value = plain.get(1).copied();
        }
        Some(call)
    }
}

fn given(expr: &Expr) -> Name<'_> {
    match &expr.kind {
        ExprKind::Name(name) if name == "None" || name == "AutoName" => Name::Auto,
        ExprKind::Attr(_, name) if name == "AutoName" => Name::Auto,
        ExprKind::None => Name::Auto,
        ExprKind::Call { callee, args } if callee.dotted().as_deref() == Some("Some") && args.len() == 1 => {
            Name::Given(&args[0].value)
        }
        _ => Name::Given(expr),
    }
}

/// The expression that a macro's `$x` stands for, and the frame in which it is to be evaluated.
pub fn filled<'a>(site: &'a Site, frame: usize, expr: &'a Expr) -> (usize, &'a Expr) {
    let (mut frame, mut expr) = (frame, expr);
    while frame > 0 && site.frames[frame].is_macro {
        let ExprKind::Name(name) = &expr.kind else { break };
        match site.frames[frame].given.get(name) {
            Some(given) => expr = given,
            None => break,
        }
        frame -= 1;
    }
    (frame, expr)
}

/// The frame whose function and file the macro's `module_path!()`, `file!()` and function name are.
pub fn home(site: &Site) -> usize {
    (0..site.frames.len()).rev().find(|nth| !site.frames[*nth].is_macro).unwrap_or(0)
}

/// The assertion macro of a site, with the file it stands in.
pub fn asserted<'a>(project: &'a Project, site: &Site) -> Option<(&'a Unit, &'a Expr)> {
    let frame = site.comparing();
    let unit = project.unit(&frame.file)?;
    Some((unit, macro_at(unit, frame.at)?))
}
