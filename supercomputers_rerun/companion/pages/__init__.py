"""Figures and tables of the pages that belong to no chapter."""
