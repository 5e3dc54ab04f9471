# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Short names for common calls of apt-get, CMake, CTest and the scripts.
#   make demo    set up, build, compile a trained network and simulate its RTL
#   make test    set up, build, run the tests (test-long runs those too long for it)
SHELL := /bin/bash
.DEFAULT_GOAL := build
JOBS ?= $(shell nproc)
BUILD := build
# A file for the results of a test target, instead of its closing line.
KEEP ?=
RUN_TESTS = @python3 scripts/run_tests.py --build $(BUILD) --jobs $(JOBS) \
  $(if $(KEEP),--keep $(KEEP))
.PHONY: setup configure build build-all install package wheel site announce demo test test-fast test-long test-ci-long bench paper-tables resources fuzz format clean

## Installs the packages in packages.txt and the Python packages of the tests.
setup:
	@scripts/setup.sh

configure: setup
	@test -f $(BUILD)/build.ninja || cmake --preset default

## The tools in build/bin: rhizome, rhizome-opt, and for clusters rhizome-node
## and rhizome-rank.
build: configure
	cmake --build $(BUILD) -j $(JOBS) --target rhizome-tools

## The tools and every test program.
build-all: configure
	cmake --build $(BUILD) -j $(JOBS)

## Programs, data and manual pages under PREFIX.
PREFIX ?= /usr/local
install: build
	cmake --install $(BUILD) --prefix $(PREFIX)

## A .deb, and a tarball that runs from any folder, in build/packages.
package: build
	cpack --config $(BUILD)/CPackConfig.cmake -B $(BUILD)/packages

## A wheel with the programs that are built, in build/packages.
wheel: build
	.venv/bin/pip wheel . --no-deps --no-build-isolation -w $(BUILD)/packages \
	  --config-settings=cmake.define.RHIZOME_BUILD=$(abspath $(BUILD))

## The documentation as a site, in build/site, with the tutorials run; `python3 -m http.server` there shows it.
site: build
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --quiet --clean

## Says first how long it takes.
announce:
	@test -x $(BUILD)/bin/rhizome || echo "make demo: the first time, it installs" \
	  "packages (2.4 GB) and builds the tools: 25 minutes on two cores"
	@echo "make demo: the demonstration itself takes about a minute"

demo: announce build
	@scripts/demo.sh

## All tests except those labeled long.
test: build-all
	$(RUN_TESTS) --part main

## Also without the tests labeled slow: what every change must pass.
test-fast: build-all
	$(RUN_TESTS) --part everyday

## The tests that are too long for `make test`.
test-long: build-all
	$(RUN_TESTS) --part long

## The subset of those that CI runs.
test-ci-long: build-all
	$(RUN_TESTS) --part ci-long

## Measures the table of networks again.
bench: build
	@python3 bench/bench.py

## Tables III to VI of the DOSA paper, its predictions next to ours.
paper-tables: build
	@python3 bench/paper_tables.py

## Predicted resources against Yosys; takes hours the first time.
resources: build
	cmake --build $(BUILD) -j $(JOBS) --target rhizome-points
	@python3 bench/resources.py

## Every reader under libFuzzer for FUZZ_SECONDS each; findings are in build-fuzz.
FUZZ_SECONDS ?= 1200
fuzz: setup
	cmake --preset fuzz && cmake --build --preset fuzz
	@scripts/fuzz.sh $(FUZZ_SECONDS)

## Formats the C++ sources in place.
format:
	@git ls-files '*.cpp' '*.h' | xargs clang-format-22 -i

clean:
	rm -rf $(BUILD)
