#!/usr/bin/env python3
"""A labelled corpus of drifts, made by mutating real baselines: the table of tests/DIFFERENCES.md.

usage: differences.py PINDRIFT REPOSITORY… [--seed N] [--wrong N]

Takes baselines (snapshots, golden files) of the repositories, changes each in ways whose kind is known by how the
change was made, and puts both texts into a scratch project that the program is called on. The kinds of the program
are held against those of the mutator, which knows nothing of how the program finds them. `--wrong N` prints N drifts
that were called something else.
"""
import argparse
import collections
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile

LARGEST = 40_000
MIXED = 0.2
FOLDERS = ("snapshots", "golden", "expected", "expectation", "baseline", "approved", "test", "tests")
ENDINGS = (".snap", ".ambr", ".json", ".yml", ".yaml", ".csv", ".xml", ".ttx", ".txt", ".toml", ".out", ".html", ".md", ".golden", ".rs")


def baselines(repository):
    """Texts of a repository that look recorded, by path."""
    for folder, folders, files in os.walk(repository):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in ("node_modules", "target"))
        parts = os.path.relpath(folder, repository).lower().split(os.sep)
        if not any(any(word in part for word in FOLDERS) for part in parts):
            continue
        for name in sorted(files):
            path = os.path.join(folder, name)
            if not name.endswith(ENDINGS) or os.path.islink(path) or not 40 < os.path.getsize(path) < LARGEST:
                continue
            try:
                text = open(path, encoding="utf-8", newline="").read()
            except UnicodeDecodeError:
                continue
            if text.startswith("---\n") and name.endswith(".snap"):
                text = text.split("\n---\n", 1)[-1].lstrip("\n")
            if len(text) > 30 and text.count("\n") > 1 and "\r" not in text and "\0" not in text:
                yield os.path.relpath(path, repository), text


# Mutations. Each takes a text and a source of chance and gives (before, after), or None where it does not apply. The
# text before may get a line more, as a harness writes one.

WORD = re.compile(r"(?<![\w.\-/#])[a-z]{4,12}(?![\w.\-/])")
NUMBER = re.compile(r"(?<![\w.:,/#+\-\[])\d{1,6}\.\d{1,4}(?![\w.:,/%\-])")
INTEGER = re.compile(r"(?<![\w.:,/#+\-'\"])[1-9]\d{0,4}(?![\w.:,/%\-'\"])")


def at(text, match, new):
    return text[: match.start()] + new + text[match.end() :]


def pick(pattern, text, chance):
    found = list(pattern.finditer(text))
    return chance.choice(found) if found else None


def word(text, chance):
    found = pick(WORD, text, chance)
    return found and (text, at(text, found, found.group()[::-1] + "q"))


def integer(text, chance):
    found = pick(INTEGER, text, chance)
    return found and (text, at(text, found, str(int(found.group()) + chance.choice([1, 2, 10]))))


def decimal(text, chance):
    found = pick(NUMBER, text, chance)
    if not found:
        return None
    decimals = len(found.group().split(".")[1])
    return text, at(text, found, f"{float(found.group()) + 10 ** -decimals:.{decimals}f}")


def sign(text, chance):
    found = pick(NUMBER, text, chance)
    return found and (text, at(text, found, "-" + found.group()))


def case(text, chance):
    found = pick(WORD, text, chance)
    return found and (text, at(text, found, found.group().upper()))


def gone(text, chance):
    lines = text.split("\n")
    full = [n for n, line in enumerate(lines) if line.strip()]
    if len(full) < 3:
        return None
    n = chance.choice(full)
    return text, "\n".join(lines[:n] + lines[n + 1 :])


def came(text, chance):
    lines = text.split("\n")
    n = chance.randrange(len(lines))
    return text, "\n".join(lines[:n] + [f"{lines[n]} and one more"] + lines[n:])


def doubled(text, chance):
    lines = text.split("\n")
    full = [n for n, line in enumerate(lines) if line.strip()]
    n = chance.choice(full)
    return text, "\n".join(lines[: n + 1] + lines[n:])


def boolean(text, chance):
    swap = {"true": "false", "false": "true", "True": "False", "False": "True", "null": "0", "None": "0"}
    found = pick(re.compile(r"(?<!\w)(?:true|false|True|False|null|None)(?!\w)"), text, chance)
    return found and (text, at(text, found, swap[found.group()]))


