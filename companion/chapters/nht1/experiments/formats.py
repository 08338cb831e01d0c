"""N5: what it costs to read a solution in the words of another machine."""

from companion.bench import Case
from companion.chapters import cases_of, of

#: by the names that the kernel's presets have
_SIZES = {"quick": ("small",), "paper": ("small", "medium", "paper"), "modern": ("paper", "modern")}


@cases_of("nht1-formats")
def _cases(preset: str, threads: int) -> list[Case]:
    """Every format, there and back, for each grid; a plain copy is the base."""
    from kernels.files import conversion

    problems = [
        conversion.Problem.preset(size, format=form, direction=direction)
        for size in _SIZES[preset]
        for form in conversion.FORMATS
        for direction in ("encode", "decode")
    ]
    return [
        Case(f"N = {p.N}, {p.format}, {p.direction}", conversion, p, threads, of(p, "N", "format", "direction"))
        for p in problems
    ]
