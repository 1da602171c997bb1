use expect_test::{Expect, expect};

use super::*;
use crate::fixture::Fixture;
use crate::pins::Extent;
use crate::places::Root;
use crate::shelf::Shelf;
use crate::survey;
use crate::vocabulary::Vocabulary;

fn project(fixture: &Fixture) -> Project {
    let root = Root::of(fixture.path(), fixture.path()).unwrap();
    let shelf = Shelf::new(root.clone());
    Project::read(root, Default::default(), shelf, &Vocabulary::built_in(), &|_, _| {}, &|| false).unwrap()
}

fn check(notation: &str, expect: Expect) {
    let fixture = Fixture::new(notation);
    let project = project(&fixture);
    let pins = survey::pins(&project, &Extent::All);
    let mut shown = String::new();
    for pin in pins.iter().filter(|pin| pin.framework == ID) {
        let path = pin.oracle.path.as_ref().map_or("?".to_string(), RelPath::to_string);
        let candidates: Vec<_> = pin.oracle.candidates.iter().map(RelPath::as_str).collect();
        shown.push_str(&format!("{} {} {path}", pin.test, pin.oracle.kind.word()));
        if !candidates.is_empty() {
            shown.push_str(&format!(" {candidates:?}"));
        }
        match ApprovalTests.baseline(pin, &project) {
            Baseline::Present(recorded) => shown.push_str(&format!(" = {:?}", recorded.content)),
            Baseline::Missing => shown.push_str(" missing"),
            Baseline::Unreadable(why) => shown.push_str(&format!(" unreadable: {why}")),
        }
        shown.push('\n');
    }
    for orphan in ApprovalTests.orphans(&pins, &project) {
        shown.push_str(&format!("orphan {}\n", orphan.path));
    }
    expect.assert_eq(&shown);
}

