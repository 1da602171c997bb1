"""Records what tests compare, for Pindrift. Handed to pytest with `-p pindrift_observe`.

Takes the plan that `PINDRIFT_PLAN` names (a JSON file): the root, the lines on which a recorded value is
compared, the baselines, the modules whose asserts are to be seen. Gives JSON lines in the plan's folder `out`,
one file for each process. Changes nothing of the project: switches that would rewrite baselines are turned
off, and rewritten bytecode is cached in a folder of its own. Works with Python 3.8 and pytest 6 or later.
"""
import base64
import functools
import hashlib
import importlib.abc
import inspect
import json
import os
import re
import sys
import tempfile

import pytest

# Tracebacks leave out the frames of this module.
__unittest = True

with open(os.environ["PINDRIFT_PLAN"], encoding="utf-8") as _file:
    PLAN = json.load(_file)
ROOT = PLAN["root"]
BELOW = ROOT.rstrip(os.sep) + os.sep
PLACES = {file: [tuple(lines) for lines in all_lines] for file, all_lines in PLAN["places"].items()}
BASELINES = {os.path.join(ROOT, path) for path in PLAN["baselines"]}
NAMES = {os.path.basename(path) for path in BASELINES}
PID = os.getpid()
LONGEST = 4 << 20
LONG = 2048
MOST_FRAMES = 400
DEEPEST = 60
WRITING = re.compile(r"[wax+]")


# --- The record of this process -----------------------------------------------------------------------------


class Record:
    """Lines that wait for the end of their test, and the test that runs."""

    def __init__(self):
        self.lines = []
        self.size = 0
        self.item = None
        self.opened = []
        self.depth = 0
        self.compared = False
        self.checks = 0
        self.fd = None

    def add(self, line):
        if os.getpid() != PID:
            return
        try:
            text = json.dumps(line, ensure_ascii=True) + "\n"
        except Exception:
            return
        self.lines.append(text)
        self.size += len(text)
        if self.size > 1 << 20:
            self.flush()

    def flush(self):
        if not self.lines or os.getpid() != PID:
            return
        if self.fd is None:
            worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
            path = os.path.join(PLAN["out"], "%s-%d.jsonl" % (worker, PID))
            self.fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        data = "".join(self.lines).encode("ascii")
        self.lines, self.size = [], 0
        while data:
            data = data[os.write(self.fd, data):]


RECORD = Record()


@functools.lru_cache(maxsize=None)
def user_file(name):
    """Path from the root of a source of the project; None for all others."""
    if not name or name.startswith("<"):
        return None
    path = os.path.realpath(name) if os.path.isabs(name) else os.path.realpath(os.path.join(os.getcwd(), name))
    if not path.startswith(BELOW):
        return None
    rest = path[len(BELOW):]
    parts = rest.split(os.sep)
    if "site-packages" in parts or "dist-packages" in parts or parts[0] in (".venv", "venv", ".tox", ".nox"):
        return None
    return "/".join(parts)


def stack(frame):
    """Places of the project's own frames, innermost first."""
    found = []
    for _ in range(MOST_FRAMES):
        if frame is None:
            break
        file = user_file(frame.f_code.co_filename)
        if file is not None:
            found.append([file, frame.f_lineno])
        frame = frame.f_back
    return found


def known_place(frame):
    """The stack, if its innermost frame compares with something recorded."""
    for _ in range(MOST_FRAMES):
        if frame is None:
            return None
        file = user_file(frame.f_code.co_filename)
        if file is not None:
            line = frame.f_lineno
            for first, last in PLACES.get(file, ()):
                if first <= line <= last:
                    return stack(frame)
            return None
        frame = frame.f_back
    return None


# --- Values -------------------------------------------------------------------------------------------------


def digest(tag, data):
    return "sha256:" + HASHES["sha256"](tag + data).hexdigest()


