# Everything runs from .venv, which the first target that needs it makes. `make help` lists the targets.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq

# The first Python that is new enough. Asked for only when .venv is made.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

# The plain kind of editable install: the other one costs 25 ms at each start.
EDITABLE := --config-settings editable_mode=compat

.PHONY: help setup dev demo test unit crash e2e lint format bench screenshots readme constraints clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: .venv/.ready ## Make .venv with a runnable .venv/bin/ledger-tui

demo: .venv/.ready ## Show the dashboard on a recorded session
	@$(BIN)/ledger-tui demo

test: unit e2e ## Run all tests

unit: .venv/.ready-dev ## Run the unit and screen tests
	$(BIN)/python -m pytest tests/unit tests/ui tests/crash -n 2

crash: .venv/.ready-dev ## Kill a replay 200 times, and look each time for all that was acknowledged
	LEDGER_CRASHES=200 $(BIN)/python -m pytest tests/crash -n 2

e2e: .venv/.ready-dev ## Run the tests on the real OpenCode, which npm puts into .opencode-bin
	$(BIN)/python -m pytest tests/e2e -n 2 --dist loadfile || { \
		echo 'e2e: what failed is run once more: the real OpenCode on a busy machine may miss a time limit' >&2; \
		$(BIN)/python -m pytest tests/e2e --last-failed --last-failed-no-failures none; }

lint: .venv/.ready-dev ## Check format, style, types and the arrows between packages
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/.ready-dev ## Format the sources and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/.ready-dev ## Measure, and print each figure with its workload
	$(BIN)/python -m tests.bench

screenshots: .venv/.ready-dev ## Take the pictures in screenshots/ anew
	$(BIN)/python -m tests.ui.make_pictures

readme: .venv/.ready-dev ## Write the tables of the README anew
	$(BIN)/python -m tests.readme

constraints: .venv/.python ## Resolve all dependencies anew and write constraints.txt
	@set -e; work=$$(mktemp -d); trap 'rm -rf "$$work"' EXIT; \
	$(BIN)/python -m venv "$$work/venv"; \
	"$$work/venv/bin/python" -m pip install --disable-pip-version-check -qq '.[dev]'; \
	{ echo '# Exact versions of all direct and transitive dependencies; made by `make constraints`.'; \
	"$$work/venv/bin/python" -m pip freeze --exclude ledger-tui --exclude setuptools --exclude pip --exclude wheel; \
	} > "$$work/constraints.txt"; \
	mv "$$work/constraints.txt" constraints.txt; rm -rf build

clean: ## Remove all that was made: .venv, OpenCode, caches
	rm -rf .venv .opencode-bin build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.ready: .venv/.python pyproject.toml constraints.txt
	@echo 'Installing the dependencies (half a minute, once)'
	@$(PIP) install --editable . $(EDITABLE) --constraint constraints.txt
	@touch $@

.venv/.ready-dev: .venv/.ready
	@echo 'Installing what the checks need (half a minute, once)'
	@$(PIP) install --editable '.[dev]' $(EDITABLE) --constraint constraints.txt
	@touch $@

# Debian ships venv without ensurepip unless python3-venv is there; a pip of the system can then stand in for it.
.venv/.python:
	@if [ -z "$(PYTHON)" ]; then \
		echo 'No Python 3.11 or newer found. On Debian: apt-get install python3 python3-venv' >&2; exit 1; fi
	@$(PYTHON) -m venv .venv >/dev/null 2>&1 \
	|| { rm -rf .venv; $(PYTHON) -m venv --without-pip .venv \
		&& $(PYTHON) -m pip --disable-pip-version-check --python .venv/bin/python install -qq pip; } 2>/dev/null \
	|| { rm -rf .venv; \
		echo '$(PYTHON) cannot make a virtual environment. On Debian: apt-get install python3-venv' >&2; exit 1; }
	@touch $@
