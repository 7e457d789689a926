"""Example data: simulated problems whose truth is known, and the paper's three real tables."""

from skmoe.datasets.real import load_airfoil, load_concrete, load_stock_portfolio
from skmoe.datasets.synthetic import make_moe

__all__ = ["load_airfoil", "load_concrete", "load_stock_portfolio", "make_moe"]
