# One command each; `make` alone lists them. What CI runs is `make setup lint docs test`.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Downloaded servers and engines, and the stamps that say which steps of `setup` are done.
CACHE := $(or $(FIREARROW_CACHE),.cache)
FUZZ_SECONDS ?= 60
# For `hostile`: the number of sessions, and the seed of the first.
SESSIONS ?= 1000
SEED ?= 1
export FIREARROW_CACHE := $(CACHE)
export FUZZ_SECONDS

STAMPS := $(CACHE)/stamps
# Without what only tests need.
DEMO_SETUP := $(STAMPS)/system-demo $(STAMPS)/engines-demo $(CACHE)/firebird-4.0/.complete
SETUP := $(STAMPS)/system $(STAMPS)/engines $(CACHE)/firebird-4.0/.complete .venv-python/.requirements

# The system's packages are installed by one command at a time.
.NOTPARALLEL:

.PHONY: help setup demo test lint check fuzz hostile bench bench-adbc bench-check bench-codec bench-odbc bench-python bench-save bench-smoke bench-wire build wheel dist test-dist docs clean distclean cargo test-arm test-scale test-windows

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: cargo $(SETUP) ## Install or download everything that tests and the demo need; quick if nothing is missing

demo: cargo $(DEMO_SETUP) ## Make a database, copy a table to Parquet, compare with firebird-driver and the client library, draw it
	cargo build --profile demo --package firearrow-cli --package firearrow-peers --package firearrow-python \
		--package firearrow-testkit --bins --lib --example serve
	scripts/demo.sh

test: setup ## Run all tests on every server there is, then count what ran where
	scripts/step.sh "all tests" bash -c 'scripts/test.sh && scripts/test-python.sh'

test-scale: setup ## Test Spark, Ray and Dask on every available server; takes half an hour, downloads 1 GB, and needs Java 17
	scripts/test-scale.sh

test-windows: setup ## Run the tests of the client, the drivers and the command as Windows programs, under Wine
	scripts/test-windows.sh

test-arm: setup ## Run the tests of the client as programs for 64-bit ARM, under QEMU
	scripts/test-arm.sh

lint: cargo ## Check the format, run clippy on everything, on what is built without the embedded engine, and for Windows
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- --deny warnings
	cargo clippy --package firearrow --no-default-features -- --deny warnings
	cargo clippy --package firearrow-cli --no-default-features -- --deny warnings
	scripts/lint-windows.sh

# The Python module has no Rust tests, and does not link as a program.
check: lint ## Lints and unit tests: takes minutes and needs no server
	scripts/test.sh --lib --bins --exclude firearrow-python

fuzz: cargo ## Run each fuzz target for FUZZ_SECONDS (60)
	scripts/fuzz.sh

hostile: setup ## Play SESSIONS (1000) sessions per server with damaged answers, starting at SEED (1)
	cargo run --release --package firearrow --example hostile -- --sessions $(SESSIONS) --seed $(SEED)
	cargo run --release --package firearrow-adbc --example hostile_adbc -- --sessions $(SESSIONS) --seed $(SEED)

bench-smoke: setup ## Run the suites of `bench all`, a little of each, on a private server, and write one page
	scripts/bench-smoke.sh

bench-wire: setup ## Measure every available server, nearby and over an emulated link
	scripts/bench-wire.sh

bench-adbc: setup ## Measure the ADBC driver on the embedded engine and on every available server
	scripts/bench-adbc.sh

bench-odbc: setup ## Measure the ODBC driver on the embedded engine and on every available server
	scripts/bench-odbc.sh

bench-python: setup ## Measure the Python package beside other drivers, on every available server
	scripts/bench-python.sh

bench-codec: cargo ## Measure the codec, in Rust and through Python; needs no server
	scripts/bench-codec.sh

bench-check: cargo ## Fail if the codec is slower than its baseline; needs no server
	scripts/bench-codec.sh --check

bench-save: cargo ## Measure the codec and make that the baseline of bench-check
	scripts/bench-codec.sh --save

bench: setup ## Measure fetching on every available server, and the codec
	scripts/bench-fetch.sh
	scripts/bench-codec.sh

build: cargo ## Build the libraries and the firearrow command
	cargo build --release

wheel: cargo ## Build the Python packages, firearrow and that of the ADBC driver, into target/wheels
	cargo build --release --package firearrow-adbc-library
	scripts/build-wheel.sh
	scripts/build-firearrow-wheel.sh

dist: cargo ## Build what users download into target/dist: archives, wheels, Debian packages. DIST="linux-x86_64 deb-amd64" builds some of it
	scripts/dist.sh $(DIST)

test-dist: cargo ## Try what `make dist` has built: in empty folders, on a private server, installed
	scripts/test-dist.sh

docs: cargo ## Build the API documentation; a broken link is an error
	RUSTDOCFLAGS="--deny warnings" cargo doc --workspace --no-deps --features firearrow/tokio

clean: ## Remove build output and the demo
	cargo clean
	rm -rf demo

distclean: clean ## Also remove what setup downloaded
	rm -rf .venv .venv-dist .venv-python .venv-scale $(CACHE)

cargo:
	@command -v cargo >/dev/null || { \
		echo "cargo is missing: install Rust with rustup (see rust-lang.org) and open a new shell" >&2; exit 1; }

# It is not an error if this machine cannot have one of these: its tests become named skips, which are counted.
$(STAMPS)/system: scripts/setup-system.sh
	@mkdir -p $(@D)
	@$< && touch $@ || echo "setup: $< is not complete; tests that need it will be skipped" >&2

$(STAMPS)/system-demo: scripts/setup-system.sh
	@mkdir -p $(@D)
	@$< demo && touch $@ || echo "setup: $< is not complete" >&2

$(STAMPS)/engines-demo: scripts/setup-engines.sh
	@mkdir -p $(@D)
	@$< demo && touch $@ || echo "setup: $< is not complete" >&2

$(STAMPS)/engines: scripts/setup-engines.sh
	@mkdir -p $(@D)
	@$< && touch $@ || echo "setup: $< is not complete; tests that need it will be skipped" >&2

.venv-python/.requirements: python/tests/requirements.txt | $(STAMPS)/system
	@scripts/python-env.sh >/dev/null && touch $@ || echo "setup: no Python packages; tests that need them will be skipped" >&2

$(CACHE)/firebird-4.0/.complete: scripts/fetch-firebird4.sh
	@$< && touch $@ || echo "setup: $< is not complete; tests that need it will be skipped" >&2
