# `make demo` and `make test` work from a fresh checkout: they make .venv first, once.

PYTHON      ?= python3
TORCH       ?= torch==2.13.0
# Where to get torch: TORCH_FLAGS="--index-url https://download.pytorch.org/whl/cpu" is the small build without CUDA.
TORCH_FLAGS ?=
WORKERS     ?= 2
# The backend of `make opinfo`.
BACKEND     ?= reference
OPS         ?= .*

OTHER_DTYPES := bfloat16,float16,float64,complex64

VENV  := .venv
BIN   := $(VENV)/bin
READY := $(VENV)/.ready
OPENVINO := .venv-openvino
PIP   := $(BIN)/python -m pip --disable-pip-version-check --quiet
DISTS := . plugin_api loader backends/reference backends/xla backends/tvm
# setuptools leaves these behind, and would put files that were since removed into the next wheel.
BUILDS := $(addsuffix /build,$(DISTS))

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all models opinfo conformance lint docs bench wheels vendor-openvino clean

help:
	@echo "make setup             .venv with everything in it; the others do this first"
	@echo "make demo              trains a small language model on lazycore and on CPU eager"
	@echo "make test              all tests but the slow ones; make test-all runs these, too"
	@echo "make lint              ruff, mypy, and who may import whom"
	@echo "make models            networks of transformers and timm: hours"
	@echo "make conformance       a share of the conformance suite, BACKEND=$(BACKEND): minutes"
	@echo "make opinfo            PyTorch's operator database, BACKEND=$(BACKEND) OPS='$(OPS)': hours"
	@echo "make bench             speed and memory beside PyTorch and jax, for docs/speed.md; BENCH=--check compares to that"
	@echo "make docs              docs/opset-table.md, coverage.md and conformance-results.md anew"
	@echo "make wheels            the distributions, in dist"
	@echo "make vendor-openvino   the OpenVINO example, installed from wheels and tested"
	@echo "make clean             removes environments and builds"

setup: $(READY)

# torch comes first and by itself, so that nothing else decides which one it is. The six distributions need each other
# and are on no index, so that only one command that names them all can install them. That includes apache-tvm: its
# wheel takes seconds to install, and the environment is then the one that the distributions' metadata promise.
$(READY): pyproject.toml plugin_api/pyproject.toml loader/pyproject.toml $(wildcard backends/*/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit("lazycore needs Python 3.11 or newer: make PYTHON=..." if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install $(TORCH_FLAGS) $(TORCH)
	$(PIP) install $(patsubst %,-e %,$(patsubst .,.[dev],$(DISTS)))
	@touch $@

demo: $(READY)
	$(BIN)/python examples/demo.py

# One thread per worker: the tests are many and small, and idle threads of several pools would fight for the cores.
test: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(WORKERS)

# The slow variants too; a later -m replaces the default one.
test-all: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(WORKERS) -m ""

# Models of other libraries on both backends, an hour or two. torch is named so that nothing that they need replaces it.
models: $(READY)
	$(PIP) install $(TORCH) -e '.[models]'
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(WORKERS) -m "" tests/models tests/programs/test_resnet.py

# PyTorch's operator database on one backend, an hour or two: ops, error inputs, modules. Fails where anything but what
# tests/opinfo/known.json lists does; all parts run before that. OPS="^conv" takes the names that match.
opinfo: $(READY)
	@status=0; \
	for part in "runner" "runner --dtypes $(OTHER_DTYPES) --out opinfo-other.jsonl" "errors" "modules"; do \
		$(BIN)/python -m tests.opinfo.$$part --backend $(BACKEND) --ops '$(OPS)' || status=1; \
	done; \
	exit $$status

# The page of all operators, from the opset's table and the backends' registries, and the one of the kept reports of the
# conformance suite: `python tools/conformance_page.py report.json` keeps another.
# docs/coverage.md is made of docs/coverage, which `python -m tools.coverage collect BACKEND ROWS` fills from the rows that
# `make opinfo` leaves.
docs: $(READY)
	$(BIN)/python tools/opset_page.py
	$(BIN)/python -m tools.coverage
	$(BIN)/python tools/conformance_page.py

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# `lazycore conformance` without --sample runs all of it.
conformance: $(READY)
	$(BIN)/lazycore conformance --backend $(BACKEND) --sample -n $(WORKERS)

# Beside PyTorch, torch.compile and jax, about a quarter of an hour on a machine that does nothing else. Results and the
# page are written anew; BENCH=--check compares to them instead.
bench: $(READY)
	$(PIP) install $(TORCH) -e '.[bench]'
	$(BIN)/python -m bench $(BENCH)

# Beside the in-tree use, so that a vendor's package can be installed with `pip install --find-links dist`.
wheels: $(READY)
	rm -rf dist $(BUILDS)
	$(PIP) wheel --no-deps --wheel-dir dist $(addprefix ./,$(DISTS))
	@rm -rf $(BUILDS)
	@ls dist

# A vendor's package outside of the house: from the wheels, in an environment of its own, which may download a lot.
vendor-openvino: wheels
	$(PYTHON) -m venv $(OPENVINO)
	$(OPENVINO)/bin/python -m pip --disable-pip-version-check --quiet install $(TORCH_FLAGS) $(TORCH)
	$(OPENVINO)/bin/python -m pip --disable-pip-version-check --quiet install --find-links dist "./examples/vendor_openvino[test]"
	@rm -rf examples/vendor_openvino/build examples/vendor_openvino/*.egg-info
	$(OPENVINO)/bin/pytest -q examples/vendor_openvino/tests

clean:
	rm -rf $(VENV) $(OPENVINO) dist $(BUILDS)
