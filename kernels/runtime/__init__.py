"""What kernels stand on: compilation, vectors, barriers, threads, resources, pages."""
