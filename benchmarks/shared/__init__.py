"""What several benchmarks use: rows drawn from the paper's settings, a model over rows, timings, pages."""
