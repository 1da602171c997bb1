use super::*;
use crate::fixture::Fixture;

fn root(fixture: &Fixture) -> Root {
    Root::of(fixture.path(), fixture.path()).unwrap()
}

fn path(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

#[test]
fn a_file_is_unmodified_by_its_content_and_not_by_its_time() {
    let fixture = Fixture::committed("//- tests/golden/a.txt\none\ntwo\n//- other.txt\nx\n");
    let root = root(&fixture);
    let git = Git::of(&root).unwrap();
    assert!(git.tracked_unmodified(&path("tests/golden/a.txt")));
    fixture.write("//- tests/golden/a.txt\none$CR\ntwo$CR\n");
    assert!(git.tracked_unmodified(&path("tests/golden/a.txt")), "a checkout with autocrlf");
    fixture.write("//- tests/golden/a.txt\none\n2\n//- new.txt\nx\n");
    assert!(!git.tracked_unmodified(&path("tests/golden/a.txt")));
    assert!(!git.tracked_unmodified(&path("new.txt")));
    assert!(!git.is_tracked(&path("new.txt")));
    fixture.git(&["add", "new.txt"]);
    let git = Git::of(&root).unwrap();
    assert!(git.is_tracked(&path("new.txt")));
    assert!(!git.tracked_unmodified(&path("new.txt")), "added is not committed");
}

#[test]
fn paths_count_from_the_root_and_not_from_the_top_of_the_work_tree() {
    let fixture = Fixture::committed(
        "//- sub/pindrift.toml\n//- sub/a.txt\nin\n//- a.txt\nout\n//- sub/b.log\n//- .gitignore\n*.tmp\n",
    );
    let inside = Root::of(&fixture.at("sub/a.txt"), fixture.path()).unwrap();
    let git = Git::of(&inside).unwrap();
    assert_eq!(git.blob("HEAD", &path("a.txt")).unwrap(), b"in\n");
    assert_eq!(
        git.head_tree().keys().map(|path| path.as_str()).collect::<Vec<_>>(),
        ["a.txt", "b.log", "pindrift.toml"]
    );
    assert!(git.tracked_unmodified(&path("a.txt")));
    assert_eq!(git.ignored(&[&path("x.tmp"), &path("a.txt")]), BTreeSet::from([path("x.tmp")]));
    fixture.write("//- sub/a.txt\nchanged\n");
    fixture.commit("second subject\n\nbody");
    let git = Git::of(&inside).unwrap();
    let commits = git.commits(&path("a.txt"), 20);
    assert_eq!(commits.iter().map(|commit| commit.subject.as_str()).collect::<Vec<_>>(), ["second subject", "first"]);
    assert_eq!(commits[0].author, "Test Person");
    assert!(commits[0].at.is_some());
}

#[test]
fn a_revision_that_is_not_here_says_what_to_fetch() {
    let fixture = Fixture::committed("//- a.txt\n1\n");
    fixture.git(&["branch", "base"]);
    fixture.write("//- a.txt\n2\n");
    fixture.commit("second");
    let git = Git::of(&root(&fixture)).unwrap();
    assert_eq!(git.merge_base("base").unwrap(), fixture.git(&["rev-parse", "base"]).trim());
    assert!(git.merge_base("nowhere").unwrap_err().0.contains("fetch-depth"));
    assert!(git.merge_base("--upload-pack=x").is_err());

    let clone = tempfile::tempdir().unwrap();
    let url = format!("file://{}", fixture.path().display());
    let to = clone.path().join("c");
    fixture.git(&["clone", "-q", "--depth", "1", &url, to.to_str().unwrap()]);
    let git = Git::of(&Root::of(&to, &to).unwrap()).unwrap();
    assert!(git.shallow());
    assert!(git.merge_base("base").unwrap_err().0.contains("fetch-depth: 0"));
}

/// Every place of a repository's configuration that names a program names one that leaves a mark.
#[test]
fn a_hostile_configuration_starts_no_program() {
    let fixture = Fixture::committed("//- a.txt\none\n//- b.bin\nx\n//- .gitattributes\n* filter=f diff=d\n");
    let mark = tempfile::tempdir().unwrap();
    let program = mark.path().join("program");
    let seen = mark.path().join("seen");
    std::fs::write(&program, format!("#!/bin/sh\necho \"$0 $@\" >> {}\ncat\n", seen.display())).unwrap();
    std::process::Command::new("chmod").arg("+x").arg(&program).status().unwrap();
    let program = program.to_str().unwrap();
    // The object that lacks is what a lazy fetch would get.
    let lacking = fixture.git(&["rev-parse", "HEAD:b.bin"]).trim().to_string();
    let config = std::fs::read_to_string(fixture.at(".git/config")).unwrap();
    std::fs::write(
        fixture.at(".git/config"),
        format!(
            "{config}\n[core]\n fsmonitor = {program}\n sshCommand = {program}\n hooksPath = {hooks}\n pager = {program}\n \
             editor = {program}\n gitProxy = {program}\n askPass = {program}\n repositoryformatversion = 1\n\
             [extensions]\n partialClone = origin\n\
             [remote \"origin\"]\n url = ssh://nowhere.invalid/x\n promisor = true\n partialclonefilter = blob:none\n\
             [gpg]\n program = {program}\n[log]\n showSignature = true\n\
             [filter \"f\"]\n clean = {program}\n smudge = {program}\n process = {program}\n required = true\n\
             [diff]\n external = {program}\n[diff \"d\"]\n textconv = {program}\n command = {program}\n\
             [alias]\n rev-parse = !{program}\n cat-file = !{program}\n[pager]\n ls-tree = {program}\n\
             [credential]\n helper = !{program}\n",
            hooks = mark.path().display(),
        ),
    )
    .unwrap();
    for hook in ["post-index-change", "reference-transaction", "fsmonitor-watchman"] {
        std::fs::copy(program, mark.path().join(hook)).unwrap();
    }
    std::fs::remove_file(fixture.at(&format!(".git/objects/{}/{}", &lacking[..2], &lacking[2..]))).unwrap();
    fixture.write("//- a.txt\nchanged\n");
    let root = root(&fixture);
    let git = Git::of(&root).unwrap();
    assert!(git.head().is_some());
    assert_eq!(git.blob("HEAD", &path("a.txt")).unwrap(), b"one\n");
    assert_eq!(git.blob("HEAD", &path("b.bin")), None, "fetched nothing");
    assert!(!git.tracked_unmodified(&path("a.txt")));
    assert!(git.is_tracked(&path("a.txt")));
    assert_eq!(git.commits(&path("a.txt"), 20).len(), 1);
    git.ignored(&[&path("a.txt")]);
    git.merge_base("HEAD").unwrap();
    git.shallow();
    author(Some(&git));
    assert!(!seen.exists(), "{}", std::fs::read_to_string(&seen).unwrap_or_default());
}

#[test]
fn a_folder_without_git_has_no_facts() {
    let bare = tempfile::tempdir().unwrap();
    let root = Root::of(bare.path(), bare.path()).unwrap();
    assert!(Git::of(&root).is_none());
}
