# One command to run, one to test. `make` alone lists them all.

PYTHON := .venv/bin/python
export PYTHONPATH := $(CURDIR):$(CURDIR)/platform:$(CURDIR)/tools
# Where it is set, each of the suite's many processes would compile all modules.
unexport PYTHONDONTWRITEBYTECODE

WORKERS := 5
# More workers than cores: tests wait for processes, leases and sockets. Files stay together, since
# many start a process for all their tests; the slow ones (tests/slow_files.txt) come first.
TESTS = $(PYTHON) -m pytest -n $(WORKERS) --dist loadfile
# Drills are in files of their own, beside the tests of what they try.
DRILLS = $(TESTS) -p schemathesis --override-ini "python_files=drill_*.py"

PYTHON_CLIENTS := langchain llama_index llm aider openapi_python pydantic_ai openai_agents instructor
PYTHON_CLIENTS += smolagents strands autogen
NODE_CLIENTS := openai_node ai_sdk gltf_validator openapi_typescript asyncapi_parser

.DEFAULT_GOAL := help
.PHONY: help run web test quick drills repeat mutations test-clients check web-check web-format lint types contracts missing-migrations former-release deploy-tools sbom format openapi contract lock bench campaign screenshots migrations shell clients clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: .venv/installed ## Start the whole service on this machine (PORT=8000)
	@$(PYTHON) -m devserver run

web: .venv/installed ## Serve the web app beside `make run`, with each change of web/ at once
	@$(PYTHON) -m devserver web

test: .venv/installed ## Run the tests, with stores of their own (ARGS="-k name")
	@$(TESTS) $(ARGS)

# They wait for little.
quick: WORKERS := 3
quick: .venv/installed ## Run the tests of the files that are not slow
	@$(TESTS) --quick $(ARGS)

drills: .venv/installed ## Kill and restart parts, restore, roll out, try set-ups and lives, run browsers and other people's clients
	@$(DRILLS) $(ARGS)

TIMES := 200

repeat: .venv/installed ## Run tests many times, side by side (ARGS=accounts/tests/test_me.py TIMES=200)
	@$(PYTHON) -m pytest -n 5 --dist load --times $(TIMES) $(ARGS)

mutations: .venv/installed ## Does a test fail for each way in which the product is broken on purpose? (ARGS="--area money")
	@$(PYTHON) -m tests.mutations $(ARGS)

test-clients: .venv/installed clients ## Run the clients that people use, unmodified, against the running service
	@$(DRILLS) tests/clients $(ARGS)

check: lint types contracts missing-migrations former-release web-check test drills ## Everything that has to be green before a commit

web-check: .venv/installed ## Types, lint, format, messages, unit tests and budgets of the web app (ARGS="types lint" for some)
	@$(PYTHON) -m devserver.web_app run check -- $(if $(filter-out --%,$(ARGS)),$(ARGS))

web-format: .venv/installed ## Mend lint and format of the web app
	@$(PYTHON) -m devserver.web_app run format

lint: .venv/installed ## Style and format
	@$(PYTHON) -m ruff check
	@$(PYTHON) -m ruff format --check

types: .venv/installed ## Strict types
	@$(PYTHON) -m mypy .

contracts: .venv/installed ## The layers between the packages
	@$(PYTHON) .venv/bin/lint-imports

# Neither needs a database; Django warns that it cannot compare with the applied migrations.
MAKEMIGRATIONS = DATABASE_POOL=0 $(PYTHON) -W ignore::RuntimeWarning manage.py makemigrations

missing-migrations: .venv/installed ## Is there a migration for every change of a model?
	@$(MAKEMIGRATIONS) --check --dry-run

migrations: .venv/installed ## Write migrations for changed models (ARGS="--name what_it_does")
	@$(MAKEMIGRATIONS) $(ARGS)

former-release: .venv/installed ## Does the release before this one work on the schema of this one?
	@$(PYTHON) -m tests.former_release

deploy-tools: var/deploy/installed ## Install what checks migrations, the chart and the image (tests without it are skipped)

sbom: var/deploy/installed ## Write var/sbom.json: what the image installs, as CycloneDX
	@mkdir -p var
	@var/deploy/bin/cyclonedx-py requirements --output-reproducible --of JSON -o var/sbom.json requirements.txt

