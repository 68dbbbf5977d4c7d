# Everything is installed into .venv from requirements.lock; the targets need only Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
STACK ?= local
# By uv, unless ci/install.py could not use it; the shell decides, after that has run.
EDITABLE = $$(test -x $(BIN)/uv && echo $(BIN)/uv pip install --python $(BIN)/python || \
  echo $(BIN)/python -m pip install --disable-pip-version-check) --quiet --no-deps --no-build-isolation

.DEFAULT_GOAL := help
.PHONY: help env browser screenshots up down preview destroy check test test-engine test-fast test-long test-versions format bench lock policy-env arguments schema-golden stable-names sdks dist sbom check-release release-notes acceptance-aws settings-schema templates findings-page site core-schemas clean

help: ## List the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

env: $(INSTALLED) ## Create the Python environment

$(INSTALLED): requirements.lock ci/installer.lock pyproject.toml workbench/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is required, found " + sys.version.split()[0] + ": make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	@$(BIN)/python ci/install.py requirements.lock
	@$(EDITABLE) -e .
	@$(EDITABLE) -e ./workbench --config-settings editable_mode=compat
	@touch $@

up: env ## Start the simulated cluster and deploy the local stack to it
	@$(BIN)/python -m workbench up --stack $(STACK) --start-cluster

preview: env ## Show what `make up` would change
	@$(BIN)/python -m workbench preview --stack $(STACK)

destroy: env ## Delete everything that the stack created; the cluster keeps running
	@$(BIN)/python -m workbench destroy --stack $(STACK) --yes

down: env ## Stop the simulated cluster
	@$(BIN)/python -m workbench cluster stop

check: env ## Check lint, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# A file is run by one process, which builds what its tests share once; tests/conftest.py says in which order.
PARALLEL := -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

test: env ## Run all tests, on up to four cores, and name the slowest
	$(BIN)/python -m pytest $(PARALLEL) --durations=20 --durations-min=1

test-long: env ## Compare our validation with the API server's, fuzz the commands, edit node groups and stacks, update workloads, end pods under load, and adopt fleets, with many more examples
	INFERENCE_PLATFORM_EXAMPLES=20000 $(BIN)/python -m pytest tests/cluster/models/test_api_differential.py tests/hostile/test_fuzz.py tests/hostile/test_mutated_answers.py tests/hostile/test_mutated_files.py tests/hostile/test_every_command.py
	INFERENCE_PLATFORM_EXAMPLES=1000 $(BIN)/python -m pytest tests/cluster/models/test_kthena_dry_run.py tests/cluster/models/test_kthena_scaling.py
	INFERENCE_PLATFORM_EXAMPLES=1000 $(BIN)/python -m pytest -m hypothesis --ignore=tests/cluster --ignore=tests/hostile
	INFERENCE_PLATFORM_CELLS=2000 INFERENCE_PLATFORM_REMEDIES=500 $(BIN)/python -m pytest tests/plan/cells tests/plan/remedies
	INFERENCE_PLATFORM_SEQUENCES=500 $(BIN)/python -m pytest tests/clouds/aws/sizes tests/plan/review/following tests/provider_model
	INFERENCE_PLATFORM_ROLLOUTS=200 $(BIN)/python -m pytest tests/cluster/rollouts
	INFERENCE_PLATFORM_STREAMS=1000 $(BIN)/python -m pytest tests/livefleet/door/changing --log-cli-level=INFO
	INFERENCE_PLATFORM_FLEETS=40 INFERENCE_PLATFORM_EDITS=500 $(BIN)/python -m pytest tests/adopting

test-engine: env ## Build the Pulumi CLI and its Kubernetes provider once per user, and test the program with them
	$(BIN)/python -m workbench dev build-pulumi
	INFERENCE_PLATFORM_REQUIRE_ENGINE=1 $(BIN)/python -m pytest tests/real_engine tests/acceptance --durations=10

test-versions: env ## Test the wheel beside the oldest and the newest versions of what it needs
	INFERENCE_PLATFORM_VERSIONS=1 $(BIN)/python -m pytest tests/installed

test-fast: env ## Run the tests that do not need a control plane
	$(BIN)/python -m pytest $(PARALLEL) -m "not control_plane"

