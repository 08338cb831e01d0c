"""Hilldrup, *AIPS Benchmarks on the CLSC and PSC Cray X-MPs* (1989)."""
