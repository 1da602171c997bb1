//! `pindrift.toml`. Takes its text, gives settings and what is wrong with it. A broken file costs
//! nothing but itself: what can be read of it counts, the rest is a trouble with line and column.
//! Never reads a file.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::places::RelPath;
use crate::text::Text;

pub mod personal;
mod policy;

pub use personal::Personal;
pub use policy::Policy;

/// Which argument of a call: by position (0-based, a method's receiver not counted) or by keyword.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    Nth(usize),
    Named(String),
}

/// `[[helper]]`: a house-made compare function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Helper {
    /// Name of the function or macro, bare or with its path (`support.check_golden`).
    pub call: String,
    pub name: Which,
    pub value: Option<Which>,
    /// Folder from the root that names are joined to.
    pub root: String,
    pub suffix: String,
    /// Framework word in reports; `golden-file` unless given.
    pub id: String,
    pub line: usize,
}

/// How rationale comments are written on accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CommentMode {
    #[default]
    Always,
    LiteralOnly,
    Never,
}

#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// `pindrift.toml` exists: the workspace opted in.
    pub present: bool,
    pub helpers: Vec<Helper>,
    /// Golden pattern → observed twin pattern, both from the root, `*` matching within and across folders.
    pub pairs: Vec<(String, String)>,
    pub characterization: Vec<String>,
    pub specification: Vec<String>,
    pub comment: CommentMode,
    /// Longest line of a rationale comment; the project's formatter's where that is known.
    pub line_length: Option<usize>,
    pub policy: Policy,
    /// (1-based line, 1-based column, message)
    pub troubles: Vec<(usize, usize, String)>,
}

impl Settings {
    /// Reads the text of `pindrift.toml`. What can be read counts, even of a file with syntax errors.
    pub fn parse(text: &str) -> Settings {
        let (root, errors) = DeTable::parse_recoverable(text);
        let mut reader = Reader { text: Text::new(text), settings: Settings { present: true, ..Settings::default() } };
        for error in errors {
            reader.trouble(error.span().unwrap_or_default(), format!("this is not TOML: {}", error.message()));
        }
        reader.root(root.get_ref());
        reader.settings.troubles.sort();
        reader.settings.troubles.dedup();
        reader.settings
    }
}

type Table<'i> = DeTable<'i>;
type Item<'i> = Spanned<DeValue<'i>>;

struct Reader {
    text: Text,
    settings: Settings,
}

impl Reader {
    fn trouble(&mut self, at: Range<usize>, message: String) {
        let byte = at.start.min(self.text.len());
        let place = (self.text.line_of(byte) + 1, self.text.column(byte));
        self.settings.troubles.push((place.0, place.1, message));
    }

    fn wrong(&mut self, key: &str, item: &Item, wanted: &str) {
        let found = word(item.get_ref());
        self.trouble(item.span(), format!("`{key}` takes {wanted}, here stands {found}; it is left out"));
    }

