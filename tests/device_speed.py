"""Every case of the page *This device* on one host: natively with 512, 256 and 128 bits, in two browsers, under Node.

``python tests/device_speed.py [--out data/browser/speeds.csv] [--only bt] [--rounds 6] [--seconds 20]``

All ways take turns in rounds, so that what others do to the host falls on all alike.  Native code is a process for
each number of bits, which stays from round to round and waits for its turn: ``RERUN_TARGET`` and numba's names of
processor and features choose it.  Node and the browsers run the modules through the engine of the page.  ``--only``
takes the cases whose names begin so, and leaves the other rows as they are, if they are of this machine and these
programs: a quiet host is needed for a few minutes at a time.  The file has a row for each case: median and best of
every way, in the unit of the page, over all samples, and what the ways were.  A busy host is refused without
``--busy``.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import pandas as pd
import psutil
import typer
from llvmlite import binding
from tools import ROOT

# before the folder of this file, in which tests of companion have its name
sys.path[:0] = [str(ROOT), str(ROOT / "book" / "_ext")]

import device  # noqa: E402
from firefox import Firefox, found  # noqa: E402

from companion.bench.sampling import QUIET  # noqa: E402
from companion.host import chromium, machine  # noqa: E402
from kernels.portable import build  # noqa: E402
from peers.kit import vectors  # noqa: E402

#: Samples of every case, [name, label, measure, seconds of a repeat], in so many seconds.
Way = Callable[[float], list[list[Any]]]
OUT = ROOT / "data" / "browser" / "speeds.csv"
ENGINE = ROOT / "book" / "_static" / "device"
#: What is left out of the processor's features, by the bits of vectors that are left.
WITHOUT = {512: (), 256: ("avx512",), 128: ("avx", "fma", "f16c", "vaes", "vpclmulqdq", "gfni", "xop")}
#: Prepares all cases, then samples them for as many seconds as each line says.
_NATIVE = """
import json, sys, time
from kernels.portable import everything
from kernels.portable.case import Native

def time_of(running, repeats):
    begin = clock()
    running.run(repeats)
    return clock() - begin

clock, ready = time.perf_counter, []
for case in everything.cases():
    if not case.name.startswith(sys.argv[1]):
        continue
    running = Native(case, everything.MODULES[case.kernel].EXPORTS)
    running.run()
    assert all(check.ok for check in running.verify()), case.name
    repeats, took = 1, time_of(running, 1)
    while took < 0.002:
        repeats *= 2
        took = min(time_of(running, repeats) for _ in range(3))  # of which one may have been interrupted
    ready.append((case, running, max(1, round(repeats * 0.008 / took)), case.described()["measure"]))
print("ready", flush=True)
for line in sys.stdin:
    end, samples = clock() + float(line), [[] for _ in ready]
    while clock() < end or len(samples[0]) < 3:
        for (_, running, repeats, _), mine in zip(ready, samples):
            mine.append(time_of(running, repeats) / repeats)
    for case, running, _, _ in ready:
        assert all(check.ok for check in running.verify()), case.name
    told = [[case.name, case.label, measure, mine] for (case, _, _, measure), mine in zip(ready, samples)]
    print(json.dumps(told), flush=True)
"""
_PAGE = """<!doctype html><meta charset="utf-8"><title>speeds</title><script src="device.js"></script>"""
_MEASURE = """rerunDevice.measure({ budget: %f, wanted: (name) => name.startsWith(%s) })
    .then(({ results }) => Object.values(results)
        .map((each) => [each.name, each.label, each.unit, each.samples]))"""


def environment(bits: int) -> dict[str, str]:
    """What chooses native code for vectors of so many bits, two lanes at 128."""
    found = {**os.environ, "NUMBA_CACHE_DIR": str(ROOT / ".cache" / f"vectors-{bits}")}
    if bits < 512:
        target, name = ("host128", "x86-64-v2") if bits == 128 else ("host", binding.get_host_cpu_name())
        found |= {"RERUN_TARGET": target, "NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": vectors.features(WITHOUT[bits])}
    return found


def named(folder: Path) -> list[str]:
    """Names of all cases, in their order."""
    return [case["name"] for case in json.loads((folder / "cases.json").read_text())]


def native(bits: int, only: str, open_: ExitStack) -> Way:
    """A way: native code for vectors of so many bits."""
    pipe: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = open_.enter_context(
        subprocess.Popen([sys.executable, "-c", _NATIVE, only], env=environment(bits), cwd=ROOT, **pipe)
    )
    if process.stdout.readline() != "ready\n":
        raise RuntimeError(f"native code of {bits} bits was not made; what the process said is above")

    def run(seconds: float) -> list[list[Any]]:
        print(seconds, file=process.stdin, flush=True)
        return json.loads(process.stdout.readline())

    return run


def node(folder: Path, only: str) -> Way:
    """A way: the engine under Node."""
    names = [name for name in named(folder) if name.startswith(only)]
    kernels = len({name.partition("-")[0] for name in names})

    def run(seconds: float) -> list[list[Any]]:
        command = ["node", ROOT / "tests" / "device.cjs", ENGINE / "engine.js", folder]
        asked = json.dumps({"names": names, "options": {"budget": seconds / kernels, "least": 1}})
        told = json.loads(subprocess.run(command, input=asked, capture_output=True, check=True, text=True).stdout)
        return [
            [each["result"][word] for word in ("name", "label", "unit", "samples")] for each in told if "result" in each
        ]

    return run


def in_chromium(page: Path, only: str, open_: ExitStack) -> Way:
    """A way: the page's scripts in Chromium."""
    from playwright.sync_api import sync_playwright

    playwright = open_.enter_context(sync_playwright())
    browser = open_.enter_context(
        playwright.chromium.launch(executable_path=chromium.executable(), args=chromium.FLAGS)
    )
    tab = browser.new_page()
    tab.set_default_timeout(0)

    def run(seconds: float) -> list[list[Any]]:
        tab.goto(page.as_uri())
        return tab.evaluate(_MEASURE % (seconds, json.dumps(only)))

    return run


