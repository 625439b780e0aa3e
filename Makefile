# What a person or a machine does with this repository. `make` alone lists it.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.NOTPARALLEL:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV ?= .venv
DEMO_DIR ?= demo_run
PIP := $(VENV)/bin/python -m pip --disable-pip-version-check
NATIVE := $(wildcard native/*.c native/*.h)
PACKAGE := $(shell find tensorboard_plugin_darshan frontend -maxdepth 2 -name '*.py' -o -maxdepth 2 -name '*.js' -o -maxdepth 1 -name '*.css')

# Debian's packages that a program comes from; installed only where it is missing.
COMPILER := gcc=gcc,libc6-dev
TEST_PROGRAMS := $(COMPILER) chromium=chromium,fonts-liberation node=nodejs valgrind=valgrind

# $(call need,program=package[,package] ...): installs what is missing, or says what to install.
define need
missing=; \
for entry in $(1); do \
	command -v "$${entry%%=*}" >/dev/null || missing="$$missing $${entry#*=}"; \
done; \
missing="$${missing//,/ }"; \
$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || missing="$$missing python3-venv"; \
$(PYTHON) -c 'import os, sysconfig, sys; \
	sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' \
	|| missing="$$missing python3-dev"; \
if [ -z "$$missing" ]; then :; \
elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	export DEBIAN_FRONTEND=noninteractive; \
	apt-get update -qq; \
	apt-get install -qq -y --no-install-recommends $$missing </dev/null; \
else \
	echo "Please install$$missing first (on Debian: sudo apt-get install$$missing)." >&2; exit 1; \
fi
endef

.PHONY: help
help: ## list these
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' Makefile

.PHONY: demo
demo: $(VENV)/installed-demo ## train a small model on files, then show its I/O in TensorBoard
	$(VENV)/bin/tensorboard-darshan demo --logdir $(DEMO_DIR) || [ $$? = 130 ] # Ctrl-C

.PHONY: test
test: test-programs lint types frontend ## check and test everything; installs what that needs
	$(VENV)/bin/python -m pytest

.PHONY: frameworks
frameworks: $(VENV)/installed-test ## test trainings on PyTorch and JAX; installs both
	$(PIP) install --quiet --editable '.[demo,test,frameworks]'
	$(VENV)/bin/python -m pytest tests/integration/test_frameworks.py

.PHONY: lint
lint: $(VENV)/installed-test ## check style
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check

.PHONY: format
format: $(VENV)/installed-test ## mend style
	$(VENV)/bin/ruff check --fix
	$(VENV)/bin/ruff format

.PHONY: types
types: $(VENV)/installed-test ## check the types of the Python package
	$(VENV)/bin/mypy

.PHONY: frontend
frontend: frontend-types ## check and test the frontend
	node --test --test-reporter=spec tests/frontend/*.test.mjs

.PHONY: frontend-types
frontend-types:
	@if ! command -v npm >/dev/null; then \
		echo "Skipped the check of the frontend's types: there is no npm."; \
	elif ! (cd frontend && npm install --silent --no-package-lock --no-audit --no-fund); then \
		echo "Skipped the check of the frontend's types: npm could not install typescript."; \
	else \
		(cd frontend && npm run --silent types && npm run --silent lint) \
			&& echo "The frontend's types and style are right."; \
	fi

.PHONY: native
native: $(VENV)/installed-test ## compile the native part in place; warnings are errors
	CFLAGS="$${CFLAGS:-} -Werror" $(PIP) install --quiet --no-deps --editable .

.PHONY: benchmark
benchmark: $(VENV)/installed-test ## measure what the package adds to start-up times
	$(VENV)/bin/python benchmarks/startup.py

.PHONY: screenshots
screenshots: test-programs $(VENV)/installed-test ## take the pictures of the docs again
	$(VENV)/bin/python -m docs.make_screenshots

.PHONY: clean
clean: ## remove what make made
	rm -rf $(VENV) $(DEMO_DIR) build dist *.egg-info tensorboard_plugin_darshan/*.so frontend/node_modules
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

.PHONY: test-programs
test-programs:
	@$(call need,$(TEST_PROGRAMS))

$(VENV)/pyvenv.cfg:
	@$(call need,$(COMPILER))
	$(PYTHON) -m venv $(VENV)

# One of the two at a time: the demo uses the package as users install it, tests the one in place.
$(VENV)/installed-demo: $(VENV)/pyvenv.cfg pyproject.toml setup.py $(NATIVE) $(PACKAGE)
	rm -rf build $(VENV)/installed-test
	@echo "Installing into $(VENV), TensorFlow included; this takes a minute or two."
	$(PIP) install --quiet '.[demo]'
	touch $@

$(VENV)/installed-test: $(VENV)/pyvenv.cfg pyproject.toml setup.py $(NATIVE)
	rm -rf build $(VENV)/installed-demo
	@echo "Installing into $(VENV), TensorFlow included; this takes a minute or two."
	$(PIP) install --quiet --editable '.[demo,test]'
	touch $@