def nudged(text, chance):
    """A number moved by far more than rounding does, in its ninth digit."""
    found = pick(NUMBER, text, chance)
    if not found or float(found.group()) == 0:
        return None
    value = float(found.group())
    return at(text, found, repr(value * 1.000000001)), at(text, found, repr(value * 1.000000003))


def version(text, chance):
    line = f"engine 4.{chance.randrange(9)}."
    return inserted(text, line + "1", line + "2", chance)


def merged(text, chance):
    """Two things had ids of their own, and now share one."""
    a, b, c = (uuid(chance) for _ in range(3))
    before, after = f"owner {a}\nguest {b}", f"owner {c}\nguest {c}"
    return inserted(text, before, after, chance)


def split(text, chance):
    a, b, c = (uuid(chance) for _ in range(3))
    return inserted(text, f"owner {a}\nguest {a}", f"owner {b}\nguest {c}", chance)


def spaced(text, chance):
    """A blank within a line of prose is part of what is said."""
    found = pick(re.compile(r"(?<=[a-z]) (?=[a-z])"), text, chance)
    if not found or is_data(text):
        return None
    return text, at(text, found, "   ")


def is_data(text):
    return text.lstrip().startswith(("<", "{", "[", "#")) or re.search(r"^\s*-?\s*\w+:", text, re.M) is not None


def quoted(text, chance):
    """A number becomes a text that looks like it."""
    try:
        json.loads(text)
    except ValueError:
        return None
    found = pick(re.compile(r"(?<=: )\d+(?=[,\n}])"), text, chance)
    return found and (text, at(text, found, f'"{found.group()}"'))


def joined(text, chance):
    """Two items of a list become one decimal."""
    a, b = chance.randrange(1, 9), chance.randrange(1, 9)
    return inserted(text, f"ratio [{a},{b}]", f"ratio [{a}.{b}]", chance)


BEHAVIOUR = [word, integer, decimal, sign, case, gone, came, doubled, boolean, nudged, version, merged, split, spaced, quoted, joined]


def uuid(chance):
    digits = "".join(chance.choice("0123456789abcdef") for _ in range(32))
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def inserted(text, before, after, chance):
    lines = text.split("\n")
    n = chance.randrange(len(lines))
    both = ("\n".join(lines[:n] + new.split("\n") + lines[n:]) for new in (before, after))
    return tuple(both)


def hexed(chance, count):
    return "".join(chance.choice("0123456789abcdef") for _ in range(count))


def stamp(chance):
    return f"2026-0{chance.randrange(1, 9)}-1{chance.randrange(9)}T{chance.randrange(10, 23)}:{chance.randrange(10, 59)}:{chance.randrange(10, 59)}Z"


VOLATILE = {
    "time": lambda chance: f"generated at {stamp(chance)}",
    "clock": lambda chance: f"started {chance.randrange(10, 23)}:{chance.randrange(10, 59)}:{chance.randrange(10, 59)}.{chance.randrange(100, 999)}",
    "duration": lambda chance: f"finished in {chance.randrange(1, 90)}.{chance.randrange(10, 99)}s",
    "milliseconds": lambda chance: f"took {chance.randrange(11, 900)} ms",
    "uuid": lambda chance: f"request {uuid(chance)}",
    "address": lambda chance: f"<Order object at 0x7f{hexed(chance, 10)}>",
    "temporary path": lambda chance: f"written to /tmp/tmp{hexed(chance, 8)}/report.txt",
    "pytest path": lambda chance: f"cwd /tmp/pytest-of-ann/pytest-{chance.randrange(1, 99)}/test_report0/out",
}


def volatile(text, chance):
    made = VOLATILE[chance.choice(sorted(VOLATILE))]
    before, after = made(chance), made(chance)
    return None if before == after else inserted(text, before, after, chance)


def volatile_real(text, chance):
    """An id that the baseline has, everywhere another one."""
    found = pick(re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<=at )0x[0-9a-f]{9,16}"), text, chance)
    if not found:
        return None
    new = uuid(chance) if "-" in found.group() else "0x" + hexed(chance, len(found.group()) - 2)
    return text, text.replace(found.group(), new)


def swapped(text, chance):
    lines = text.split("\n")
    fit = [n for n in range(len(lines) - 2) if lines[n].strip() and lines[n + 1].strip() and lines[n] != lines[n + 1]]
    if not fit:
        return None
    n = chance.choice(fit)
    return text, "\n".join(lines[:n] + [lines[n + 1], lines[n]] + lines[n + 2 :])


