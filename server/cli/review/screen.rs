//! A review as the lines of a screen: the head with counters and names, the body, the foot with what was
//! said and the keys. Takes what is on the desk and a size, gives lines that fit; remembers on the desk which
//! lines of the body stood there.

use unicode_width::UnicodeWidthStr;

use super::page::{self, Line, Tone};
use super::queue::Fate;
use super::{Ask, Desk, Mode};
use crate::findings;
use crate::ledger::{Judgement, Verdict};
use crate::survey::{Case, State};

/// A screen.
pub struct Drawn {
    pub lines: Vec<String>,
    /// Row and column of the cursor, where something is typed.
    pub cursor: Option<(usize, usize)>,
    /// Lines of the body that fit.
    pub page: usize,
}

/// Fewest columns and rows on which something can be read.
const SMALLEST: (usize, usize) = (40, 12);

const KEYS: &[&str] = &[
    "space more",
    "n/p place",
    "a accept",
    "u unintended",
    "x noise",
    "s skip",
    "? help",
    "q quit",
    "[ ] other drifts",
    "w withdraw",
    "v values",
];

const HELP: &[&str] = &[
    "space, b   a page on, a page back; j, k a line; n, p the next place, the one before",
    "v          the values that changed, where the text has a structure",
    "a          accept, with a reason, once the whole difference was shown",
    "u          this place is unintended: what is recorded stays, fix the code",
    "x          this place is noise: what is recorded stays, fix the harness",
    "U, X       the same of all places of the drift",
    "c          confirm what a program proposed, with its draft of the reason or another",
    "w          take the last decision about this drift back",
    "s          skip it: it comes back when the others are done",
    "[, ]       the drift before, the next one that waits",
    "q          end; what was decided stays",
    "Reason:    Enter decides, Escape leaves, Up and Down bring reasons given before",
];

pub fn draw(desk: &mut Desk, (width, height): (usize, usize)) -> Drawn {
    if width < SMALLEST.0 || height < SMALLEST.1 {
        let line = page::cut(&format!("{}x{} at least; q quits", SMALLEST.0, SMALLEST.1), width.max(1));
        return Drawn { lines: vec![line], cursor: None, page: 1 };
    }
    let Some(case) = desk.case() else {
        return Drawn { lines: vec!["nothing is left; q quits".into()], cursor: None, page: 1 };
    };
    let mut lines = head(desk, &case, width);
    lines.truncate(height / 2);
    let mut foot = Vec::new();
    let mut cursor = None;
    match &desk.mode {
        Mode::Asking(ask, typed) => {
            let said = if desk.message.is_empty() { question(ask) } else { desk.message.clone() };
            foot.extend(page::wrapped(&said, Tone::Warning, width).into_iter().take(3));
            let label = "Reason: ";
            let (text, column) = typed.shown(width - label.len());
            cursor = Some(label.len() + column);
            foot.push(Line::of(Tone::Strong, format!("{label}{text}")));
            foot.push(Line::of(Tone::Dim, "Enter decides   Escape leaves   Up, Down: reasons given before"));
        }
        Mode::Reading | Mode::Help => {
            let said = if desk.message.is_empty() { advice(&case) } else { desk.message.clone() };
            let tone = if desk.message.is_empty() { Tone::Plain } else { Tone::Warning };
            foot.extend(page::wrapped(&said, tone, width).into_iter().take(3));
            foot.push(Line::of(Tone::Dim, keys(width)));
        }
    }
    let room = height.saturating_sub(lines.len() + foot.len() + 1).max(1);
    let help = matches!(desk.mode, Mode::Help);
    let body = match () {
        () if help => HELP.iter().flat_map(|text| page::wrapped(text, Tone::Plain, width)).collect(),
        () if desk.values => match page::values(&case, width) {
            values if values.is_empty() => {
                vec![Line::of(Tone::Plain, "This text has no structure; v shows its lines.")]
            }
            values => values,
        },
        () => page::body(&case, width, desk.colour),
    };
    let top = place(desk, &body, room, width, help);
    let bottom = (top + room).min(body.len());
    let shown = body.get(top..bottom).unwrap_or_default();
    let count = shown.len();
    lines.extend(shown.iter().cloned());
    lines.extend((count..room).map(|_| Line::of(Tone::Plain, "")));
    lines.push(Line::of(Tone::Dim, mark(top, bottom, body.len(), desk.whole && !desk.values, width)));
    let foot_at = lines.len();
    lines.extend(foot);
    let row = foot_at.max(lines.len().saturating_sub(2));
    Drawn {
        lines: lines.iter().map(|line| line.painted(desk.colour)).collect(),
        cursor: cursor.map(|column| (row, column)),
        page: room,
    }
}

