"""Figures that readers steer: the memory banks in JavaScript against those in Python, and what the pages carry."""

import json
import random
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from supercomputers_rerun.companion.figures import rendering
from supercomputers_rerun.companion.figures.rendering import explorer
from supercomputers_rerun.kernels.memory import banks

STATIC = Path(__file__).parents[2] / "book" / "_static"
CYCLES = 300
RUN = """
const { simulate } = require(process.argv[1]);
let text = ""; process.stdin.on("data", (part) => (text += part)).on("end", () => console.log(JSON.stringify(
  JSON.parse(text).map(([memory, jobs, cycles]) => simulate(memory, jobs, cycles)))));
"""


def problems(count, seed=1):
    """Random memories with one to four CPUs, streams and loops with any ports."""
    chance = random.Random(seed)
    for _ in range(count):
        number = chance.choice((1, 2, 4, 8, 16, 32, 64))
        jobs = []
        for _cpu in range(chance.randint(1, 4)):
            if chance.random() < 0.3:
                jobs.append(banks.stream(chance.randint(0, 70), chance.randint(0, 70)))
                continue
            strides = tuple(chance.choice((None, chance.randint(0, 70))) for _ in range(3))
            loop = banks.Loop(strides, chance.randint(1, 70), chance.randint(0, 20), chance.randint(0, 30))
            jobs.append(banks.Job((loop,), tuple(chance.randint(0, 70) for _ in range(3)), chance.randint(1, 6)))
        sections = chance.choice([n for n in (1, 2, 4, 8) if n <= number])
        yield banks.Problem(number, chance.randint(1, 15), sections, chance.randint(1, 3), jobs=tuple(jobs))


def as_json(problem):
    jobs = [
        {
            "strides": job.loops[0].strides,
            "starts": job.starts,
            "strips": job.strips,
            **{name: getattr(job.loops[0], name) for name in ("vector", "overhead", "latency")},
        }
        for job in problem.jobs
    ]
    memory = {name: getattr(problem, name) for name in ("banks", "busy", "sections", "lines")}
    return memory, jobs, CYCLES


def by_python(problem):
    machine, grants, waits = banks.Machine(problem), [], []
    for cycle in range(CYCLES):
        granted, refused = banks.plain(machine)
        grants += [[cycle, *one] for one in granted]
        waits += [[cycle, *one] for one in refused]
    return {"grants": grants, "waits": waits, "ends": [cpu.end for cpu in machine.cpus]}


def test_the_banks_of_the_page_are_those_of_the_kernel():
    """Every grant and every wait of random machines, with the Node.js that comes with Playwright."""
    driver = pytest.importorskip("playwright._impl._driver")
    node, _ = driver.compute_driver_executable()
    tried = [banks.Problem(), *problems(60)]
    asked = json.dumps([as_json(problem) for problem in tried])
    done = subprocess.run(
        [node, "-e", RUN, str(STATIC / "explorers.js")], input=asked, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    for problem, found in zip(tried, json.loads(done.stdout), strict=True):
        assert found == by_python(problem), problem


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.data, self._inside = [], False

    def handle_starttag(self, tag, attrs):
        self._inside = tag == "script" and ("type", "application/json") in attrs

    def handle_data(self, data):
        if self._inside:
            self.data.append(data)

    def handle_endtag(self, tag):
        self._inside = False


def test_an_explorer_carries_its_data_and_the_still_picture(monkeypatch):
    monkeypatch.setattr(rendering, "_drawn", lambda *_: "<svg></svg>")
    still = rendering.show(rendering.mpl.figure.Figure(), alt="A picture.")
    shown = explorer("clock", {"text": "</script><b>&"}, still=still)
    reader = _Reader()
    reader.feed(shown.html)
    (text,) = reader.data
    assert json.loads(text)["text"] == "</script><b>&"
    assert "<svg></svg>" in shown.html and shown.alt == "A picture."
    with pytest.raises(ValueError):
        explorer("clock", {"x": float("nan")}, still=still)