def value(it, short):
    """A value as it is compared; `short`: of a long one only its digest."""
    it = expected_of(it)
    if isinstance(it, str):
        text = str.__str__(it) if type(it) is str else str.__getitem__(it, slice(None))
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError:
            return {"r": ascii(text)}
        out = {"h": digest(b"text\0", data)} if (short and len(data) > LONG) or len(data) > LONGEST else {"s": text}
        behind = PREIMAGES.get(text.strip().lower()) if len(text) < 300 else None
        if behind is not None:
            out["p"] = base64.b64encode(behind).decode("ascii")
        return out
    if isinstance(it, (bytes, bytearray)):
        data = bytes(it)
        if (short and len(data) > LONG) or len(data) > LONGEST:
            return {"h": digest(b"bytes\0", data)}
        return {"b": base64.b64encode(data).decode("ascii")}
    try:
        source = literal(it, 0, set())
    except Exception:
        return {}
    if len(source) > LONGEST:
        return {}
    try:
        source.encode("utf-8")
    except UnicodeEncodeError:
        source = source.encode("utf-8", "backslashreplace").decode("utf-8")
    return {"r": source}


def expected_of(it):
    """What `approx` was given."""
    if type(it).__module__ == "_pytest.python_api" or type(it).__name__.startswith("Approx"):
        return getattr(it, "expected", it)
    return it


NUMBERS = ((bool, bool.__repr__), (int, int.__repr__), (complex, complex.__repr__))
PLAIN = {"decimal": {"Decimal"}, "fractions": {"Fraction"}, "uuid": {"UUID"},
         "datetime": {"datetime", "date", "time", "timedelta", "timezone"}}


def literal(it, depth, above):
    """Source of a literal that is equal to the value, else its repr."""
    if it is None or it is Ellipsis:
        return repr(it)
    if isinstance(it, str):
        return str.__repr__(it)
    if isinstance(it, (bytes, bytearray)):
        return repr(bytes(it))
    for kind, show in NUMBERS:
        if isinstance(it, kind):
            return show(it)
    if isinstance(it, float):
        text = float.__repr__(it)
        return "float(%r)" % text if text in ("inf", "-inf", "nan") else text
    if isinstance(it, (list, tuple, set, frozenset, dict)):
        if depth > DEEPEST or id(it) in above:
            return repr(it)
        above = above | {id(it)}
        if isinstance(it, dict):
            parts = ["%s: %s" % (literal(key, depth + 1, above), literal(item, depth + 1, above))
                     for key, item in dict.items(it)]
            return "{" + ", ".join(parts) + "}"
        parts = [literal(part, depth + 1, above) for part in it]
        if isinstance(it, list):
            return "[" + ", ".join(parts) + "]"
        if isinstance(it, tuple):
            return "(" + ", ".join(parts) + ("," if len(parts) == 1 else "") + ")"
        inner = "{" + ", ".join(sorted(parts)) + "}" if parts else ""
        return ("frozenset(%s)" if isinstance(it, frozenset) else "%s" if parts else "set(%s)") % inner
    module, name = type(it).__module__, type(it).__name__
    if name in PLAIN.get(module, ()):
        return repr(it)
    if module.split(".")[0] == "pathlib" and hasattr(it, "__fspath__"):
        return "%s(%r)" % ("PurePath" if name.startswith("Pure") else "Path", os.fspath(it))
    if module == "numpy" and getattr(it, "shape", None) == () and hasattr(it, "item"):
        return literal(it.item(), depth + 1, above)
    return repr(it)


# --- Texts behind digests -----------------------------------------------------------------------------------

HASHES = {name: getattr(hashlib, name) for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b",
                                                     "blake2s", "sha3_256", "sha3_512")}
PREIMAGES = {}
KEPT = [0]


def keep(hexdigest, data):
    if len(data) > LONGEST or hexdigest in PREIMAGES:
        return
    PREIMAGES[hexdigest] = bytes(data)
    KEPT[0] += len(data)
    while KEPT[0] > 64 << 20:
        first = next(iter(PREIMAGES))
        KEPT[0] -= len(PREIMAGES.pop(first))


