"""Files that are whole or refused: model files, and the archives that they and checkpoints are."""

from skmoe.persistence.errors import ModelFileError
from skmoe.persistence.model_file import load_model, save_model

__all__ = ["ModelFileError", "load_model", "save_model"]
