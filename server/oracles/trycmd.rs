//! trycmd 0.13 to 1.2: `TestCases::new().case("tests/cmd/*.toml")`. Takes a site, gives the recorded outputs of the
//! files that its pattern names, each seen where it is written: a command in a `.trycmd` or `.md`, the `.stdout`,
//! `.stderr` and `.out/` of a `.toml`, or the texts in it. Reads what `TRYCMD=dump` leaves; knows the bytes that
//! `TRYCMD=overwrite` of 1.2 writes for the output, line ends kept. Never compares, never writes.

mod steps;

use globset::GlobBuilder;

use self::steps::Step as Command;
use super::golden::{self, unread};
use super::insta::blank_pin;
use super::origin::comes_from;
use super::{
    Amended, Artefact, Baseline, Content, FileChange, Framework, OracleKind, Orphan, Pin, Recorded, Refusal, Step,
    digest_of, reading, seen,
};
use crate::code::{Expr, ExprKind};
use crate::evaluate::{Value, World, worlds};
use crate::pins::{Project, Site, names};
use crate::places::RelPath;
use crate::shelf::Read;
use crate::text::{Span, Text};

pub struct Trycmd;

impl Framework for Trycmd {
    fn id(&self) -> &'static str {
        "trycmd"
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        let Some(call) = seen::call_at(project, site) else { return Vec::new() };
        let ExprKind::Call { callee, args } = &call.kind else { return Vec::new() };
        let ExprKind::Attr(base, _) = &callee.kind else { return Vec::new() };
        let (Some(pattern), Some(mut blank)) = (args.first(), blank_pin(project, site)) else { return Vec::new() };
        let last = site.frames.len() - 1;
        let mut found: Vec<RelPath> = Vec::new();
        for world in &worlds(project, site) {
            let Some(made) = cases(project, site, world, base) else { continue };
            if site.frames.len() == 1 {
                blank.asserted_in = Some((blank.file.clone(), made));
            }
            let value = world.value(project, site, last, &pattern.value);
            if let Value::Path(pattern) = world.file(project, site, last, value) {
                found.extend(matching(project, &pattern));
            }
        }
        found.sort();
        found.dedup();
        let skipped = skipped(project, site);
        blank.framework = self.id().to_string();
        blank.shared_site = true;
        // One test runs all files, and its runner calls it by its own name.
        let target = project.crates.modules(&project.shelf, &blank.file).first().map(|module| module.target.clone());
        if let Some(name) =
            target.and_then(|target| blank.test.strip_prefix(&format!("{target}::")).map(str::to_string))
        {
            blank.test = name;
        }
        found
            .iter()
            .filter(|file| !skipped.iter().any(|skipped| skipped == *file))
            .flat_map(|file| of_file(project, file, &blank))
            .collect()
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        if pin.oracle.kind != OracleKind::Entry {
            return golden::baseline(pin, project);
        }
        let Some(path) = &pin.oracle.path else { return Baseline::Missing };
        let bytes = match project.shelf.disk(path) {
            Read::Bytes(bytes) => bytes,
            Read::Missing => return Baseline::Missing,
            Read::Refused(why) => return Baseline::Unreadable(why),
        };
        let Ok(text) = std::str::from_utf8(&bytes) else {
            return Baseline::Unreadable(format!("{path} is not UTF-8 text; save it as UTF-8"));
        };
        let (content, first_line) = if path.name().ends_with(".toml") {
            match in_toml(text, pin) {
                Some(value) => (value, 0),
                None => return Baseline::Missing,
            }
        } else {
            match steps::of(text) {
                Ok(all) => match command_of(&all, pin) {
                    Some(step) => (step.text.clone(), step.output.start),
                    None => return Baseline::Missing,
                },
                Err(why) => return Baseline::Unreadable(format!("{path}: {why}")),
            }
        };
        Baseline::Present(Recorded {
            content: Content::Text(content),
            first_line,
            file_digest: digest_of(&[&bytes]),
            preimage: None,
        })
    }

    fn artefacts(&self, pin: &Pin, project: &Project) -> Vec<Artefact> {
        dumped(pin, project).into_iter().collect()
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        artefact: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        if pin.oracle.kind != OracleKind::Entry {
            return golden::amend(pin, observed, artefact, project);
        }
        let Content::Text(output) = observed else {
            return Err(Refusal(format!("what {} printed is not text; nothing was written", pin.file)));
        };
        amend_entry(pin, &steps::lines(output), project)
    }

    fn orphans(&self, pins: &[Pin], project: &Project) -> Vec<Orphan> {
        orphans(pins, project)
    }
}

