"""Figures and tables of the pages that belong to no chapter."""

# imports the sections of all chapters, in their order, before a page takes one of them
import supercomputers_rerun.companion.experiments
