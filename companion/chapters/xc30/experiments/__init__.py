"""Experiments of Salmond and Towers, *IFS migrates from IBM to Cray* (2014), that one node can repeat."""

from collections.abc import Sequence
from typing import Any

from companion.bench import Case, Measurement
from companion.chapters import cases_of, of, outputs_of
from companion.chapters.xc30.experiments.counters import routine_counters as routine_counters
from companion.labels import plural

# --- transforms ------------------------------------------------------------------------------------


@cases_of("xc30-transforms")
def _transforms(preset: str, threads: int) -> list[Case]:
    """Inverse and direct transform of one field and of eight, and the peak of as many threads."""
    from kernels import spectral
    from kernels.processor import peak

    presets: dict[str, list] = {
        "quick": [
            {"truncation": 159, "grid": "N80"},
            {"truncation": 319, "grid": "N160"},
            {"truncation": 511, "grid": "N256"},
        ],
        "paper": ["T399", "T799", "TL1279", "TL2047"],
        "modern": ["T799", "TL1279", "TL2047", "TL2559"],
    }
    cases = []
    for count in sorted({1, threads}):
        team, beside = plural(count, "thread"), {"what": "peak", "truncation": 0, "fields": 0}
        cases.append(Case(f"peak, {team}", peak, peak.Problem.preset(preset), count, beside))
        for size in presets[preset]:
            for fields in (1, 8):
                name, changes = ("quick", size) if isinstance(size, dict) else (size, {})
                problem = spectral.Problem.preset(name, fields=fields, **changes)
                label = f"T{problem.truncation} on {problem.grid}, {plural(fields, 'field')}, {team}"
                parameters = {"what": "transforms", **of(problem, "truncation", "fields")}
                cases.append(Case(label, spectral, problem, count, parameters))
    return cases


@outputs_of("xc30-transforms")
def _share_of_peak(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """Rates of the transforms over the peak of the same run, and the share of Fourier operations."""
    peak = {m.threads: m.flop_rate for m in measurements if m.parameters["what"] == "peak"}
    found = [m for m in measurements if m.parameters["what"] == "transforms"]
    return {
        "transform_truncation": [m.parameters["truncation"] for m in found],
        "transform_fields": [m.parameters["fields"] for m in found],
        "transform_threads": [m.threads for m in found],
        "transform_rate": [m.flop_rate / 1e9 for m in found],
        "transform_time": [m.minimum / m.parameters["fields"] for m in found],
        "transform_share": [100 * m.flop_rate / peak[m.threads] for m in found],
        "fourier_share": [100 * m.work["parts"]["FFT"] / m.work["flops"] for m in found],
        "peak_threads": list(peak),
        "peak_rate": [rate / 1e9 for rate in peak.values()],
    }


# --- the routines of the two profiles -----------------------------------------------------------------

#: Blocks whose rate against NPROMA is measured, and the routines it is measured for.
NPROMA = (1, 2, 4, 8, 16, 32, 64, 256, 2048)
BLOCKED = ("CUADJTQ", "CLOUDSC")


@cases_of("xc30-routines")
def _routines(preset: str, threads: int) -> list[Case]:
    """Every routine vectorised and scalar, two of them against NPROMA, and the peak beside them."""
    from kernels.processor import peak
    from kernels.routines import PROFILE

    def case(routine, build, sweep, **changes):
        module, fields = PROFILE[routine]
        problem = module.Problem.preset(preset, build=build, **fields, **changes)
        nproma = getattr(problem, "nproma", 0)
        label = f"{routine}, {build}" + (f", NPROMA {nproma}" if sweep else "")
        parameters = {"what": "NPROMA" if sweep else "routine", "routine": routine, "build": build, "nproma": nproma}
        return Case(label, module, problem, threads, parameters)

    beside = {"what": "peak", "routine": "peak", "build": "vector", "nproma": 0}
    cases = [Case("peak", peak, peak.Problem.preset(preset), threads, beside)]
    cases += [case(routine, build, False) for routine in PROFILE for build in ("vector", "scalar")]
    cases += [case(routine, "vector", True, nproma=nproma) for routine in BLOCKED for nproma in NPROMA]
    return cases


@outputs_of("xc30-routines")
def _routine_rates(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """MFLOPS of each routine and build, share of the same run's peak, divisions; rates against NPROMA."""

    def at(what, **wanted):
        return [
            m
            for m in measurements
            if m.parameters["what"] == what and all(m.parameters[name] == value for name, value in wanted.items())
        ]

    (peak,) = at("peak")
    vector, scalar = at("routine", build="vector"), at("routine", build="scalar")
    top = peak.flop_rate

    def divides(m):
        return 100.0 * m.work["parts"].get("divides", 0) / m.work["flops"]

    rates = [[m.flop_rate / 1e6 for m in found] for found in (vector, scalar)]
    return {
        "routine_name": [m.parameters["routine"] for m in vector],
        "mflops_vector": rates[0],
        "mflops_scalar": rates[1],
        "share_of_peak": [100.0 * m.flop_rate / top for m in vector],
        "divides": [divides(m) for m in vector],
        "peak_mflops": top / 1e6,
        "blocked_name": list(BLOCKED),
        "nproma_length": list(NPROMA),
        "nproma_mflops": [[m.flop_rate / 1e6 for m in at("NPROMA", routine=name)] for name in BLOCKED],
    }
