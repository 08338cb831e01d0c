"""Damages files at random and lets their readers try them: ``python tests/fuzz.py --seconds 600``.

Each reader gets whole files of its kind, damaged in bytes (flipped, cut out, doubled, put in, exchanged) or in
what they say (a value of the JSON, a cell of the CSV or a card of the FITS header replaced by nonsense).  It may refuse
a file with one sentence, or take it where the damage leaves a file of that kind.  What counts as short:

    crash    the process ended
    hang     no answer in 20 s of processor time, or in five minutes
    error    another exception than the reader's own, or a message of several lines
    wrong    taken, though a checksum covers what was damaged, or though the rules of the kind are broken

A case is made from the seed and its number alone, so every one can be repeated.  ``tests/test_fuzz.py`` tries a
few of each kind in ``make test``.
"""

import csv
import importlib.util
import io
import json
import math
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from tools import ROOT, keep_rows, line, this_host

PATIENCE = 20  # s of processor time: a machine that is busy with others is no hang
WAITING = 300  # s, for a reader that computes nothing
BATCH = 1000  # cases of one process
FORMS = ("positioned", "records", "arrays", "netcdf", "zarr")
NONSENSE = (None, True, -1, 0, 1e308, 10**30, 0.5, "", "x", "٣", "../x", "a/b", "nan", "-0", [], {}, [[]], [None])


#: Outcomes that no reader may have.
SHORT = ("crash", "hang", "error", "wrong")


class Hang(Exception):
    """The reader took too long."""


class Waiting(Hang):
    """The reader computed nothing for too long, or the machine stood still meanwhile."""


def damage_bytes(raw: bytes, chance: random.Random) -> bytes:
    """``raw`` with one to three places changed."""
    data = bytearray(raw)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        at = chance.randrange(len(data) + 1)
        other, length = chance.randrange(len(data) + 1), chance.choice((1, 2, 4, 16, 300))
        kind = chance.randrange(7)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del data[at : at + length]
        elif kind == 2:
            data[at:at] = data[other : other + length]
        elif kind == 3:
            data[at:at] = chance.randbytes(length)
        elif kind == 4:
            data[at : at + length] = chance.choice((b"\0", b"\xff", b"9", b"-", b'"', b",", b"\n")) * length
        elif kind == 5:
            data[at : at + length], data[other : other + length] = (
                data[other : other + length],
                data[at : at + length],
            )
        else:
            del data[at:]
    return bytes(data)


def damage_json(raw: bytes, chance: random.Random) -> bytes:
    """``raw`` with one value, anywhere in it, replaced, doubled or left out."""
    whole = json.loads(raw)
    node, places = whole, []
    while isinstance(node, (dict, list)) and node:
        key = chance.choice(list(node) if isinstance(node, dict) else range(len(node)))
        places.append((node, key))
        node = node[key]
    node, key = chance.choice(places)
    kind = chance.randrange(8)
    if kind == 0:
        del node[key]
    elif kind == 1 and isinstance(node, list):
        node.append(node[key])
    elif kind == 2:
        deep = "[" * 10**5 + "]" * 10**5
        node[key] = "DEEP"
        return json.dumps(whole).replace('"DEEP"', deep).encode()
    elif kind == 3:
        node[key] = math.nan
    else:
        node[key] = chance.choice(NONSENSE)
    return json.dumps(whole).encode()