def shuffled(text, chance):
    lines = text.rstrip("\n").split("\n")
    mixed = lines[:]
    chance.shuffle(mixed)
    tail = text[len(text.rstrip("\n")) :]
    return None if mixed == lines else (text, "\n".join(mixed) + tail)


def carriage(text, chance):
    return text, text.replace("\n", "\r\n")


def some_carriage(text, chance):
    lines = text.split("\n")
    chosen = [n for n in range(len(lines) - 1) if chance.random() < 0.4]
    for n in chosen:
        lines[n] += "\r"
    return None if not chosen else (text, "\n".join(lines))


def trailing(text, chance):
    lines = text.split("\n")
    full = [n for n, line in enumerate(lines[:-1]) if line.strip() and not line.endswith((" ", "\t"))]
    if not full:
        return None
    for n in chance.sample(full, min(len(full), chance.randrange(1, 4))):
        lines[n] += chance.choice([" ", "  ", "\t"])
    return text, "\n".join(lines)


def digits(text, chance):
    """A number of the baseline as a computation would give it, one or two steps away."""
    import math

    found = pick(NUMBER, text, chance)
    if not found or float(found.group()) == 0:
        return None
    value = float(found.group())
    near = math.nextafter(value, chance.choice([math.inf, -math.inf]))
    return text, at(text, found, repr(near))


def commas(text, chance):
    found = list(NUMBER.finditer(text))
    if not found or len(found) > 200:
        return None
    out, start = [], 0
    for match in found:
        out += [text[start : match.start()], match.group().replace(".", ",")]
        start = match.end()
    return text, "".join(out) + text[start:]


def dates(text, chance):
    day, month = chance.randrange(13, 29), chance.randrange(1, 10)
    return inserted(text, f"due {month:02}/{day}/2026", f"due {day}.{month:02}.2026", chance)


def thousands(text, chance):
    number = chance.randrange(1_000_000, 9_000_000) / 100
    before = f"sum {number:,.2f} EUR"
    return inserted(text, before, before.translate(str.maketrans(",.", ".,")), chance)


def indented(text, chance):
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if not isinstance(value, (dict, list)) or not value:
        return None
    now = json.dumps(value, indent=chance.choice([None, 1, 3, 8]), ensure_ascii=chance.random() < 0.5)
    return None if now.split() == text.split() and now == text else (text, now + "\n")


def deeper(text, chance):
    """Block YAML of maps and plain items with twice the indentation."""
    lines = text.split("\n")
    plain = re.compile(r"\s*[\w.]+:(?: [^|>&*'\"{\[#]*)?|\s*- [^:'\"{\[#|>&*]*|")
    if not re.search(r"^\w+:$", text, re.M) or not all(plain.fullmatch(line) for line in lines):
        return None
    wide = [(" " * (len(line) - len(line.lstrip(" ")))) + line for line in lines]
    return None if wide == lines else (text, "\n".join(wide))


def fields(text, chance):
    """Every field of a table in quotes."""
    lines = text.rstrip("\n").split("\n")
    counts = {line.count(",") for line in lines}
    if len(lines) < 2 or counts in ({0}, set()) or len(counts) != 1 or '"' in text or re.search(r"[{}\[\]()<>;=]", text):
        return None
    return text, "\n".join(",".join(f'"{field}"' for field in line.split(",")) for line in lines) + "\n"


def attributes(text, chance):
    """Other quotes around every attribute of XML."""
    if not text.lstrip().startswith("<?xml") or "'" in text or "&quot;" in text:
        return None
    now = re.sub(r'="([^"<>\']*)"', r"='\1'", text)
    return None if now == text else (text, now)


NOISE = {
    "ordering": [swapped, shuffled],
    "volatile": [volatile, volatile_real],
    "line-endings": [carriage, some_carriage],
    "trailing-space": [trailing],
    "float-digits": [digits],
    "locale": [commas, dates, thousands],
    "formatting": [indented, deeper, fields, attributes],
}

# Noise that stands in one place, so that a change of behaviour elsewhere is a place of its own.
LOCAL = [("ordering", swapped), ("volatile", volatile), ("trailing-space", trailing), ("float-digits", digits)]


def twice(first, second, text, chance):
    """Both mutations, of different lines; the text before has what both of them need."""
    one = first(text, chance)
    two = one and second(one[1], chance)
    if not two:
        return None
    # The second one is to leave the lines of the first alone.
    if set(two[0].split("\n")) - set(two[1].split("\n")) - set(one[0].split("\n")):
        return None
    # What the second one put into its text before belongs into that of the first, too.
    if two[0] != one[1]:
        return None
    return one[0], two[1]


