# OCF Scheduler. `make help` lists what there is to do; all of it needs only Python 3.11 or later, with its module venv,
# and a package index.

PYTHON ?= python3
# Tests wait for processes and clocks most of the time, so there are more workers than two cores would ask for.
WORKERS ?= 4
PYTEST_ARGS ?=
BENCH ?= burst

VENV := .venv
BIN := $(VENV)/bin
LOG := $(VENV).log
COMPOSE ?= docker compose
FOLDERS := shared services cli local bench tests

MAKEFLAGS += --no-print-directory
SHELL := /bin/sh
.DEFAULT_GOAL := help

say = printf '\033[1m%s\033[0m\n' "$(1)"
fail = { printf '\nFAILED: %s\n' "$(1)" >&2; exit 1; }

##@ Use

.PHONY: help
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: up
up: $(VENV)/run ## Start everything on this machine: database, services, stand-ins for Cloud Foundry; Ctrl-C stops it
	@exec $(BIN)/scheduler up

##@ Check

.PHONY: check
check: lint types test ## Everything that CI checks

.PHONY: test
test: $(VENV)/dev rabbitmq ## The tests with branch coverage; PYTEST_ARGS='-k relay' runs some, WORKERS=1 one at a time
	@$(call say,Running the tests …)
	@rm -f .coverage .coverage.*
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal --cov --cov-report=term:skip-covered $(PYTEST_ARGS) \
	  || { status=$$?; exec >&2; echo; echo "FAILED: the tests; run one alone with: make test PYTEST_ARGS='-k NAME'"; exit $$status; }

.PHONY: lint
lint: $(VENV)/dev ## Style, format, and who may import whom
	@$(call say,Checking style and imports …)
	@$(BIN)/ruff check $(FOLDERS) || $(call fail,ruff found mistakes; many are mended by: $(BIN)/ruff check --fix)
	@$(BIN)/ruff format --check --quiet $(FOLDERS) || $(call fail,the format differs; mend it with: $(BIN)/ruff format)
	@$(BIN)/lint-imports --no-logo >$(VENV)/lint-imports.log 2>&1 || { cat $(VENV)/lint-imports.log; \
	  $(call fail,a module imports what it must not know; the contracts are in pyproject.toml); }

.PHONY: types
types: $(VENV)/dev ## The types, strictly
	@$(call say,Checking types …)
	@$(BIN)/mypy || $(call fail,mypy found mistakes)

.PHONY: faults
faults: $(VENV)/dev rabbitmq ## Every kind of fault, judged by the rules; DURATION=1200 SEED=1, FAULTS_ARGS=--help
	@$(BIN)/python -m tests.faults $(if $(DURATION),--duration $(DURATION)) $(if $(SEED),--seed $(SEED)) $(FAULTS_ARGS)

.PHONY: fuzz
fuzz: $(VENV)/dev rabbitmq ## Property tests with far more examples, and 20,000 made up requests to the API
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal -m hypothesis --hypothesis-profile=fuzz --timeout=3600 $(PYTEST_ARGS)
	@$(BIN)/python -m tests.fuzz $(FUZZ_ARGS)

.PHONY: bench
bench: $(VENV)/dev rabbitmq ## 10,000 calls due at one instant, measured; BENCH='steady peers' names others, BENCH= runs all
	@$(BIN)/python -m bench $(BENCH)

##@ In containers

.PHONY: compose-up
compose-up: ## Start everything in containers and stay attached; Ctrl-C stops it
	@$(COMPOSE) up --build dev

.PHONY: compose-test
compose-test: ## Run the tests in a container
	@$(COMPOSE) up --build --exit-code-from test test

.PHONY: compose-down
compose-down: ## Remove the containers and their data
	@$(COMPOSE) --profile test down --volumes

##@ Maintain

.PHONY: lock
lock: pyproject.toml ## Compile the locks anew from pyproject.toml (LOCK_ARGS=--upgrade takes newer versions); needs uv
	@command -v uv >/dev/null || $(call fail,uv is needed to compile the locks; get it with: pipx install uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --extra local --group build pyproject.toml -o requirements.lock $(LOCK_ARGS)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --extra local --group build --group dev pyproject.toml -c requirements.lock -o requirements-dev.lock $(LOCK_ARGS)

.PHONY: clean
clean: ## Remove what was made here, but for the data of `make up`
	@rm -rf $(VENV) $(LOG) build dist htmlcov .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache \
	  .import_linter_cache .hypothesis
	@find $(FOLDERS) -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment: `run` holds what the services need, `dev` also what checks them.

$(VENV)/run: requirements.lock pyproject.toml | $(BIN)/python
	@$(call install,requirements.lock)
	@touch $@

$(VENV)/dev: requirements-dev.lock pyproject.toml | $(BIN)/python
	@$(call install,requirements-dev.lock)
	@touch $@ $(VENV)/run

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || $(call fail,There is no $(PYTHON); Python 3.11 or later is needed. PYTHON=… says where it is.)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || $(call fail,$(PYTHON) is $$($(PYTHON) --version); 3.11 or later is needed. PYTHON=… says where it is.)
	@$(call say,Making $(VENV) with $$($(PYTHON) --version) …)
	@$(PYTHON) -m venv $(VENV) >$(LOG) 2>&1 || { rm -rf $(VENV); \
	  $(call fail,$(PYTHON) cannot make a virtual environment (see $(LOG)); on Debian install python3-venv.); }

# The project itself is linked into the environment, so that edits take effect at once.
define install
$(call say,Installing what $(1) lists (a minute the first time) …); \
$(BIN)/pip install --disable-pip-version-check --require-hashes -r $(1) >$(LOG) 2>&1 \
  && $(BIN)/pip install --disable-pip-version-check --no-deps --no-build-isolation --no-index -e . >>$(LOG) 2>&1 \
  || { tail -n 5 $(LOG) >&2; $(call fail,The packages could not be installed; is a package index reachable? See $(LOG).); }
endef

# Only root on Debian has RabbitMQ installed by us: nobody else is asked for a password.
RABBITMQ := /usr/lib/rabbitmq/bin/rabbitmq-server
have_rabbitmq = [ -e $(RABBITMQ) ] || command -v rabbitmq-server >/dev/null

.PHONY: rabbitmq
rabbitmq:
	@if $(have_rabbitmq) || docker info >/dev/null 2>&1; then exit 0; fi; \
	if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  $(call say,Installing rabbitmq-server …); \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
	    apt-get install -yqq --no-install-recommends rabbitmq-server; } >$(LOG) 2>&1 \
	  || { tail -n 5 $(LOG) >&2; $(call fail,rabbitmq-server could not be installed; see $(LOG).); }; \
	else \
	  $(call fail,The tests need RabbitMQ 3.10 or later. Install it (apt-get install rabbitmq-server; or brew install rabbitmq) or start a Docker engine.); \
	fi
