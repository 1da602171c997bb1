//! In which form snapbox 1.2 compares a value: by the type that is named, by a method on the expected value,
//! or by the file's name and the features that the manifests ask for. Reads manifests only.

use crate::code::{Expr, ExprKind, Function};
use crate::pins::Project;
use crate::places::RelPath;
use crate::text::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
    Svg,
    Binary,
    /// Lines of JSON, another form for the file than for the comparison: shown, never written.
    Other,
}

impl Format {
    pub fn named(name: &str) -> Format {
        match name {
            "Text" => Format::Text,
            "Json" => Format::Json,
            "TermSvg" => Format::Svg,
            "Binary" => Format::Binary,
            _ => Format::Other,
        }
    }

    /// Ending of a file that is named by its function.
    pub fn ending(self) -> Option<&'static str> {
        match self {
            Format::Text => Some("txt"),
            Format::Json => Some("json"),
            Format::Svg => Some("term.svg"),
            Format::Binary => Some("bin"),
            Format::Other => None,
        }
    }
}

/// The form of a file by its name; `None` where it hangs on a feature that may be on elsewhere.
pub fn by_name(project: &Project, source: &RelPath, name: &str) -> Option<Format> {
    let rest = name.strip_prefix('.').unwrap_or(name);
    let ending = |wanted: &str| rest.match_indices('.').any(|(at, _)| &rest[at + 1..] == wanted);
    for (wanted, feature, format) in
        [("json", "json", Format::Json), ("jsonl", "json", Format::Other), ("term.svg", "term-svg", Format::Svg)]
    {
        if ending(wanted) {
            return has_feature(project, source, feature).then_some(format);
        }
    }
    Some(Format::Text)
}

/// Whether the package's manifest, or its workspace's, asks for a feature of snapbox.
fn has_feature(project: &Project, source: &RelPath, feature: &str) -> bool {
    let Some(package) = project.crates.package_of(source) else { return false };
    [&package.dir, &package.workspace].into_iter().any(|dir| {
        let manifest = dir.join("Cargo.toml").and_then(|path| project.shelf.text(&path));
        let Some(table) = manifest.and_then(|text| text.as_str().parse::<toml::Table>().ok()) else { return false };
        let within = |table: &toml::Table| {
            ["dependencies", "dev-dependencies"].iter().any(|key| {
                let snapbox = table.get(*key).and_then(|all| all.get("snapbox"));
                let features = snapbox.and_then(|it| it.get("features")).and_then(toml::Value::as_array);
                features.is_some_and(|features| features.iter().any(|it| it.as_str() == Some(feature)))
            })
        };
        within(&table) || table.get("workspace").and_then(toml::Value::as_table).is_some_and(within)
    })
}

/// Methods that are called on the expected value, the nearest first, with the last name of their argument.
pub fn methods(function: &Function, at: Span) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    let mut now = at;
    for _ in 0..8 {
        let mut next = None;
        function.body.iter().filter(|stmt| stmt.span.contains(at)).for_each(|stmt| {
            stmt.walk(&mut |expr: &Expr| {
                if let ExprKind::Call { callee, args } = &expr.kind
                    && let ExprKind::Attr(base, name) = &callee.kind
                    && base.span == now
                {
                    let arg = args.first().and_then(|arg| arg.value.dotted());
                    let arg = arg.map(|arg| arg.rsplit('.').next().unwrap_or_default().to_string());
                    next = Some((name.clone(), arg, expr.span));
                }
            });
        });
        let Some((name, arg, span)) = next else { break };
        found.push((name, arg));
        now = span;
    }
    found
}

/// The form that the methods say, if they do.
pub fn by_methods(methods: &[(String, Option<String>)]) -> Option<Format> {
    methods.iter().rev().find_map(|(name, arg)| match (name.as_str(), arg) {
        ("is_json" | "json", _) => Some(Format::Json),
        ("is_termsvg" | "term_svg", _) => Some(Format::Svg),
        ("is_jsonlines" | "json_lines" | "against" | "against_json" | "against_jsonlines", _) => Some(Format::Other),
        ("is" | "coerce_to", Some(name)) => Some(Format::named(name)),
        ("is" | "coerce_to", None) => Some(Format::Other),
        _ => None,
    })
}
