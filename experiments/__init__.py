"""The paper's tables and figures: one file an experiment; `runner` runs them, `tables` and `drawing` show the results.

An experiment is a module with ``TITLE``, ``TRIALS``, ``SETTINGS`` (name -> settings as data), ``QUICK`` (what a quick
run replaces in them) and ``trial(setting, seed)``, which returns numbers by method and calls only skmoe's public API.
"""
