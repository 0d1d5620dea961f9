# Start with make demo and make test. Each target states its work and installs missing packages.
JOBS ?= 2
BUILD = build/release
DRASIM = $(BUILD)/bin/drasim

.PHONY: help build package demo docs test cross soak soak-short bench mutants planted notebooks bench-micro asan tidy format format-check install clean

help:
	@echo "make demo    build, and compare seven GPU scheduling policies on the embedded workload"
	@echo "make build   build $(DRASIM) and drasim-gui"
	@echo "make package build a .deb with $(DRASIM)"
	@echo "make test    build and run every test"
	@echo "make docs    write the key references of docs/ from model/proto and model/data"
	@echo "make cross   the same decisions from g++ and clang++, at -O0 and -O2"
	@echo "make soak    long randomised tests, and 5 minutes of fuzzing per reader"
	@echo "make bench   the tier smoke of the suite core against its baseline; make bench-micro for single functions"
	@echo "make notebooks  execute notebooks/ and compare what they print"
	@echo "make mutants plant 78 small changes one by one; the suite core must notice them"
	@echo "make planted plant +1 % of work in 13 hot functions one by one; the gate on costs must notice it"
	@echo "make asan    the core tests under the address and undefined-behaviour sanitizers"
	@echo "make tidy, make format, make install (PREFIX=/usr/local), make clean"

build:
	@.ci/setup build
	@echo "==> Building into $(BUILD)"
	@cmake --preset release -DDRASIM_BUILD_TESTS=OFF -DDRASIM_BUILD_BENCH=OFF >/dev/null
	@cmake --build $(BUILD) -j $(JOBS)

package:
	@.ci/setup build package
	@cmake --preset release -DDRASIM_BUILD_TESTS=OFF -DDRASIM_BUILD_BENCH=OFF >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target drasim
	@cd $(BUILD) && cpack -G DEB >/dev/null && ls "$$PWD"/drasim_*.deb

demo: build
	@echo "==> Seven policies fill a cluster of 1,213 nodes and 6,212 GPUs to 130 % of its capacity"
	@$(DRASIM) compare
	@echo
	@echo "Next:"
	@echo "  $(DRASIM) trace fetch openb                  # the real trace that this workload imitates"
	@echo "  $(DRASIM) compare --order artifact --seeds 42..51 \\"
	@echo "      --nodes openb/openb_node_list_gpu_node.csv --pods openb/openb_pod_list_default.csv"
	@echo "  $(DRASIM) run --policy fgd --tuning-ratio 1.3 --out results/fgd && $(BUILD)/bin/drasim-gui results/fgd"
	@echo "  $(DRASIM) --help                             # everything else; README.md and docs/tour/ explain it"

docs:
	@.ci/setup build test
	@cmake --preset release -DDRASIM_BUILD_TESTS=ON >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target write_key_reference

test:
	@.ci/setup build test
	@echo "==> Building into $(BUILD), with tests"
	@cmake --preset release -DDRASIM_BUILD_TESTS=ON -DDRASIM_BUILD_BENCH=OFF >/dev/null
	@cmake --build $(BUILD) -j $(JOBS)
	@echo "==> Running every test"
	@.ci/ctest $(BUILD) $(JOBS) -LE docs_slow

cross:
	@.ci/setup build test cross asan
	@.ci/cross $(JOBS)

soak:
	@.ci/setup build test soak
	@.ci/soak 300 100 $(JOBS)

soak-short:
	@.ci/setup build test soak
	@.ci/soak 15 2 $(JOBS)

bench:
	@.ci/setup build
	@[ -e $(BUILD)/build.ninja ] || cmake --preset release -DDRASIM_BUILD_TESTS=OFF -DDRASIM_BUILD_BENCH=OFF >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target drasim
	@$(DRASIM) bench run bench/suite/core.yaml --tier smoke --out $(BUILD)/bench_results --jobs $(JOBS) --quiet
	@$(DRASIM) bench compare bench/baseline/core.csv $(BUILD)/bench_results

# Debian's Python, which has the packages; another one may come first in PATH.
notebooks:
	@.ci/setup build notebooks
	@[ -e $(BUILD)/build.ninja ] || cmake --preset release -DDRASIM_BUILD_TESTS=OFF -DDRASIM_BUILD_BENCH=OFF >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target drasim
	@/usr/bin/python3 notebooks/execute.py --check

mutants:
	@.ci/setup build
	@/usr/bin/python3 bench/mutants/kill.py --jobs $(JOBS)

planted:
	@.ci/setup build planted
	@/usr/bin/python3 bench/planted/plant.py --jobs $(JOBS)

# DRASIM_BENCH_LONG=FOLDER: gui_bench measures runs of 1,000,000 jobs and 100,000 pods, made there once.
bench-micro:
	@.ci/setup build test
	@cmake --preset release -DDRASIM_BUILD_TESTS=OFF -DDRASIM_BUILD_BENCH=ON >/dev/null
	@cmake --build $(BUILD) -j $(JOBS)
	@for b in $(BUILD)/bin/*_bench; do echo "==> $$b"; $$b --benchmark_min_time=0.2; done

asan:
	@.ci/setup build test asan
	@cmake --preset asan >/dev/null
	@cmake --build build/asan -j $(JOBS) --target drasim core_tests
	@.ci/ctest build/asan $(JOBS) -L core

tidy:
	@.ci/setup build test tidy
	@.ci/tidy $(JOBS)

format-check:
	@.ci/setup tidy
	@git ls-files '*.h' '*.cc' | xargs clang-format --dry-run --Werror

format:
	@.ci/setup tidy
	@git ls-files '*.h' '*.cc' | xargs clang-format -i

PREFIX ?= /usr/local
install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	@rm -rf build
