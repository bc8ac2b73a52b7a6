# Two commands for newcomers: `make run` and `make test`. `make check` is what CI runs.
.DELETE_ON_ERROR:
SHELL := bash
.SHELLFLAGS := -euo pipefail -c

TARGET := $(or $(CARGO_TARGET_DIR),target)
LOCI := $(TARGET)/release/loci
LISTEN ?= 127.0.0.1:7077
# `make install` puts the binary into $(PREFIX)/bin.
PREFIX ?= $(HOME)/.local
# nextest where it is installed; the toolchain's own runner where it is not.
RUNNER := $(shell cargo nextest --version >/dev/null 2>&1 && echo "nextest run" || echo test)

# Where the clients of tests lie, if they could be fetched.
TEST_TOOLS = LOCI_TEST_PYTHON=$(abspath $(TARGET))/test-tools/python/bin/python \
  LOCI_TEST_INSPECTOR=$(abspath $(TARGET))/test-tools/node/node_modules/@modelcontextprotocol/inspector/cli/build/cli.js

# The real servers that tests talk to; those that are already given are left alone.
TEST_SERVERS = $(abspath $(TARGET))/test-servers

.PHONY: help run build install wheel model clean
.PHONY: test test-tools test-servers stop-test-servers
.PHONY: check format lint documentation seeds guard guard-update clients typescript python console lint-deploy
.PHONY: fuzz-http-briefly bench-test
.PHONY: otlp encryption fuzz-http openapi eval bench bench-loci

help: ## What can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

run: model build ## Fetch the model, build, show a first remember and recall, then serve on loopback
	@scripts/first-steps.sh $(LOCI)
	@echo; echo "Serving on http://$(LISTEN) (Ctrl-C ends it)"; echo "Console: http://$(LISTEN)/console"
	@$(LOCI) serve --listen $(LISTEN)

build: ## The release binary
	cargo build --release --locked --package loci-cli

install: model build ## Fetch the models, build, and install loci to PREFIX/bin (default: ~/.local/bin)
	@mkdir -p "$(PREFIX)/bin"
	@install -m 755 $(LOCI) "$(PREFIX)/bin/loci"
	@echo "Installed $(PREFIX)/bin/loci, $$("$(PREFIX)/bin/loci" --version)"
	@case ":$$PATH:" in \
	*":$(PREFIX)/bin:"*) ;; \
	*) echo "$(PREFIX)/bin is not on your PATH. Add this line to the profile of your shell, then open a new one:"; \
	  echo "  export PATH=\"$(PREFIX)/bin:\$$PATH\"" ;; \
	esac

model: ## Fetch the embedding models (83 MB, and 32 MB for other languages, once) and check their hashes
	@scripts/fetch-model.sh

# Variables of the tests, for those of their tools that could be fetched.
WITH_TOOLS = $(foreach pair,$(TEST_TOOLS),[ ! -e "$(word 2,$(subst =, ,$(pair)))" ] || export $(pair);)

# The tests of the command line, for their second run through a server.
CLI_TESTS = $(if $(findstring nextest,$(RUNNER)),--workspace -E 'package(loci-cli)',--package loci-cli)

test: model test-tools ## Everything that is tested, with what it needs
	@$(WITH_TOOLS) scripts/test-servers.sh with $(TEST_SERVERS) cargo $(RUNNER) --locked --workspace
	@$(WITH_TOOLS) LOCI_TEST_SERVER=1 scripts/test-servers.sh with $(TEST_SERVERS) cargo $(RUNNER) --locked $(CLI_TESTS)
	cargo test --doc --locked --workspace

test-servers: ## Start PostgreSQL and Redis for tests and print where they are
	@scripts/test-servers.sh start $(TEST_SERVERS)

stop-test-servers: ## Stop them
	@scripts/test-servers.sh stop $(TEST_SERVERS)

test-tools: ## Fetch the clients that tests talk to (once)
	@scripts/test-tools.sh $(abspath $(TARGET))/test-tools

