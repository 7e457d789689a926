"""Model files: written whole, read without running any code."""

from skmoe.persistence.model_file import load_model, save_model

__all__ = ["load_model", "save_model"]
