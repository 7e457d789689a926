"""Families of experts other than the Gaussian: reach, coverage, and beside flexmix."""
