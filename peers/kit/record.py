"""A run of ``python -m peers`` as it grows, and the peer record that is kept of it."""

from pathlib import Path
from typing import Any

import numpy as np

from companion.host import machine
from companion.records import peer_records, store
from peers import Absent, Row, versions


class Run:
    """What was asked for and what has been measured so far; ``save`` keeps it at any moment."""

    def __init__(self, names: list[str], threads: list[int], rounds: int, seed: int):
        self.names, self.threads, self.rounds, self.seed = names, threads, rounds, seed
        self.date = store.now()
        self.rows: list[dict[str, Any]] = []
        self.absent: list[dict[str, Any]] = []
        self.interrupted: str | None = None

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
        return {
            "schema": peer_records.SCHEMA,
            "version": peer_records.VERSION,
            "date": self.date,
            "modules": self.names,
            "threads": self.threads,
            "rounds": self.rounds,
            "seed": self.seed,
            "interrupted": self.interrupted,
            "machine": machine.describe(also=("peers",)),
            "peers": versions(self.names),
            "absent": self.absent,
            "rows": self.rows,
        }

    def save(self, folder: Path) -> Path | None:
        """Write the record and return its path; None where nothing has been measured."""
        return peer_records.save(self.record(), folder) if self.rows else None


def _row(module: str, threads: int, row: Row) -> dict[str, Any]:
    def both(samples: np.ndarray) -> dict[str, float]:
        return {"fastest": float(samples.min()), "median": float(np.median(samples))}

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
        **({"tried": row.tried} if row.tried else {}),
        "other_load": row.other_load,
        "flags": row.flags,
    }
