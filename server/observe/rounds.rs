//! What the rounds of a repeated run vary: time zone, locale, hash seed and the order of the tests, each in a
//! pattern of its own, so that what moves tells with which of them. Takes the number of rounds and the person's
//! environment, gives the variables of each round. Starts `locale` and, where the machine has no other
//! locale, `localedef`; never anything of the project.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::interpreter::on_path;
use super::pytest::Variables;

/// Most rounds of one call.
pub const MOST: usize = 20;

/// Variable that tells the plugin in which order the tests run.
pub const ORDER: &str = "PINDRIFT_ORDER";

/// One way to run all tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Round {
    pub variables: Variables,
}

/// The rounds, and what could not be varied and why. One round is a plain run.
pub fn rounds(count: usize, environment: &BTreeMap<String, String>) -> (Vec<Round>, Vec<String>) {
    if count < 2 {
        return (vec![Round::default()], Vec::new());
    }
    let mut troubles = Vec::new();
    let locale = other_locale(environment);
    if locale.is_empty() {
        troubles.push("no other locale is installed here, so the locale was not varied".to_string());
    }
    let zone = other_zone(environment);
    let rounds = (0..count.min(MOST)).map(|nth| {
        let mut variables = Variables::new();
        let [other_zone, other_locale, seed, order] = pattern(nth, count);
        let own = environment.get("PYTHONHASHSEED").filter(|seed| seed.parse::<u32>().is_ok());
        let first = own.and_then(|seed| seed.parse().ok()).unwrap_or(1u32);
        variables.insert("PYTHONHASHSEED".into(), first.wrapping_add(seed as u32).to_string());
        if other_zone > 0 {
            variables.insert("TZ".into(), zone.clone());
        }
        if other_locale > 0 {
            variables.extend(locale.clone());
        }
        if order > 0 {
            variables.insert(ORDER.into(), "reversed".into());
        }
        Round { variables }
    });
    (rounds.collect(), troubles)
}

/// How zone, locale, seed and order are set in a round, 0 as the person has it. Each of the first three divides
/// three rounds in its own way; what the order of the tests does may look like any of them, so it has a fourth
/// round of its own. The fifth is the first one again: what moves there moves by itself.
fn pattern(nth: usize, count: usize) -> [usize; 4] {
    match (nth, count) {
        (0, _) => [0, 0, 0, 0],
        (1, 2) => [1, 1, 1, 1],
        (1, _) => [0, 1, 1, 0],
        (2, _) => [1, 0, 1, 0],
        (3, _) => [0, 0, 0, 1],
        (4, _) => [0, 0, 0, 0],
        // Sets of few items stand in the same order under many seeds.
        (more, _) => [more % 2, more / 2 % 2, more - 3, 0],
    }
}

/// A zone that is not the person's, with an offset that no other has.
fn other_zone(environment: &BTreeMap<String, String>) -> String {
    let current = environment.get("TZ").map_or("", |zone| zone.trim_start_matches(':'));
    let names = ["Asia/Kathmandu", "America/St_Johns"];
    let known = |name: &&str| **name != *current && Path::new("/usr/share/zoneinfo").join(name).is_file();
    names.into_iter().find(known).map_or("NPT-5:45".into(), str::to_string)
}

/// Variables of a locale that writes numbers in another way; empty when there is none.
fn other_locale(environment: &BTreeMap<String, String>) -> Variables {
    let current =
        ["LC_ALL", "LC_NUMERIC", "LANG"].iter().find_map(|name| environment.get(*name).filter(|it| !it.is_empty()));
    let language = |name: &str| name.split(['_', '.', '@']).next().unwrap_or("").to_lowercase();
    let own = current.map(|name| language(name)).unwrap_or_default();
    let variable = |name: &str| environment.get(name).cloned();
    let installed = on_path("locale", &variable)
        .and_then(|locale| Command::new(locale).arg("-a").output().ok())
        .map(|out| String::from_utf8_lossy(&out.stdout).into_owned())
        .unwrap_or_default();
    // Comma for the decimals, a point or a blank between thousands.
    let wanted = ["de_DE", "fr_FR", "es_ES", "pt_BR", "it_IT", "nl_NL", "pl_PL", "sv_SE", "en_US"];
    let utf8 = |line: &&str| line.to_lowercase().replace('-', "").ends_with(".utf8");
    let others = wanted.iter().filter(|name| language(name) != own);
    let found = others.clone().find_map(|name| installed.lines().filter(utf8).find(|line| line.starts_with(name)));
    if let Some(found) = found {
        return Variables::from([("LC_ALL".into(), found.to_string())]);
    }
    let made = others.take(2).find_map(|name| made(name, environment));
    made.map(|(folder, name)| Variables::from([("LC_ALL".into(), name), ("LOCPATH".into(), folder)]))
        .unwrap_or_default()
}

/// A locale of the machine's own sources, compiled into the person's cache.
fn made(name: &str, environment: &BTreeMap<String, String>) -> Option<(String, String)> {
    let variable = |name: &str| environment.get(name).filter(|value| !value.is_empty()).cloned();
    if !Path::new("/usr/share/i18n/locales").join(name).is_file() {
        return None;
    }
    let cache = variable("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cache")))?;
    let folder = cache.join("pindrift/locales");
    let full = format!("{name}.UTF-8");
    if !folder.join(&full).is_dir() {
        let localedef = on_path("localedef", &variable)?;
        std::fs::create_dir_all(&folder).ok()?;
        let mut command = Command::new(localedef);
        command.args(["-i", name, "-f", "UTF-8", "--no-archive"]).arg(folder.join(&full));
        command.output().ok()?;
    }
    folder.join(&full).is_dir().then(|| (folder.display().to_string(), full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_divides_the_rounds_in_a_way_of_its_own() {
        let column = |variable: usize| (0..5).map(|nth| pattern(nth, 5)[variable]).collect::<Vec<_>>();
        assert_eq!([0, 1, 2, 3].map(column), [[0, 0, 1, 0, 0], [0, 1, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 0, 1, 0]]);
    }

    #[test]
    fn one_round_is_the_persons_own_run() {
        let (rounds, troubles) = rounds(1, &BTreeMap::from([("TZ".into(), "UTC".into())]));
        assert_eq!((rounds, troubles), (vec![Round::default()], Vec::new()));
    }

    #[test]
    fn the_zone_is_another_than_the_persons() {
        let of = |zone: &str| other_zone(&BTreeMap::from([("TZ".into(), zone.into())]));
        assert_ne!(of("Asia/Kathmandu"), "Asia/Kathmandu");
        assert_ne!(of(":Asia/Kathmandu"), "Asia/Kathmandu");
    }
}