#[test]
fn the_approved_file_is_named_as_the_library_names_it() {
    check(
        "//- tests/test_bill.py
import pytest
import approvaltests
from approvaltests import Options, verify, verify_as_json, approvals
from approvaltests.namer import NamerFactory
from approvaltests.approvals import verify_binary, get_scenario_namer

CSV = Options().for_file.with_extension('csv')

def shown(value, **kw):
    verify(value)

def test_plain():
    verify(run())

def test_json():
    approvals.verify_as_json({}, options=Options().with_reporter(R()))

def test_csv():
    approvaltests.verify(run(), options=CSV)

def test_helper():
    shown(run())

@pytest.mark.parametrize('band, n', [('a/b', 1), ('c', 2)])
def test_par(band, n):
    verify(run(), options=NamerFactory.with_parameters(band, n).for_file.with_extension('.txt'))

@pytest.mark.parametrize('x', [1.50, True])
def test_scenario(x):
    verify(run(), options=Options().with_namer(get_scenario_namer(x)))

def test_binary():
    verify_binary(b'', '.bin')

def test_unknown():
    verify(run(), options=NamerFactory.with_parameters(run()))

def test_inline():
    '''
    hello
      world
    '''
    verify(run(), options=Options().inline())

class TestBill:
    def test_due(self):
        verify(1)

def test_other():
    other.verify(1)
//- tests/test_bill.test_plain.approved.txt
one$CR
two
//- tests/test_bill.test_json.approved.json
//- tests/test_bill.test_unknown.x.approved.txt
x
",
        expect![[r#"
            tests/test_bill.py::test_plain file tests/test_bill.test_plain.approved.txt = Text("one\ntwo\n")
            tests/test_bill.py::test_json file tests/test_bill.test_json.approved.json missing
            tests/test_bill.py::test_csv file tests/test_bill.test_csv.approved.csv missing
            tests/test_bill.py::test_helper file tests/test_bill.test_helper.approved.txt missing
            tests/test_bill.py::test_par[a/b-1] file tests/test_bill.test_par.a/b.1.approved.txt missing
            tests/test_bill.py::test_par[c-2] file tests/test_bill.test_par.c.2.approved.txt missing
            tests/test_bill.py::test_scenario[1.5] file tests/test_bill.test_scenario.1.5.approved.txt missing
            tests/test_bill.py::test_scenario[True] file tests/test_bill.test_scenario.True.approved.txt missing
            tests/test_bill.py::test_binary file tests/test_bill.test_binary.approved.bin missing
            tests/test_bill.py::test_unknown file ? ["tests/test_bill.test_unknown.x.approved.txt"] missing
            tests/test_bill.py::test_inline inline tests/test_bill.py = Text("hello\n  world\n")
            tests/test_bill.py::TestBill::test_due file tests/TestBill.test_due.approved.txt missing
        "#]],
    );
}

const ORPHANED: &str = "//- tests/test_bill.test_gone.approved.txt
a
//- tests/test_bill.test_band.zero.approved.txt
b
//- tests/test_bill.test_band.std.approved.txt
c
//- tests/test_bill.test_band.std.approved.json
c
//- tests/test_bill.test_gone.approved.txt.bak
a
//- tests/Unrelated.approved.txt
d
//- other/test_bill.test_gone.approved.txt
e
";

#[test]
fn what_no_test_reaches_is_an_orphan() {
    check(
        &format!(
            "//- tests/test_bill.py
import pytest
from approvaltests import verify
from approvaltests.namer import NamerFactory

@pytest.mark.parametrize('band', ['std'])
def test_band(band):
    verify(1, options=NamerFactory.with_parameters(band))
{ORPHANED}"
        ),
        expect![[r#"
            tests/test_bill.py::test_band[std] file tests/test_bill.test_band.std.approved.txt = Text("c\n")
            orphan tests/test_bill.test_band.zero.approved.txt
            orphan tests/test_bill.test_gone.approved.txt
        "#]],
    );
}

#[test]
fn nothing_is_an_orphan_while_a_name_is_open() {
    for open in [
        "verify(1, options=make_options())",
        "verify(1, options=NamerFactory.with_parameters(run()))\n\ndef test_gone():\n    hidden()",
        "verify(1)\n\nbroken(1 2",
    ] {
        let fixture = Fixture::new(&format!(
            "//- tests/test_bill.py\nfrom approvaltests import verify\nfrom approvaltests.namer import NamerFactory\n\n\
             def test_band():\n    {open}\n{ORPHANED}"
        ));
        let project = project(&fixture);
        let pins = survey::pins(&project, &Extent::All);
        let orphans = ApprovalTests.orphans(&pins, &project);
        assert_eq!(orphans, [], "{open}");
    }
}

#[test]
fn an_accepted_file_is_the_received_one_byte_for_byte() {
    let fixture = Fixture::new(
        "//- tests/test_bill.py\nfrom approvaltests import verify\n\ndef test_a():\n    verify(1)\n\
         //- tests/test_bill.test_a.approved.txt\nold\n//- tests/test_bill.test_a.received.txt\nnew$CR\nline\n",
    );
    let project = project(&fixture);
    let pins = survey::pins(&project, &Extent::All);
    let artefacts = ApprovalTests.artefacts(&pins[0], &project);
    let content = artefacts[0].content.clone().unwrap();
    assert_eq!(content, Content::Text("new\nline\n".into()));
    let amended = ApprovalTests.amend(&pins[0], &content, Some(&artefacts[0]), &project).unwrap();
    assert_eq!(amended.oracle[0].path.as_str(), "tests/test_bill.test_a.approved.txt");
    assert_eq!(amended.oracle[0].after.as_deref(), Some(&b"new\r\nline\n"[..]));
    assert_eq!(amended.oracle[0].before, Some(digest_of(&[b"old\n"])));
    assert_eq!(
        (amended.artefacts[0].path.as_str(), &amended.artefacts[0].after),
        ("tests/test_bill.test_a.received.txt", &None)
    );
    fixture.write("//- tests/test_bill.test_a.received.txt\nnewer\n");
    let refused = ApprovalTests.amend(&pins[0], &content, Some(&artefacts[0]), &project).unwrap_err();
    assert!(refused.0.contains("no longer what was shown"), "{refused}");
}

#[test]
fn a_call_that_is_to_fail_and_a_value_with_its_own_extension() {
    check(
        "//- tests/test_bill.py
import pytest
from approvaltests import verify, verify_file
from approvaltests.utilities.logging.logging_approvals import verify_logging

def test_raises():
    with pytest.raises(ValueError):
        verify(run())

def test_table():
    verify(MarkdownTable())

def test_log():
    with verify_logging():
        run()

def test_file():
    verify_file(somewhere())

def unreached(value):
    verify(value)
//- tests/test_bill.test_table.approved.md
| a |
//- tests/test_bill.test_file.approved.xml
<a/>
//- app.py
from approvaltests import verify

def tool():
    verify(1)
",
        expect![[r#"
            tests/test_bill.py::test_raises file ? missing
            tests/test_bill.py::test_table file tests/test_bill.test_table.approved.md = Text("| a |\n")
            tests/test_bill.py::test_log file tests/test_bill.test_log.approved.txt missing
            tests/test_bill.py::test_file file tests/test_bill.test_file.approved.xml = Text("<a/>\n")
            tests/test_bill.py::unreached file ? missing
        "#]],
    );
}

#[test]
fn namers_that_make_the_whole_path() {
    check(
        r#"
//- tests/approvaltests_config.json
{"subdirectory": "kept"}
//- tests/test_namers.py
from approvaltests import Options, StringWriter, get_default_namer, verify, verify_as_json
from approvaltests.file_approver import FileApprover
from approvaltests.integrations.pytest.py_test_namer import PyTestNamer
from approvaltests.namer import NamerFactory
from approvaltests.namer.templated_custom_namer import TemplatedCustomNamer

TEMPLATE = "{test_source_directory}/{approvals_subdirectory}/{approved_or_received}/{test_file_name}.{test_case_name}.{file_extension}"

def test_template():
    verify_as_json(1, options=Options().with_namer(TemplatedCustomNamer(TEMPLATE)))

def test_absolute():
    verify(1, options=Options().with_namer(TemplatedCustomNamer("/elsewhere/{test_case_name}.txt")))

def test_by_pytest(request):
    namer = PyTestNamer(request)
    assert namer.get_received_filename()
    verify(1, namer=namer)

def test_changed():
    namer = TemplatedCustomNamer(TEMPLATE)
    namer.set_extension(".md")
    verify(1, options=Options().with_namer(namer))

def test_on_servers():
    verify(1, options=NamerFactory.as_ci_specific_test())

def test_by_hand():
    writer = StringWriter("b")
    error = FileApprover.verify(get_default_namer(), writer, None, Options().comparator)
    assert error is None
//- tests/kept/approved/test_namers.test_template.json
1
//- tests/test_namers.test_by_pytest.approved.txt
1
//- tests/kept/test_namers.test_template.approved.json
from the time before the template
//- tests/kept/test_namers.test_on_servers.approved.txt
1
//- tests/kept/test_namers.test_on_servers.ci.approved.txt
1
//- tests/kept/test_namers.test_by_hand.approved.txt
1
"#,
        expect![[r#"
            tests/test_namers.py::test_template file tests/kept/approved/test_namers.test_template.json = Text("1\n")
            tests/test_namers.py::test_absolute file ? missing
            tests/test_namers.py::test_by_pytest file tests/test_namers.test_by_pytest.approved.txt = Text("1\n")
            tests/test_namers.py::test_changed file ? missing
            tests/test_namers.py::test_on_servers file ? ["tests/kept/test_namers.test_on_servers.approved.txt", "tests/kept/test_namers.test_on_servers.ci.approved.txt"] missing
            tests/test_namers.py::test_by_hand file ? ["tests/kept/test_namers.test_by_hand.approved.txt"] missing
        "#]],
    );
}

#[test]
fn a_file_that_need_not_be_there_hides_no_orphan() {
    check(
        r#"
//- tests/test_a.py
import pytest
from approvaltests import verify

def test_raises():
    with pytest.raises(ValueError):
        verify(object())

def test_a():
    verify(1)
//- tests/test_a.test_a.approved.txt
1
//- tests/test_a.test_gone.approved.txt
1
"#,
        expect![[r#"
            tests/test_a.py::test_raises file ? missing
            tests/test_a.py::test_a file tests/test_a.test_a.approved.txt = Text("1\n")
            orphan tests/test_a.test_gone.approved.txt
        "#]],
    );
}
