//! Which oracle of the base is which one of today: by its key, else by what it holds, else by its place.
//! Takes what both revisions hold, gives pairs and what is left over on either side.

use std::collections::BTreeMap;

use similar::DiffOp;

use crate::oracles::{Baseline, Content, OracleKind, Pin, framework};
use crate::pins::Project;
use crate::roles::Role;
use crate::text::align;

/// Beyond it, long lists of literals are paired more coarsely.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

/// One oracle of one revision, with the pin of it that stands first.
#[derive(Debug, Clone)]
pub struct Held {
    pub pin: Pin,
    /// `None`: there is no such file or entry.
    pub content: Option<Content>,
    /// It is there and cannot be read.
    pub unreadable: Option<String>,
    /// `None`, or the content's digest.
    pub digest: Option<String>,
    /// What is held against a literal: the assertion without it and without what formatters change. Tells
    /// two literals of one test apart.
    call: String,
    /// Opening brackets in it.
    depth: usize,
}

impl Held {
    pub fn of(project: &Project, pin: Pin) -> Held {
        let (content, unreadable) = match framework(&pin.framework).map(|it| it.baseline(&pin, project)) {
            Some(Baseline::Present(recorded)) => (Some(recorded.content), None),
            Some(Baseline::Missing) | None => (None, None),
            Some(Baseline::Unreadable(why)) => (None, Some(why)),
        };
        let digest = content.as_ref().map(Content::digest);
        let (call, depth) = call(project, &pin);
        Held { pin, content, unreadable, digest, call, depth }
    }

    fn in_source(&self) -> bool {
        matches!(self.pin.oracle.kind, OracleKind::Literal | OracleKind::Inline)
    }

    /// The other one is this one by its key, by its place, or by what is held against the same literal in
    /// the same file.
    pub fn is(&self, other: &Held) -> bool {
        let (this, that) = (&self.pin, &other.pin);
        if !self.in_source() {
            return this.oracle.key == that.oracle.key;
        }
        let in_one_file = other.in_source() && this.file == that.file;
        in_one_file && (this.test_base() == that.test_base() && this.nth == that.nth || self.call == other.call)
    }

    /// A call of the code stands against the literal, and not a bare name.
    fn calls(&self) -> bool {
        self.in_source()
            && self.depth > usize::from(!self.call.starts_with("assert") || self.call.starts_with("assert_"))
    }

    /// Digest of a content that no other pin holds by chance.
    fn distinct(&self) -> Option<String> {
        let long = match self.content.as_ref()? {
            Content::Text(text) => text.len() > 2,
            Content::Value(value) => value.len() > 4,
            Content::Bytes(bytes) => bytes.len() > 2,
        };
        self.digest.clone().filter(|_| long)
    }

    /// Name of the test function alone.
    fn test_name(&self) -> &str {
        let base = self.pin.test_base();
        base.rsplit("::").next().unwrap_or(base)
    }
}

/// Each oracle that characterizations hold values against, once.
pub fn held(project: &Project, pins: &[Pin]) -> Vec<Held> {
    of_role(project, pins, |role| role == Role::Characterization)
}

/// Each oracle that other tests hold values against, once.
pub fn held_by_others(project: &Project, pins: &[Pin]) -> Vec<Held> {
    of_role(project, pins, |role| role != Role::Characterization)
}

fn of_role(project: &Project, pins: &[Pin], wanted: impl Fn(Role) -> bool) -> Vec<Held> {
    let mut seen = std::collections::BTreeSet::new();
    let mut all = Vec::new();
    for pin in pins {
        let Some(place) = place(pin).filter(|_| wanted(pin.role)) else { continue };
        if !seen.insert(place) {
            continue;
        }
        all.push(Held::of(project, pin.clone()));
    }
    all
}

/// Where the oracle of a pin is, the same for all pins of one oracle; `None` while only a pattern is known.
pub fn place(pin: &Pin) -> Option<String> {
    Some(match (&pin.oracle.path, pin.oracle.span, pin.oracle.kind) {
        (None, ..) => return None,
        (Some(path), Some(span), OracleKind::Literal | OracleKind::Inline) => format!("{path}:{}", span.start),
        _ => pin.oracle.key.clone(),
    })
}

fn call(project: &Project, pin: &Pin) -> (String, usize) {
    let (true, Some(unit)) = (pin.oracle.span.is_some(), project.unit(&pin.file)) else { return (String::new(), 0) };
    let whole = unit.text.slice(pin.span);
    let literal =
        pin.oracle.span.filter(|span| pin.span.contains(*span) && pin.oracle.path.as_ref() == Some(&pin.file));
    let text = match literal {
        Some(span) => {
            let (start, end) = (span.start - pin.span.start, span.end - pin.span.start);
            format!("{}={}", whole.get(..start).unwrap_or(""), whole.get(end..).unwrap_or(""))
        }
        None => whole.to_string(),
    };
    let call = text.chars().filter(|c| !(c.is_whitespace() || ",;()[]'\"".contains(*c))).collect();
    (call, text.matches('(').count())
}

/// `(old, new)` indices, then what is left over of each side.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    pub pairs: Vec<(usize, usize)>,
    pub gone: Vec<usize>,
    pub fresh: Vec<usize>,
}

