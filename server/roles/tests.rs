use super::*;
use crate::places::RelPath;
use crate::syntax;
use crate::text::Text;

fn unit(path: &str, source: &str) -> Unit {
    let language = Language::of(path).unwrap();
    let text = Text::new(source);
    let tree = syntax::parse(source, language, None, syntax::BUDGET).unwrap();
    let path = RelPath::new(path).unwrap();
    match language {
        Language::Python => crate::code::python::unit(&path, &text, &tree),
        Language::Rust => crate::code::rust::unit(&path, &text, &tree),
    }
}

fn at(path: &str, source: &str, settings: &Settings) -> &'static str {
    let unit = unit(path, source);
    let function = unit.functions.iter().find(|function| function.name.starts_with("test_"));
    assert!(function.is_some(), "no test in {source}");
    role(&unit, function, settings, false).word()
}

fn python(source: &str) -> &'static str {
    at("tests/test_a.py", source, &Settings::default())
}

fn rust(source: &str) -> &'static str {
    at("tests/a.rs", source, &Settings::default())
}

#[test]
fn a_sentence_that_says_what_the_test_is_counts() {
    for text in [
        "Characterization test: rounding as it is.",
        "Characterisation test of the export",
        "Characterization tests of the export: they pin what the job writes, right or wrong.",
        "A characterization test.",
        "This is a characterization test: keep it.",
        "Settlement export. Characterization test.",
        "Characterization of the settlement run, recorded with insta.",
        "characterization",
        "Pins CURRENT behaviour of the parser",
        "Pins what the billing routines do today. Numbers were read off the old\nsystem, not off a specification.",
        "Pin legacy rounding.",
        "This test pins the existing output, see #12",
    ] {
        assert_eq!(said(text), Some(Role::Characterization), "{text}");
    }
    for text in [
        "Specification test: prices are exact decimals (accounting rule 7).",
        "specification, agreed with finance: always two decimals",
        "Specification: two decimals",
        "Prices.\n\nSpecification test.",
        "# specification test, see handbook",
    ] {
        assert_eq!(said(text), Some(Role::Specification), "{text}");
    }
}

#[test]
fn talk_about_such_tests_says_nothing() {
    for text in [
        "This is not a characterization test",
        "This is not a\ncharacterization test: it is new.",
        "See the characterization tests in tests/legacy.",
        "The characterization factor of zinc",
        "Characterization factors sum to one",
        "Replaces the old specification test.",
        "Specification tests live in tests/spec",
        "Specification says two decimals",
        "Specification of the wire format is in docs/",
        "specification_version is read",
        "Pins are numbered from 1",
        "Pins the dependency to 1.2",
        "Pinned versions win over ranges",
        "Sets the pin to the current level",
        "Pin 3 is an output",
    ] {
        assert_eq!(said(text), None, "{text}");
    }
}

#[test]
fn names_must_say_what_is_pinned() {
    for name in [
        "test_apply_discount_pins_legacy_output",
        "pins_current_rounding",
        "testPinsExistingBehavior",
        "test_legacy_rounding_is_pinned",
        "test_pinned_output",
    ] {
        assert_eq!(named(name), Some(Role::Characterization), "{name}");
    }
    for name in [
        "test_pin_code",
        "test_pins",
        "test_gpio_output_pins_low",
        "test_pin_current_draw",
        "test_characterization",
        "characterize_totals",
        "test_spins_legacy_wheel",
        "test_pinned_version",
        "test_legacy_output",
        "test_typing_output",
    ] {
        assert_eq!(named(name), None, "{name}");
    }
}