    fn root(&mut self, root: &Table) {
        for (key, item) in root {
            match (key.get_ref().as_ref(), item.get_ref()) {
                ("helper", DeValue::Array(items)) => items.iter().for_each(|item| self.helper(item)),
                ("helper", DeValue::Table(_)) => {
                    self.trouble(key.span(), "helpers are a list: write `[[helper]]`, not `[helper]`".into());
                    self.helper(item);
                }
                ("helper", _) => self.wrong("helper", item, "tables, each opened by `[[helper]]`"),
                ("pairs", DeValue::Table(pairs)) => self.pairs(pairs),
                ("pairs", _) => self.wrong("pairs", item, "a table of golden pattern = observed pattern"),
                ("roles", DeValue::Table(roles)) => self.roles(roles),
                ("roles", _) => self.wrong("roles", item, "a table with `characterization` and `specification`"),
                ("policy", rules) => {
                    let known = self.settings.troubles.len();
                    match rules {
                        DeValue::Table(rules) => self.policy(rules),
                        _ => self.wrong("policy", item, "a table"),
                    }
                    let new = self.settings.troubles.iter().skip(known).map(|(_, _, message)| message.clone());
                    self.settings.policy.troubles.extend(new);
                }
                ("comment", DeValue::String(word)) => match word.as_ref() {
                    "always" => self.settings.comment = CommentMode::Always,
                    "literal-only" => self.settings.comment = CommentMode::LiteralOnly,
                    "never" => self.settings.comment = CommentMode::Never,
                    other => self.trouble(
                        item.span(),
                        format!(
                            "`comment` is \"always\", \"literal-only\" or \"never\", not {other:?}; \"always\" is used"
                        ),
                    ),
                },
                ("comment", _) => self.wrong("comment", item, "\"always\", \"literal-only\" or \"never\""),
                ("line-length", DeValue::Integer(number)) => {
                    match usize::from_str_radix(number.as_str(), number.radix()) {
                        Ok(length) if (20..=1000).contains(&length) => self.settings.line_length = Some(length),
                        _ => self
                            .trouble(item.span(), "`line-length` is a number from 20 to 1000; it is left out".into()),
                    }
                }
                ("line-length", _) => self.wrong("line-length", item, "a number"),
                (other, _) => self.unknown(key.span(), other, "pindrift.toml", ROOT_KEYS),
            }
        }
    }

    fn policy(&mut self, rules: &Table) {
        for (key, item) in rules {
            let name = key.get_ref().as_ref();
            if !policy::KEYS.contains(&name) {
                self.unknown(key.span(), name, "[policy]", policy::KEYS);
            } else if let Err(why) = self.settings.policy.set(name, &value_of(item.get_ref())) {
                self.trouble(item.span(), why);
            }
        }
    }

    fn unknown(&mut self, at: Range<usize>, key: &str, place: &str, known: &[&str]) {
        let known: Vec<String> = known.iter().map(|known| format!("`{known}`")).collect();
        self.trouble(at, format!("{place} has no key `{key}`; it knows {}", known.join(", ")));
    }

    fn helper(&mut self, item: &Item) {
        let DeValue::Table(table) = item.get_ref() else {
            return self.wrong("helper", item, "tables, each opened by `[[helper]]`");
        };
        let mut helper = Helper {
            call: String::new(),
            name: Which::Nth(0),
            value: None,
            root: String::new(),
            suffix: String::new(),
            id: "golden-file".into(),
            line: self.text.line_of(item.span().start) + 1,
        };
        for (key, item) in table {
            match (key.get_ref().as_ref(), item.get_ref()) {
                ("call", DeValue::String(call)) => {
                    helper.call = call.trim_end_matches('!').replace("::", ".");
                    helper.line = self.text.line_of(key.span().start) + 1;
                }
                ("root", DeValue::String(root)) => {
                    if root.starts_with('/') || RelPath::new(root).is_none() {
                        self.trouble(
                            item.span(),
                            format!("`root` is a folder inside the workspace, from its root; {root:?} is not, and is left out"),
                        );
                    } else {
                        helper.root = root.to_string();
                    }
                }
                ("suffix", DeValue::String(suffix)) => helper.suffix = suffix.to_string(),
                ("id", DeValue::String(id)) if !id.trim().is_empty() => helper.id = id.trim().to_string(),
                ("id", DeValue::String(_)) => self.trouble(item.span(), "`id` is empty; `golden-file` is used".into()),
                ("name", value) => match which(value) {
                    Some(which) => helper.name = which,
                    None => self.wrong("name", item, ARGUMENT),
                },
                ("value", value) => match which(value) {
                    Some(which) => helper.value = Some(which),
                    None => self.wrong("value", item, ARGUMENT),
                },
                (key @ ("call" | "root" | "suffix" | "id"), _) => self.wrong(key, item, "a text"),
                (other, _) => self.unknown(key.span(), other, "[[helper]]", HELPER_KEYS),
            }
        }
        if helper.call.trim().is_empty() {
            let at = item.span();
            return self.trouble(at, "this [[helper]] names no function: add `call = \"…\"`; it is left out".into());
        }
        self.settings.helpers.push(helper);
    }

