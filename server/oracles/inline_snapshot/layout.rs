//! Whether a formatter lays out the file after inline-snapshot wrote in it, as far as the repository shows it,
//! and what is certain then: black 23 to 26 and ruff leave a statement as it is when only text inside one line
//! of it changes, that line is not too long, and every bracket that is open over several lines stays so. Takes
//! the project and a file, judges edits. Formats nothing.

use crate::code::Unit;
use crate::oracles::Refusal;
use crate::pins::Project;
use crate::places::RelPath;
use crate::text::Span;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    formatter: Option<Formatter>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Formatter {
    name: &'static str,
    width: usize,
    /// `None`: quotes stay as they are.
    quote: Option<char>,
}

impl Layout {
    pub fn of(project: &Project, file: &RelPath) -> Layout {
        let mut folder = file.parent();
        let mut mentions_black = false;
        loop {
            for name in
                ["pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "requirements.txt", "requirements-dev.txt"]
            {
                let Some(path) = folder.join(name).filter(|path| project.shelf.listed(path)) else { continue };
                let Some(text) = project.shelf.text(&path) else { continue };
                if name == "pyproject.toml"
                    && let Ok(settings) = text.as_str().parse::<toml::Table>()
                    && let Some(found) = of_settings(&settings)
                {
                    return Layout { formatter: Some(found) };
                }
                mentions_black |= requires_black(text.as_str());
            }
            if folder.as_str().is_empty() {
                break;
            }
            folder = folder.parent();
        }
        let black = Formatter { name: "black", width: 88, quote: Some('"') };
        Layout { formatter: mentions_black.then_some(black) }
    }

    pub fn formatted(&self) -> bool {
        self.formatter.is_some()
    }

    /// A literal of `repr` with the quotes that the formatter prefers.
    pub fn quoted(&self, literal: &str) -> String {
        let Some(preferred) = self.formatter.as_ref().and_then(|formatter| formatter.quote) else {
            return literal.to_string();
        };
        let (prefix, rest) = literal.split_at(usize::from(literal.starts_with('b')));
        let Some(own) = rest.chars().next().filter(|own| *own != preferred && rest.len() >= 2) else {
            return literal.to_string();
        };
        let body = &rest[1..rest.len() - 1];
        let mut new = String::with_capacity(body.len() + 2);
        let mut chars = body.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some(next) if next == own => new.push(own),
                    Some(next) => new.extend(['\\', next]),
                    None => new.push('\\'),
                },
                c if c == preferred => new.extend(['\\', c]),
                c => new.push(c),
            }
        }
        match new.matches('\\').count() <= body.matches('\\').count() {
            true => format!("{prefix}{preferred}{new}{preferred}"),
            false => literal.to_string(),
        }
    }

    /// Refuses edits after which the formatter might lay the statement out anew.
    pub fn check(&self, unit: &Unit, statement: Span, edits: &[(Span, String)]) -> Result<(), Refusal> {
        let Some(formatter) = &self.formatter else { return Ok(()) };
        let refuse = || {
            Err(Refusal(format!(
                "{}:{}: {} would lay the statement out anew; let `pytest --inline-snapshot=fix` write the value, then \
                 explain the change",
                unit.path,
                unit.line(statement.start),
                formatter.name
            )))
        };
        let source = unit.text.as_str();
        let start = source[..statement.start].rfind('\n').map_or(0, |at| at + 1);
        let mut after = String::new();
        let mut at = start;
        for (span, text) in edits {
            let old = source.get(span.start..span.end).unwrap_or("");
            // A text in triple quotes may have other lines; whatever else breaks a line is laid out.
            let triple = |text: &str| text.starts_with("\"\"\"") || text.starts_with("'''");
            let several = |text: &str| text.contains('\n');
            if (several(old) || several(text)) && !(triple(old) && triple(text) && several(old) && several(text)) {
                return refuse();
            }
            after.push_str(source.get(at..span.start).unwrap_or(""));
            after.push_str(text);
            at = span.end;
        }
        after.push_str(source.get(at..statement.end).unwrap_or(""));
        let before = source.get(start..statement.end).unwrap_or("");
        let short = |line: &str| line.chars().count() <= formatter.width;
        let outside: Vec<&str> = outside_of_texts(&after);
        let old_outside: Vec<&str> = outside_of_texts(before);
        let old_long = old_outside.iter().filter(|line| !short(line)).count();
        let long = outside.iter().filter(|line| !short(line)).count();
        if long > 0 || old_long > 0 {
            return refuse();
        }
        // Brackets open over lines stay so with a comma before their end, or when one line would not hold them.
        let joined = outside.iter().map(|line| line.trim_start()).collect::<Vec<_>>().join("");
        let indent = after.len() - after.trim_start().len();
        let exploded = outside.len() > 1;
        let texts = after.contains("\"\"\"") || after.contains("'''");
        let commas = outside.iter().any(|line| line.trim_end().ends_with(',') && line.len() > 1);
        let closes = |line: &&str| line.trim_start().starts_with([')', ']', '}']);
        let all_commas =
            outside.windows(2).all(|pair| !closes(&pair[1]) || pair[0].trim_end().ends_with(',') || closes(&pair[0]));
        if exploded && !texts && !(commas && all_commas) && joined.chars().count() + indent <= formatter.width {
            return refuse();
        }
        Ok(())
    }
}

/// The lines of a statement without the inner ones of texts in triple quotes.
fn outside_of_texts(statement: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut open: Option<&str> = None;
    for line in statement.lines() {
        let inside = open.is_some();
        let mut rest = line;
        loop {
            match open {
                Some(quote) => match rest.find(quote) {
                    Some(at) => {
                        rest = &rest[at + 3..];
                        open = None;
                    }
                    None => break,
                },
                None => {
                    let next = ["\"\"\"", "'''"].into_iter().filter_map(|q| Some((rest.find(q)?, q))).min();
                    let Some((at, quote)) = next else { break };
                    rest = &rest[at + 3..];
                    open = Some(quote);
                }
            }
        }
        if !inside {
            lines.push(line);
        } else if open.is_none() && !rest.trim().is_empty() {
            lines.push(rest);
        }
    }
    lines
}

fn requires_black(text: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices("black").any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        !before.is_some_and(word) && !after.is_some_and(word)
    })
}

fn of_settings(settings: &toml::Table) -> Option<Formatter> {
    let tool = settings.get("tool")?.as_table()?;
    let table = |name: &str| tool.get(name).and_then(|value| value.as_table());
    let width = |table: Option<&toml::Table>| {
        let width = table.and_then(|table| table.get("line-length").or(table.get("line_length")));
        width.and_then(|width| usize::try_from(width.as_integer()?).ok()).unwrap_or(88)
    };
    let command = table("inline-snapshot").and_then(|own| own.get("format-command")).and_then(|own| own.as_str());
    match command {
        Some(command) if !command.trim().is_empty() => {
            let ruff = table("ruff");
            let style = ruff.and_then(|ruff| ruff.get("format")?.as_table()?.get("quote-style")?.as_str());
            let quote = match style {
                Some("single") => Some('\''),
                Some("preserve") => None,
                _ => Some('"'),
            };
            match command.contains("ruff") {
                true => Some(Formatter { name: "ruff", width: width(ruff), quote }),
                false => Some(Formatter { name: "the format-command", width: width(table("black")), quote: Some('"') }),
            }
        }
        _ => {
            let black = table("black")?;
            let kept = black.get("skip-string-normalization").and_then(|kept| kept.as_bool()) == Some(true);
            Some(Formatter { name: "black", width: width(Some(black)), quote: (!kept).then_some('"') })
        }
    }
}