check: export LOCI_TEST_REQUIRE = 1
check: format lint test seeds guard clients typescript python lint-deploy fuzz-http-briefly bench-test documentation ## What CI runs; here a server that cannot be brought up is a failure

format:
	cargo fmt --all --check

lint:
	cargo clippy --locked --workspace --all-targets -- -D warnings

otlp: model ## The tests of traces, in a build with the feature `otlp`
	cargo clippy --locked --package loci-cli --package loci-server --features otlp --all-targets -- -D warnings
	cargo $(RUNNER) --locked --package loci-cli --features otlp $(if $(findstring nextest,$(RUNNER)),traces::,--test cli traces::)

encryption: ## The tests of the encrypted store and of sealed backups, in a build with the feature `encryption`
	cargo clippy --locked --package loci-store --package loci-cli --features encryption --all-targets -- -D warnings
	cargo $(RUNNER) --locked --package loci-store --package loci-cli --features encryption \
	  $(if $(findstring nextest,$(RUNNER)),-E 'test(encrypt) | test(cipher) | test(archive::)',encrypt)

documentation:
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --document-private-items

# Builds what the tests have built, the binary among it. `cargo build --bin loci` would choose other features of dependencies
# and build most of them again.
BUILD_TESTED = cargo $(RUNNER) --no-run --locked --workspace

guard guard-update: model
	$(BUILD_TESTED)
	scripts/guard.sh $(if $(filter guard-update,$@),update,check)

guard: ## Count the instructions of five operations and compare them with scripts/guard.toml
guard-update: ## Write what was counted to scripts/guard.toml

# Flags for the comparison, such as BENCH="--quick"; LOCI_BENCH_SETS names the folder of the sets for the quality rows.
BENCH ?=

bench: model build ## Loci beside what people would use instead: docs/benchmarks.md
	@scripts/bench-tools.sh $(TARGET)/bench-tools
	LOCI=$(abspath $(LOCI)) BENCH_NODE=$(abspath $(TARGET))/bench-tools/node LOCI_TEST_REDIS_URL=unused LOCI_TEST_REDIS_SERVER=unused \
	  scripts/test-servers.sh with $(TEST_SERVERS) $(TARGET)/bench-tools/python/bin/python bench/run.py --folder $(TARGET)/bench-work $(BENCH)

bench-loci: build ## What adding and finding cost Loci alone, as JSON lines
	$(LOCI) bench

bench-test: ## The tests of the comparison itself
	cd bench && python3 -B -m unittest discover --start-directory tests

eval: model build ## Recall measured on CORPUS and QUESTIONS, written to RUN
	$(LOCI) eval --corpus $(CORPUS) --questions $(QUESTIONS) --out $(RUN)

openapi: ## Renew docs/openapi.json
	UPDATE=1 cargo test --locked --package loci-server --test server -- the_description_is_committed

clients: ## Generate a Python and a TypeScript client, compile them strictly, and remember and recall through them
	$(BUILD_TESTED)
	scripts/clients.sh

seeds: model ## Walk the worked examples of the seed documents through the binary
	$(BUILD_TESTED)
	scripts/seeds.sh

typescript: ## Build and check the TypeScript client, and test it and its examples on the real binary
	$(BUILD_TESTED)
	scripts/typescript.sh

console: ## Check that the built console is current, and test it in a browser on the real binary
	$(BUILD_TESTED)
	scripts/console.sh

python: ## Build and check the Python package, and test it and its examples on the real binary
	$(BUILD_TESTED)
	scripts/python.sh

wheel: build ## The Python wheel with the release binary, in dist/
	LOCI_BINARY=$(abspath $(LOCI)) scripts/wheel.sh

lint-deploy: ## Check the files in deploy/ with the linters of their formats
	@scripts/lint-deploy.sh $(TARGET)/lint-tools

fuzz-http-briefly: ## The same as fuzz-http with few examples and a fixed seed, in minutes
	$(BUILD_TESTED)
	scripts/fuzz-http.sh --briefly

fuzz-http: ## Ask the server everything its description allows, and much that it does not
	$(BUILD_TESTED)
	scripts/fuzz-http.sh

clean: ## What was built
	cargo clean
