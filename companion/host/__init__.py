"""What this host is, what it lacks, and what fits into it."""
