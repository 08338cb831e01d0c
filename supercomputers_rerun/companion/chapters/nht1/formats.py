"""The section *Can another machine read the file?*: words of other machines (N5), and the check of a file (N3)."""

from supercomputers_rerun.companion import figures
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.nht1.writing import SIZES
from supercomputers_rerun.companion.common import pd, span
from supercomputers_rerun.companion.conclusions import HOLDS, Finding, conclusion
from supercomputers_rerun.companion.experiments import VERIFIERS, experiment, of

_WAYS = {"encode": "into this format", "decode": "back from it"}
#: Formats as rows of a figure.
_ROWS = {"big-endian": "bytes reversed", "Cray 64": "Cray, 64 bits", "Cray 128": "Cray, 128 bits"}


@experiment(
    "nht1-formats", item="N5", threads=1, rounds=11, seconds={"paper": 30, "modern": 60}, unit="MB/s read and written"
)
def formats(preset: str, threads: int) -> list[Case]:
    """Converting a dump between IEEE, big-endian and Cray words of 128 bits."""
    from supercomputers_rerun.kernels.files import conversion

    problems = [
        conversion.Problem.preset(size, format=form, direction=direction)
        for size in SIZES[preset]
        for form in conversion.FORMATS
        for direction in _WAYS
    ]
    return [
        Case(f"N = {p.N}, {p.format}, {p.direction}", conversion, p, threads, of(p, "N", "format", "direction"))
        for p in problems
    ]


def conversions(run):
    """Of the largest grid: how many times as long as a copy the conversion to each format and back takes."""
    cases = figures.cases(run, "N", "format", "direction").query("N == N.max()")
    found = {}
    for way, part in cases.groupby("direction"):
        copy = part["format"] == "native"
        found[way] = figures.ratios(run, part.index[~copy], part.index[copy])
    return figures.with_spread(pd.DataFrame({"what": part["format"][~copy]}), **found)


@formats.figure
def conversion_cost(runs) -> "figures.Shown":
    """Time of converting a dump, as a multiple of that of a copy."""
    frames = [conversions(run) for run in runs]
    to, back = (frames[0].loc[frames[0]["what"] == "Cray 128", way].item() for way in _WAYS)
    plain = frames[0].set_index("what").loc["big-endian", [*_WAYS]].max()
    frames = [frame.assign(what=frame["what"].map(_ROWS)) for frame in frames]
    shown = figures.dots(
        runs,
        frames,
        _WAYS,
        xlabel="time of converting a dump ÷ time of copying it",
        base=1,
        legend_at="above 2",
        name="nht1_conversion",
        title=f"Converting to Cray numbers takes {to:.1f} times as long as copying, back {back:.1f}, reversing bytes "
        f"{plain:.1f}",
        caption="A dump of the largest grid, converted to numbers of another machine and back. At the right both "
        "ratios.",
    )
    pairs = frames[0][[*_WAYS]].itertuples(index=False)
    figures.at_right(shown.figure.axes[0], [" and ".join(f"{ratio:.1f}" for ratio in pair) for pair in pairs])
    return shown


def _crays(found) -> tuple[float, float]:
    """Least and most times of a copy that Cray words take."""
    cray = found.loc[found["what"] != "big-endian", [*_WAYS]].values
    return float(cray.min()), float(cray.max())


def _free(found) -> bool:
    """Whether reversed bytes take as long as a copy, as far as can be measured."""
    plain = found[found["what"] == "big-endian"]
    return all(plain[f"{way}_low"].max() <= 1 <= plain[f"{way}_high"].min() for way in _WAYS)


def said(run) -> str:
    """What converting costs."""
    found = conversions(run)
    assert _crays(found)[0] > 2 and _free(found)
    return (
        "Yes, after a conversion if the two machines store numbers differently. A copy that reverses the bytes takes "
        "measurably no longer than a plain copy. A copy into Cray numbers of 128 bits, or back, takes "
        f"{span(_crays(found), 0)} times as long as a plain copy, probably because they have twice the bytes and each "
        "number is taken apart (not measured)."
    )


def _verify_solution(path) -> tuple[list[str], list]:
    """The separate verification of the report, one sequential pass over a solution file: the diagonal u(i,i,i,m) of
    every dump, a value a line, and checks of checksums and, where BT-IO publishes them, of the mean error norms.

    ``ValueError`` where the file is no solution file, truncated, or holds values that are not finite.
    """
    from supercomputers_rerun.kernels.files import application
    from supercomputers_rerun.kernels.files.format import layout, verification

    N = layout.Solution(path).layout.N
    found = verification.verify_file(path, application.exact_plane(N) if N >= 3 else None)
    return list(found.lines()), [verification.checksum_check(found), *verification.mean_error_checks(found)]


VERIFIERS.append(_verify_solution)


@conclusion(
    "nht1-c11",
    place="section 3.2",
    says="Numbers converted to Cray words of 128 bits lose nothing.",
)
def lossless() -> Finding:
    """A dump converted to Cray numbers and back."""
    from supercomputers_rerun.kernels.files import conversion

    dump = conversion.Problem(N=12, direction="encode")
    checks = conversion.verify(dump, conversion.run(dump, conversion.setup(dump)))
    return Finding(
        HOLDS,
        "No number of a dump changes on its way to Cray words of 128 bits and back.",
        bears=all(check.ok for check in checks),
    )


@conclusion(
    "nht1-c12",
    place="section 2.2",
    says="Other machines must be able to read the file without much conversion.",
)
def readable() -> Finding:
    """Time of reversing the bytes of a dump over that of a copy."""
    found = conversions(formats.runs()[0])
    return Finding(
        HOLDS,
        "Between machines of today it costs nothing measurable: to reverse the bytes of a dump takes as long as a "
        f"copy. Numbers of the old Crays cost {span(_crays(found), 1)} times a copy.",
        bears=_free(found) and _crays(found)[0] > 1.2,
    )
