//! What moves between runs of the same code, and with what. Takes the contents of several runs, each with the
//! settings it ran under, gives the lines that are not equal in all of them, the kind of what stands there, and
//! the variables whose changes go together with theirs. Never says which of the values is the right one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use super::{Options, drift, kinds, lines, textual};
use crate::drift::Difference;
use crate::oracles::Content;

/// What runs may vary, by the variable of the environment that sets it, and in words.
const VARIED: [(&str, &str); 4] = [
    ("TZ", "the time zone"),
    ("LC_ALL", "the locale"),
    ("PYTHONHASHSEED", "the hash seed"),
    ("PINDRIFT_ORDER", "the order of the tests"),
];

/// Most lines of a content that are looked at one by one.
const MOST: usize = 20_000;

/// Kinds of what moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Clock,
    Identifiers,
    Order,
    Path,
    Float,
    Locale,
    Value,
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Kind::Clock => "clock",
            Kind::Identifiers => "identifiers",
            Kind::Order => "order",
            Kind::Path => "path",
            Kind::Float => "float",
            Kind::Locale => "locale",
            Kind::Value => "value",
        }
    }
}

/// Lines that move for one cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// 1-based lines of the content.
    pub lines: Vec<usize>,
    pub kind: Kind,
    /// What it moves with, in words; empty: by itself, or nothing that was varied tells.
    pub with: Vec<&'static str>,
}

/// All that moves in one content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Moves {
    pub places: Vec<Place>,
    /// The same lines every time, in another order.
    pub as_set: bool,
}

impl Moves {
    /// One line for the person.
    pub fn words(&self) -> String {
        let places: Vec<String> = self.places.iter().take(6).map(Place::words).collect();
        let more = self.places.len().saturating_sub(6);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let set =
            if self.as_set { ". The lines are the same each time: compare as a set; weaker but honest" } else { "" };
        format!("{}{more}{set}", places.join("; "))
    }
}

impl Place {
    fn words(&self) -> String {
        let shown: Vec<String> = self.lines.iter().take(5).map(usize::to_string).collect();
        let (lines, moves) = match self.lines.len() {
            0 => ("it".to_string(), "moves"),
            1 => (format!("line {}", shown.join("")), "moves"),
            2..=5 => (format!("lines {}", shown.join(", ")), "move"),
            many => (format!("lines {} and {} more", shown.join(", "), many - 5), "move"),
        };
        let with = match self.with.as_slice() {
            [] => "from run to run".to_string(),
            [one] => format!("with {one}"),
            [some @ .., last] => format!("with {} or {last}", some.join(", ")),
        };
        format!("{lines} {moves} {with} ({})", self.kind.word())
    }
}

/// The settings of one run and what it gave.
pub struct Round<'a> {
    pub settings: &'a BTreeMap<String, String>,
    pub content: &'a Content,
}