class Hash:
    """A hash object that remembers what it was fed."""

    __slots__ = ("_hash", "_data")

    def __init__(self, inner, data):
        self._hash, self._data = inner, data

    def update(self, data, *more):
        self._hash.update(data, *more)
        if self._data is not None:
            self._data += bytes(data)
            if len(self._data) > LONGEST:
                self._data = None

    def hexdigest(self, *args):
        text = self._hash.hexdigest(*args)
        if self._data is not None and os.getpid() == PID:
            keep(text, self._data)
        return text

    def digest(self, *args):
        raw = self._hash.digest(*args)
        if self._data is not None and os.getpid() == PID:
            keep(raw.hex(), self._data)
        return raw

    def copy(self):
        return Hash(self._hash.copy(), None if self._data is None else bytearray(self._data))

    def __getattr__(self, name):
        return getattr(self._hash, name)


def remembering(make, at):
    @functools.wraps(make)
    def made(*args, **kwargs):
        inner = make(*args, **kwargs)
        if user_file(sys._getframe(1).f_code.co_filename) is None:
            return inner
        data = args[at] if len(args) > at else kwargs.get("data", kwargs.get("string", b""))
        try:
            return Hash(inner, bytearray(data or b""))
        except TypeError:
            return inner

    return made


for _name, _make in HASHES.items():
    setattr(hashlib, _name, remembering(_make, 0))
hashlib.new = remembering(hashlib.new, 1)


# --- Files ---------------------------------------------------------------------------------------------------


def baseline_path(path):
    try:
        path = os.fsdecode(path)
    except TypeError:
        return None
    if os.path.basename(path) not in NAMES:
        return None
    path = os.path.abspath(path)
    if path not in BASELINES:
        path = os.path.realpath(path)
    return path[len(BELOW):].replace(os.sep, "/") if path in BASELINES else None


def audit(event, args):
    if event == "open":
        path, mode, flags = args
    elif event == "os.rename":
        path, mode, flags = args[1], "w", 0
    elif event == "os.remove":
        path, mode, flags = args[0], "w", 0
    else:
        return
    if isinstance(path, int) or RECORD.item is None or os.getpid() != PID:
        return
    try:
        found = baseline_path(path)
    except Exception:
        return
    if found is None:
        return
    writes = WRITING.search(mode) if isinstance(mode, str) else (flags or 0) & (os.O_WRONLY | os.O_RDWR)
    if writes:
        RECORD.add({"k": "write", "path": found, "at": stack(sys._getframe(1))})
    else:
        RECORD.opened.append(found)
        del RECORD.opened[:-50]


sys.addaudithook(audit)


def content(path):
    try:
        if os.path.getsize(path) > LONGEST:
            return None
        with open(path, "rb") as file:
            return base64.b64encode(file.read()).decode("ascii")
    except OSError:
        return None


def from_root(path):
    path = os.path.realpath(os.fsdecode(path))
    return path[len(BELOW):].replace(os.sep, "/") if path.startswith(BELOW) else None


def compared_files(frame, one, other, equal):
    """Two files were held against each other; one of them may be a baseline."""
    if RECORD.item is None:
        return
    for baseline, observed in ((other, one), (one, other)):
        path = from_root(baseline)
        if path is not None and os.path.join(ROOT, path) in BASELINES:
            RECORD.compared = True
            RECORD.add({"k": "file", "path": path, "ok": bool(equal), "b": None if equal else content(observed),
                        "at": stack(frame)})


# --- Comparisons ---------------------------------------------------------------------------------------------