def in_firefox(page: Path, only: str, open_: ExitStack) -> Way:
    """A way: the page's scripts in Firefox."""
    browser = open_.enter_context(Firefox())

    def run(seconds: float) -> list[list[Any]]:
        browser.socket.settimeout(20 * seconds + 60)
        browser.goto(page.as_uri())
        return browser.evaluate(_MEASURE % (seconds, json.dumps(only)))

    return run


def versions() -> list[str]:
    """Names and versions of browsers and Node."""

    def said(*command: str) -> str:
        text = subprocess.run(command, capture_output=True, text=True).stdout
        return re.sub(r"^Mozilla | built.*", "", text.strip().splitlines()[0])

    return [said(chromium.executable(), "--version"), said(found(), "--version"), f"Node {said('node', '--version')}"]


def measured(folder: Path, only: str, rounds: int, seconds: float) -> pd.DataFrame:
    """A row a case whose name begins with ``only``: median and best of every way, in the unit of the page."""
    host = binding.get_host_cpu_features()
    bits = [512, 256, 128] if host.get("avx512f") else [256, 128] if host.get("avx2") else [128]
    values: dict[str, dict[str, list[float]]] = {}
    about: dict[str, tuple[str, str, bool]] = {}
    with ExitStack() as open_:
        temporary = Path(open_.enter_context(tempfile.TemporaryDirectory()))
        page = temporary / "speeds.html"
        page.write_text(_PAGE)
        shutil.copy(ENGINE / "device.js", temporary)
        device.write(temporary)
        ways = {f"native_{each}": native(each, only, open_) for each in bits}
        ways |= {"chromium": in_chromium(page, only, open_), "firefox": in_firefox(page, only, open_)}
        ways["node"] = node(folder, only)
        for number in range(rounds):
            for way, run in ways.items():
                print(f"round {number + 1} of {rounds}: {way}", flush=True)
                for name, label, (unit, amount, rate), samples in run(seconds):
                    about[name] = label, unit, bool(rate)
                    mine = values.setdefault(name, {}).setdefault(way, [])
                    mine += [amount / sample if rate else amount * sample for sample in samples]
    return pd.DataFrame([_row(name, *about[name], values[name], list(ways)) for name in about])


def _row(name: str, label: str, unit: str, rate: bool, values: dict[str, list[float]], ways: list[str]) -> dict:
    row: dict[str, Any] = {"case": name, "what": label, "unit": unit}
    best = max if rate else min
    for way in ways:
        series = values.get(way)
        for kind, choose in (("median", median), ("best", best)):
            row[f"{way}_{kind}"] = float(f"{choose(series):.4g}") if series else None
    return row


def main(
    out: Annotated[Path, typer.Option(help="The table (CSV).")] = OUT,
    only: Annotated[str, typer.Option(help="How the names of the cases begin.")] = "",
    rounds: Annotated[int, typer.Option(help="Turns of all ways.")] = 6,
    seconds: Annotated[float, typer.Option(help="Of one way in one round.")] = 20.0,
    busy: Annotated[bool, typer.Option(help="Measure on a busy host as well.")] = False,
) -> None:
    """Measure cases every way on this host, and write the file."""
    folder = build.build(ROOT / ".cache")
    others = psutil.cpu_percent(5.0) / 100 * psutil.cpu_count()
    if others > QUIET and not busy:
        print(f"device_speed: others keep {others:.2f} CPUs busy; --busy measures all the same", file=sys.stderr)
        raise SystemExit(2)
    frame = measured(folder, only, rounds, seconds)
    frame["machine"] = machine.line(machine.describe())
    frame["made_by"] = ", ".join(versions())
    frame["others_busy"] = round(others, 2)
    if out.is_file() and only:
        before, (now,) = pd.read_csv(out), frame[["machine", "made_by"]].drop_duplicates().itertuples(index=False)
        same = (before["machine"] == now.machine) & (before["made_by"] == now.made_by)
        frame = pd.concat([before[same & ~before["case"].isin(frame["case"])], frame])
    order = {name: number for number, name in enumerate(named(folder))}
    frame = frame.sort_values("case", key=lambda names: names.map(order))
    out.parent.mkdir(parents=True, exist_ok=True)
    frame.to_csv(out, index=False, lineterminator="\n")
    print(f"{len(frame)} cases written to {out}")


if __name__ == "__main__":
    typer.run(main)
