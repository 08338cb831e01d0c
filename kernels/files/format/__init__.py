"""The solution file of NHT-1: layout, checksums, verification."""