    fn pairs(&mut self, pairs: &Table) {
        for (key, item) in pairs {
            let golden = key.get_ref().as_ref();
            let DeValue::String(twin) = item.get_ref() else {
                self.wrong(golden, item, "the pattern of the observed twin, a text");
                continue;
            };
            let stars = |pattern: &str| pattern.matches('*').count();
            if stars(golden) != stars(twin) {
                self.trouble(
                    item.span(),
                    format!("{golden:?} and {twin:?} have a different number of `*`; the pair is left out"),
                );
                continue;
            }
            self.settings.pairs.push((golden.to_string(), twin.to_string()));
        }
    }

    fn roles(&mut self, roles: &Table) {
        for (key, item) in roles {
            let name = key.get_ref().as_ref();
            if !matches!(name, "characterization" | "specification") {
                self.unknown(key.span(), name, "[roles]", &["characterization", "specification"]);
                continue;
            }
            let items: Vec<&Item> = match item.get_ref() {
                DeValue::Array(items) => items.iter().collect(),
                DeValue::String(_) => vec![item],
                _ => {
                    self.wrong(name, item, "a list of globs");
                    continue;
                }
            };
            let mut globs = Vec::new();
            for item in items {
                match item.get_ref() {
                    DeValue::String(glob) => match globset::Glob::new(glob) {
                        Ok(_) => globs.push(glob.to_string()),
                        Err(err) => self.trouble(item.span(), format!("{glob:?} is not a glob: {}", err.kind())),
                    },
                    _ => self.wrong(name, item, "a list of globs"),
                }
            }
            match name {
                "characterization" => self.settings.characterization = globs,
                _ => self.settings.specification = globs,
            }
        }
    }
}

const ROOT_KEYS: &[&str] = &["helper", "pairs", "roles", "policy", "comment", "line-length"];
const HELPER_KEYS: &[&str] = &["call", "name", "value", "root", "suffix", "id"];
const ARGUMENT: &str = "the position of an argument (from 0) or its keyword";

fn which(value: &DeValue) -> Option<Which> {
    match value {
        DeValue::Integer(number) => usize::from_str_radix(number.as_str(), number.radix()).ok().map(Which::Nth),
        DeValue::String(name) if !name.trim().is_empty() => Some(Which::Named(name.trim().to_string())),
        _ => None,
    }
}