format: .venv/installed ## Mend style and format
	@$(PYTHON) -m ruff check --fix
	@$(PYTHON) -m ruff format

openapi: .venv/installed ## Write docs/openapi.json and docs/asyncapi.json, when the interfaces have changed
	@DJANGO_SETTINGS_MODULE=config.settings.dev $(PYTHON) -m apidocs.write

contract: .venv/installed ## Write docs/contract.md, when a promise or its tests have changed
	@$(PYTHON) -m tests.contract

lock: .venv/installed ## Lock the requirements (ARGS=--upgrade for newer versions)
	@for name in requirements requirements-observability requirements-dev tools/bench/litellm deploy/sbom deploy/tools $(PYTHON_CLIENTS:%=tests/clients/%/requirements); do \
		.venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes $(ARGS) \
			$$name.in -o $$name.txt || exit 1; \
	done

bench: .venv/installed var/bench/litellm/installed ## Measure speed and memory beside yardsticks (ARGS="--only live" for one part)
	@$(PYTHON) -m bench $(ARGS)

RUNS := 200
SEED := 1

campaign: .venv/installed ## Live through seeded lives of the whole service under faults (RUNS=200 SEED=1)
	@$(PYTHON) -m bench.campaign --runs $(RUNS) --seed $(SEED) $(ARGS)

screenshots: .venv/installed ## Take the pictures of the admin and the web app in docs/images (needs Chromium)
	@$(PYTHON) -m screenshots

shell: .venv/installed ## A Django shell, beside a running `make run`
	@$(PYTHON) -m devserver exec $(PYTHON) manage.py shell

clients: $(PYTHON_CLIENTS:%=var/clients/%/installed) ## Install those clients, each in an environment of its own
clients: $(NODE_CLIENTS:%=tests/clients/%/node_modules/.package-lock.json)

clean: ## Remove the virtual environment, the caches and all local data (stop `make run` first)
	rm -rf .venv var .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	rm -rf tests/clients/*/node_modules web/node_modules web/.svelte-kit web/build web/src/paraglide
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- What the targets stand on ------------------------------------------------------------------

# Touched when everything in requirements-dev.txt is installed: an unchanged file costs nothing.
.venv/installed: requirements-dev.txt
	@test -w . || { echo "This folder is read-only, and .venv has to be made in it: $(CURDIR). Copy it to a folder of yours."; exit 1; }
	@test -x $(PYTHON) || { \
		for python in python3 python3.13 python3.12 python3.11; do \
			if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
				echo "Making .venv with $$($$python --version)."; \
				$$python -m venv .venv && exit 0; \
				rm -rf .venv; exit 1; \
			fi; \
		done; \
		echo "Python 3.11 or later is needed and was not found. Install it (https://www.python.org/downloads/) and run make again."; \
		exit 1; }
	@echo "Installing what requirements-dev.txt names (once; about a minute)."
	@$(PYTHON) -m pip install --disable-pip-version-check --require-hashes --no-deps -r requirements-dev.txt
	@touch $@

var/clients/%/installed: tests/clients/%/requirements.txt .venv/installed
	@.venv/bin/uv venv --quiet --clear --python $(PYTHON) var/clients/$*
	@.venv/bin/uv pip sync --quiet --require-hashes --python var/clients/$*/bin/python $<
	@touch $@

var/deploy/installed: deploy/tools.txt .venv/installed
	@echo "Installing what checks migrations, the chart and the image (0.5 GB, once; about a minute)."
	@.venv/bin/uv venv --quiet --clear --python $(PYTHON) $(@D)
	@.venv/bin/uv pip sync --quiet --require-hashes --python $(@D)/bin/python $<
	@touch $@

var/bench/litellm/installed: tools/bench/litellm.txt .venv/installed
	@echo "Installing LiteLLM, which the service is measured beside (once; about a minute)."
	@.venv/bin/uv venv --quiet --clear --python $(PYTHON) $(@D)
	@.venv/bin/uv pip sync --quiet --require-hashes --python $(@D)/bin/python $<
	@touch $@

tests/clients/%/node_modules/.package-lock.json: tests/clients/%/package-lock.json
	@npm ci --no-audit --no-fund --prefix $(<D)
	@touch $@
