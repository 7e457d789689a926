"""Hostile input by the thousand: each is refused in a sentence or taken rightly, in time and in little memory."""

TARGETS = {
    "model files": ("model_files", 10_000),
    "checkpoints": ("checkpoints", 2_000),
    "csv files": ("csv_files", 2_000),
    "table files": ("table_files", 2_000),
    "command lines": ("command_lines", 2_000),
    "tables in Python": ("python_tables", 1_000),
}
"""What is attacked: the module beside this one whose class `Target` does it, and how many cases are a full run."""

__all__ = ["TARGETS"]
