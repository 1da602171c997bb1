//! Words by which a comparison is told to see less. Takes a name as it is called, gives what it does to the
//! comparison. Names of one effect stand for each other, so that `x.sort()` may become `sorted(x)`.

use std::sync::LazyLock;

use regex::Regex;

/// What a call between a value and its comparison takes away; `None`: nothing that is known.
pub fn effect(name: &str) -> Option<&'static str> {
    Some(match name {
        "sorted" | "sort" | "sort_unstable" | "sort_by" | "sort_by_key" | "sort_unstable_by" | "sort_values"
        | "sort_index" | "sort_keys" | "assertCountEqual" | "assertItemsEqual" | "unordered" | "sorted_by"
        | "set_sort_maps" | "sorted_redaction" | "Counter" | "natsorted" => "order",
        "set" | "frozenset" | "dedup" | "dedup_by_key" | "unique" | "drop_duplicates" => "repetition",
        "strip" | "lstrip" | "rstrip" | "trim" | "trim_start" | "trim_end" | "trim_matches" | "trim_start_matches"
        | "trim_end_matches" | "strip_ansi_codes" => "edges",
        "lower"
        | "upper"
        | "casefold"
        | "title"
        | "to_lowercase"
        | "to_uppercase"
        | "to_ascii_lowercase"
        | "to_ascii_uppercase"
        | "eq_ignore_ascii_case"
        | "assert_string_equal_ignoring_case" => "case",
        "sub" | "subn" | "replace" | "replacen" | "replace_all" | "replace_range" | "translate" | "removeprefix"
        | "removesuffix" | "strip_prefix" | "strip_suffix" => "text",
        "round" | "floor" | "ceil" | "trunc" | "rint" | "around" | "quantize" => "digits",
        "filter" | "retain" | "dropna" | "fillna" | "filterfalse" => "items",
        "dedent" | "normalize_newlines" | "normalize_paths" | "expandtabs" | "normpath" => "layout",
        _ => return None,
    })
}

/// Comparisons that hold only nearly.
pub fn nearly(name: &str) -> bool {
    matches!(
        name,
        "approx"
            | "isclose"
            | "allclose"
            | "assert_allclose"
            | "assertAlmostEqual"
            | "assertAlmostEquals"
            | "assert_almost_equal"
            | "assert_array_almost_equal"
            | "assert_approx_equal"
            | "assert_relative_eq"
            | "assert_abs_diff_eq"
            | "assert_ulps_eq"
            | "relative_eq"
            | "abs_diff_eq"
            | "ulps_eq"
            | "assert_approx_eq"
            | "assert_float_eq"
    )
}

/// The argument is a tolerance; how loose a value of it is, larger being looser.
pub fn looseness(argument: &str, value: f64) -> Option<f64> {
    match argument {
        "rel" | "abs" | "rel_tol" | "abs_tol" | "rtol" | "atol" | "delta" | "epsilon" | "max_relative" | "max_ulps"
        | "tolerance" | "ulps" => Some(value),
        "places" | "decimal" | "ndigits" | "significant" => Some(-value),
        _ => None,
    }
}

/// What counts where the argument is absent: pytest 9.2, Python 3.14, numpy 2.4. `plain`: the call has
/// no other tolerance either.
pub fn absent(call: &str, argument: &str, plain: bool) -> Option<f64> {
    Some(match (call, argument) {
        ("approx", "rel") => 1e-6,
        ("approx", "abs") => 1e-12,
        ("isclose", "rel_tol") => 1e-9,
        ("isclose", "abs_tol") => 0.0,
        ("isclose" | "allclose", "rtol") => 1e-5,
        ("isclose" | "allclose", "atol") => 1e-8,
        ("assert_allclose", "rtol") => 1e-7,
        ("assert_allclose", "atol") => 0.0,
        ("assertAlmostEqual" | "assertAlmostEquals", "places") => -7.0,
        // As seven places have it.
        ("assertAlmostEqual" | "assertAlmostEquals", "delta") if plain => 5e-8,
        ("assert_almost_equal", "decimal") => -7.0,
        ("assert_array_almost_equal", "decimal") => -6.0,
        _ => return None,
    })
}

/// Positional arguments that are tolerances.
pub fn at_place(call: &str, nth: usize) -> Option<&'static str> {
    Some(match (call, nth) {
        ("approx", 1) => "rel",
        ("approx", 2) => "abs",
        ("assertAlmostEqual" | "assertAlmostEquals", 2) => "places",
        ("assert_almost_equal" | "assert_array_almost_equal", 2) => "decimal",
        ("assert_allclose" | "allclose", 2) => "rtol",
        ("round", 1) => "ndigits",
        _ => return None,
    })
}

/// Calls that only ever tell a snapshot tool to see less, wherever they stand in a test.
pub fn tells_to_ignore(name: &str) -> bool {
    matches!(
        name,
        "add_filter"
            | "add_redaction"
            | "add_dynamic_redaction"
            | "set_filters"
            | "set_redactions"
            | "set_sort_maps"
            | "dynamic_redaction"
            | "sorted_redaction"
            | "rounded_redaction"
            | "redact_with"
            | "with_scrubber"
            | "add_scrubber"
            | "path_type"
            | "props"
            | "paths"
            | "IsStr"
            | "IsAnything"
            | "IsDatetime"
            | "IsNow"
            | "IsUUID"
            | "IsPartialDict"
            | "IsInt"
            | "IsFloat"
    )
}

/// Keyword arguments and settings that tell a snapshot tool to see less.
pub fn option(name: &str) -> bool {
    matches!(
        name,
        "matcher"
            | "exclude"
            | "filters"
            | "redactions"
            | "dynamic_redactions"
            | "sort_maps"
            | "ignore_order"
            | "exclude_paths"
            | "exclude_regex_paths"
            | "ignore_case"
            | "check_like"
            | "ignore_fields"
            | "scrubber"
    )
}

/// Calls that hand their operand on as it is, or in another form of the same.
pub fn hands_on(name: &str) -> bool {
    matches!(
        name,
        "str"
            | "list"
            | "tuple"
            | "dict"
            | "bytes"
            | "repr"
            | "dumps"
            | "loads"
            | "decode"
            | "encode"
            | "splitlines"
            | "split"
            | "join"
            | "format"
            | "read_text"
            | "getvalue"
            | "items"
            | "values"
            | "keys"
            | "copy"
            | "sum"
            | "to_string"
            | "to_owned"
            | "to_vec"
            | "as_str"
            | "as_bytes"
            | "as_ref"
            | "clone"
            | "into"
            | "iter"
            | "into_iter"
            | "collect"
            | "map"
            | "lines"
            | "unwrap"
            | "expect"
            | "as_deref"
            | "cloned"
            | "copied"
            | "chars"
            | "from"
            | "Some"
            | "Ok"
            | "from_utf8"
            | "from_utf8_lossy"
            | "into_owned"
            | "borrow"
            | "deref"
            | "to_json"
            | "to_dict"
            | "model_dump"
            | "asdict"
            | "yield"
            | "enumerate"
            | "zip"
            | "reversed"
            | "rev"
            | "from_str"
            | "from_slice"
            | "to_value"
            | "abs"
    )
}

/// A name that says that what goes through comes out simplified.
pub fn says_so(name: &str) -> bool {
    static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)normal|canonical|clean|scrub|mask|redact|saniti|strip|squash|collapse|anonymi|stabili|without_|ignor|tidy|simplif|censor",
        )
        .ok()
    });
    WORDS.as_ref().is_some_and(|words| words.is_match(name))
}
