# The four things a person does here. Everything is installed into .venv, from the lock, with hashes.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: help demo test lint bench real-nodes fuzz lock clean

help:
	@echo "make demo   compare two embedded nodes and show the answer"
	@echo "make test   run the tests"
	@echo "make lint   ruff, mypy, import-linter"
	@echo "make bench  the generator's cost per request against its peers"
	@echo "make real-nodes   fetch the real nodes that tests/real starts"

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

# Says at the end which nodes there are; under CI it fails when one of those that CI must have is missing.
real-nodes:
	if command -v npm >/dev/null; then npm ci --silent --no-audit --no-fund --prefix tests/real; fi
	$(PYTHON) tests/real/binaries.py

# Atheris has no wheel for every Python, so fuzzing has an environment of its own.
FUZZ_PYTHON ?= python3.12
FUZZ_S      ?= 60

fuzz: .venv-fuzz/ready
	@mkdir -p .venv-fuzz/corpus
	PYTHONPATH=. .venv-fuzz/bin/python tests/fuzz/fuzz_reply_reader.py -max_total_time=$(FUZZ_S) -timeout=5 -max_len=512 \
	  -artifact_prefix=.venv-fuzz/ .venv-fuzz/corpus tests/fuzz/seeds

.venv-fuzz/ready: requirements.txt requirements-fuzz.txt
	$(FUZZ_PYTHON) -m venv .venv-fuzz
	.venv-fuzz/bin/pip install --quiet --require-hashes -r requirements-fuzz.txt
	.venv-fuzz/bin/pip install --quiet --require-hashes -r requirements.txt
	@touch $@

# Needs poetry with poetry-plugin-export; a test fails when the exports and the lock differ.
lock:
	poetry lock
	poetry export --with build -o requirements.txt
	poetry export --with build,dev -o requirements-dev.txt
	poetry export --only fuzz -o requirements-fuzz.txt

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .import_linter_cache dist
