"""Experiments of Salmond and Towers, *IFS migrates from IBM to Cray* (2014), that one node can repeat."""

from collections.abc import Sequence

from companion.bench import Case, Measurement
from companion.chapters.xc30.experiments.counters import routine_counters as routine_counters
from companion.chapters.xc30.experiments.model import counts
from companion.experiments import cases_of, column, outputs_of
from companion.labels import counted

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
    for count in counts(threads):
        cases.append(
            Case(
                f"peak, {counted(count, 'thread')}",
                peak,
                peak.Problem.preset(preset),
                count,
                {"what": "peak", "truncation": 0, "fields": 0},
            )
        )
        for size in presets[preset]:
            for fields in (1, 8):
                problem = spectral.Problem.preset(
                    "quick" if isinstance(size, dict) else size,
                    fields=fields,
                    **(size if isinstance(size, dict) else {}),
                )
                label = (
                    f"T{problem.truncation} on {problem.grid}, {counted(fields, 'field')}, {counted(count, 'thread')}"
                )
                cases.append(
                    Case(
                        label,
                        spectral,
                        problem,
                        count,
                        {"what": "transforms", "truncation": problem.truncation, "fields": fields},
                    )
                )
    return cases


@outputs_of("xc30-transforms")
def _share_of_peak(measurements: Sequence[Measurement]) -> dict[str, dict]:
    """Rates of the transforms over the peak of the same run, and the share of Fourier operations."""
    peak = {m.threads: m.flop_rate for m in measurements if m.parameters["what"] == "peak"}
    found = [m for m in measurements if m.parameters["what"] == "transforms"]
    along = "transform"
    return {
        "transform_truncation": column([m.parameters["truncation"] for m in found], "1", "truncation", along),
        "transform_fields": column([m.parameters["fields"] for m in found], "1", "fields at once", along),
        "transform_threads": column([m.threads for m in found], "1", "threads", along),
        "transform_rate": column([m.flop_rate / 1e9 for m in found], "GFLOPS", "rate, best", along),
        "transform_time": column(
            [m.minimum / m.parameters["fields"] for m in found],
            "s",
            "inverse and direct transform of one field, best",
            along,
        ),
        "transform_share": column(
            [100 * m.flop_rate / peak[m.threads] for m in found],
            "percent",
            "rate over the measured peak of as many threads",
            along,
        ),
        "fourier_share": column(
            [100 * m.work["parts"]["FFT"] / m.work["flops"] for m in found],
            "percent",
            "operations of the Fourier transforms",
            along,
        ),
        "peak_threads": column(list(peak), "1", "threads", "team"),
        "peak_rate": column(
            [rate / 1e9 for rate in peak.values()], "GFLOPS", "multiply-adds in registers, best", "team"
        ),
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
        return Case(
            label,
            module,
            problem,
            threads,
            {"what": "NPROMA" if sweep else "routine", "routine": routine, "build": build, "nproma": nproma},
        )

    cases = [
        Case(
            "peak",
            peak,
            peak.Problem.preset(preset),
            threads,
            {"what": "peak", "routine": "peak", "build": "vector", "nproma": 0},
        )
    ]
    cases += [case(routine, build, False) for routine in PROFILE for build in ("vector", "scalar")]
    cases += [case(routine, "vector", True, nproma=nproma) for routine in BLOCKED for nproma in NPROMA]
    return cases


@outputs_of("xc30-routines")
def _routine_rates(measurements: Sequence[Measurement]) -> dict[str, dict]:
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
        "routine_name": column([m.parameters["routine"] for m in vector], None, "name in the profiles", "name"),
        "mflops_vector": column(rates[0], "MFLOPS", "rate, vector build, best", "name"),
        "mflops_scalar": column(rates[1], "MFLOPS", "rate, scalar build, best", "name"),
        "share_of_peak": column(
            [100.0 * m.flop_rate / top for m in vector],
            "percent",
            "rate of the vector build over the measured peak",
            "name",
        ),
        "divides": column([divides(m) for m in vector], "percent", "divisions among the operations", "name"),
        "peak_mflops": column(top / 1e6, "MFLOPS", "multiply-adds in registers, best"),
        "blocked_name": column(list(BLOCKED), None, "name in the profiles", "blocked"),
        "nproma_length": column(list(NPROMA), "1", "columns of a block (NPROMA)", "length"),
        "nproma_mflops": column(
            [[m.flop_rate / 1e6 for m in at("NPROMA", routine=name)] for name in BLOCKED],
            "MFLOPS",
            "rate, vector build, best",
            "blocked",
            "length",
        ),
    }
