"""Experiments of Hague, *Performance of P5+ at ECMWF* (2006), that one node can repeat."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from companion.bench import Case, Measurement
from companion.chapters import cases_of, counts_to, of, outputs_of
from companion.host import doctor, machine
from companion.labels import plural, size

LOOPS = ("s1", "s2", "s10", "streaming", "skipping")
#: Two hardware threads of one core.
PAIR = "two threads on one core"
#: Bytes between the loads of the document's latency walk: 1024 items of 4 bytes.
_WALK = 4096


#: Pages of the sweeps: the large ones are in the place of the document's 64 KB, the small ones of its 4 KB.
PAGES = ("small", LARGE := "huge")
#: Strides swept with every page size and thread count; the others with one thread and large pages.
_SHOWN_STRIDES = (1, 16, 1024)


@cases_of("p5plus-bandwidth")
def _bandwidth(preset: str, threads: int) -> list[Case]:
    """Every thread reads its own working set; where whole lines are loaded, one thread does it by the item, too."""
    from kernels.memory import stride

    cases = []
    for pages in PAGES:
        for problem in stride.grid(preset, pages=pages, binding=True):
            for count in counts_to(threads):
                alone = pages == LARGE and count == 1
                if problem.stride in _SHOWN_STRIDES or alone:
                    cases.append(_reading(problem, count))
                if alone and problem.in_lines and problem.stride > 1:
                    cases.append(_reading(replace(problem, loads="scalar"), count))
    return cases


def _reading(problem, count: int) -> Case:
    """One point of the sweep."""
    from kernels.memory import stride

    label = f"{size(problem.nbytes)}, stride {problem.stride}, {problem.pages} pages, {count} threads"
    parameters = of(problem, "nbytes", "stride", "pages", "loads")
    return Case(label + ", a load an item" * (problem.loads == "scalar"), stride, problem, count, parameters)


def _loop_case(loop: str, preset: str, kind: str, threads: int, **changes) -> Case:
    """``kind`` is the coordinate that tells measured SMT, fused streams and the rest apart."""
    from kernels.processor import smt

    problem = smt.Problem.preset(preset, loop=loop, **changes)
    accumulators, step, _flops = smt.LOOPS[loop]
    binding = "bound" if problem.binding else "unbound"
    parameters = {"loop": loop, "kind": kind, "accumulators": accumulators, "step": step, "binding": binding}
    parameters |= of(problem, "streams", "threads_per_core")
    return Case(f"{loop}, {kind}, {binding}, {plural(threads, 'thread')}", smt, problem, threads, parameters)


@cases_of("p5plus-smt")
def _smt(preset: str, threads: int) -> list[Case]:
    """The five loops: one thread a core, two where siblings exist, and two copies fused in one stream."""
    cases = []
    for loop in LOOPS:
        cases.append(_loop_case(loop, preset, "one thread", 1))
        if doctor.smt().ok and machine.usable_cpus() > 1:
            cases.append(_loop_case(loop, preset, "SMT", 2, threads_per_core=2))
        cases.append(_loop_case(loop, preset, "two fused streams", 1, streams=2))
    return cases


def _by_kind(measurements: Sequence[Measurement]) -> dict[tuple[str, str], Measurement]:
    return {(m.parameters["loop"], m.parameters["kind"]): m for m in measurements}


def _smt_factors(measurements: Sequence[Measurement]) -> tuple[list, list]:
    """``(S, gain of two fused streams)`` per loop; S is None without SMT."""
    from kernels.processor.smt import smt_factor

    found = _by_kind(measurements)
    measured, fused = [], []
    for loop in LOOPS:
        one, two = found[loop, "one thread"], found.get((loop, "SMT"))
        measured.append(smt_factor(one.median, two.median) if two else None)
        fused.append(smt_factor(one.median, found[loop, "two fused streams"].median))
    return measured, fused


@outputs_of("p5plus-smt")
def _smt_outputs(measurements: Sequence[Measurement]) -> dict[str, Any]:
    measured, fused = _smt_factors(measurements)
    return {"loop_name": list(LOOPS), "S": measured, "S_fused": fused}


@cases_of("p5plus-model")
def _model(preset: str, threads: int) -> list[Case]:
    """S from two copies on one core, f from two threads on two cores, and both at once: two threads on one."""
    cases = []
    for loop in LOOPS:
        cases.append(_loop_case(loop, preset, "one thread", 1))
        cases.append(_loop_case(loop, preset, PAIR, 2, threads_per_core=2))
        cases.append(_loop_case(loop, preset, "shared work", 1, shared=True))
        cases.append(_loop_case(loop, preset, f"shared work, {PAIR}", 2, shared=True, threads_per_core=2))
        if _cores() > 1:
            cases.append(_loop_case(loop, preset, "shared work, twice the threads", 2, shared=True))
    return cases


def _cores() -> int:
    """Cores open to this process; CPUs of unknown cores count as one each."""
    ours, siblings = set(machine.affinity_cpus()), machine.smt_siblings()
    return len(ours) if siblings is None else sum(bool(ours & set(group)) for group in siblings)


@outputs_of("p5plus-model")
def _model_outputs(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """S, f, their product S·f/2 per loop, and apart from it the time that it predicts, measured."""
    from kernels.processor.smt import scaling_factor, smt_factor, speedup

    found = _by_kind(measurements)
    S, f, timed = [], [], []
    for loop in LOOPS:
        one, two = found[loop, "shared work"], found.get((loop, "shared work, twice the threads"))
        S.append(smt_factor(found[loop, "one thread"].median, found[loop, PAIR].median))
        f.append(scaling_factor(one.median, two.median) if two else None)
        timed.append(one.median / found[loop, f"shared work, {PAIR}"].median)
    predicted = [speedup(one, gain) if gain else None for one, gain in zip(S, f, strict=True)]
    return {"loop_name": list(LOOPS), "S": S, "f": f, "speedup": predicted, "speedup_timed": timed}


#: Runs of the binding test: whether there are twice the threads, the list that binds them, and both in words.
_BINDINGS = (
    (False, "", "one thread a core, not bound"),
    (False, "no_smt", "one thread a core, list without SMT"),
    (True, "", "two threads a core, not bound"),
    (True, "smt", "two threads a core, list with SMT"),
    (True, "smt_front_loaded", "two threads a core, front-loaded list"),
)


@cases_of("p5plus-binding")
def _binding(preset: str, threads: int) -> list[Case]:
    """The loops that use memory, the same work by one thread a core and by two, bound by the report's lists or not.

    Two threads a core only where cores have two.
    """
    cases = []
    for loop in ("streaming", "skipping"):
        for doubled, order, text in _BINDINGS:
            if threads > _cores() or (order == "smt_front_loaded" and threads == 1):  # the same as the list before
                continue
            if doubled and not doctor.smt().ok:
                continue
            changes = {"doubled": doubled, "order": order, "binding": bool(order), "shared": True}
            case = _loop_case(loop, preset, text, threads, **changes)
            cases.append(replace(case, parameters={**case.parameters, "order": order, "doubled": doubled}))
    return cases


#: STREAM's own rule: an array is at least so many times as large as the last caches together.
_STREAM_RULE = 4


def _stream_words(preset: str) -> int:
    """Words of an array: the preset's, and from ``paper`` on as many as STREAM's rule asks for, if they fit."""
    from kernels.memory import stream

    n, caches, free = stream.Problem.preset(preset).n, machine.last_caches(), machine.available_memory()
    if preset == "quick" or caches is None:
        return n
    wanted = max(n, -(-_STREAM_RULE * caches // 8) + 7 & ~7)
    fits = free is None or stream.footprint(stream.Problem(wanted)).memory < 0.3 * free
    return wanted if fits else n


@cases_of("p5plus-stream")
def _stream(preset: str, threads: int) -> list[Case]:
    """STREAM's four kernels; ``level`` says whether the arrays are large enough to measure memory."""
    from kernels.memory import stream

    n, caches = _stream_words(preset), machine.last_caches()
    level = "unknown" if caches is None else "memory" if 8 * n >= _STREAM_RULE * caches else "cache"
    cases = []
    for operation in ("copy", "scale", "add", "triad"):
        for nontemporal in (False, True):
            problem = stream.Problem.preset(preset, n=n, operation=operation, nontemporal=nontemporal)
            stores = "non-temporal" if nontemporal else "plain"
            parameters = {"operation": operation, "stores": stores, "n": n, "level": level, "last_caches": caches}
            for count in counts_to(threads):
                label = f"{operation}, {stores} stores, {plural(count, 'thread')}"
                cases.append(Case(label, stream, problem, count, parameters))
    return cases
