"""Experiments of the X-MP report of 1982."""

from companion.chapters.xmp1982.experiments import (
    analysis,
    banks,
    devices,
    forecast,
    overlap,
    pairs,
    replay,
    sharing,
    studies,
)

__all__ = ["analysis", "banks", "devices", "forecast", "overlap", "pairs", "replay", "sharing", "studies"]