def compared(frame, op, left, right, equal):
    if RECORD.item is None:
        return
    RECORD.compared = True
    at = known_place(frame)
    if at is None:
        return
    line = {"k": "cmp", "op": op, "ok": bool(equal), "l": value(left, equal), "r": value(right, equal), "at": at}
    if RECORD.opened:
        line["o"] = RECORD.opened[-5:]
    RECORD.add(line)


def asserting(frame):
    """The frame of an assert, behind those of the runner; None for an assert of a library, plugins have theirs
    rewritten too."""
    for _ in range(MOST_FRAMES):
        if frame is None:
            return None
        if frame.f_globals.get("__name__", "").split(".")[0] not in ("pluggy", "_pytest", __name__):
            return frame if user_file(frame.f_code.co_filename) is not None else None
        frame = frame.f_back
    return None


def see_asserts():
    """Every comparison of a rewritten assert, those that hold too, without the text that explains them."""
    from _pytest.assertion import rewrite

    explain = getattr(rewrite, "_call_reprcompare", None)
    if explain is None:
        return False

    def seen(ops, results, expls, each_obj):
        try:
            at, equal = len(ops) - 1, True
            for nth, result in enumerate(results):
                try:
                    holds = bool(result)
                except Exception:
                    return explain(ops, results, expls, each_obj)
                if not holds:
                    at, equal = nth, False
                    break
            if asserting(sys._getframe(1)) is not None:
                compared(sys._getframe(1), ops[at], each_obj[at], each_obj[at + 1], equal)
            if equal:
                return expls[at]
        except Exception:
            pass
        return explain(ops, results, expls, each_obj)

    rewrite._call_reprcompare = seen
    folder = getattr(rewrite, "get_cache_dir", None)
    if folder is not None and PLAN.get("cache"):
        def own_folder(path):
            return type(path)(PLAN["cache"] + os.path.dirname(os.path.abspath(str(path))))

        rewrite.get_cache_dir = own_folder
    return True


SEES_ASSERTS = see_asserts()

if not SEES_ASSERTS:
    @pytest.hookimpl(tryfirst=True)
    def pytest_assertrepr_compare(config, op, left, right):
        try:
            equal = left == right if op == "==" else False
            compared(sys._getframe(1), op, left, right, bool(equal))
        except Exception:
            pass


def pytest_assertion_pass(item, lineno, orig, expl):
    """An assert without a comparison held."""
    if RECORD.compared:
        RECORD.compared = False
        return
    frame = asserting(sys._getframe(1))
    at = known_place(frame) if frame is not None else None
    if at is not None:
        RECORD.add({"k": "pass", "at": at})


# --- Libraries, changed when they are imported ------------------------------------------------------------------


def see_unittest(module):
    case = module.TestCase
    for name in ("assertEqual", "assertMultiLineEqual", "assertDictEqual", "assertListEqual", "assertTupleEqual",
                 "assertSetEqual", "assertSequenceEqual", "assertAlmostEqual", "assertCountEqual", "assertNotEqual",
                 "assertNotAlmostEqual", "assertIn", "assertNotIn", "assertEquals"):
        method = case.__dict__.get(name)
        if method is not None:
            setattr(case, name, seeing(method, "!=" if "Not" in name else "in" if name == "assertIn" else "=="))


def seeing(method, op):
    @functools.wraps(method)
    def seen(self, *args, **kwargs):
        __tracebackhide__ = True
        if RECORD.depth:
            return method(self, *args, **kwargs)
        RECORD.depth += 1
        held = False
        try:
            result = method(self, *args, **kwargs)
            held = True
            return result
        finally:
            RECORD.depth -= 1
            frame = sys._getframe(1)
            sides = args[:2]
            if len(sides) < 2:
                rest = [kwargs[word] for word in SIDES if word in kwargs]
                sides = tuple(args) + tuple(rest[:2 - len(args)])
            if len(sides) == 2 and (held or isinstance(sys.exc_info()[1], AssertionError)):
                compared(frame, op, sides[0], sides[1], held)
                RECORD.compared = False

    return seen


