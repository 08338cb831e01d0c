"""Which functions of a chapter belong to which rows of its ``experiments.csv``, and what its ``outputs.csv`` says.

:func:`cases_of` marks the function that gives the cases of an experiment, and :func:`outputs_of` what makes results
other than times of their measurements.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from companion.bench import Case

PRESETS = ("quick", "paper", "modern")
#: Of ``experiments.csv``.  A study has no ``rounds``.  Under a preset are the seconds of its budget, or ``any``; a
#: preset that it does not have is empty.
COLUMNS = ("id", "item", "title", "rounds", *PRESETS, "needs", "ranks", "few_samples")
#: Of ``outputs.csv``: results other than times that a record has, by the experiments that give them.
OUTPUT_COLUMNS = ("experiments", "output", "units", "dimensions", "meaning")

Cases = Callable[..., list[Case]]
Outputs = Callable[[Any], dict[str, dict[str, Any]]]
CASES: dict[str, Cases] = {}
OUTPUTS: dict[str, Outputs] = {}
MEANINGS: dict[tuple[str, str], dict[str, str]] = {}  # of an experiment and an output


def of(problem: Any, *names: str) -> dict[str, Any]:
    """Fields of a problem by name, as coordinates of a case."""
    return {name: getattr(problem, name) for name in names}


def sent(moved: Any) -> dict[str, int]:
    """What a case over MPI sends, counted beforehand, as coordinates."""
    return {"sent_bytes": moved.bytes, "messages": moved.messages}


def cases_of(*ids: str) -> Callable[[Cases], Cases]:
    """Marks ``cases(preset, threads)`` of these experiments; over MPI it takes the ``ranks``, too."""

    def mark(function: Cases) -> Cases:
        CASES.update(dict.fromkeys(ids, function))
        return function

    return mark


def outputs_of(*ids: str) -> Callable[[Callable], Outputs]:
    """Marks ``outputs(measurements)`` of these experiments, which gives name -> value.

    What it makes of it tells units, dimensions and meaning, too, from ``outputs.csv``.
    """

    def mark(function: Callable[[Any], Mapping[str, Any]]) -> Outputs:
        def outputs(measurements):
            return {name: _told(ids[0], name, value) for name, value in function(measurements).items()}

        OUTPUTS.update(dict.fromkeys(ids, outputs))
        return outputs

    return mark


def _told(id: str, name: str, value: Any) -> dict[str, Any]:
    """An output as a record has it; ``KeyError`` where ``outputs.csv`` does not have it."""
    row = MEANINGS[id, name]
    return {
        "value": list(value) if isinstance(value, Iterator) else value,
        "units": row["units"] or None,  # a text has none
        "dims": row["dimensions"].split(),
        "long_name": row["meaning"],
    }
