"""Zarr solutions, read without a library: their chunks are the plain words of one dump each.

A Zarr folder names the code that decodes it.  What is read here is Zarr v3 as :class:`containers.Zarr` writes it:
one codec, little-endian bytes.  The metadata are bounded JSON and must say just that, and sizes of files follow
from them, before a chunk is opened.
"""

import json
import operator

import numpy as np

from kernels.files import foreign
from kernels.files.format.layout import DTYPE, Solution, SolutionError
from kernels.files.format.seal import require_folder_seal, sealed_files
from kernels.files.formulas import COMPONENTS

#: Largest ``zarr.json`` that is read; those that are written have 700 bytes.
_LARGEST = 2**16
_COORDINATES = {"step": ("int64", "<i8"), "crc32": ("uint32", "<u4")}
#: What an array's metadata may say without a bearing on its chunks, all of which are there.
_NO_BEARING = {"attributes", "dimension_names", "fill_value"}


def _array(shape, chunk, kind: str) -> dict:
    """The metadata of an array whose chunks are read as they are."""
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape),
        "data_type": kind,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunk)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "storage_transformers": [],
    }


class ZarrSolution(Solution):
    """A finished Zarr solution."""

    def _open(self) -> None:
        sealed = sealed_files(self.path)
        facts = self._metadata("zarr.json")
        if facts.get("zarr_format") != 3 or facts.get("node_type") != "group":
            raise SolutionError(f"{self.path} is no Zarr group of format 3, and nothing else is read")
        self._announced(facts.get("attributes"))
        self._require_arrays()
        names = self._sizes()
        if len(sealed) != len(names) or any(
            name not in sealed or size not in (None, sealed[name][0]) for name, size in names.items()
        ):
            raise SolutionError(
                f"{self.path} is truncated or damaged: its files are not those of {self.layout.dumps} dumps with "
                f"N = {self.N}; write or copy it again"
            )
        require_folder_seal(self.path, sealed)
        self.crc32 = self._values("crc32")
        if self._values("step") != self.steps:
            raise SolutionError(f"{self.path} is damaged: its steps are not those it announces; write it again")

    def _metadata(self, name: str) -> dict:
        try:
            found = json.loads(foreign.content(self.path / name, _LARGEST))
        except (OSError, ValueError, RecursionError) as error:
            reason = (isinstance(error, OSError) and error.strerror) or "it is not JSON"
            raise SolutionError(f"{self.path / name} cannot be read: {reason}; write or copy it again") from None
        if not isinstance(found, dict):
            raise SolutionError(f"{self.path / name} is no metadata of Zarr: it holds no object")
        return found

    def _require_arrays(self) -> None:
        """``SolutionError`` unless the three arrays are those that this layout writes."""
        dumps = self.layout.dumps
        wanted = {"U": _array((dumps, *self.layout.shape), (1, *self.layout.shape), "float64")}
        wanted |= {name: _array([dumps], [1], kind) for name, (kind, _) in _COORDINATES.items()}
        for name, entries in wanted.items():
            path, found = self.path / name / "zarr.json", self._metadata(f"{name}/zarr.json")
            shape = found.get("shape")
            if isinstance(shape, list) and shape[1:] == entries["shape"][1:] and shape[:1] != [dumps]:
                held = "".join(map(str, shape[:1]))
                raise SolutionError(f"{self.path} is truncated: it holds {held} of {dumps} dumps; write it again")
            for key in sorted({*found, *entries} - _NO_BEARING):
                # storage transformers may be left out where there are none
                if found.get(key, [] if key == "storage_transformers" else None) != entries.get(key):
                    raise SolutionError(
                        f"{path} has another {key} than a solution of N = {self.N}; nothing else is read"
                    )

    def _sizes(self) -> dict[str, int | None]:
        """Every file of the folder but the seal, and its bytes where they follow from the layout."""
        names: dict[str, int | None] = {f"{name}zarr.json": None for name in ("", "U/", "step/", "crc32/")}
        for index in range(self.layout.dumps):
            names[f"U/c/{index}/0/0/0/0"] = self.layout.dump_bytes
            for name, (_, word) in _COORDINATES.items():
                names[f"{name}/c/{index}"] = np.dtype(word).itemsize
        return names

    def _values(self, name: str) -> list[int]:
        word = np.dtype(_COORDINATES[name][1])
        found = []
        for index in range(self.layout.dumps):
            raw = foreign.content(self.path / name / "c" / str(index), word.itemsize)
            found += np.frombuffer(raw, word).tolist()
        return found

    def planes(self, index: int):
        """Yield the N k-planes of dump ``index``, float64 (N, N, 5); one buffer is used again for every plane."""
        plane = np.empty((self.N, self.N, COMPONENTS), DTYPE)
        with foreign.opened(self.path / f"U/c/{operator.index(index)}/0/0/0/0", self.layout.dump_bytes) as file:
            for k in range(self.N):
                if file.readinto(plane.reshape(-1).view(np.uint8)) != plane.nbytes:
                    raise SolutionError(f"{self.path} is truncated: dump {index} ends in k-plane {k}")
                yield plane
