"""A run of ``python -m peers`` as it grows, and the peer record that is kept of it."""

import time
from pathlib import Path
from typing import Any

import numpy as np

from companion.bench.sampling import OtherLoad
from companion.host import limits, machine
from companion.records import peer_records, store
from peers import Absent, Row, versions
from peers.kit import vectors

#: Seconds that the host is watched before and after a run that is kept.
WATCH = 2.0


class Run:
    """What was asked for and what has been measured so far; ``save`` keeps it at any moment."""

    def __init__(self, names: list[str], threads: list[int], rounds: int, seed: int):
        self.names, self.threads, self.rounds, self.seed = names, threads, rounds, seed
        self.source, self.folder = limits.temporary()
        self.date = store.now()
        self.rows: list[dict[str, Any]] = []
        self.absent: list[dict[str, Any]] = []
        self.interrupted: str | None = None
        self.ceilings: dict[str, Any] = {}
        self.load: dict[str, float | None] = {}
        self._other: OtherLoad | None = None

    def begin(self) -> None:
        """Watch what others keep busy before anything is measured; from here on, meanwhile."""
        self.load["before"] = _watched()
        self._other = OtherLoad()

    def end(self) -> None:
        """Note what others kept busy since :meth:`begin`, and watch once more."""
        if self._other is not None and "during" not in self.load:
            self.load["during"] = self._other.value()
            self.load["after"] = _watched()

    def add(self, module: str, threads: int, item: Row | Absent) -> None:
        """Take note of a measured comparison or of a peer that could not run."""
        if isinstance(item, Absent):
            entry = {"module": module, "threads": threads, "name": item.name, "reason": item.reason}
            if entry not in self.absent:
                self.absent.append(entry)
        else:
            self.rows.append(_row(module, threads, item))

    def stopped(self, error: BaseException) -> None:
        """Note why comparisons are missing; no message, since messages may name paths of this machine."""
        reason = getattr(error, "strerror", None) or type(error).__name__
        self.interrupted = "stopped by hand" if isinstance(error, KeyboardInterrupt) else reason

    def record(self) -> dict[str, Any]:
        """The run as a peer record."""
        load = self.load if len(self.load) == 3 else None
        optional = {"vectors": vectors.bits(), "load": load, "ceilings": self.ceilings}
        return {
            "schema": peer_records.SCHEMA,
            "version": peer_records.VERSION,
            "date": self.date,
            "modules": self.names,
            "threads": self.threads,
            "rounds": self.rounds,
            "seed": self.seed,
            "interrupted": self.interrupted,
            "machine": machine.describe(folder=self.folder, also=("peers",), source=self.source, measured=True),
            **{name: value for name, value in optional.items() if value},
            "ours": {"kernels": vectors.ours()},
            "peers": versions(self.names),
            "absent": self.absent,
            "rows": self.rows,
        }

    def save(self, folder: Path) -> tuple[Path, list[str]] | None:
        """Write the record; its path, and why it does not belong to the book; None where nothing has been measured."""
        if not self.rows:
            return None
        self.end()
        record = self.record()
        return peer_records.save(record, folder), peer_records.unfit(record)


def _watched() -> float | None:
    """CPUs that others keep busy while we wait."""
    load = OtherLoad()
    time.sleep(WATCH)
    return load.value()


def _row(module: str, threads: int, row: Row) -> dict[str, Any]:
    def both(samples: np.ndarray) -> dict[str, float]:
        return {"fastest": float(samples.min()), "median": float(np.median(samples))}

    counted = row.work  # what the host's ceilings are held against, where the comparison says it
    optional = {
        "tried": row.tried,
        "work": counted and {"flops": counted.flops, "bytes": counted.bytes, "size": row.size or counted.bytes},
        "items": row.items and row.items._asdict(),
        "chosen": row.chosen,
    }
    return {
        "module": module,
        "group": row.group,
        "label": row.label,
        "threads": threads,
        **both(row.ours),
        "peers": {
            peer: {
                **both(samples),
                "ratio_fastest": row.ratio_min(peer),
                "ratio_median": row.ratio_median(peer),
                **({"apart": row.apart[peer]} if peer in row.apart else {}),
            }
            for peer, samples in row.peers.items()
        },
        "wrong": row.wrong,
        **{name: value for name, value in optional.items() if value},
        "other_load": row.other_load,
        "flags": row.flags,
    }