/// What moves; `None` where all contents are equal.
pub fn moves(rounds: &[Round]) -> Option<Moves> {
    let first = rounds.first()?;
    if rounds.iter().all(|round| round.content == first.content) {
        return None;
    }
    let settings = Settings::of(rounds);
    let texts: Option<Vec<&str>> = rounds.iter().map(|round| textual(round.content)).collect();
    let Some(texts) = texts else {
        let contents: Vec<&Content> = rounds.iter().map(|round| round.content).collect();
        let with = settings.behind(&partition(&contents));
        return Some(Moves { places: vec![Place { lines: Vec::new(), kind: Kind::Value, with }], as_set: false });
    };
    let all: Vec<Vec<&str>> = texts.iter().map(|text| lines(text)).collect();
    let count = all.first().map_or(0, Vec::len);
    if all.iter().any(|lines| lines.len() != count) || count > MOST {
        let others = rounds.iter().filter_map(|round| drift(first.content, round.content, Options::default()));
        let touched: BTreeSet<usize> =
            others.flat_map(|drift| drift.content_lines.into_iter().chain(drift.inserted_after)).collect();
        let kind = kind_of(&texts);
        let with = settings.behind(&partition(&texts));
        let place = Place { lines: touched.into_iter().filter(|line| *line > 0).collect(), kind, with };
        return Some(Moves { places: vec![place], as_set: false });
    }
    let nth = |line: usize| all.iter().map(|lines| lines.get(line).copied().unwrap_or("")).collect::<Vec<&str>>();
    let moved: Vec<usize> = (0..count).filter(|line| !equal(&nth(*line))).map(|line| line + 1).collect();
    let as_set = !moved.is_empty() && all.windows(2).all(|two| matches!(two, [a, b] if sorted(a) == sorted(b)));
    if as_set {
        let with = settings.behind(&partition(&texts));
        return Some(Moves { places: vec![Place { lines: moved, kind: Kind::Order, with }], as_set: true });
    }
    let mut places: Vec<Place> = Vec::new();
    for line in 0..count {
        for (kind, with) in of_line(&nth(line), &settings) {
            match places.iter_mut().find(|place| place.kind == kind && place.with == with) {
                Some(place) if place.lines.last() == Some(&(line + 1)) => {}
                Some(place) => place.lines.push(line + 1),
                None => places.push(Place { lines: vec![line + 1], kind, with }),
            }
        }
    }
    if places.is_empty() {
        // Only a final newline comes and goes.
        let with = settings.behind(&partition(&texts));
        places.push(Place { lines: vec![count], kind: Kind::Value, with });
    }
    Some(Moves { places, as_set: false })
}

/// The causes of one line, as it stands in each run: words that change together have one.
fn of_line(line: &[&str], settings: &Settings) -> Vec<(Kind, Vec<&'static str>)> {
    if equal(line) {
        return Vec::new();
    }
    let words: Vec<Vec<&str>> = line.iter().map(|line| line.split_whitespace().collect()).collect();
    let count = words.first().map_or(0, Vec::len);
    let whole = |line: &[&str]| {
        let kind = kind_of(line);
        vec![settings.cause(&partition(line), kind)]
    };
    if words.iter().any(|words| words.len() != count) {
        return whole(line);
    }
    let mut groups: Vec<(Vec<usize>, Vec<String>)> = Vec::new();
    for nth in 0..count {
        let column: Vec<&str> = words.iter().map(|words| words.get(nth).copied().unwrap_or("")).collect();
        if equal(&column) {
            continue;
        }
        let parts = partition(&column);
        // Items of one set change in several ways, each of which is one of the whole's.
        let same = groups.iter_mut().find(|(of, _)| *of == parts);
        match same {
            Some((_, texts)) => {
                texts.iter_mut().zip(&column).for_each(|(text, word)| {
                    text.push(' ');
                    text.push_str(word);
                });
            }
            None => groups.push((parts, column.iter().map(|word| word.to_string()).collect())),
        }
    }
    if groups.is_empty() {
        return whole(line);
    }
    let mut causes: Vec<(Kind, Vec<&'static str>)> = Vec::new();
    for (parts, texts) in groups {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let cause = settings.cause(&parts, kind_of(&texts));
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    }
    causes
}

fn sorted<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let mut lines = lines.to_vec();
    lines.sort_unstable();
    lines
}

fn equal(texts: &[&str]) -> bool {
    texts.windows(2).all(|two| matches!(two, [a, b] if a == b))
}

/// Equal items get equal numbers, from 0 in the order in which they come.
fn partition<T: PartialEq>(items: &[T]) -> Vec<usize> {
    let mut known: Vec<&T> = Vec::new();
    items
        .iter()
        .map(|item| match known.iter().position(|other| *other == item) {
            Some(at) => at,
            None => {
                known.push(item);
                known.len() - 1
            }
        })
        .collect()
}

static TIME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\D*(\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?|1\d{9}(\.\d+|\d{3}|\d{6}|\d{9})?)\D*$").ok());