SIDES = ("first", "d1", "list1", "tuple1", "set1", "seq1", "member", "second", "d2", "list2", "tuple2", "set2", "seq2",
         "container")


def see_filecmp(module):
    cmp = module.cmp

    @functools.wraps(cmp)
    def seen(f1, f2, *args, **kwargs):
        equal = cmp(f1, f2, *args, **kwargs)
        if user_file(sys._getframe(1).f_code.co_filename) is not None:
            compared_files(sys._getframe(1), f1, f2, equal)
        return equal

    module.cmp = seen


class Quiet:
    """A reporter that opens, approves and creates nothing."""

    def report(self, received, approved):
        return True


def see_approvaltests(module):
    approver = module.FileApprover
    verify = approver.verify_files

    def seen(approved_file, received_file, reporter, comparator):
        class Seeing:
            def compare(self, received, approved):
                equal = comparator.compare(received, approved)
                compared_files(sys._getframe(1), received, approved, equal)
                return equal

        return verify(approved_file, received_file, Quiet(), Seeing())

    approver.verify_files = staticmethod(seen)


def snapshot(frame, path, entry, ok, observed):
    """A value was held against an entry, a file of its own or a folder."""
    path = from_root(path)
    if RECORD.item is None or path is None:
        return
    RECORD.add({"k": "snap", "path": path, "entry": entry, "ok": bool(ok), "v": {} if ok else value(observed, False),
                "at": stack(frame)})


def see_syrupy(module):
    """syrupy 4 and later: what it would store, as text or bytes."""
    own = module.SnapshotAssertion._assert

    @functools.wraps(own)
    def seen(self, data):
        held = own(self, data)
        try:
            results = self._execution_results
            result = results[max(results)]
            snapshot(sys._getframe(1), result.snapshot_location, result.snapshot_name, held, result.asserted_data)
        except Exception:
            pass
        return held

    module.SnapshotAssertion._assert = seen


def see_pytest_snapshot(module):
    """pytest-snapshot: files that are not there yet, and folders."""

    def seeing_method(method):
        @functools.wraps(method)
        def seen(self, given, name):
            __tracebackhide__ = True
            held = False
            try:
                result = method(self, given, name)
                held = True
                return result
            finally:
                if held or isinstance(sys.exc_info()[1], AssertionError):
                    path = os.path.join(os.path.abspath(str(self.snapshot_dir)), str(name))
                    snapshot(sys._getframe(1), path, None, held, given)

        return seen

    for name in ("assert_match", "assert_match_dir"):
        if hasattr(module.Snapshot, name):
            setattr(module.Snapshot, name, seeing_method(getattr(module.Snapshot, name)))


def see_regressions(module):
    """pytest-regressions: both files of a check; a baseline that is missing is not made."""
    check = module.perform_regression_check
    shape = inspect.signature(check)

    @functools.wraps(check)
    def seen(*args, **kwargs):
        __tracebackhide__ = True
        try:
            given = shape.bind(*args, **kwargs)
            dump, compare = given.arguments["dump_fn"], given.arguments["check_fn"]
        except (TypeError, KeyError):
            return check(*args, **kwargs)
        outside = sys._getframe(1)

        def source():
            frame = sys._getframe(2)
            return frame.f_locals.get("source_filename")

        def dumping(path):
            if source() is None or os.path.abspath(str(path)) != os.path.abspath(str(source())):
                return dump(path)
            with tempfile.TemporaryDirectory() as folder:
                aside = type(path)(os.path.join(folder, os.path.basename(str(path))))
                dump(aside)
                RECORD.add({"k": "file", "path": from_root(str(path)), "ok": False, "b": content(str(aside)),
                            "at": stack(outside)})

        def comparing(obtained, expected):
            recorded, held = source(), False
            try:
                compare(obtained, expected)
                held = True
            finally:
                if recorded is not None and (held or isinstance(sys.exc_info()[1], AssertionError)):
                    RECORD.add({"k": "file", "path": from_root(str(recorded)), "ok": held,
                                "b": None if held else content(str(obtained)), "at": stack(outside)})

        RECORD.checks += 1
        given.arguments["dump_fn"], given.arguments["check_fn"] = dumping, comparing
        aux = given.arguments.get("dump_aux_fn")
        if aux is not None:
            def beside(path):
                mine = source() is not None and os.path.abspath(str(path)) == os.path.abspath(str(source()))
                return [] if mine else aux(path)

            given.arguments["dump_aux_fn"] = beside
        return check(*given.args, **given.kwargs)

    module.perform_regression_check = seen