/// The first line of the body that is shown. Remembers what stands on the screen then.
fn place(desk: &mut Desk, body: &[Line], room: usize, width: usize, help: bool) -> usize {
    if help {
        return 0;
    }
    if desk.values {
        desk.top = desk.top.min(body.len().saturating_sub(room));
        // The lines of the difference are what has to be seen.
        if desk.laid_out != usize::MAX {
            desk.laid_out = usize::MAX;
            desk.seen = vec![false; body.len()];
        }
        return desk.top;
    }
    if desk.laid_out != width || desk.seen.len() != body.len() {
        desk.seen = vec![desk.whole; body.len()];
        desk.laid_out = width;
    }
    if desk.top == usize::MAX {
        let at = body.iter().position(|line| line.hunk == Some(desk.hunk)).unwrap_or(0);
        desk.top = at.saturating_sub(2);
    } else if let Some(hunk) =
        body.get(desk.top.min(body.len())..).unwrap_or_default().iter().find_map(|line| line.hunk)
    {
        // Scrolling by lines takes the keys to the place that is seen.
        let last =
            body.get(..(desk.top + room).min(body.len())).unwrap_or_default().iter().rev().find_map(|line| line.hunk);
        desk.hunk = desk.hunk.clamp(hunk, last.unwrap_or(hunk).max(hunk));
    }
    desk.top = desk.top.min(body.len().saturating_sub(room));
    for seen in desk.seen.iter_mut().skip(desk.top).take(room) {
        *seen = true;
    }
    let bounded = desk.case().and_then(|case| case.drift.as_ref().map(|drift| drift.bounded)).unwrap_or(true);
    desk.whole = desk.whole || (!bounded && desk.seen.iter().all(|seen| *seen));
    desk.top
}

fn head(desk: &Desk, case: &Case, width: usize) -> Vec<Line> {
    let mut lines = vec![Line::of(Tone::Strong, page::cut(&desk.queue.counters(), width))];
    lines.extend(page::wrapped(&case.pin.test, Tone::Strong, width).into_iter().take(3));
    let kind = case.drift.as_ref().map(|drift| drift.difference_word()).unwrap_or_default();
    let state = match (case.state, desk.queue.fate()) {
        (_, fate @ (Fate::Accepted(_) | Fate::Judged(..) | Fate::Gone | Fate::Skipped)) => {
            format!(", {}", fate.words())
        }
        (State::Missing, _) => ", nothing is recorded yet".into(),
        _ => String::new(),
    };
    let line = case.changed_lines.first().or(case.inserted_after.first()).map(|line| format!(":{line}"));
    let oracle = format!("{}{}", case.pin.oracle.key, line.unwrap_or_default());
    lines.extend(page::wrapped(&format!("{oracle}  {kind}{state}"), Tone::Plain, width).into_iter().take(3));
    let read = findings::reading(case);
    let same = match desk.queue.same_change() {
        0 => None,
        1 => Some("1 more drift is the same change".to_string()),
        more => Some(format!("{more} more drifts are the same change")),
    };
    let judged = case.judgement().map(|(judged, entry)| match judged {
        Judgement::SuspectedBug => {
            format!("a suspected bug, so this was expected to change: {}", entry.amendment.reason)
        }
        judged => format!("judged {}: {}", judged.phrase(), entry.amendment.reason),
    });
    let proposed = case.proposal.as_ref().map(|proposal| proposal.words());
    for text in [proposed, same, read.places, read.size, read.distance, judged].into_iter().flatten() {
        lines.extend(page::wrapped(&text, Tone::Plain, width).into_iter().take(2));
    }
    lines.push(Line::of(Tone::Dim, "─".repeat(width)));
    lines
}

fn advice(case: &Case) -> String {
    let Some(drift) = &case.drift else { return String::new() };
    match (case.verdict(), findings::treatment(&drift.difference)) {
        (Some(spoken), _) => {
            let said = &spoken.entry.amendment;
            format!("Judged {} by {}: {}", spoken.verdict.word(), said.author, said.reason)
        }
        (None, Some(treatment)) => format!("{}. What helps: {treatment}", findings::advice(&drift.difference)),
        (None, None) => findings::advice(&drift.difference),
    }
}

fn question(ask: &Ask) -> String {
    let places = |hunks: &[usize]| match hunks {
        [one] => format!("place {one}"),
        _ => "all places".into(),
    };
    match ask {
        Ask::Accept => "Why may the recorded value change? One honest sentence".into(),
        Ask::Verdict(Verdict::Unintended, hunks) => format!("What shows that {} is unintended?", places(hunks)),
        Ask::Verdict(Verdict::Noise, hunks) => format!("What shows that {} is noise?", places(hunks)),
        Ask::Withdraw => "Why is the decision taken back?".into(),
        Ask::Confirm => "Enter confirms what was proposed, for this reason".into(),
    }
}

/// As many keys as fit.
fn keys(width: usize) -> String {
    let mut out = String::new();
    for key in KEYS {
        let next = if out.is_empty() { key.to_string() } else { format!("{out}  {key}") };
        if next.width() > width {
            break;
        }
        out = next;
    }
    out
}

/// Where in the body the screen is.
fn mark(top: usize, bottom: usize, all: usize, whole: bool, width: usize) -> String {
    let text = match () {
        () if bottom < all => format!("── lines {}-{bottom} of {all}, more below ", top + 1),
        () if whole => format!("── all {all} lines were shown "),
        () => format!("── lines {}-{bottom} of {all} ", top + 1),
    };
    let rest = width.saturating_sub(text.width());
    text + &"─".repeat(rest)
}
