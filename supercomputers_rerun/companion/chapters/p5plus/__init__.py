"""Hague, *Performance of P5+ at ECMWF* (2006)."""