fn word(value: &DeValue) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn value_of(value: &DeValue) -> toml::Value {
    match value {
        DeValue::String(text) => toml::Value::String(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| toml::Value::String(number.to_string()), toml::Value::Integer),
        DeValue::Float(number) => {
            number.as_str().parse().map_or_else(|_| toml::Value::String(number.to_string()), toml::Value::Float)
        }
        DeValue::Boolean(yes) => toml::Value::Boolean(*yes),
        DeValue::Datetime(date) => toml::Value::Datetime(*date),
        DeValue::Array(items) => toml::Value::Array(items.iter().map(|item| value_of(item.get_ref())).collect()),
        DeValue::Table(table) => toml::Value::Table(
            table.iter().map(|(key, item)| (key.get_ref().to_string(), value_of(item.get_ref()))).collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, troubles: Expect) -> Settings {
        let settings = Settings::parse(text);
        let shown: String =
            settings.troubles.iter().map(|(line, column, message)| format!("{line}:{column} {message}\n")).collect();
        troubles.assert_eq(&shown);
        settings
    }

    #[test]
    fn everything_that_is_documented_is_read() {
        let settings = check(
            r#"
comment = "literal-only"
line-length = 100
[[helper]]
call = "support::check!"
name = "case"
value = 1
root = "tests/golden"
suffix = ".txt"
id = "house"
[[helper]]
call = "check_golden"
[pairs]
"tests/golden/*" = "tests/actual/*"
[roles]
characterization = ["tests/pins/**"]
specification = "tests/spec/**"
[policy]
confirm = ["ada"]
proof = "tests/billing/**"
forbidden = ["as discussed"]
paths = ["tests/**"]
"#,
            expect![""],
        );
        assert!(settings.present);
        assert_eq!(settings.comment, CommentMode::LiteralOnly);
        assert_eq!(settings.line_length, Some(100));
        assert_eq!(
            settings.helpers,
            [
                Helper {
                    call: "support.check".into(),
                    name: Which::Named("case".into()),
                    value: Some(Which::Nth(1)),
                    root: "tests/golden".into(),
                    suffix: ".txt".into(),
                    id: "house".into(),
                    line: 5,
                },
                Helper {
                    call: "check_golden".into(),
                    name: Which::Nth(0),
                    value: None,
                    root: String::new(),
                    suffix: String::new(),
                    id: "golden-file".into(),
                    line: 12,
                },
            ]
        );
        assert_eq!(settings.pairs, [("tests/golden/*".to_string(), "tests/actual/*".to_string())]);
        assert_eq!(settings.characterization, ["tests/pins/**"]);
        assert_eq!(settings.specification, ["tests/spec/**"]);
        assert_eq!(settings.policy.confirm, ["ada"]);
        assert_eq!(settings.policy.forbids("As Discussed with Ada"), Some("as discussed"));
        assert!(settings.policy.wants_proof(["a.py", "tests/billing/golden/a.txt"].into_iter()));
        assert!(!settings.policy.wants_proof(["tests/a.txt"].into_iter()));
        assert!(!settings.policy.holds_for(["docs/a.md"].into_iter()));
    }

    #[test]
    fn a_wrong_line_costs_only_itself() {
        let settings = check(
            r#"coment = 1
line-length = "x"
[[helper]]
call = 3
[[helper]]
call = "ok"
root = "../.."
nam = 0
[roles]
spec = []
[pairs]
"a/*" = "b"
[policy]
confirm = 3
proofs = []
paths = ["[", "tests/**"]
"#,
            expect![[r#"
                1:1 pindrift.toml has no key `coment`; it knows `helper`, `pairs`, `roles`, `policy`, `comment`, `line-length`
                2:15 `line-length` takes a number, here stands a text; it is left out
                3:1 this [[helper]] names no function: add `call = "…"`; it is left out
                4:8 `call` takes a text, here stands a number; it is left out
                7:8 `root` is a folder inside the workspace, from its root; "../.." is not, and is left out
                8:1 [[helper]] has no key `nam`; it knows `call`, `name`, `value`, `root`, `suffix`, `id`
                10:1 [roles] has no key `spec`; it knows `characterization`, `specification`
                12:9 "a/*" and "b" have a different number of `*`; the pair is left out
                14:11 `confirm` takes a list of texts; it is left out
                15:1 [policy] has no key `proofs`; it knows `confirm`, `proof`, `forbidden`, `paths`
                16:9 "[" of `paths` is not a glob; it is left out
            "#]],
        );
        assert_eq!(settings.helpers.len(), 1);
        assert_eq!(settings.helpers[0].call, "ok");
        assert_eq!(settings.policy.paths, ["tests/**"], "the others of the list hold");
        assert_eq!(settings.policy.troubles.len(), 3, "{:?}", settings.policy.troubles);
    }

    #[test]
    fn a_syntax_error_leaves_the_lines_around_it() {
        let settings = Settings::parse("comment = \"never\"\nline-length =\n[roles]\nspecification = [\"a/**\"]\n");
        assert_eq!(settings.comment, CommentMode::Never);
        assert_eq!(settings.specification, ["a/**"]);
        assert!(!settings.troubles.is_empty());
        assert_eq!(settings.troubles[0].0, 2);
    }

    #[test]
    fn hostile_text_is_survived() {
        for text in ["\u{feff}", "[[[[", "a = \"\\u{0}", "= = =", "[helper]\ncall=\"x\"", "helper = 3", "\r\n\r"] {
            Settings::parse(text);
        }
        Settings::parse(&format!("a = {}", "[".repeat(100_000)));
        Settings::parse(&format!("{} = 1", "a.".repeat(50_000)));
    }
}
