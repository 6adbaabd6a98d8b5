# Weir: build, test, install. Plain `make` prints the targets.
#
# Every target installs the Debian packages it lacks (tools/ensure_packages.sh) and says so. The
# build itself is CMake's (CMakePresets.json): this file only names the jobs people do.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc)
# `release`, or `ci`: the same in the same folder with warnings as errors. Changing it recompiles.
PRESET ?= release
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?=

QUIET := $(if $(MAKE_TERMOUT),,--quiet)
ENSURE := tools/ensure_packages.sh
# $(call configure,PRESET,FLAGS): errors and warnings only.
configure = cmake --preset $(1) $(2) >/dev/null
# $(call compile,FOLDER,FLAGS): progress on a terminal, only what goes wrong elsewhere.
compile = cmake --build $(1) -j $(JOBS) $(2) -- $(QUIET)
run_tests = ctest --test-dir $(1) --output-on-failure -j $(JOBS) $(2)

# Where Open MPI can be compiled against, weir-mpi is built and tested.
HAS_MPI = $$(pkg-config --exists ompi-c && echo ON || echo OFF)

.PHONY: help demo build release-pgo test test-all tsan bench format format-check tidy fuzz \
  coverage pictures install deb clean

help: ## this list
	@echo 'Weir: lossless RoCEv2 fabrics for GPU clusters.'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

demo: build ## build, then the whole loop on a simulated fabric of 16 hosts
	@build/weir demo --dir build/demo

build: ## the release binary, build/weir, and nothing else
	@$(ENSURE) build
	@$(call configure,$(PRESET))
	@$(call compile,build,--target weir)

# One folder for both passes: g++ finds a profile by the name of its object file. A profile that
# does not fit the code it is used for is an error (CMakeLists.txt), and the digests must stay.
release-pgo: ## build-pgo/weir: the release binary, its simulator tuned by profile feedback
	@$(ENSURE) build
	@mkdir -p build-pgo && find build-pgo -name '*.gcda' -delete
	@$(call configure,pgo,-DWEIR_PGO=generate)
	@$(call compile,build-pgo,--target weir)
	@tools/pgo_train.sh build-pgo/weir >build-pgo/digests.before
	@$(call configure,pgo,-DWEIR_PGO=use)
	@$(call compile,build-pgo,--target weir)
	@tools/pgo_train.sh build-pgo/weir >build-pgo/digests.after
	@diff build-pgo/digests.before build-pgo/digests.after || \
	  { echo 'release-pgo: digests differ from those of the build that was profiled' >&2; exit 1; }
	@echo 'build-pgo/weir: same digests as without the profile'

# Unit tests run under the sanitizers; compiling them a second time for release costs a third of the
# whole and finds little, so test-all alone does it.
UNIT_TESTS ?= OFF
test: ## all tests; the unit tests under ASan and UBSan
	@$(ENSURE) build test
	@$(call configure,$(PRESET),-DWEIR_TESTS=ON -DWEIR_UNIT_TESTS=$(UNIT_TESTS) \
	  -DWEIR_MPI=$(HAS_MPI))
	@$(call compile,build)
	@$(call configure,dev)
	@$(call compile,build-dev)
	@echo 'Unit tests and fuzz corpora under ASan and UBSan:'
	@$(call run_tests,build-dev,-L 'unit|corpus')
	@echo 'The binary and the simulator, release build:'
	@$(call run_tests,build)

test-all: export WEIR_REQUIRE := clang-format,codespell,lintian,mpi,shellcheck,tshark
test-all: ## test, then clang-tidy, a clang build, long fuzzing, the package
	@$(MAKE) --no-print-directory test UNIT_TESTS=ON
	@$(MAKE) --no-print-directory tidy
	@$(MAKE) --no-print-directory tsan
	@$(MAKE) --no-print-directory fuzz
	@$(MAKE) --no-print-directory deb
	@tools/check_deb.sh build/weir_*.deb
	@tools/check_deb.sh build/weir-mpi_*.deb
	@tools/check_reproducible.sh

tsan: ## the tests of one simulation on several threads, under ThreadSanitizer
	@$(ENSURE) build test clang
	@$(call configure,tsan)
	@$(call compile,build-tsan,--target sim_test)
	@build-tsan/sim_test --gtest_brief=1 --gtest_filter='Windows.*'

bench: ## the benchmarks, release build
	@$(ENSURE) build bench
	@$(call configure,bench)
	@$(call compile,build-bench)
	@tools/bench.sh build-bench/bench

format: ## rewrite every C++ file with clang-format
	@$(ENSURE) format
	@tools/format.sh

format-check: ## list the C++ files that clang-format would change
	@$(ENSURE) format
	@tools/format.sh --check

tidy: ## clang-tidy over every file, headers on their own, unit tests built by clang
	@$(ENSURE) build test clang
	@$(call configure,tidy)
	@$(call compile,build-tidy)
	@$(call run_tests,build-tidy,-L 'unit|corpus')

fuzz: ## fuzz every parser, FUZZ_SECONDS=60 for each, FUZZ_TARGETS=design to choose
	@$(ENSURE) build clang
	@$(call configure,fuzz)
	@$(call compile,build-fuzz)
	@tools/fuzz.sh build-fuzz/tests/fuzz $(FUZZ_SECONDS) $(FUZZ_TARGETS)

coverage: ## rewrite docs/coverage.md: mission row, the tests that name it
	@$(ENSURE) test
	@python3 tools/coverage.py --write

pictures: build ## rewrite docs/img: reports as a browser shows and prints them
	@$(ENSURE) pictures
	@tools/pictures.sh build/weir
	@python3 -B tools/page_pictures.py build/weir

install: ## binary, man page, completion into PREFIX=/usr/local (DESTDIR= for packagers)
	@$(ENSURE) build
	@$(call configure,$(PRESET))
	@$(call compile,build,--target weir weir_docs)
	@DESTDIR='$(DESTDIR)' cmake --install build --strip --component weir --prefix '$(PREFIX)'

deb: ## weir_VERSION_ARCH.deb and weir-mpi_….deb in build/, their debug symbols and SBOMs (SPDX)
	@$(ENSURE) build deb
	@$(call configure,$(PRESET),-DWEIR_MPI=ON)
	@$(call compile,build,--target weir weir-mpi weir_docs)
	@cd build && cpack -G DEB >cpack.log 2>&1 || { cat cpack.log; exit 1; }
	@cd build && for d in weir*-dbgsym_*.ddeb; do mv -f "$$d" "$${d%.ddeb}.deb"; done
	@for p in weir weir-mpi; do \
	  python3 tools/make_sbom.py build/$$p "$$(dpkg-deb -f build/$${p}_*.deb Version)" \
	    >build/$$p.spdx.json; done
	@ls build/weir_*.deb build/weir-mpi_*.deb build/weir*-dbgsym_*.deb build/weir*.spdx.json

clean: ## remove every build folder
	rm -rf build build-dev build-tidy build-fuzz build-bench build-pgo build-tsan
