"""Salmond, Towers, *IFS migrates from IBM to Cray* (2014)."""
