"""Fineberg, *Implementing the NHT-1 Application I/O Benchmark* (1993)."""

# imports the sections, which take names from each other, in their order
import supercomputers_rerun.companion.experiments