/// The place of the `TestCases` that a chain of calls begins with; `None` where it is none of trycmd's.
fn cases(project: &Project, site: &Site, world: &World, base: &Expr) -> Option<Span> {
    let mut at = base;
    let last = site.frames.len() - 1;
    for _ in 0..32 {
        let (made, frame) = match &at.kind {
            ExprKind::Name(_) => seen::receiver(project, site, world, last, at),
            _ => (at, last),
        };
        let ExprKind::Call { callee, .. } = &made.kind else { return None };
        if let Some(name) = callee.dotted().filter(|name| name.rsplit('.').nth(1) == Some("TestCases")) {
            let (owner, _) = name.rsplit_once('.')?;
            let unit = project.unit(&site.frames.get(frame)?.file)?;
            return comes_from(project, unit, owner, made.span, "trycmd").then_some(made.span);
        }
        let ExprKind::Attr(inner, _) = &callee.kind else { return None };
        at = inner;
    }
    None
}

/// Files that a `skip` of the same function names.
fn skipped(project: &Project, site: &Site) -> Vec<RelPath> {
    let frame = site.comparing();
    let function = project.unit(&frame.file).zip(frame.function).and_then(|(unit, at)| unit.functions.get(at));
    let package = names::package_of(project, &frame.file);
    let mut found = Vec::new();
    for stmt in function.iter().flat_map(|function| &function.body) {
        stmt.walk(&mut |expr| {
            if let ExprKind::Call { callee, args } = &expr.kind
                && let ExprKind::Attr(_, method) = &callee.kind
                && method == "skip"
                && let [one] = args.as_slice()
                && let ExprKind::Str(pattern) = &one.value.kind
                && let Some(pattern) = package.join(pattern)
            {
                found.extend(matching(project, &pattern));
            }
        });
    }
    found
}

/// Listed files that a pattern of the glob crate names, of the kinds that trycmd reads.
fn matching(project: &Project, pattern: &RelPath) -> Vec<RelPath> {
    let text = pattern.as_str();
    let ours =
        |path: &RelPath| path.name().rsplit_once('.').is_some_and(|(_, it)| matches!(it, "toml" | "trycmd" | "md"));
    if !text.contains('*') {
        return Some(pattern.clone()).filter(|path| ours(path) && project.shelf.listed(path)).into_iter().collect();
    }
    let glob = GlobBuilder::new(text).literal_separator(true).build().ok().map(|glob| glob.compile_matcher());
    let known = text.split('*').next().unwrap_or("");
    let folder = RelPath::new(known.rsplit_once('/').map_or("", |(folder, _)| folder));
    let (Some(glob), Some(folder)) = (glob, folder) else { return Vec::new() };
    project.shelf.below(&folder).filter(|path| ours(path) && glob.is_match(path.as_str())).cloned().collect()
}

/// The pins of one file with commands.
fn of_file(project: &Project, file: &RelPath, blank: &Pin) -> Vec<Pin> {
    let Some(text) = project.shelf.text(file) else { return Vec::new() };
    let mut blank = blank.clone();
    blank.file = file.clone();
    blank.test_span = None;
    blank.span = Span::default();
    if file.name().ends_with(".toml") {
        return of_toml(project, file, text.as_str(), &blank);
    }
    let all = steps::of(text.as_str()).unwrap_or_default();
    all.iter()
        .map(|step| {
            let mut pin = blank.clone();
            let start = text.line_start(step.line - 1);
            pin.span = Span::new(start, start + 1);
            pin.case = Some(format!("{file}:{}", step.line));
            pin.oracle.kind = OracleKind::Entry;
            pin.oracle.steps = Vec::new();
            pin.oracle.path = Some(file.clone());
            pin.oracle.entry = Some(name_of(&all, step));
            pin
        })
        .collect()
}

/// The command, and which of several equal ones it is.
fn name_of(all: &[Command], step: &Command) -> String {
    let before = all.iter().filter(|other| other.command == step.command && other.line < step.line).count();
    if before == 0 { step.command.clone() } else { format!("{} ({})", step.command, before + 1) }
}

