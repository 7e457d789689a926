"""The paper's tables, figures and theory, one file or folder an experiment.

`runner` runs them, `tables` and `drawing` show the results, `claims` judges the paper by them, `page` writes
docs/paper.md.

An experiment is a module with ``TITLE``, ``TRIALS``, ``SETTINGS`` (name -> settings as data), ``QUICK`` (what a quick
run replaces in them) and ``trial(setting, seed)``, which returns numbers by method and calls only skmoe's public API.
"""
