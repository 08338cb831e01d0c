"""The memory system: strided bandwidth, load latency, STREAM."""
