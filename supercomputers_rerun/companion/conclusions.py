"""What the authors of the reports concluded, and whether it holds today.

A function of a chapter's section that says what is found today is made a conclusion by :func:`conclusion`::

    @conclusion("xmp1982-c2", place="section 4.2", says="On disks four work files are best.")
    def four_files() -> Finding:
        "Net time of the forecast with one, two and four files on disk."
        seconds = ...
        return Finding(NOT, f"With four files it takes ...", bears=seconds[4] > max(seconds[1], seconds[2]))

The words are written once, for the stored runs as they were; ``bears`` is what these runs must say for the words to be
true.  A new record that turns it makes the conclusion fail with a sentence, until somebody has changed the words.
Where the words hold for any outcome, the verdict is chosen by the numbers and turns by itself; what no stored run has
the cases for is :func:`not_yet`.
"""

from collections.abc import Callable
from dataclasses import dataclass

HOLDS, PARTLY, NOT, UNTESTED, THEN = VERDICTS = (
    "holds today",
    "holds in part",
    "does not hold today",
    "not tested here",
    "true of its machines only",
)


class Turned(AssertionError):
    """The stored runs no longer bear the words of a conclusion."""


@dataclass(frozen=True)
class Finding:
    """What is found today of a conclusion."""

    verdict: str  # one of VERDICTS
    #: for a reader, with numbers of tables and stored runs; of what is not tested, what it would take
    sentence: str
    #: whether the numbers say what the verdict and the sentence say: True where both are computed from them, so that no
    #: word can part from a number; None where nothing is measured
    bears: bool | None = None


@dataclass(frozen=True)
class Conclusion:
    """One conclusion of a report; made by :func:`conclusion`."""

    id: str  # the document and a number: "p5plus-c3"
    place: str  # in the report
    says: str  # what its authors concluded, in our words
    check: Callable[[], Finding]

    @property
    def document(self) -> str:
        return self.id.rpartition("-c")[0]

    @property
    def number(self) -> int:
        return int(self.id.rpartition("-c")[2])

    def found(self) -> Finding:
        """What is found today.

        :class:`Turned` where the stored runs no longer bear it. ``ValueError`` for an unknown verdict, and for one on a
        measurement without the condition that bears it.
        """
        finding = self.check()
        if finding.verdict not in VERDICTS:
            raise ValueError(f"{self.id}: verdict {finding.verdict!r} is none of {', '.join(VERDICTS)}")
        if finding.bears is None and finding.verdict in (HOLDS, PARTLY, NOT):
            raise ValueError(f"{self.id}: {finding.verdict!r} needs the condition on the runs that bears it")
        if finding.bears is not None and not finding.bears:
            raise Turned(
                f"{self.id} is said to be {finding.verdict!r}, and the stored runs no longer bear that. The report "
                f"concluded: {self.says} The words that no longer fit: {finding.sentence}"
            )
        return finding


def not_yet(experiment: str, what: str) -> Finding:
    """The finding while no stored run of ``experiment`` can test it, with the reason; the first that can turns it."""
    return Finding(UNTESTED, f"{what}: it takes companion run {experiment}.")


_DECLARED: dict[str, Conclusion] = {}


def conclusion(id: str, *, place: str, says: str) -> Callable[[Callable[[], Finding]], Callable[[], Finding]]:
    """Declare a conclusion whose finding the decorated function gives. ``ValueError`` for an id that is taken."""

    def of(function: Callable[[], Finding]) -> Callable[[], Finding]:
        if id in _DECLARED:
            raise ValueError(f"conclusion {id!r} is declared twice")
        _DECLARED[id] = Conclusion(id, place, says, function)
        return function

    return of


def not_run(id: str, *, place: str, says: str, found: Finding) -> None:
    """Declare a conclusion of which nothing is run: what is found of it are words alone."""
    conclusion(id, place=place, says=says)(lambda: found)


def conclusions(document: str | None = None) -> list[Conclusion]:
    """The conclusions of one report in the order of their numbers, or those of all reports."""
    from supercomputers_rerun.companion import experiments  # imports the sections that declare them

    if experiments.BROKEN:
        raise ImportError(next(iter(experiments.BROKEN.values())))
    chosen = [each for each in _DECLARED.values() if document in (None, each.document)]
    return sorted(chosen, key=lambda each: (each.document, each.number))
