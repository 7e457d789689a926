"""Hostile input by the thousand: each is refused in a sentence or taken rightly, in time and in little memory."""

TARGETS = {
    "model files": ("benchmarks.fuzz.model_files", 10_000),
    "checkpoints": ("benchmarks.fuzz.checkpoints", 2_000),
    "csv files": ("benchmarks.fuzz.csv_files", 2_000),
    "table files": ("benchmarks.fuzz.table_files", 2_000),
    "command lines": ("benchmarks.fuzz.command_lines", 2_000),
    "tables in Python": ("benchmarks.fuzz.python_tables", 1_000),
}
"""What is attacked: the module whose class `Target` does it, and how many cases are a full run."""

__all__ = ["TARGETS"]
