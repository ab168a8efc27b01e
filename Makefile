# Each target works as the first and only command on a fresh machine with Python 3.11 or newer, git and make.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test check bench docs warm pins clean setup setup-bench

BIN := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
RUN := .venv/$(BIN)
BENCH := .venv-bench/$(BIN)
NAME ?=
ARGS ?=
TESTS ?=
export PYTHON

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

demo: warm ## Run the demonstration and write its report (ARGS="--out DIR")
	@$(RUN)/purport demo --force $(ARGS)

test: warm ## Run the tests (TESTS=tests/house for some; PURPORT_DATA=DIR for those on real data)
	@$(RUN)/python -m pytest $(TESTS) $(ARGS)

check: setup ## Lint, types, layers; then the wheel, installed outside the checkout
	@$(RUN)/ruff check .
	@$(RUN)/ruff format --check .
	@$(RUN)/mypy
	@$(RUN)/lint-imports --no-logo
	@$(RUN)/python scripts/check_wheel.py

bench: setup-bench ## Measure beside the peers: make bench NAME=crf (ARGS="--json")
	@$(BENCH)/python -m bench $(NAME) $(ARGS)

docs: setup ## Check the guide's links and write it as HTML to build/docs
	@$(RUN)/python scripts/build_docs.py build/docs

warm: setup ## Compile the kernels, once
	@$(RUN)/purport warm

pins: ## Choose the pinned versions anew (needs uv)
	@sh scripts/pin.sh

clean: ## Remove everything that was made here, the environments too
	@rm -rf .venv .venv-bench .venv.lock .venv-bench.lock build dist .hypothesis
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	@find src tests scripts $(wildcard bench) \( -name __pycache__ -o -name __kernels__ \) -prune -exec rm -rf {} +

setup:
	@python=$$(sh scripts/find_python.sh) && "$$python" scripts/set_up.py .venv dev

setup-bench:
	@python=$$(sh scripts/find_python.sh) && "$$python" scripts/set_up.py .venv-bench dev bench
