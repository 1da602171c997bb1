//! goldenfile 1.0 to 1.11: `Mint::new("dir")`, `mint.new_goldenfile("name")`. Takes a site, gives the file in the
//! mint's folder, from the working folder; texts and the endings that the crate compares as bytes. Never
//! compares, never writes.

use super::golden::{self, unread};
use super::insta::blank_pin;
use super::origin::comes_from;
use super::{Amended, Artefact, Baseline, Content, Framework, Orphan, Pin, Refusal, Step, seen};
use crate::code::ExprKind;
use crate::evaluate::{self, Value, World};
use crate::pins::{Project, Site};

pub struct Goldenfile;

/// Endings of files that are compared as bytes (`get_differ_for_path`).
const BINARY: [&str; 6] = ["bin", "exe", "gz", "pcap", "tar", "zip"];

impl Framework for Goldenfile {
    fn id(&self) -> &'static str {
        "goldenfile"
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        let Some(mut blank) = blank_pin(project, site) else { return Vec::new() };
        blank.framework = self.id().to_string();
        let mut pins = seen::files(project, site, &blank, &[], |world| place(project, site, world));
        for pin in &mut pins {
            let ending = pin.oracle.path.as_ref().and_then(|path| path.name().rsplit_once('.'));
            if ending.is_some_and(|(_, ending)| BINARY.contains(&ending)) {
                pin.oracle.steps = vec![Step::Bytes];
            }
        }
        pins
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        golden::baseline(pin, project)
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        artefact: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        golden::amend(pin, observed, artefact, project)
    }

    fn orphans(&self, pins: &[Pin], project: &Project) -> Vec<Orphan> {
        unread::beside(pins, project, self.id())
    }
}

/// The mint's folder and the name; `None` where the receiver is no mint.
fn place(project: &Project, site: &Site, world: &World) -> Option<Value> {
    let ExprKind::Call { callee, args } = &seen::call_at(project, site)?.kind else { return None };
    let ExprKind::Attr(base, _) = &callee.kind else { return None };
    let last = site.frames.len() - 1;
    let (mint, frame) = seen::receiver(project, site, world, last, base);
    let ExprKind::Call { callee, args: made } = &mint.kind else { return None };
    let dotted = callee.dotted()?;
    let (owner, function) = dotted.rsplit_once('.')?;
    let unit = project.unit(&site.frames.get(frame)?.file)?;
    if !matches!(function, "new" | "new_nonempty")
        || owner.rsplit('.').next() != Some("Mint")
        || !comes_from(project, unit, owner, mint.span, "goldenfile")
    {
        return None;
    }
    let folder = world.value(project, site, frame, &made.first()?.value);
    let folder = world.file(project, site, frame, folder);
    let name = world.value(project, site, last, &args.first()?.value);
    match folder {
        Value::Path(folder) => Some(evaluate::below(folder.as_str(), &name, "")),
        _ => Some(Value::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use crate::oracles::origin::tests::check;
    use expect_test::expect;

    #[test]
    fn a_file_lies_in_the_folder_of_its_mint() {
        check(
            "goldenfile",
            r#"
//- tests/it.rs
use goldenfile::Mint;
const DIR: &str = "tests/golden";
#[test]
fn files() {
    let mut mint = Mint::new(DIR);
    let mut one = mint.new_goldenfile("one.txt").unwrap();
    for name in ["a", "b"] {
        let path = mint.new_goldenpath(format!("deep/{name}.bin")).unwrap();
    }
    other.new_goldenfile("not.txt");
    Mint::new(std::path::Path::new("tests")).new_goldenfile("two.txt").unwrap();
}
//- tests/golden/one.txt
1
//- tests/golden/gone.txt
2
"#,
            expect![[r#"
                6 it::files tests/golden/one.txt "1\n"
                8 it::files tests/golden/deep/a.bin missing
                8 it::files tests/golden/deep/b.bin missing
                11 it::files tests/two.txt missing
                orphan tests/golden/gone.txt
            "#]],
        );
    }
}
