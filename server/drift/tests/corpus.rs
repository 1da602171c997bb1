//! Drifts whose kind is known by how they were made, and random ones in which a change is planted: behaviour is
//! never called anything else, noise seldom behaviour.

use proptest::prelude::*;

use super::*;

const TEXTS: &[&str] = &[
    "Invoice 4711\ncustomer: Ito\nnet: 102.50 EUR\ntax: 19.48 EUR\ntotal: 121.98 EUR\nthank you for the order\n",
    "{\n  \"owner\": \"Vega\",\n  \"rate\": 0.19,\n  \"open\": true,\n  \"items\": [\n    \"apples\",\n    \"pears\",\n    \"plums\"\n  ]\n}\n",
    "name,weight,price\napples,1.25,3.99\npears,0.75,2.49\nplums,2.10,5.15\n",
    "server:\n  host: example.org\n  retries: 3\n  ratio: 0.75\nusers:\n  - ann\n  - bob\n",
    "<order id=\"7\">\n  <item price=\"2.50\">apples</item>\n  <item price=\"3.25\">pears</item>\n</order>\n",
    "Order {\n    id: 7,\n    total: 12.75,\n    lines: [\n        \"apples\",\n        \"pears\",\n    ],\n}\n",
    "def total(prices):\n    value = sum(prices)\n    # rounds half up since 2.0\n    return round(value, 2) * 1.19\n",
    "The report was made for Ann.\nIt lists 3 orders over 12.50 EUR each.\nNo order is older than 30 days.\n",
];

type Change = fn(&str, usize) -> Option<(String, String)>;

/// The nth place where `holds` says that a token stands, and the token.
fn tokens(text: &str, holds: impl Fn(&str) -> bool) -> Vec<std::ops::Range<usize>> {
    let inner = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let end = rest.find(|c: char| !inner(c)).unwrap_or(rest.len());
        let token = rest[..end].trim_end_matches('.');
        if !token.is_empty() && holds(token) {
            found.push(at..at + token.len());
        }
        at += end.max(1);
    }
    found
}

fn with(text: &str, nth: usize, holds: fn(&str) -> bool, new: impl Fn(&str) -> String) -> Option<(String, String)> {
    let all = tokens(text, holds);
    let range = all.get(nth % all.len().max(1))?.clone();
    let token = &text[range.clone()];
    Some((text.into(), format!("{}{}{}", &text[..range.start], new(token), &text[range.end..])))
}