def corpus(repositories, seed):
    """(label, mutation, before, after, from where), the same for the same seed."""
    chance = random.Random(seed)
    found = []
    for repository in repositories:
        name = os.path.basename(os.path.normpath(repository))
        texts = list(baselines(repository))
        chance.shuffle(texts)
        wanted = [("behaviour", mutate) for mutate in BEHAVIOUR for _ in range(2)]
        wanted += [(kind, mutate) for kind, mutations in NOISE.items() for mutate in mutations for _ in range(3)]
        wanted += [(f"behaviour+{kind}", (mutate, other)) for kind, other in LOCAL for mutate in (word, integer, came, gone, decimal)]
        for label, mutate in wanted:
            for path, text in texts:
                if isinstance(mutate, tuple):
                    # The noise first: what it adds to the text before is there for the other one.
                    made = twice(mutate[1], mutate[0], text, chance)
                    title = f"{mutate[0].__name__} and {mutate[1].__name__}"
                else:
                    made, title = mutate(text, chance), mutate.__name__
                if made and made[0] != made[1]:
                    found.append((label, title, *made, f"{name}/{path}"))
                    texts.remove((path, text))
                    texts.append((path, text))
                    break
    return found


def project(folder, drifts):
    def write(path, text):
        path = os.path.join(folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)

    write("pindrift.toml", "")
    names = []
    for n, (_, _, before, after, _) in enumerate(drifts):
        name = f"case{n:04}.txt"
        names.append(name)
        write(f"tests/golden/{name}", before)
        write(f"tests/actual/{name}", after)
    write(
        "tests/test_corpus.py",
        '"""Characterization tests of what was recorded."""\n'
        "from pathlib import Path\n\nimport pytest\n\nHERE = Path(__file__).parent\n"
        f"NAMES = {json.dumps(names)}\n\n\n"
        "def same(name):\n"
        "    data = make(name)\n"
        "    (HERE / 'actual' / name).write_bytes(data)\n"
        "    assert data == (HERE / 'golden' / name).read_bytes()\n\n\n"
        "@pytest.mark.parametrize('name', NAMES)\ndef test_corpus(name):\n    same(name)\n",
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("repositories", nargs="+")
    parser.add_argument("--seed", type=int, default=20260828)
    parser.add_argument("--wrong", type=int, default=0)
    options = parser.parse_args()
    drifts = corpus(options.repositories, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        project(folder, drifts)
        out = subprocess.run([os.path.abspath(options.program), "check", "--format", "json"], cwd=folder, capture_output=True, text=True)
        rows = json.loads(out.stdout)["assertions"]
    said = {row["oracle"]["path"]: row["difference"] for row in rows if row["oracle"]["path"]}
    table = collections.defaultdict(collections.Counter)
    wrong, silent, loud, noise, mixed = [], 0, 0, 0, 0
    for n, drift in enumerate(drifts):
        label, title, before, after, source = drift
        kind = said.get(f"tests/golden/case{n:04}.txt") or "not seen"
        true = "behaviour and noise" if "+" in label else label
        table[true][kind] += 1
        is_behaviour = label.startswith("behaviour")
        mixed += "+" in label
        noise += not is_behaviour
        right = kind == "behaviour" if is_behaviour else kind == label
        silent += is_behaviour and "behaviour" not in kind.split("+")
        loud += not is_behaviour and "behaviour" in kind.split("+")
        if not right:
            wrong.append((kind, *drift))
    kinds = sorted({kind for row in table.values() for kind in row})
    print("| made as | " + " | ".join(f"called {kind}" for kind in kinds) + " |")
    print("| --- |" + " ---: |" * len(kinds))
    for true in sorted(table):
        print(f"| {true} | " + " | ".join(str(table[true][kind] or "") for kind in kinds) + " |")
    print()
    print(f"{len(drifts)} drifts, {mixed} of them mixed ({mixed / len(drifts):.0%}).")
    print(f"Behaviour called anything else: {silent}. Noise called behaviour: {loud} of {noise} ({loud / noise:.1%}).")
    for kind, label, title, before, after, source in wrong[: options.wrong]:
        print(f"\n--- {label} ({title}) called {kind}: {source}")
        import difflib

        for line in list(difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=1))[2:14]:
            print("   ", repr(line[:150]))
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main())