fn command_of<'a>(all: &'a [Command], pin: &Pin) -> Option<&'a Command> {
    let name = pin.oracle.entry.as_ref()?;
    all.iter().find(|step| name_of(all, step) == *name)
}

fn sibling(file: &RelPath, ending: &str) -> Option<RelPath> {
    RelPath::new(&format!("{}.{ending}", file.as_str().strip_suffix(".toml")?))
}

fn of_toml(project: &Project, file: &RelPath, text: &str, blank: &Pin) -> Vec<Pin> {
    let Ok(table) = text.parse::<toml::Table>() else { return Vec::new() };
    let binary = table.get("binary").and_then(toml::Value::as_bool) == Some(true);
    let mut pins = Vec::new();
    let mut blank = blank.clone();
    blank.case = Some(file.to_string());
    for stream in ["stdout", "stderr"] {
        let Some(beside) = sibling(file, stream) else { continue };
        let mut pin = blank.clone();
        if table.get(stream).is_some_and(toml::Value::is_str) {
            pin.oracle.kind = OracleKind::Entry;
            pin.oracle.steps = Vec::new();
            pin.oracle.path = Some(file.clone());
            pin.oracle.entry = Some(stream.to_string());
        } else if project.shelf.listed(&beside) {
            pin.oracle.steps = match binary {
                true => vec![Step::Bytes],
                false => vec![Step::UniversalNewlines, Step::Replace("\\".to_string(), "/".to_string())],
            };
            pin.oracle.path = Some(beside);
        } else {
            continue;
        }
        pins.push(pin);
    }
    if let Some(left) = sibling(file, "out") {
        for path in project.shelf.below(&left) {
            let mut pin = blank.clone();
            pin.oracle.steps = vec![Step::UniversalNewlines];
            pin.oracle.path = Some(path.clone());
            pins.push(pin);
        }
    }
    if pins.is_empty() {
        let mut pin = blank;
        pin.oracle.path = sibling(file, "stdout");
        pin.oracle.shown_only = Some(format!(
            "nothing is recorded for {file}, so trycmd compares nothing and its updater writes nothing; put an empty \
             `.stdout` beside it, then run the test again"
        ));
        pins.push(pin);
    }
    pins
}

fn in_toml(text: &str, pin: &Pin) -> Option<String> {
    let table = text.parse::<toml::Table>().ok()?;
    table.get(pin.oracle.entry.as_deref()?)?.as_str().map(str::to_string)
}

/// `dump/<stem>[-<line>].stdout` of the package, which `TRYCMD=dump` leaves; nothing where two files have the stem.
fn dumped(pin: &Pin, project: &Project) -> Option<Artefact> {
    let package = names::package_of(project, &pin.file);
    let stem = pin.file.stem();
    let kinds = [format!("{stem}.toml"), format!("{stem}.trycmd"), format!("{stem}.md")];
    if project.shelf.below(&package).filter(|path| kinds.iter().any(|kind| kind == path.name())).count() != 1 {
        return None;
    }
    let line = pin.case.as_ref().and_then(|case| case.rsplit_once(':')).map(|(_, line)| format!("-{line}"));
    let stream = match (&pin.oracle.path, pin.oracle.entry.as_deref()) {
        (_, Some("stderr")) => "stderr",
        (Some(path), None) if path.name().ends_with(".stderr") => "stderr",
        (Some(path), None) if !path.name().ends_with(".stdout") => return None,
        _ => "stdout",
    };
    let path = package.join(&format!("dump/{stem}{}.{stream}", line.unwrap_or_default()))?;
    let Read::Bytes(bytes) = project.shelf.disk(&path) else { return None };
    Some(Artefact {
        content: reading::content(&bytes, &pin.oracle.steps).map_err(|why| format!("{path}: {why}")),
        path,
        compared_with: None,
        header: None,
        names: None,
        says_match: false,
    })
}