#[test]
fn the_nearest_word_wins() {
    let module =
        "\"\"\"Characterization tests of the export.\"\"\"\nimport pytest\npytestmark = pytest.mark.characterization\n";
    assert_eq!(python(&format!("{module}\ndef test_a():\n    assert f() == 1\n")), "characterization");
    assert_eq!(
        python(&format!("{module}\ndef test_a():\n    \"\"\"Specification test: rule 4.\"\"\"\n    assert f() == 1\n")),
        "specification"
    );
    assert_eq!(
        python(&format!("{module}\ndef test_a():\n    # specification, agreed with finance\n    assert f() == 1\n")),
        "specification"
    );
    assert_eq!(
        python(&format!(
            "{module}\n# Specification test: rule 4\n@pytest.mark.slow\ndef test_a():\n    assert f() == 1\n"
        )),
        "specification"
    );
    assert_eq!(
        python(
            "import pytest\n@pytest.mark.specification\nclass TestA:\n    @pytest.mark.characterization(reason='x')\n    def test_a(self):\n        assert f() == 1\n"
        ),
        "characterization"
    );
    assert_eq!(
        python(
            "import pytest\nclass TestA:\n    pytestmark = [pytest.mark.slow, pytest.mark.characterization]\n    def test_a(self):\n        assert f() == 1\n"
        ),
        "characterization"
    );
    assert_eq!(
        python(
            "class TestA:\n    \"\"\"Specification tests: handbook.\"\"\"\n    def test_a_pins_legacy_output(self):\n        assert f() == 1\n"
        ),
        "characterization",
        "the name of the test is nearer than its class"
    );
}

#[test]
fn a_word_elsewhere_is_not_the_tests() {
    assert_eq!(
        python("def test_a():\n    assert f() == 1\n\ndef test_b():\n    \"\"\"Characterization test.\"\"\"\n"),
        "unlabelled"
    );
    assert_eq!(
        python("class TestA:\n    pytestmark = pytest.mark.characterization\n\ndef test_a():\n    pass\n"),
        "unlabelled"
    );
    assert_eq!(
        python("def test_a():\n    def inner():\n        # Characterization test.\n        pass\n    inner()\n"),
        "unlabelled"
    );
    assert_eq!(python("@other.characterization\ndef test_a():\n    pass\n"), "unlabelled");
    assert_eq!(python("# Characterization test of the sum\ntotal = 1\n\ndef test_a():\n    pass\n"), "unlabelled");
}

#[test]
fn rust_says_it_in_doc_comments_and_modules() {
    assert_eq!(rust("/// Characterization test: as it is.\n#[test]\nfn test_a() {}\n"), "characterization");
    assert_eq!(rust("//! Characterization tests of the parser.\n\n#[test]\nfn test_a() {}\n"), "characterization");
    assert_eq!(rust("#[cfg(test)]\nmod characterization {\n    #[test]\n    fn test_a() {}\n}\n"), "characterization");
    assert_eq!(
        rust("mod characterization {\n    /// Specification test: rule 3.\n    #[test]\n    fn test_a() {}\n}\n"),
        "specification"
    );
    assert_eq!(
        rust("#[test]\nfn test_a() {\n    // specification, agreed with finance\n    assert_eq!(f(), 1);\n}\n"),
        "specification"
    );
    assert_eq!(rust("mod pins {\n    #[test]\n    fn test_a() {}\n}\n"), "unlabelled");
}

#[test]
fn folders_and_globs_come_last() {
    let test = "def test_a():\n    assert f() == 1\n";
    let mut settings = Settings::default();
    assert_eq!(at("tests/characterization/test_a.py", test, &settings), "characterization");
    assert_eq!(at("tests/characterization_of_zinc/test_a.py", test, &settings), "unlabelled");
    settings.characterization = vec!["tests/legacy/*.py".into(), "old".into()];
    settings.specification = vec!["tests/legacy/test_rules.py".into()];
    assert_eq!(at("tests/legacy/test_a.py", test, &settings), "characterization");
    assert_eq!(at("tests/legacy/deep/test_a.py", test, &settings), "unlabelled");
    assert_eq!(at("old/deep/test_a.py", test, &settings), "characterization");
    assert_eq!(at("tests/legacy/test_rules.py", test, &settings), "specification");
    settings.characterization = vec!["**".into()];
    assert_eq!(at("any/test_a.py", test, &settings), "characterization");
    assert_eq!(at("any/test_a.py", "def test_a():\n    \"\"\"Specification test.\"\"\"\n", &settings), "specification");
}

#[test]
fn without_a_word_the_mechanism_decides() {
    let unit = unit("tests/test_a.py", "def test_a():\n    pass\n");
    let function = unit.functions.first();
    assert_eq!(role(&unit, function, &Settings::default(), true), Role::Characterization);
    assert_eq!(role(&unit, function, &Settings::default(), false), Role::Unlabelled);
}