def see_file_regression(module):
    """pytest-regressions 2.11: of equal bytes no check is made any more."""
    fixture = module.FileRegressionFixture
    resolve, own = module.resolve_check_paths, fixture.check
    resolved = []

    def resolving(*args, **kwargs):
        paths = resolve(*args, **kwargs)
        resolved[:] = [paths.source]
        return paths

    @functools.wraps(own)
    def check(self, *args, **kwargs):
        __tracebackhide__ = True
        resolved[:], before = [], RECORD.checks
        result = own(self, *args, **kwargs)
        if resolved and RECORD.checks == before:
            RECORD.add({"k": "file", "path": from_root(str(resolved[0])), "ok": True, "b": None,
                        "at": stack(sys._getframe(1))})
        return result

    module.resolve_check_paths = resolving
    fixture.check = fixture.Check = check


def see_snapshottest(module):
    """snapshottest 0.6: entries by their names; one that is missing is not written."""
    test, own = module.SnapshotTest, module.SnapshotTest.assert_match

    @functools.wraps(own)
    def seen(self, given, name=""):
        __tracebackhide__ = True
        outside, held = sys._getframe(1), False
        if getattr(self, "should_update", False):
            self.should_update = False
        self.curr_snapshot = name or self.snapshot_counter
        entry, path = self.test_name, self.module.filepath
        try:
            self.module[entry]
        except module.SnapshotNotFound:
            self.visit()
            snapshot(outside, path, entry, False, given)
            self.snapshot_counter += not name
            return None
        try:
            result = own(self, given, name)
            held = True
            return result
        finally:
            if held or isinstance(sys.exc_info()[1], AssertionError):
                snapshot(outside, path, entry, held, given)

    test.assert_match = seen


WATCHED = {
    "unittest.case": see_unittest,
    "filecmp": see_filecmp,
    "approvaltests.file_approver": see_approvaltests,
    "syrupy.assertion": see_syrupy,
    "pytest_snapshot.plugin": see_pytest_snapshot,
    "pytest_regressions.common": see_regressions,
    "pytest_regressions.file_regression": see_file_regression,
    "snapshottest.module": see_snapshottest,
}


class Watch(importlib.abc.MetaPathFinder):
    """Calls what is to be done with a module right after it was run."""

    def find_spec(self, name, path=None, target=None):
        see = WATCHED.pop(name, None)
        if see is None:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is None:
                continue
            run = getattr(spec.loader, "exec_module", None)
            if run is None:
                return spec

            def exec_module(module, run=run):
                run(module)
                try:
                    see(module)
                except Exception:
                    pass

            try:
                spec.loader.exec_module = exec_module
            except AttributeError:
                pass
            return spec
        return None


for _name in list(WATCHED):
    if _name in sys.modules:
        WATCHED.pop(_name)(sys.modules[_name])
sys.meta_path.insert(0, Watch())


# --- Switches that rewrite baselines ----------------------------------------------------------------------------

OPTIONS = {
    "update_snapshots": False, "update_new_snapshots_only": False, "snapshot_update": False,
    "allow_snapshot_deletion": False, "force_regen": False, "regen_all": False, "update_goldens": False,
    "image_snapshot_update": False,
}
UPDATES = re.compile(r"(update|regen|regenerate|accept|bless|overwrite|rewrite|record)", re.I)
RECORDED = re.compile(r"(snapshot|golden|baseline|expect|reference|approv|fixture)", re.I)
VARIABLES = [re.compile(pattern) for pattern in PLAN["variables"]]


