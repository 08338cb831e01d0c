"""The processor: dependent and independent loops, two streams a core, and the peak of multiply-add."""
