"""Experiments of the X-MP report of 1982."""

from companion.chapters.xmp1982.experiments import banks, forecast, overlap, pairs, studies

__all__ = ["banks", "forecast", "overlap", "pairs", "studies"]
