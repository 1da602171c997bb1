#!/usr/bin/env python3
"""How much of a real repository's recorded expectations the program finds: one row of tests/RECALL.md.

usage: recall.py PINDRIFT TRUTH.json REPOSITORY [--misses N] [--sample N]

REPOSITORY is a checkout at the commit that the truth names. The truth is made by other parsers than ours:
  sites    {kind: [{"at": "file:line", "end": last line, "test": bool, "in_macro_rules": bool}]}, the assertions of each kind
  mapping  [{"fw", "baseline", "entry", "test", "golden", "ambiguous"}], which test holds which baseline
  helpers  [{"file", "line"}], where a claim is also right
  confirmed_orphans  [{"baseline"}]
--sample N prints N rows of the report drawn at random, to be read by a person.
"""
import collections
import json
import random
import subprocess
import sys
import time

OURS = {"plain", "unittest", "golden-file", "digest"}  # rows that claim no framework
FRAMEWORK_SITES = {
    "insta", "expect_test", "expect_test_file", "snapbox_str", "snapbox_file", "trycmd_testcases", "trybuild_testcases", "syrupy",
    "assert_match", "regression", "approvaltests", "inline_snapshot", "snap_compare",
}
MOST_CANDIDATES = 20


def place(text):
    path, line = text.rsplit(":", 1)
    return path, int(line)


def function(test):
    """The test function's own name, of a node id or a Rust path; a test of each file ends with that file."""
    segments = test.split("::")
    if len(segments) > 2 and ("/" in segments[-1] or "." in segments[-1]) and not segments[0].endswith(".py"):
        test = segments[-2]
    return test.split(" (")[0].split("[")[0].replace("::", ".").split(".")[-1].strip()


def named(row):
    """The one test that the truth names for a baseline, if it does."""
    test = row["test"]
    return function(test) if "::" in test and not test.endswith("?") and not row.get("ambiguous") else None


def share(hits, known):
    return f"{hits}/{known} ({100 * hits / known:.1f} %)" if known else "–"


def main():
    arguments, options = [], {"--misses": 0, "--sample": 0}
    words = iter(sys.argv[1:])
    for word in words:
        if word in options:
            options[word] = int(next(words))
        else:
            arguments.append(word)
    if len(arguments) != 3:
        sys.exit(__doc__)
    program, truth, repository = arguments
    with open(truth, encoding="utf-8") as file:
        truth = json.load(file)
    started = time.monotonic()
    run = subprocess.run([program, "check", "--format", "json"], cwd=repository, capture_output=True, text=True)
    seconds = time.monotonic() - started
    report = json.loads(run.stdout)
    rows = report["assertions"]

    lines, holders = collections.defaultdict(set), collections.defaultdict(set)
    for row in rows:
        if row["framework"] not in OURS:
            lines[row["file"]].add(row["line"])
        oracle = row["oracle"]
        paths = {path for path in [oracle.get("path"), *(oracle.get("candidates") or [])] if path}
        if len(paths) <= MOST_CANDIDATES:
            for path in paths:
                holders[path, None].add(function(row.get("test") or ""))
                holders[path, oracle.get("entry")].add(function(row.get("test") or ""))

    misses = []
    true_lines = collections.defaultdict(set)
    counted = {"sites": [0, 0], "wrappers": [0, 0]}
    for kind, sites in truth.get("sites", {}).items():
        for site in sites:
            path, first = place(site["at"])
            span = range(first, int(site.get("end") or first) + 1)
            true_lines[path].update(span)
            what = "wrappers" if kind == "wrapper_macro" else "sites" if kind in FRAMEWORK_SITES else None
            if what is None or not site.get("test", True) or site.get("in_macro_rules"):
                continue
            hit = any(line in lines[path] for line in span)
            counted[what][0] += hit
            counted[what][1] += 1
            if not hit:
                misses.append(f"{what} {kind} {site['at']}")

    links = {"framework": [0, 0], "hand-rolled": [0, 0]}
    tests_of = collections.defaultdict(set)
    for row in truth.get("mapping", []):
        tests_of[row["baseline"]].add(named(row))
        if row.get("golden") is False:
            continue
        have = holders.get((row["baseline"], row.get("entry")))
        hit = have is not None and (named(row) is None or named(row) in have)
        sort = "hand-rolled" if row["fw"].startswith("hand-rolled") else "framework"
        links[sort][0] += hit
        links[sort][1] += 1
        if not hit:
            misses.append(f"link {row['fw']} {row['baseline']} {row.get('entry') or ''} <- {row['test']}; have {sorted(have or [])}")

    claims = [(path, test) for (path, entry), tests in holders.items() if entry is None for test in tests
              if path in tests_of and None not in tests_of[path]]
    right_claims = sum(test in tests_of[path] for path, test in claims)
    helpers = {(h["file"], h["line"]) for h in truth.get("helpers") or [] if isinstance(h, dict) and "line" in h}
    framework_rows = [(row["file"], row["line"]) for row in rows if row["framework"] not in OURS]
    right_rows = sum(line in true_lines[path] or (path, line) in helpers for path, line in framework_rows)
    misses += [f"link not in the truth {path} <- {test}" for path, test in claims if test not in tests_of[path]]
    misses += [f"row not in the truth {path}:{line}" for path, line in framework_rows
               if line not in true_lines[path] and (path, line) not in helpers]

    orphans = {finding.get("baseline") or finding["file"] for finding in report.get("findings", [])
               if finding["code"] == "orphan-baseline" and not finding.get("entry")}
    known = {orphan["baseline"] for orphan in truth.get("confirmed_orphans", [])}
    false = (orphans & set(tests_of)) - known

    print(" | ".join(["", truth["repo"], str(len(rows)), share(*counted["sites"]), share(*counted["wrappers"]), share(*links["framework"]),
                      share(*links["hand-rolled"]), share(right_rows, len(framework_rows)), share(right_claims, len(claims)),
                      share(len(orphans & known), len(known)), str(len(false)), str(report["summary"]["drifts"]), f"{seconds:.1f} s", ""]).strip())
    for miss in misses[: options["--misses"]]:
        print("  -", miss)
    for row in random.sample(rows, min(options["--sample"], len(rows))):
        oracle = row["oracle"]
        print("  ?", json.dumps({"at": f"{row['file']}:{row['line']}", "test": row["test"], "framework": row["framework"], "role": row["role"],
                                 "oracle": oracle.get("path"), "entry": oracle.get("entry"), "candidates": oracle.get("candidates"), "state": row["state"]}))


if __name__ == "__main__":
    main()
