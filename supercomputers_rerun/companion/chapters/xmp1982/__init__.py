"""Gibson, Storer, Dent, *Benchmark exercises on Cray X MP* (1982)."""
