"""FITS headers changed card by card: the file is refused in one sentence that names it, or its numbers are those in it.

Each card of an image and of visibilities gets values of every kind, goes, stands twice, or is written in another way.
A shorter axis takes fewer of the numbers, and none takes others: a scale that one reader applies and the other does
not know would give another sky.
"""

import itertools
import os
import re

import numpy as np
import pytest
from cases import tried

from kernels.imaging import array, fits, sky

CELL = 2.1e-6
# the image fills its block of 2880 bytes, so that a longer axis is one that the file does not hold
RECORDS = sky.observe(array.scaled(array.tracks(1), 0.36 / CELL), sky.synthetic(16, CELL, points=3))[:20]
IMAGE = np.random.default_rng(0).standard_normal((24, 30)).astype(np.float32)
KINDS = {
    "image": (lambda path: fits.write_image(path, IMAGE, CELL), fits.read_image, IMAGE),
    "data": (lambda path: fits.write_visibilities(path, RECORDS), fits.read_visibilities, RECORDS),
}
#: What a card may hold instead, as it is written: whole numbers, floats, logicals, texts, and what is none of these.
VALUES = (
    *("-1", "0", "1", "2", "19", "91", "999", "1000", "2147483648", "99999999999999999999", "-99999999999999999999"),
    *("5.0", "0.5", "-1.5", "1E3", "1.D0", "1e400", "1E400", "NaN", "INF", "1_0", "0x10", "٣", "+", "-", "(1, 2)"),
    *("T", "F", "TRUE", "''", "'  '", "'1'", "'UU'", "'T'", "'''", "'", "", "/", "20 20", "nothing"),
)
QUIET = pytest.mark.filterwarnings("ignore")
READERS = [
    ("raw", 7),
    pytest.param("astropy", 41, marks=QUIET),
]


def cards(raw: bytes) -> list[bytes]:
    """The cards of the header, up to END."""
    head = raw[: raw.index(b"END".ljust(80))]
    return [head[start : start + 80] for start in range(0, len(head), 80)]


def with_header(raw: bytes, lines: list[bytes]) -> bytes:
    """The file with these cards."""
    old, text = len(cards(raw)) * 80 + 80, b"".join(lines) + b"END".ljust(80)
    padded = -(-len(text) // fits.RECORD) * fits.RECORD
    return text.ljust(padded) + raw[-(-old // fits.RECORD) * fits.RECORD :]


def variants(raw: bytes):
    """Headers with one card changed: ``(what, lines)``."""
    lines = cards(raw)
    for place, line in enumerate(lines):
        for value in VALUES:
            card = (line[:10] + value.rjust(20).encode()).ljust(80)[:80]
            yield f"{line[:30]!r} -> {value}", [*lines[:place], card, *lines[place + 1 :]]
        for what, card in (
            ("no value indicator", line[:8] + b"  " + line[10:]),
            ("no blank", (line[:8] + b"=" + line[10:].lstrip()).ljust(80)),
            ("lower case", line[:8].lower() + line[8:]),
            ("hierarchical", (b"HIERARCH " + line[:8].strip() + b" = 2").ljust(80)),
            ("not ASCII", line[:12] + b"\xff\x00\x1b" + line[15:]),
        ):
            yield f"{line[:30]!r}: {what}", [*lines[:place], card, *lines[place + 1 :]]
        yield f"{line[:30]!r} left out", lines[:place] + lines[place + 1 :]
        yield f"{line[:30]!r} twice", [*lines, line]
    for name in ("BSCALE", "BZERO", "BLANK", "XTENSION", "GROUPS", "PCOUNT", "GCOUNT", "EXTEND", "INHERIT", "END"):
        for value in ("2", "1.5", "T", "'IMAGE'"):
            yield f"{name} = {value} more", [*lines, f"{name:<8}= {value:>20}".encode().ljust(80)]
    for keyword in ("HIERARCH BSCALE = 2.0", "CONTINUE  'x'", "COMMENT = 5", "BSCALE  =2.0"):
        yield f"{keyword} more", [*lines, keyword.encode().ljust(80)]


@pytest.mark.parametrize("reader, every", READERS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_card_changes_no_number_or_the_file_is_refused(tmp_path, kind, reader, every):
    """The same check comes before either reader, so that astropy sees fewer files."""
    if reader == "astropy":
        pytest.importorskip("astropy")
    write, read, whole = KINDS[kind]
    path = tmp_path / "changed.fits"
    write(path)
    raw, short = path.read_bytes(), []
    for what, lines in itertools.islice(variants(raw), 0, None, every):
        path.write_bytes(with_header(raw, lines))
        tried()
        try:
            found = read(path, reader)
        except ValueError as error:
            if str(path) not in str(error) or "\n" in str(error):
                short.append(f"{what}: {error}")
        except Exception as error:
            short.append(f"{what}: {type(error).__name__}: {error}")
        else:
            if not found.size or not np.array_equal(found.reshape(-1), whole.reshape(-1)[: found.size]):
                short.append(f"{what}: taken for {found.shape}")
    assert not short, f"{len(short)} fall short: " + "; ".join(short[:10])


def _endless(path, size):
    """A header that goes on to the end of a file of ``size`` bytes, most of which is a hole."""
    path.write_bytes(b"SIMPLE  =                    T".ljust(80))
    os.truncate(path, size)


@pytest.mark.parametrize("kind", KINDS)
def test_a_header_that_asks_for_too_much_is_refused(tmp_path, kind):
    write, read, _ = KINDS[kind]
    write(tmp_path / "large.fits")
    raw = (tmp_path / "large.fits").read_bytes()
    (tmp_path / "large.fits").unlink()
    changes = [(b"NAXIS ", value) for value in ("100000000", "999", "99999999999999999999")]
    changes += [(b"GCOUNT", "1000000000000"), (b"NAXIS1", "2147483647"), (b"NAXIS3", "2147483647")]
    for number, (key, value) in enumerate(changes):
        lines = [
            (line[:10] + value.rjust(20).encode()).ljust(80) if line.startswith(key) else line for line in cards(raw)
        ]
        if lines != cards(raw):
            (tmp_path / f"{number}.fits").write_bytes(with_header(raw, lines))
    for size in (10**6, 3 * 10**9):
        _endless(tmp_path / f"{size}.fits", size)
    for path in tmp_path.iterdir():
        with pytest.raises(ValueError, match=re.escape(str(path))):
            read(path)
