# The four things a person does here. Everything is installed into .venv, from the lock, with hashes.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: help demo test lint bench lock clean

help:
	@echo "make demo   compare two embedded nodes and show the answer"
	@echo "make test   run the tests"
	@echo "make lint   ruff, mypy, import-linter"
	@echo "make bench  the generator's cost per request against its peers"

demo: $(VENV)/ready
	$(BIN)/rpcbench demo

test: $(VENV)/ready-dev
	$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/ready-dev
	$(BIN)/python benchmarks/engine.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/ready: requirements.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --require-hashes -r requirements.txt
	$(BIN)/pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/ready-dev: requirements-dev.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --require-hashes -r requirements-dev.txt
	$(BIN)/pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/ready

# Needs poetry with poetry-plugin-export; a test fails when the exports and the lock differ.
lock:
	poetry lock
	poetry export --with build -o requirements.txt
	poetry export --with build,dev -o requirements-dev.txt
	poetry export --only fuzz -o requirements-fuzz.txt

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .import_linter_cache dist
