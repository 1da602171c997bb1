//! Numbers as Python 3 prints them. Takes literal source as [`ExprKind::Int`](super::super::ExprKind) and
//! `Float` hold it, gives the text of `repr`.

/// `repr` of an integer literal. `None` when it does not fit 128 bits and is not decimal.
pub fn int_repr(source: &str) -> Option<String> {
    let radix = match source.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => 16,
        Some("0o") => 8,
        Some("0b") => 2,
        _ => {
            let digits = source.trim_start_matches('0');
            return Some(if digits.is_empty() { "0" } else { digits }.to_string());
        }
    };
    u128::from_str_radix(&source[2..], radix).ok().map(|value| value.to_string())
}

/// `repr` of a float literal.
pub fn float_repr(source: &str) -> Option<String> {
    source.parse::<f64>().ok().map(repr)
}

/// The shortest text that reads back as `value`, laid out as `float.__repr__` does.
pub fn repr(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_string();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_string();
    }
    let scientific = format!("{value:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    if !(-4..16).contains(&exponent) {
        let point = if digits.len() > 1 { "." } else { "" };
        let mark = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{}{point}{}e{mark}{:02}", &digits[..1], &digits[1..], exponent.abs());
    }
    if exponent < 0 {
        return format!("{sign}0.{}{digits}", "0".repeat((-exponent - 1) as usize));
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        format!("{sign}{digits}{}.0", "0".repeat(whole - digits.len()))
    } else {
        format!("{sign}{}.{}", &digits[..whole], &digits[whole..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_python_prints_them() {
        for (source, want) in [
            ("1.0", "1.0"),
            ("0.0885", "0.0885"),
            ("1e16", "1e+16"),
            ("1e15", "1000000000000000.0"),
            ("123456789012345678.0", "1.2345678901234568e+17"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("1.5e-7", "1.5e-07"),
            ("5e-324", "5e-324"),
            (".5", "0.5"),
            ("5.", "5.0"),
            ("1e400", "inf"),
            ("0.1e1", "1.0"),
        ] {
            assert_eq!(float_repr(source).as_deref(), Some(want), "{source}");
        }
        assert_eq!(int_repr("0xFf").as_deref(), Some("255"));
        assert_eq!(int_repr("0").as_deref(), Some("0"));
        assert_eq!(int_repr("00").as_deref(), Some("0"));
        assert_eq!(int_repr("123456789012345678901234567890123456789012").unwrap().len(), 42);
    }
}