fn amend_entry(pin: &Pin, output: &str, project: &Project) -> Result<Amended, Refusal> {
    let gone = || Refusal(format!("the recorded output is gone from {}; look again", pin.file));
    let path = pin.oracle.path.as_ref().ok_or_else(gone)?;
    let bytes = match project.shelf.disk(path) {
        Read::Bytes(bytes) => bytes,
        Read::Missing => return Err(gone()),
        Read::Refused(why) => return Err(Refusal(format!("{why}; nothing was written."))),
    };
    let old =
        std::str::from_utf8(&bytes).map_err(|_| Refusal(format!("{path} is not UTF-8 text; save it as UTF-8")))?;
    let new = if path.name().ends_with(".toml") {
        let mut document: toml_edit::DocumentMut =
            old.parse().map_err(|err| Refusal(format!("{path} cannot be read as TOML: {err}")))?;
        let item = pin.oracle.entry.as_deref().and_then(|entry| document.get_mut(entry)).ok_or_else(gone)?;
        *item = toml_edit::value(output);
        document.to_string()
    } else {
        let all = steps::of(old).map_err(|why| Refusal(format!("{path}: {why}")))?;
        let step = command_of(&all, pin).ok_or_else(gone)?;
        steps::replaced(old, step, output).ok_or_else(|| {
            Refusal(format!(
                "the new output has a line that trycmd would read as a command or the end of the block in {path}; put \
                 this command into a .toml with a .stdout beside it"
            ))
        })?
    };
    let crlf = old.contains("\r\n") && !old.replace("\r\n", "").contains('\n');
    let new = if crlf { steps::lines(&new).replace('\n', "\r\n") } else { new };
    Ok(Amended {
        oracle: vec![FileChange {
            path: path.clone(),
            before: Some(digest_of(&[&bytes])),
            edits: whole(old, &new),
            after: Some(new.into_bytes()),
        }],
        artefacts: Vec::new(),
        shown_after: None,
    })
}

/// The change as one edit of the whole text.
fn whole(old: &str, new: &str) -> Vec<(Span, String)> {
    vec![(Span::new(0, Text::new(old).len()), new.to_string())]
}

/// `.stdout` and `.stderr` without the `.toml` that would read them, in folders of such files.
fn orphans(pins: &[Pin], project: &Project) -> Vec<Orphan> {
    let mine = || pins.iter().filter(|pin| pin.framework == Trycmd.id());
    let mut folders: Vec<RelPath> =
        mine().filter(|pin| pin.file.name().ends_with(".toml")).map(|pin| pin.file.parent()).collect();
    folders.sort();
    folders.dedup();
    let mut found = Vec::new();
    for folder in &folders {
        for path in project.shelf.below(folder).filter(|path| path.parent() == *folder) {
            let Some((stem, "stdout" | "stderr" | "stdin")) = path.as_str().rsplit_once('.') else { continue };
            let read = RelPath::new(&format!("{stem}.toml")).is_some_and(|file| project.shelf.listed(&file));
            let reached =
                pins.iter().any(|pin| pin.oracle.path.as_ref() == Some(path) || pin.oracle.candidates.contains(path));
            if !read && !reached && !unread::mentioned(project, path) {
                let framework = Trycmd.id().to_string();
                found.push(Orphan { path: path.clone(), entry: None, line: 1, framework });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::oracles::origin::tests::check;
    use expect_test::expect;

    #[test]
    fn every_recorded_output_is_seen_where_it_stands() {
        check(
            "trycmd",
            r#"
//- tests/cli.rs
#[test]
fn cli() {
    let t = trycmd::TestCases::new();
    t.register_bin("x", "y").case("tests/cmd/*.toml").case("tests/cmd/*.trycmd");
    t.pass("README.md").skip("tests/cmd/not.trycmd");
    trybuild::TestCases::new().pass("tests/cmd/*.md");
}
//- README.md
Hello

```console
$ tool one
1
$ tool one
2
```
//- tests/cmd/a.toml
bin.name = "tool"
stderr = "oh\n"
//- tests/cmd/a.stdout
out
//- tests/cmd/a.out/file.txt
left
//- tests/cmd/none.toml
bin.name = "tool"
//- tests/cmd/old.stdout
gone
//- tests/cmd/not.trycmd
```
$ skipped
```
//- tests/cmd/b.trycmd
```
$ tool b
? failed
b
```
"#,
            expect![[r#"
                1 cli tests/cmd/a.stdout "out\n"
                1 cli tests/cmd/a.toml "oh\n"
                1 cli tests/cmd/a.out/file.txt "left\n"
                1 cli tests/cmd/none.stdout missing shown only
                1 cli tests/cmd/b.trycmd "b"
                1 cli README.md "1"
                1 cli README.md "2"
                orphan tests/cmd/old.stdout
            "#]],
        );
    }
}
