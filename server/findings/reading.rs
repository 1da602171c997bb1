//! What a person reads in one drift before deciding: which places are of which kind, which values of a
//! structured text changed, how far numbers moved, and what is usually done about it. Advice, never a verdict.

use crate::drift::{self, Difference, Drift};
use crate::oracles::Content;
use crate::survey::{Case, Shown};
use crate::text::one_line;

/// Most values that are listed, and how many a text must have before its values are named at all.
const VALUES: usize = 5;
const FEW: usize = 4;

/// One drift, read. Lines of plain text, bounded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    /// `1 place is behaviour, 2 are volatile`, where they differ in kind.
    pub places: Option<String>,
    /// `orders[3].tax: 0.38 → 0.39`.
    pub values: Vec<String>,
    /// `2 of 214 values (JSON)`.
    pub size: Option<String>,
    /// How far apart the numbers are at most.
    pub distance: Option<String>,
}

/// The reading of a case's drift; empty when there is none.
pub fn reading(case: &Case) -> Reading {
    let (Some(drift), Some(Shown { before: Some(before), after })) = (&case.drift, case.shown()) else {
        return Reading::default();
    };
    let (Some(b), Some(a)) = (text(&before), text(&after)) else { return Reading::default() };
    let mut out = Reading { places: places(drift), ..Reading::default() };
    if let Some(read) = drift::read(b, a).filter(|read| read.values >= FEW) {
        out.values = read.changes.iter().take(VALUES).map(|change| one_line(&change.line(), 160)).collect();
        let count = read.changes.len() + read.more;
        let left = count - out.values.len();
        if left > 0 {
            out.values.push(format!("… and {left} more"));
        }
        out.size = Some(format!("{count} of {} values ({})", read.values, read.format.word()));
    }
    if drift.difference.contains(&Difference::FloatDigits)
        && let Some(apart) = drift::distance(b, a)
    {
        let steps = if apart.ulps == 1 { "step" } else { "steps" };
        out.distance = Some(format!(
            "largest relative difference {:.1e}, {} {steps} between neighbouring floats (ULP)",
            apart.relative, apart.ulps
        ));
    }
    out
}

fn text(content: &Content) -> Option<&str> {
    match content {
        Content::Text(text) | Content::Value(text) => Some(text),
        Content::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
    }
}

fn places(drift: &Drift) -> Option<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for hunk in &drift.hunks {
        let word = drift::words(&hunk.difference);
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    if counts.len() < 2 {
        return None;
    }
    let each = counts.iter().enumerate().map(|(i, (word, count))| match (i, *count) {
        (0, 1) => format!("1 place is {word}"),
        (0, count) => format!("{count} places are {word}"),
        (_, 1) => format!("1 is {word}"),
        (_, count) => format!("{count} are {word}"),
    });
    Some(each.collect::<Vec<_>>().join(", "))
}

/// What is usually done about noise of these kinds; `None` for behaviour and what cannot be read.
pub fn treatment(difference: &[Difference]) -> Option<String> {
    let each: Vec<&str> = difference
        .iter()
        .filter_map(|kind| match kind {
            Difference::Ordering => Some("sort before comparing, only if order is not behaviour"),
            Difference::Volatile => {
                Some("freeze the clock, seed the ids, or replace them by placeholders that keep references")
            }
            Difference::LineEndings => Some("write the same line ends on every machine"),
            Difference::TrailingSpace => Some("trim where the text is made"),
            Difference::FloatDigits => Some("compare with a stated tolerance"),
            Difference::Locale => Some("pin the locale of the test"),
            Difference::Formatting => Some("compare the values, or write them in one way"),
            Difference::Behaviour | Difference::Digest | Difference::Binary => None,
        })
        .collect();
    (!each.is_empty()).then(|| each.join("; "))
}