browser: env ## Install Debian's Chromium for the tests of pages, unless there is a Chromium, Chrome or Edge; needs root
	@$(BIN)/python -m tests.browsing || { apt-get update --quiet=2 && DEBIAN_FRONTEND=noninteractive apt-get install \
	  --quiet=2 --yes --no-install-recommends chromium-headless-shell fonts-dejavu-core; }

screenshots: env ## Take the pictures of pages in docs/pictures (needs a browser)
	$(BIN)/python -m tests.documentation.screenshots

format: env ## Format the code and apply safe lint fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: env ## Measure render, preview and up against their baselines; writes docs/benchmarks.md
	$(BIN)/python -m tests.bench

policy-env: policy/venv/.installed ## Create the environment of the policy pack, for pulumi preview --policy-pack policy

policy/venv/.installed: policy/requirements.txt ci/installer.lock
	$(PYTHON) -m venv policy/venv
	@policy/venv/bin/python ci/install.py policy/requirements.txt
	@touch $@

lock: env ## Regenerate all lock files
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --extra all --extra dev pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --constraints requirements.lock --extra aws --extra kubernetes pyproject.toml -o components/requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --constraints requirements.lock pyproject.toml ci/build.in -o ci/workbench.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header policy/requirements.in -o policy/requirements.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate ci/installer.in -o ci/installer.lock

arguments: env ## Regenerate the argument types of the components, args.py
	$(BIN)/python -m tests.arguments.generate

schema-golden: env ## Regenerate components/schema.json, which code generators and Pulumi's registry read
	$(BIN)/python -m tests.registry.schema

SDKS ?= nodejs python go java dotnet
stable-names: env ## Add new public names to the golden list, which never loses one
	$(BIN)/python -m tests.stability.names

sdks: ## Generate the SDKs of other languages into dist/sdk (needs the Pulumi CLI)
	@command -v pulumi > /dev/null || { echo "make sdks needs the Pulumi CLI on the PATH: https://www.pulumi.com/docs/install" >&2; exit 1; }
	rm -rf dist/sdk
	for language in $(SDKS); do pulumi package gen-sdk components/schema.json --language $$language --out dist/sdk --local=false || exit; done

PLATFORMS ?= linux-amd64 linux-arm64 darwin-amd64 darwin-arm64
dist: env ## Build wheel, sdist and plugin archives from the last commit, the programs for PLATFORMS, and archives of make sdks
	$(BIN)/python tools/make_release.py dist
	$(if $(PLATFORMS),$(BIN)/python tools/make_release.py programs $(PLATFORMS:%=--platform %))

sbom: env ## Write the software bill of materials of the wheel into dist
	$(BIN)/python tools/make_release.py sbom

check-release: env ## Build a release twice into dist, compare the bytes, install it into empty environments and run it
	$(BIN)/python tools/make_release.py check

release-notes: env ## Write the changelog's section into dist; with TAG=v0.1.0 also check that the versions agree
	@mkdir -p dist
	$(BIN)/python tools/make_release.py notes $(if $(TAG),--tag "$(TAG)") > dist/RELEASE_NOTES.md

acceptance-aws: env ## Run everything once in your AWS account, within limits of cost and time, and delete it; ARGS=--dry-run shows the cost
	$(BIN)/python tools/acceptance_aws.py $(ARGS)

settings-schema: env ## Regenerate the JSON schemas of the stack files and of price files
	$(BIN)/python -m stacks.settings_schema

templates: env ## Regenerate the Python templates for pulumi new from those of workbench init
	$(BIN)/python -m tests.templates.generate

findings-page: env ## Regenerate the sections of docs/findings.md from the registry of rules
	$(BIN)/python -m tests.contract.findings.page

site: env ## Build the site of the documentation into .site/public
	$(BIN)/python -m documentation

core-schemas: env ## Regenerate components/contract/schema/data from the kubernetes-validate package
	$(BIN)/python tests/contract/core_schemas.py

clean: ## Remove the environment and all state (stops the cluster first)
	@test ! -x $(BIN)/python || $(BIN)/python -m workbench cluster stop || true
	rm -rf policy/venv $(VENV) $(VENV)-plugin $(VENV)-versions .workbench
