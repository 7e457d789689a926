"""Real tables as they come, fitted by the plain command line; ``run.py`` runs it on all of them."""
