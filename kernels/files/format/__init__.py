"""The solution file of NHT-1: layout, checksums, writing sessions, containers, verification."""