/// What the texts of all runs have in common but for this.
fn kind_of(texts: &[&str]) -> Kind {
    let Some((first, others)) = texts.split_first() else { return Kind::Value };
    let under = |kind: Difference| others.iter().all(|other| kinds::equal_under(first, other, &[kind], false));
    let items = |text: &str| {
        let mut items: Vec<String> = text
            .split(|c: char| c.is_whitespace() || ",;[](){}".contains(c))
            .filter(|item| !item.is_empty())
            .map(str::to_string)
            .collect();
        items.sort();
        items
    };
    let own = items(first);
    if own.len() > 1 && others.iter().all(|other| items(other) == own) {
        return Kind::Order;
    }
    if under(Difference::FloatDigits) {
        return Kind::Float;
    }
    if under(Difference::Volatile) {
        return match (kinds::holds_identifiers(first), first.contains(['/', '\\'])) {
            (true, _) => Kind::Identifiers,
            (false, true) => Kind::Path,
            (false, false) => Kind::Clock,
        };
    }
    if texts.iter().all(|text| TIME.as_ref().is_some_and(|time| time.is_match(text))) {
        return Kind::Clock;
    }
    if texts.iter().all(|text| text.contains('/') || text.contains(":\\")) {
        return Kind::Path;
    }
    if others.iter().all(|other| first == other || kinds::same_in_locales(first, other)) {
        return Kind::Locale;
    }
    Kind::Value
}

/// How each variable was set in the runs, equal settings with equal numbers.
struct Settings {
    of: [Vec<usize>; VARIED.len()],
    /// All of them together.
    all: Vec<usize>,
}

impl Settings {
    fn of(rounds: &[Round]) -> Settings {
        let value =
            |name: &str| -> Vec<Option<&String>> { rounds.iter().map(|round| round.settings.get(name)).collect() };
        let of = VARIED.map(|(name, _)| partition(&value(name)));
        let all: Vec<Vec<usize>> =
            (0..rounds.len()).map(|round| of.iter().filter_map(|of| of.get(round).copied()).collect()).collect();
        Settings { all: partition(&all), of }
    }

    /// The kind, made out by its variable where the texts do not tell, and the variables.
    fn cause(&self, parts: &[usize], kind: Kind) -> (Kind, Vec<&'static str>) {
        let with = self.behind(parts);
        let kind = match (kind, with.as_slice()) {
            (Kind::Value, [one]) if *one == VARIED[0].1 => Kind::Clock,
            (Kind::Value, [one]) if *one == VARIED[1].1 => Kind::Locale,
            _ => kind,
        };
        (kind, with)
    }

    /// Variables whose changes go together with these. None, where the value moves though nothing was varied.
    fn behind(&self, parts: &[usize]) -> Vec<&'static str> {
        if !follows(parts, &self.all) {
            return Vec::new();
        }
        let named = |fits: &dyn Fn(&[usize]) -> bool| -> Vec<usize> {
            (0..VARIED.len()).filter(|nth| self.of.get(*nth).is_some_and(|of| fits(of))).collect()
        };
        let exact = named(&|of| of == parts);
        // A variable that is another one in each run explains everything, and so nothing.
        let tells = |of: &[usize]| of.iter().max().is_some_and(|most| most + 1 < of.len());
        let found = if exact.is_empty() { named(&|of| tells(of) && follows(parts, of)) } else { exact };
        found.iter().filter_map(|nth| VARIED.get(*nth)).map(|(_, words)| *words).collect()
    }
}

/// Runs that are alike in `of` are alike in `parts`, and some are not.
fn follows(parts: &[usize], of: &[usize]) -> bool {
    let pairs = || parts.iter().zip(of).enumerate();
    pairs().all(|(nth, (part, setting))| {
        pairs().take(nth).all(|(_, (other_part, other))| setting != other || part == other_part)
    })
}

#[cfg(test)]
mod tests;