def damage_csv(raw: bytes, chance: random.Random) -> bytes:
    """``raw`` with one cell replaced, or one row left out or doubled."""
    rows = list(csv.reader(io.StringIO(raw.decode())))
    at = chance.randrange(len(rows))
    kind = chance.randrange(6)
    if kind == 0:
        del rows[at]
    elif kind == 1:
        rows.insert(at, rows[at])
    elif rows[at]:
        rows[at][chance.randrange(len(rows[at]))] = str(chance.choice((*NONSENSE, "1e999", "1_0", " 1", "0x10", "１")))
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def damage_fits(raw: bytes, chance: random.Random) -> bytes:
    """``raw`` with one card of its header given another value, exchanged with another, doubled, or left out."""
    end = raw.index(b"END".ljust(80))
    cards = [raw[start : start + 80] for start in range(0, end, 80)]
    at, other, kind = chance.randrange(len(cards)), chance.randrange(len(cards)), chance.randrange(6)
    if kind == 0:
        del cards[at]
    elif kind == 1:
        cards.insert(other, cards[at])
    elif kind == 2:
        cards[at], cards[other] = cards[other], cards[at]
    else:
        value = str(chance.choice((*NONSENSE, "2", "T", "'x'", "1.D0", "1_0"))).encode()
        cards[at] = (cards[at][:10] + value.rjust(20)).ljust(80)[:80]
    text = b"".join(cards) + b"END".ljust(80)
    return text.ljust(-(-len(text) // 2880) * 2880) + raw[-(-(end + 80) // 2880) * 2880 :]


class Solutions:
    """Solution files of every form: each byte is under a checksum, so that no damaged one may be taken."""

    def __init__(self, folder: Path):
        import numpy as np

        from kernels.files.format.solution import SolutionWriter

        generator, self.wholes, self.folder = np.random.default_rng(3), [], folder
        for form in FORMS:
            with SolutionWriter(folder / form, 4, 10, 5, way=form) as writer:
                for step in (5, 10):
                    writer.write(step, generator.standard_normal((4, 4, 4, 5)))
            self.wholes.append(folder / form)

    def try_one(self, chance: random.Random) -> str:
        from kernels.files.format.layout import SolutionError
        from kernels.files.format.verification import verify_file

        whole = chance.choice(self.wholes)
        copy = self.folder / "case"
        shutil.copytree(whole, copy) if whole.is_dir() else shutil.copy(whole, copy)
        try:
            inner = sorted(path for path in copy.rglob("*") if path.is_file()) if copy.is_dir() else [copy]
            target = chance.choice(inner)
            raw = target.read_bytes()
            damaged = damage_bytes(raw, chance)
            if damaged == raw:
                return "same"
            target.write_bytes(damaged)
            try:
                return "refused" if verify_file(copy).crc_errors else "wrong"
            except SolutionError as error:
                return _sentence(error, "case")
        finally:
            shutil.rmtree(copy) if copy.is_dir() else copy.unlink()


class Records:
    """Run records and peer records: what is taken loads, and its samples are positive numbers."""

    def __init__(self, folder: Path):
        from companion.records import peer_records, runs

        self.folder = folder
        found = [(runs, path) for path in (ROOT / "data" / "runs").glob("*.json")]
        found += [(peer_records, path) for path in (ROOT / "data" / "peers").glob("*.json")]
        found.sort(key=lambda one: one[1].stat().st_size)
        self.wholes = [(kind, path.read_bytes()) for kind, path in found[:12]]
        self.wholes += [(peer_records, path.read_bytes()) for kind, path in found if kind is peer_records][:2]

    def try_one(self, chance: random.Random) -> str:
        kind, raw = chance.choice(self.wholes)
        path = self.folder / "case.json"
        damaged = chance.choice((damage_bytes, damage_json))(raw, chance)
        if damaged == raw:
            return "same"
        path.write_bytes(damaged)
        try:
            record = kind.read(path)
            kind.load([path])
        except ValueError as error:
            return _sentence(error, "case.json")
        numbers = [value for case in record.get("measurements", []) for value in case["samples"]]
        return "taken" if all(math.isfinite(value) and value > 0 for value in numbers) else "wrong"


class _Tables:
    """Tables of the documents, in a data folder of their own; what is taken is what the csv module reads."""

    ending: str

    def __init__(self, folder: Path):
        self.folder = folder / "data"
        shutil.copytree(ROOT / "data", self.folder, ignore=shutil.ignore_patterns("runs", "peers", "*.json.gz"))
        pattern = "*/resources.json" if self.ending == ".json" else "*/*.csv"
        self.wholes = [path for path in sorted(self.folder.glob(pattern)) if path.parent.name != "machines"]

    def try_one(self, chance: random.Random) -> str:
        from companion import tables
        from companion.tables import TableError

        tables.DATA = self.folder
        tables.forget()
        path = chance.choice(self.wholes)
        document, raw = path.parent.name, path.read_bytes()
        by_kind = damage_json if self.ending == ".json" else damage_csv
        damaged = chance.choice((damage_bytes, by_kind))(raw, chance)
        if damaged == raw:
            return "same"
        path.write_bytes(damaged)
        try:
            if self.ending == ".csv":
                tables.load(document, path.stem)
                tables.digits(document, path.stem)
                rows = list(csv.reader(io.StringIO(damaged.decode("utf-8"), newline="")))
                same = tables.text(document, path.stem).to_numpy().tolist() == rows[1:]
                return "taken" if same else "wrong"
            names = tables.names(document)
            for name in chance.sample(names, min(4, len(names))):
                tables.load(document, name)
            return "taken" if all(name == Path(name).name for name in names) else "wrong"
        except TableError as error:
            return _sentence(error, "")
        finally:
            path.write_bytes(raw)


class Tables(_Tables):
    """CSV files."""

    ending = ".csv"


class Descriptors(_Tables):
    """``resources.json``."""

    ending = ".json"


class Fits:
    """FITS images and visibilities: a file that both readers take has the same numbers for both."""

    def __init__(self, folder: Path):
        import numpy as np

        from kernels.imaging import array, fits, sky

        cell, self.path = 2.1e-6, folder / "case.fits"
        records = sky.observe(array.scaled(array.tracks(1), 0.36 / cell), sky.synthetic(16, cell, points=3))[:20]
        image = np.random.default_rng(0).standard_normal((24, 30)).astype(np.float32)
        self.readers = [name for name in fits.READERS if name == "raw" or importlib.util.find_spec(name)]
        self.wholes = []
        for write, read, given in (
            (fits.write_image, fits.read_image, (image, cell)),
            (fits.write_visibilities, fits.read_visibilities, (records,)),
        ):
            write(self.path, *given)
            self.wholes.append((read, self.path.read_bytes()))

    def try_one(self, chance: random.Random) -> str:
        import numpy as np

        read, raw = chance.choice(self.wholes)
        damaged = chance.choice((damage_bytes, damage_fits))(raw, chance)
        if damaged == raw:
            return "same"
        self.path.write_bytes(damaged)
        found, said = [], []
        with warnings.catch_warnings(action="ignore"):  # of astropy, before it refuses
            for reader in self.readers:
                try:
                    found.append(read(self.path, reader))
                except ValueError as error:
                    said.append(_sentence(error, "case.fits"))
        if said:
            return "error" if "error" in said else "refused"
        # astropy adds the day to times, 2.4 million
        same = all(np.allclose(found[0], each, 1e-6, 1e-9, equal_nan=True) for each in found)
        return "taken" if same else "wrong"


READERS = {"solutions": Solutions, "records": Records, "tables": Tables, "descriptors": Descriptors, "fits": Fits}


def _sentence(error: Exception, name: str) -> str:
    text = str(error)
    return "refused" if text and "\n" not in text and name in text else "error"


def one_case(reader, name: str, seed: int, number: int, again: bool = True) -> tuple[str, str]:
    """What became of a case, with a word on how it fell short; one that only waited is tried ``again``."""

    def give_up(which, _):
        raise Hang if which == signal.SIGPROF else Waiting

    before = [(each, signal.signal(each, give_up)) for each in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    signal.alarm(WAITING)
    try:
        return reader.try_one(random.Random(f"{name} {seed} {number}")), ""
    except Hang as hang:
        if again and isinstance(hang, Waiting):
            return one_case(reader, name, seed, number, again=False)
        return "hang", ""
    except Exception as error:
        return "error", f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        for each, handler in before:
            signal.signal(each, handler)


def _batch(name: str, seed: int, first: int, folder: Path, seconds: float) -> None:
    """Up to ``BATCH`` cases in this process; each is noted when it begins and when it ends."""
    reader = READERS[name](folder)
    notes = open(folder.parent / "notes", "a", buffering=1)
    begin = time.process_time()
    for number in range(first, first + BATCH):
        notes.write(f"{number} ")
        outcome, why = one_case(reader, name, seed, number)
        notes.write(f"{outcome} {why}\n")
        if time.process_time() - begin > seconds:
            break


def fuzz(name: str, seconds: float, seed: int, first: int = 0) -> Counter:
    """Outcomes of cases of one reader, for that much processor time of its own; prints what fell short."""
    counts, number = Counter(), first
    with tempfile.TemporaryDirectory(prefix="fuzz-") as keep:
        notes = Path(keep) / "notes"
        while seconds > 0:
            folder = Path(keep) / "work"
            folder.mkdir()
            notes.write_text("")
            child = os.fork()
            if child == 0:
                try:
                    _batch(name, seed, number, folder, seconds)
                    os._exit(0)
                except BaseException:
                    sys.excepthook(*sys.exc_info())
                    os._exit(1)
            _, status, usage = os.wait4(child, 0)
            shutil.rmtree(folder)
            for line in notes.read_text().splitlines():
                case, outcome, why = [*line.split(" ", 2), "crash", ""][:3] if " " in line else (line, "crash", "")
                outcome = outcome or "crash"
                counts[outcome] += 1
                number = int(case) + 1
                if outcome in SHORT:
                    print(f"{name} {case}: {outcome} {why}", flush=True)
            if status and not notes.read_text().strip():
                raise SystemExit(f"{name}: the reader cannot be set up")
            seconds -= usage.ru_utime + usage.ru_stime
    counts["next"] = number
    return counts


def row(name: str, seconds: float, seed: int, counts: Counter) -> dict:
    """A line of the table of what was tried."""
    words = ("refused", "taken", *SHORT)
    tried = sum(counts[word] for word in words)
    return {"reader": name, "host": this_host(), "seed": seed, "seconds": f"{seconds:g}", "tried": tried} | {
        word: counts[word] for word in words
    }


def main(
    reader: Annotated[list[str] | None, typer.Argument(help="Readers; all if none is named.")] = None,
    seconds: Annotated[float, typer.Option(min=1, help="Processor time of each.")] = 600,
    seed: Annotated[int, typer.Option(help="Makes the cases.")] = 1,
    first: Annotated[int, typer.Option(min=0, help="Number of the first case.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Keep the counts in this table (CSV).")] = None,
) -> None:
    """Let readers try damaged files."""
    sys.path.insert(0, str(ROOT))
    short = 0
    for name in reader or READERS:
        counts = fuzz(name, seconds, seed, first)
        found = row(name, seconds, seed, counts)
        short += sum(counts[word] for word in SHORT)
        print(f"{line(found)}; next case {counts['next']}", flush=True)
        if out is not None:
            keep_rows(out, [found], ("reader", "host", "seed"))
    raise SystemExit(bool(short))


if __name__ == "__main__":
    typer.run(main)