fn is_word(token: &str) -> bool {
    token.len() > 3 && token.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn is_decimal(token: &str) -> bool {
    token.contains('.') && token.parse::<f64>().is_ok_and(|value| value != 0.0)
}

fn is_integer(token: &str) -> bool {
    token.bytes().all(|byte| byte.is_ascii_digit())
}

fn lines_of(text: &str, change: impl Fn(&mut Vec<String>) -> bool) -> Option<(String, String)> {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    change(&mut lines).then(|| (text.to_string(), lines.join("\n") + "\n"))
}

/// A line of the harness's own put into both sides.
fn beside(text: &str, nth: usize, before: &str, after: &str) -> Option<(String, String)> {
    let put = |line: &str| {
        let mut lines: Vec<&str> = text.lines().collect();
        lines.insert(nth % (lines.len() + 1), line);
        lines.join("\n") + "\n"
    };
    Some((put(before), put(after)))
}

const A: &str = "0b9c2f5e-1d7a-4c3b-9e8f-112233445566";
const B: &str = "f1e2d3c4-aaaa-4bbb-8ccc-998877665544";
const C: &str = "77777777-8888-4999-a000-bbbbccccdddd";

const BEHAVIOUR: &[(&str, Change)] = &[
    ("another word", |text, nth| with(text, nth, is_word, |word| format!("{word}ly"))),
    ("another case", |text, nth| with(text, nth, is_word, str::to_uppercase)),
    ("a higher decimal", |text, nth| {
        with(text, nth, is_decimal, |number| {
            let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            format!("{:.decimals$}", number.parse::<f64>().unwrap_or(0.0) + 0.1f64.powi(decimals as i32))
        })
    }),
    ("a ninth digit", |text, nth| {
        with(text, nth, is_decimal, |number| (number.parse::<f64>().unwrap_or(0.0) * 1.000_000_001).to_string())
    }),
    ("another sign", |text, nth| with(text, nth, is_decimal, |number| format!("-{number}"))),
    ("a higher integer", |text, nth| {
        with(text, nth, is_integer, |number| (number.parse::<u64>().unwrap_or(0) + 1).to_string())
    }),
    ("a line is gone", |text, nth| {
        lines_of(text, |lines| {
            lines.remove(nth % lines.len());
            true
        })
    }),
    ("a line came", |text, nth| {
        lines_of(text, |lines| {
            lines.insert(nth % lines.len(), "one more line".into());
            true
        })
    }),
    ("a line twice", |text, nth| {
        lines_of(text, |lines| {
            let at = nth % lines.len();
            lines.insert(at, lines[at].clone());
            true
        })
    }),
    ("ids that merge", |text, nth| beside(text, nth, &format!("from {A} to {B}"), &format!("from {C} to {C}"))),
    ("ids that split", |text, nth| beside(text, nth, &format!("from {A} to {A}"), &format!("from {B} to {C}"))),
    ("two items become a decimal", |text, nth| beside(text, nth, "ratio [1,5]", "ratio [1.5]")),
    ("two fields become a decimal", |text, nth| beside(text, nth, "x,1,5,y", "x,1.5,y")),
    ("another version", |text, nth| beside(text, nth, "engine 4.1.2", "engine 4.1.3")),
    ("another day", |text, nth| beside(text, nth, "due 2026-01-31", "due 2026-02-01")),
    ("another delay", |text, nth| beside(text, nth, "retry in 30 s", "retry in 60 s")),
    ("another start", |text, nth| beside(text, nth, "the shift started 08:00:00", "the shift started 09:00:00")),
    ("another path", |text, nth| beside(text, nth, "written to out/a.txt", "written to out/b.txt")),
    ("a number becomes a text", |text, nth| beside(text, nth, "\"count\": 3", "\"count\": \"3\"")),
];

const NOISE: &[(&str, Change)] = &[
    ("ordering", |text, nth| {
        lines_of(text, |lines| {
            let at = nth % (lines.len() - 1);
            lines.swap(at, at + 1);
            true
        })
    }),
    ("ordering", |text, _| {
        lines_of(text, |lines| {
            lines.reverse();
            true
        })
    }),
    ("volatile", |text, nth| beside(text, nth, &format!("request {A}"), &format!("request {B}"))),
    ("volatile", |text, nth| beside(text, nth, "made at 2026-01-31T10:00:00Z", "made at 2026-03-02T11:12:13Z")),
    ("volatile", |text, nth| beside(text, nth, "<Order object at 0x7f1c2d3e4f50>", "<Order object at 0x7fa0b1c2d3e0>")),
    ("volatile", |text, nth| beside(text, nth, "took 0.31 s", "took 1.07 s")),
    ("volatile", |text, nth| beside(text, nth, "took 310 ms", "took 107 ms")),
    ("volatile", |text, nth| beside(text, nth, "in /tmp/tmpabc12345/out", "in /tmp/tmpxyz67890/out")),
    ("volatile", |text, nth| beside(text, nth, "listens on localhost:41234", "listens on localhost:52345")),
    ("line-endings", |text, _| Some((text.into(), text.replace('\n', "\r\n")))),
    ("trailing-space", |text, nth| {
        lines_of(text, |lines| {
            let at = nth % lines.len();
            lines[at].push_str("  ");
            true
        })
    }),
    ("float-digits", |text, nth| {
        with(text, nth, is_decimal, |number| {
            f64::from_bits(number.parse::<f64>().unwrap_or(0.0).to_bits() + 1).to_string()
        })
    }),
    ("locale", |text, nth| beside(text, nth, "sum 1,234.56 EUR", "sum 1.234,56 EUR")),
    ("locale", |text, nth| beside(text, nth, "due 08/28/2026", "due 28.08.2026")),
];

/// Noise beside which a change of behaviour is planted elsewhere.
fn mixed() -> impl Iterator<Item = (&'static str, Change)> {
    NOISE.iter().copied().filter(|(kind, _)| *kind != "locale")
}

fn called(before: &str, after: &str) -> String {
    drift(&text(before), &text(after), Options::default()).map_or("equal".into(), |drift| drift.difference_word())
}

#[test]
fn a_labelled_corpus_is_called_what_it_is() {
    let (mut all, mut both, mut noise) = (0, 0, 0);
    let (mut silent, mut loud, mut other) = (Vec::new(), Vec::new(), Vec::new());
    for (nth, base) in TEXTS.iter().enumerate() {
        for (how, change) in BEHAVIOUR {
            let Some((before, after)) = change(base, nth) else { continue };
            all += 1;
            let kind = called(&before, &after);
            if kind != "behaviour" {
                silent.push(format!("{how} in text {nth}: {kind}"));
            }
        }
        for (label, change) in NOISE {
            let Some((before, after)) = change(base, nth) else { continue };
            (all, noise) = (all + 1, noise + 1);
            let kind = called(&before, &after);
            match kind.as_str() {
                "behaviour" => loud.push(format!("{label} in text {nth}")),
                kind if kind != *label => other.push(format!("{label} in text {nth}: {kind}")),
                _ => {}
            }
        }
        for (i, (label, change)) in mixed().enumerate() {
            let (how, plant) = BEHAVIOUR[(nth + i) % 9];
            let Some((_, planted)) = plant(base, nth + i) else { continue };
            let (Some((before, _)), Some((_, after))) = (change(base, nth), change(&planted, nth)) else { continue };
            (all, both) = (all + 1, both + 1);
            let kind = called(&before, &after);
            if !kind.contains("behaviour") {
                silent.push(format!("{how} beside {label} in text {nth}: {kind}"));
            }
        }
    }
    assert!(all > 300 && both * 100 >= all * 15, "{all} drifts, {both} mixed");
    assert_eq!(silent, [""; 0], "behaviour called anything else");
    assert_eq!(other, [""; 0], "noise called another noise");
    assert!(loud.len() * 100 <= noise * 3, "noise called behaviour: {loud:#?} of {noise}");
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-o]{3,8}",
        2 => "[1-9][0-9]{0,3}",
        2 => "[1-9][0-9]{0,2}\\.[0-9]{1,3}",
        1 => Just(A.to_string()),
        1 => Just(B.to_string()),
        1 => Just("2026-01-31T10:00:00Z".to_string()),
        1 => Just("at 0x7f1c2d3e4f50".to_string()),
        1 => Just("/tmp/tmpabc12345".to_string()),
        1 => Just("took 0.31 s".to_string()),
        1 => Just("1,234.56".to_string()),
        1 => Just("08/28/2026".to_string()),
    ]
}

