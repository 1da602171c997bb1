//! What snapshot tools are told to overlook: filters and redactions of insta and snapbox, matchers of syrupy,
//! scrubbers, wherever in a test or its helpers they are set.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::{DEEPEST, Frame, Kind, Look, last, words};
use crate::code::{Expr, ExprKind, Function, Unit};
use crate::pins;
use crate::text::Span;

impl<'a> Look<'a> {
    /// `{ ".id" => "[id]" }` of insta's assertions.
    pub(super) fn selectors(&mut self, tokens: Span) {
        static SELECTOR: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#""[^"\n]*"\s*=>[^,\n}]*"#).ok());
        let unit = self.frame().unit;
        for found in SELECTOR.iter().flat_map(|selector| selector.find_iter(unit.text.slice(tokens))) {
            let end = found.start() + found.as_str().trim_end().len();
            self.add(unit, Kind::Filter, "redaction", Span::new(tokens.start + found.start(), tokens.start + end));
        }
    }

    /// Calls of a function, and of the helpers that it calls, that tell a tool to see less.
    pub(super) fn scan(&mut self, unit: &'a Unit, function: &'a Function, depth: usize) {
        if depth >= DEEPEST || !self.scanned.insert((unit.path.clone(), function.span.start)) {
            return;
        }
        let mut calls: Vec<&'a Expr> = Vec::new();
        for stmt in &function.body {
            stmt.walk(&mut |expr| {
                if matches!(expr.kind, ExprKind::Call { .. } | ExprKind::Macro { .. }) {
                    calls.push(expr);
                }
            });
        }
        let from = self.frames.len().saturating_sub(1);
        self.frames.push(Frame { unit, function: Some(function), given: BTreeMap::new(), from });
        for call in calls {
            match &call.kind {
                ExprKind::Call { callee, args } => {
                    let name = last(callee);
                    if words::tells_to_ignore(&name) {
                        self.add(unit, Kind::Filter, &name, call.span);
                    }
                    if matches!(name.as_str(), "with_defaults" | "use_extension") {
                        self.told(call, &name, args);
                    }
                    if let Some((unit, function)) = self.of_tests(callee) {
                        self.scan(unit, function, depth + 1);
                    }
                }
                ExprKind::Macro { name, tokens, .. } if pins::macros::last(name) == "with_settings" => {
                    self.settings(unit, *tokens);
                }
                _ => {}
            }
        }
        self.frames.pop();
    }

    /// `with_settings!({filters => vec![(r"…", "…")]}, { … })`: each filter and redaction.
    fn settings(&mut self, unit: &Unit, tokens: Span) {
        static EACH: LazyLock<Option<[(&str, Regex); 3]>> = LazyLock::new(|| {
            Some([
                ("filters", Regex::new(r##"\(\s*&?r?#*"[^"\n]*""##).ok()?),
                ("redactions", Regex::new(r#""[^"\n]*"\s*=>"#).ok()?),
                ("sort_maps", Regex::new(r"sort_maps\s*=>\s*true").ok()?),
            ])
        });
        let text = unit.text.slice(tokens);
        let text = text.get(..braced(text)).unwrap_or(text);
        for (word, each) in EACH.iter().flatten() {
            let from = text.find(word).unwrap_or(text.len());
            let rest = text.get(from..).unwrap_or_default();
            let end = rest.find("],").unwrap_or(rest.len());
            for found in each.find_iter(rest.get(..end).unwrap_or_default()) {
                let at = tokens.start + from + found.start();
                self.add(unit, Kind::Filter, word, Span::new(at, at + found.len()));
            }
        }
    }
}

/// End of the first braced group of a text.
fn braced(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    text.len()
}