pub fn pairs(old: &[Held], new: &[Held]) -> Pairs {
    let mut pairing = Pairing { old, new, of_old: vec![None; old.len()], of_new: vec![None; new.len()] };
    // A file or an entry is known by its key.
    pairing.by(|held| (!held.in_source()).then(|| held.pin.oracle.key.clone()));
    // A literal by what is held against it, in its test; there what is equal tells what was put in before it.
    let place = |held: &Held| held.in_source().then(|| (held.pin.file.to_string(), held.pin.test_base().to_string()));
    pairing.within(|held| Some((place(held)?, held.call.clone(), held.pin.case.clone())));
    pairing.within(|held| Some((place(held)?, held.call.clone())));
    pairing.within(place);
    // Moved or renamed: what it holds and the test's name, what it holds and its file, what it holds alone.
    let kind = |held: &Held| held.pin.oracle.kind.word();
    let holds = |held: &Held| Some((held.digest.clone()?, kind(held), held.call.clone()));
    pairing.by(|held| Some((holds(held)?, held.test_name().to_string(), held.pin.nth)));
    pairing.by(|held| Some((holds(held)?, held.pin.file.to_string())));
    pairing.by(holds);
    // Moved and changed: the same test, elsewhere or with another file.
    pairing.by(|held| Some((kind(held), held.pin.file.to_string(), held.pin.test.clone(), held.pin.nth)));
    pairing.by(|held| Some((kind(held), held.test_name().to_string(), held.pin.case.clone(), held.pin.nth)));
    // A renamed test: known by its other pins, then what is held against the literal, then the order; and
    // by a call that no other test of the file makes.
    pairing.renamed();
    pairing.alone(|held| held.calls().then(|| (held.pin.file.to_string(), held.call.clone())));
    // Written in another way: what it holds, where nothing else of the file, or of the project, holds that.
    pairing.alone(|held| Some((held.distinct()?, held.pin.file.to_string())));
    pairing.alone(|held| held.distinct());
    let pairs = pairing.of_old.iter().enumerate().filter_map(|(old, new)| Some((old, (*new)?))).collect();
    let left = |of: &[Option<usize>]| of.iter().enumerate().filter(|(_, to)| to.is_none()).map(|(at, _)| at).collect();
    Pairs { pairs, gone: left(&pairing.of_old), fresh: left(&pairing.of_new) }
}

struct Pairing<'a> {
    old: &'a [Held],
    new: &'a [Held],
    of_old: Vec<Option<usize>>,
    of_new: Vec<Option<usize>>,
}

impl Pairing<'_> {
    fn pair(&mut self, old: usize, new: usize) {
        self.of_old[old] = Some(new);
        self.of_new[new] = Some(old);
    }

    fn open<K: Ord>(&self, key: impl Fn(&Held) -> Option<K>) -> BTreeMap<K, (Vec<usize>, Vec<usize>)> {
        let mut groups: BTreeMap<K, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for (at, held) in self.old.iter().enumerate().filter(|(at, _)| self.of_old[*at].is_none()) {
            if let Some(key) = key(held) {
                groups.entry(key).or_default().0.push(at);
            }
        }
        for (at, held) in self.new.iter().enumerate().filter(|(at, _)| self.of_new[*at].is_none()) {
            if let Some(key) = key(held) {
                groups.entry(key).or_default().1.push(at);
            }
        }
        groups
    }

    /// Pairs what has the same key, in order.
    fn by<K: Ord>(&mut self, key: impl Fn(&Held) -> Option<K>) {
        for (old, new) in self.open(key).into_values() {
            for (old, new) in old.into_iter().zip(new) {
                self.pair(old, new);
            }
        }
    }

    /// Pairs two sequences: equal contents first, then what stands between them in order.
    fn within<K: Ord>(&mut self, key: impl Fn(&Held) -> Option<K>) {
        for (old, new) in self.open(key).into_values() {
            self.align(&old, &new);
        }
    }

    fn align(&mut self, old: &[usize], new: &[usize]) {
        let digests = |of: &[usize], side: &[Held]| of.iter().map(|at| side[*at].digest.clone()).collect::<Vec<_>>();
        let (a, b) = (digests(old, self.old), digests(new, self.new));
        for op in align(&a, &b, PATIENCE) {
            if matches!(op, DiffOp::Equal { .. } | DiffOp::Replace { .. }) {
                for (i, j) in op.old_range().zip(op.new_range()) {
                    self.pair(old[i], new[j]);
                }
            }
        }
    }

    /// Pairs what has a key that nothing else left over has.
    fn alone<K: Ord>(&mut self, key: impl Fn(&Held) -> Option<K>) {
        for (old, new) in self.open(key).into_values() {
            if let ([old], [new]) = (&old[..], &new[..]) {
                self.pair(*old, *new);
            }
        }
    }

    fn renamed(&mut self) {
        let tests: Vec<(String, String, String)> = self
            .of_old
            .iter()
            .enumerate()
            .filter_map(|(old, new)| {
                let (old, new) = (&self.old[old].pin, &self.new[(*new)?].pin);
                let renamed = old.file == new.file && old.test_base() != new.test_base();
                renamed.then(|| (old.file.to_string(), old.test_base().to_string(), new.test_base().to_string()))
            })
            .collect();
        for (file, was, is) in tests {
            let of = |side: &[Held], taken: &[Option<usize>], test: &str| -> Vec<usize> {
                let fits =
                    |held: &Held| held.pin.file.as_str() == file && held.pin.test_base() == test && held.in_source();
                side.iter()
                    .enumerate()
                    .filter(|(at, held)| taken[*at].is_none() && fits(held))
                    .map(|(at, _)| at)
                    .collect()
            };
            let (old, new) = (of(self.old, &self.of_old, &was), of(self.new, &self.of_new, &is));
            for at in &old {
                let same =
                    |other: &&usize| self.of_new[**other].is_none() && self.new[**other].call == self.old[*at].call;
                if let Some(other) = new.iter().find(same) {
                    self.pair(*at, *other);
                }
            }
            let (old, new) = (of(self.old, &self.of_old, &was), of(self.new, &self.of_new, &is));
            for (old, new) in old.into_iter().zip(new) {
                self.pair(old, new);
            }
        }
    }
}
