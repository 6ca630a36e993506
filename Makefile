# Two commands do all the set-up on a machine with Python >= 3.11, a C++ compiler and make:
#   make demo    compile a goal with the bundled model, accept it, run it, replay it
#   make test    linters, types, import rule, tests
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

# llama.cpp is compiled once into the venv: only the library that we load, on all cores.
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell $(PYTHON) -c 'import os; print(os.cpu_count())')
export CMAKE_ARGS ?= -DLLAVA_BUILD=OFF -DCMAKE_PROJECT_llama.cpp_INCLUDE=$(CURDIR)/cmake/llama-library-only.cmake
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

# Whatever follows from the order of sets is the same for everybody too; `make fuzz` takes it from its seed.
test quick slow: export PYTHONHASHSEED = 0

.PHONY: demo test quick lint types slow vocabularies fuzz bench model lock clean help
.DEFAULT_GOAL := help

help:           ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 14

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "mcl needs Python 3.11 or newer (PYTHON=... picks one)")'
	$(PYTHON) -m venv $(VENV)

# Once the distribution was called mcl; two of them in one venv would share their files.
$(VENV)/.runtime: requirements.lock pyproject.toml | $(BIN)/python
	@echo "installing (llama.cpp is compiled once, about 3 minutes)"
	$(PIP) --require-hashes -r requirements.lock
	@$(BIN)/python -m pip --disable-pip-version-check uninstall --quiet --yes mcl 2>/dev/null
	$(PIP) --no-deps --editable .
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.runtime
	$(PIP) --require-hashes -r requirements-dev.lock
	@touch $@

# MCP servers by other hands and ripgrep, for the tests; without npm or a registry, their tests are skipped.
$(VENV)/npm/.installed: tests/mcp/npm/package.json tests/mcp/npm/package-lock.json | $(BIN)/python
	@mkdir -p $(@D) && cp tests/mcp/npm/package.json tests/mcp/npm/package-lock.json $(@D)/
	@if ! command -v npm >/dev/null; then echo "no npm here: the tests with npm's MCP servers and ripgrep are skipped"; \
	elif npm ci --prefix $(@D) --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=1; then touch $@; \
	else echo "npm ci failed: the tests with npm's MCP servers and ripgrep are skipped"; fi

demo: $(VENV)/.runtime   ## a goal in plain words: compiled, signed, run, replayed
	@PATH="$(abspath $(BIN)):$$PATH" sh docs/demo.sh

test: lint types $(VENV)/npm/.installed  ## all checks (what CI runs)
	$(BIN)/python -m pytest -n 2 -m "not slow"
	$(BIN)/python -m pytest -n 2 -m slow

quick: $(VENV)/.dev $(VENV)/npm/.installed  ## the tests alone
	$(BIN)/python -m pytest -n 2

vocabularies: $(VENV)/.dev  ## fetch the real vocabularies that long tests use (77 MB, into the user's cache)
	$(BIN)/python tests/model/vocabularies.py

slow: $(VENV)/.dev $(VENV)/npm/.installed  ## the long tests alone
	$(BIN)/python -m pytest -n 2 -m slow

lint: $(VENV)/.dev       ## ruff, import rule, the house in figures
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	@$(BIN)/python -m benchmarks.house --short
	@$(BIN)/python -m benchmarks.walked

types: $(VENV)/.dev      ## mypy --strict
	$(BIN)/mypy

fuzz: $(VENV)/.dev $(VENV)/npm/.installed  ## search: all property tests at random (SEED=N again), and the readers
	$(BIN)/python tests/fuzz/search.py --minutes 10 $(if $(SEED),--seed $(SEED))
	$(PIP) "atheris>=3,<4"
	$(BIN)/python tests/fuzz/fuzz_mtx.py -max_total_time=600
	MTX_FUZZ_EXAMPLES=6000 $(BIN)/python -m pytest -n 2 tests/mtx/test_mtx_fuzz.py

bench: $(VENV)/.dev      ## figures of benchmarks/README.md
	$(BIN)/python -m benchmarks.compile
	$(BIN)/python -m benchmarks.mtx
	$(BIN)/python -m benchmarks.executor
	$(BIN)/python -m benchmarks.gate
	$(BIN)/python -m benchmarks.journal_length
	$(BIN)/python -m benchmarks.processes
	$(BIN)/python -m benchmarks.overlap
	$(BIN)/python -m benchmarks.intents
	$(BIN)/python -m benchmarks.mcp
	$(BIN)/python -m benchmarks.repo
	$(BIN)/python -m benchmarks.maps
	$(BIN)/python -m benchmarks.review_memory
	$(BIN)/python -m benchmarks.scan

model: $(VENV)/.dev      ## train the bundled model again (up to 3 h on 2 cores; goes on where it was stopped)
	$(PIP) "torch==2.13.*" "gguf>=0.17,<1" "tokenizers>=0.21,<1" "safetensors>=0.5,<1" "scikit-learn>=1.7,<2"
	$(BIN)/python -m training.make

lock: | $(BIN)/python    ## lock files from the ranges in pyproject.toml
	$(PIP) uv
	$(BIN)/uv pip compile -q --universal --generate-hashes --custom-compile-command "make lock" \
	  pyproject.toml --extra mcp -o requirements.lock
	$(BIN)/uv pip compile -q --universal --generate-hashes --custom-compile-command "make lock" \
	  pyproject.toml --group dev -o requirements-dev.lock

clean:          ## remove the venv and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