def switches_off(config):
    option = config.option
    for name, setting in list(vars(option).items()):
        if name in OPTIONS:
            off = OPTIONS[name]
        elif setting is True and UPDATES.search(name) and RECORDED.search(name):
            off = False
        else:
            continue
        if setting:
            RECORD.add({"k": "option", "name": name})
            setattr(option, name, off)
    if hasattr(option, "inline_snapshot"):
        wanted = option.inline_snapshot
        if wanted and set(wanted.split(",")) & {"create", "fix", "trim", "update", "review"}:
            RECORD.add({"k": "option", "name": "inline_snapshot"})
        option.inline_snapshot = "disable"
    if getattr(option, "insta", None) not in (None, "auto", "update-none"):
        RECORD.add({"k": "option", "name": "insta"})
        option.insta = "update-none"
    variables_off()


def variables_off():
    for name in list(os.environ):
        if any(pattern.search(name) for pattern in VARIABLES):
            RECORD.add({"k": "variable", "name": name})
            del os.environ[name]


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    switches_off(config)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    # A conftest may have set one when it was imported.
    variables_off()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(session, config, items):
    """The other way round, where a repeated run asks for it; tests of a file stay together."""
    if os.environ.get("PINDRIFT_ORDER") == "reversed":
        items.reverse()


# --- Tests -------------------------------------------------------------------------------------------------------

pytest.register_assert_rewrite(*[name for name in PLAN["modules"] if name not in sys.modules])


def id_of(item):
    path = from_root(str(getattr(item, "path", None) or item.fspath))
    rest = item.nodeid.split("::", 1)[1:]
    return "::".join([path or item.nodeid.split("::", 1)[0]] + rest)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    RECORD.item, RECORD.opened, RECORD.compared = item, [], False
    try:
        indices = sorted(getattr(getattr(item, "callspec", None), "indices", {}).values())
        RECORD.add({"k": "start", "id": id_of(item), "of": indices})
        variables_off()
        RECORD.flush()
    except Exception:
        pass
    yield
    RECORD.add({"k": "end"})
    RECORD.item = None
    RECORD.flush()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    try:
        report = outcome.get_result()
        if hasattr(report, "wasxfail"):
            word = "xfailed"
        elif report.outcome == "failed":
            word = "failed"
        elif report.outcome == "skipped":
            word = "skipped"
        elif report.when == "call":
            word = "passed"
        else:
            return
        at, tb = [], call.excinfo.tb if call.excinfo is not None else None
        for _ in range(MOST_FRAMES):
            if tb is None:
                break
            file = user_file(tb.tb_frame.f_code.co_filename)
            if file is not None:
                at.append([file, tb.tb_lineno])
            tb = tb.tb_next
        value = call.excinfo.value if call.excinfo is not None else None
        RECORD.add({"k": "report", "when": report.when, "outcome": word, "at": at,
                    "asserted": isinstance(value, (AssertionError, pytest.fail.Exception))})
    except Exception:
        pass


def pytest_collectreport(report):
    if report.failed:
        text = str(report.longrepr)
        RECORD.add({"k": "collect", "id": report.nodeid, "message": text[-2000:]})
        RECORD.flush()


def pytest_sessionstart(session):
    RECORD.add({"k": "session", "pytest": pytest.__version__, "python": "%d.%d.%d" % sys.version_info[:3],
                "rootdir": str(getattr(session.config, "rootpath", session.config.rootdir))})
    RECORD.flush()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session, exitstatus):
    RECORD.add({"k": "finish", "status": int(exitstatus), "collected": getattr(session, "testscollected", 0)})
    RECORD.flush()
