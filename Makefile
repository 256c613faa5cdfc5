# Two commands do everything on a fresh Debian 12 machine with Python 3.11, g++ and make: `make demo` and `make test`.

PYTHON ?= python3
BIN := .venv/bin
WORKERS ?= 2
DEMO := build/stories260K
GPT2 := build/gpt2-medium
N ?= 1000
SEARCHED ?= 300
MUTANTS ?= 5000
SEED := $(shell date +%s)
JOBS ?= 2
RANDOM_TESTS = $(shell grep -rl "stc_testing.drawn" tests)
PYTEST := -m "not full" --numprocesses $(WORKERS)

# Without its own bytecode each process would compile the sources again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo demo-gpt2 check test test-full fuzz lit pytest lint benchmarks clean
help:
	@echo "make demo       compile a small language model, let the emitted C++ write a story, compare it with transformers"
	@echo "make demo-gpt2  compile a GPT-2-medium block, run the emitted C++, compare with PyTorch"
	@echo "make check      ruff, lit, and the tests that neither build C++ nor import torch (CONTRIBUTING.md has the times)"
	@echo "make test       lit, pytest, ruff and basedpyright"
	@echo "make test-full  full-size models as well"
	@echo "make fuzz N=1000 MUTANTS=5000 compile N random programs, all levels and the emitted C++ must agree; mutate the IR of lit"
	@echo "                tests, every pass must keep it sound and what it computes, or refuse it; the random tests with 20 times"
	@echo "                as many examples, and new ones (JOBS=2, SEED=seconds since 1970)"
	@echo "make benchmarks print the tables of benchmarks/"

# The environment: made once, and again when the dependencies change.
.venv/installed: pyproject.toml requirements.lock
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade-strategy only-if-needed -c requirements.lock -e '.[dev]'
	touch $@

demo: .venv/installed
	rm -rf $(DEMO)
	$(BIN)/python examples/stories260K/story.py $(DEMO)
	@echo "The model is in $(DEMO); write on: $(BIN)/stc generate $(DEMO) --prompt 'Lily and Tom'"

demo-gpt2: .venv/installed
	rm -rf $(GPT2)
	$(BIN)/stc compile gpt2-medium --stage prefill --seq 32 --dtype f32 --out $(GPT2) --check
	@echo "The accelerator is in $(GPT2): kernel.cpp, host.cpp, host.py, manifest.json, report.json, ..."

# The inner loop: what neither builds C++ nor imports torch; types are for `make lint`.
check: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/lit -q --workers $(WORKERS) filecheck_tests
	$(BIN)/pytest --fast $(PYTEST) --dist worksteal tests

# Types are checked by one process, tests of lit by the other.
test: .venv/installed
	$(MAKE) --jobs 2 --output-sync lint lit
	$(MAKE) pytest

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/basedpyright

lit: .venv/installed
	$(BIN)/lit --verbose --workers $(WORKERS) filecheck_tests

pytest: .venv/installed
	$(BIN)/pytest $(PYTEST) --dist loadfile --no-loadscope-reorder tests

test-full: .venv/installed lint lit
	$(BIN)/pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder tests

fuzz: .venv/installed
	$(BIN)/stc fuzz --count $(N) --seed $(SEED) --jobs $(JOBS)
	$(BIN)/stc fuzz --count $(SEARCHED) --seed $(SEED) --jobs $(JOBS) --budget random --out build/fuzz/searched
	$(BIN)/stc fuzz --integers --count $(SEARCHED) --seed $(SEED) --jobs $(JOBS) --budget random --out build/fuzz/integers
	$(BIN)/stc fuzz --mutate --count $(MUTANTS) --seed $(SEED) --jobs $(JOBS) --out build/fuzz/mutants
	STC_FUZZ_SEED=$(SEED) $(BIN)/pytest $(PYTEST) --hypothesis-seed=$(SEED) --dist worksteal $(RANDOM_TESTS)

benchmarks: .venv/installed
	$(BIN)/python benchmarks/compile_time.py
	$(BIN)/python benchmarks/streams.py

clean:
	rm -rf build .venv .pytest_cache .ruff_cache