fn lines() -> impl Strategy<Value = Vec<Vec<String>>> {
    prop::collection::vec(prop::collection::vec(word(), 1..5), 1..8)
}

fn joined(lines: &[Vec<String>]) -> String {
    lines.iter().map(|words| words.join(" ") + "\n").collect()
}

/// The noise of the bits of `mask`, all at once.
fn noisy(text: &str, mask: u8) -> String {
    let mut text = text.to_string();
    if mask & 1 != 0 {
        text = text.lines().rev().map(|line| format!("{line}\n")).collect();
    }
    if mask & 2 != 0 {
        text = text.replace(A, C).replace("10:00:00Z", "11:12:13Z").replace("0x7f1c2d3e4f50", "0x7fa0b1c2d3e0");
        text = text.replace("tmpabc12345", "tmpxyz67890").replace("took 0.31 s", "took 1.07 s");
    }
    if mask & 4 != 0 {
        text = text.replace('\n', " \n");
    }
    if mask & 8 != 0 {
        text = text.replace('\n', "\r\n");
    }
    if mask & 16 != 0 {
        text = text.replace("1,234.56", "1.234,56").replace("08/28/2026", "28.08.2026");
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_noise_hides_another_word(lines in lines(), at in any::<prop::sample::Index>(), mask in 0u8..32) {
        let before = joined(&lines);
        let mut planted = lines.clone();
        let line = at.index(planted.len());
        planted[line].push("planted".into());
        let after = noisy(&joined(&planted), mask);
        prop_assert!(called(&before, &after).contains("behaviour"), "{before:?} {after:?}");
    }

    #[test]
    fn no_noise_hides_a_number_that_moved(
        lines in lines(),
        at in any::<prop::sample::Index>(),
        number in 1u32..100_000,
        by in 1u32..100,
        decimals in 0usize..4,
        mask in 0u8..32,
    ) {
        let line = at.index(lines.len());
        let shown = |number: u32| format!("{:.decimals$}", f64::from(number) / 10f64.powi(decimals as i32));
        let with = |number: u32| {
            let mut lines = lines.clone();
            lines[line].push(format!("value {}", shown(number)));
            joined(&lines)
        };
        let (before, after) = (with(number), noisy(&with(number + by), mask));
        prop_assert!(called(&before, &after).contains("behaviour"), "{before:?} {after:?}");
    }

    #[test]
    fn no_noise_hides_a_line_that_went(lines in lines(), at in any::<prop::sample::Index>(), mask in 0u8..32) {
        let before = joined(&lines);
        let mut fewer = lines.clone();
        fewer.remove(at.index(lines.len()));
        let after = noisy(&joined(&fewer), mask);
        prop_assert!(called(&before, &after).contains("behaviour"), "{before:?} {after:?}");
    }

    #[test]
    fn no_noise_hides_ids_that_merge(lines in lines(), at in any::<prop::sample::Index>(), mask in 0u8..32) {
        let line = at.index(lines.len());
        let with = |first: &str, second: &str| {
            let mut lines = lines.clone();
            lines[line].push(format!("from {first} to {second}"));
            joined(&lines)
        };
        let (x, y) = ("11111111-2222-4333-8444-555555555555", "66666666-7777-4888-8999-aaaaaaaaaaaa");
        let before = with(x, y);
        let after = noisy(&with(x, x), mask);
        prop_assert!(called(&before, &after).contains("behaviour"), "{before:?} {after:?}");
    }
}
