"""What this host is, what it lacks, and its hardware counters."""
