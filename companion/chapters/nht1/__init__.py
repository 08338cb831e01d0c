"""Fineberg, *Implementing the NHT-1 Application I/O Benchmark* (1993)."""
