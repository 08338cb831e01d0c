"""The processor: dependent and independent loops, two streams a core, peak of multiply-add, a barrier of threads."""
