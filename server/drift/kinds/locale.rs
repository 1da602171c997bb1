//! The same numbers and dates written as another country writes them: `1.234,56` for `1,234.56`,
//! `31.12.2024` for `12/31/2024`. Takes two texts, says whether that is all that differs.

use std::sync::LazyLock;

use regex::Regex;

/// A number with at least one separator, or a date of day, month and year.
static WRITTEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?P<date>\b(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})\b)",
        r"|(?P<number>\d+(?:[.,'\u{a0}\u{202f}]\d+)+)",
    ))
    .ok()
});

/// Which number of a date stands where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    YearMonthDay,
    DayMonthYear,
    MonthDayYear,
}

const ORDERS: [Order; 3] = [Order::YearMonthDay, Order::DayMonthYear, Order::MonthDayYear];

enum Token<'a> {
    Date(&'a str),
    Number(&'a str),
    /// Its comma may stand between two items of a list.
    Listed(&'a str),
}

/// Equal but for numbers and dates, and every one that differs has the same value when one side is read
/// as one country writes it and the other as another does, the same two for the whole text.
pub fn same(before: &str, after: &str) -> bool {
    let (Some((rest_before, b)), Some((rest_after, a))) = (taken_apart(before), taken_apart(after)) else {
        return false;
    };
    if rest_before != rest_after || b.len() != a.len() {
        return false;
    }
    let mut dates = Vec::new();
    let mut marks: Option<((char, char), bool)> = None;
    for pair in b.iter().zip(&a) {
        match pair {
            (Token::Date(b), Token::Date(a)) if b == a => {}
            (Token::Number(b) | Token::Listed(b), Token::Number(a) | Token::Listed(a)) if b == a => {}
            (Token::Date(b), Token::Date(a)) => dates.push((*b, *a)),
            (Token::Number(b), Token::Number(a)) => {
                // One pair of decimal marks for the whole text, proved at least once by two decimals or both marks.
                let Some(found) = decimal_marks(b, a) else { return false };
                match &mut marks {
                    Some((known, sure)) if *known == found.0 => *sure |= found.1,
                    Some(_) => return false,
                    None => marks = Some(found),
                }
            }
            _ => return false,
        }
    }
    if marks.is_some_and(|(_, sure)| !sure) || (marks.is_none() && dates.is_empty()) {
        return false;
    }
    dates.is_empty() || same_dates(&dates)
}

/// The text with a mark for each number or date, and these.
fn taken_apart(text: &str) -> Option<(String, Vec<Token<'_>>)> {
    let written = WRITTEN.as_ref()?;
    let (mut rest, mut tokens, mut from) = (String::with_capacity(text.len()), Vec::new(), 0);
    for found in written.captures_iter(text) {
        let whole = found.get(0)?;
        rest.push_str(&text[from..whole.start()]);
        rest.push('\u{3}');
        from = whole.end();
        let before = text[..whole.start()].chars().next_back();
        let after = text[whole.end()..].chars().next();
        let listed = before.is_some_and(|c| "[({,".contains(c)) || after.is_some_and(|c| "])},".contains(c));
        tokens.push(match whole.as_str() {
            date if found.name("date").is_some() => Token::Date(date),
            number if listed => Token::Listed(number),
            number => Token::Number(number),
        });
    }
    rest.push_str(&text[from..]);
    Some((rest, tokens))
}

/// The decimal marks under which the two are the same number, and whether nothing else could be meant: a
/// lone mark before three digits may group thousands.
fn decimal_marks(before: &str, after: &str) -> Option<((char, char), bool)> {
    let last = |text: &str| text.rfind(|c: char| !c.is_ascii_digit()).and_then(|at| text[at..].chars().next());
    let (b, a) = (last(before)?, last(after)?);
    if b == a || !matches!((b, a), ('.', ',') | (',', '.')) {
        return None;
    }
    let value = |text: &str, mark: char| {
        let (whole, decimals) = text.rsplit_once(mark)?;
        // What groups thousands does so in threes, and is not the decimal mark itself.
        let groups: Vec<&str> = whole.split(|c: char| !c.is_ascii_digit()).collect();
        let grouped = groups.len() == 1
            || (groups.iter().skip(1).all(|group| group.len() == 3)
                && groups.first().is_some_and(|group| group.len() <= 3));
        (!whole.contains(mark) && grouped).then(|| (groups.concat(), decimals.to_string()))
    };
    let (b_value, a_value) = (value(before, b)?, value(after, a)?);
    let sure = b_value.1.len() != 3 || before.chars().filter(|c| !c.is_ascii_digit()).count() > 1;
    (b_value == a_value).then_some(((b, a), sure))
}

/// One order for all dates before, one for all after, under which each pair is the same day; and at least
/// one date that can be read in one way only, on either side.
fn same_dates(dates: &[(&str, &str)]) -> bool {
    let holds = |old: Order, new: Order| {
        dates.iter().all(|(b, a)| match (day(b, old), day(a, new)) {
            (Some(b), Some(a)) => b == a,
            _ => false,
        })
    };
    let sure = |text: &str| ORDERS.iter().filter(|order| day(text, **order).is_some()).count() == 1;
    let shown = dates.iter().any(|(b, a)| sure(b) && sure(a));
    shown && ORDERS.iter().any(|old| ORDERS.iter().any(|new| old != new && holds(*old, *new)))
}

/// Year, month and day of a date read in one order; `None` when it cannot be one.
fn day(text: &str, order: Order) -> Option<(u32, u32, u32)> {
    let mut parts = text.split(['-', '/', '.']);
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next()?);
    let (year, month, day) = match order {
        Order::YearMonthDay => (first, second, third),
        Order::DayMonthYear => (third, second, first),
        Order::MonthDayYear => (third, first, second),
    };
    let number = |text: &str| text.parse::<u32>().ok();
    let (year, month, day) =
        (Some(year).filter(|year| year.len() == 4).and_then(number)?, number(month)?, number(day)?);
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some((year, month, day))
}
