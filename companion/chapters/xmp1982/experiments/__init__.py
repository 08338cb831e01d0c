"""Experiments of the X-MP report of 1982."""
