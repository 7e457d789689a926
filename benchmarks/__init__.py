"""Measurements, a folder each subject; scripts run from the root: ``python -m benchmarks.search.reach``."""
