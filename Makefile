# make demo, make test: both install into .venv what they need, and only when pyproject.toml has changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# slow tests run in CI and with `make test-all`
SELECT := $(if $(filter true,$(CI)),,-m "not slow")

.PHONY: demo test test-all lint browser clean
.DELETE_ON_ERROR:

demo: $(VENV)/.installed-demo
	@mkdir -p demo
	$(BIN)/regioncount depth --construction three-step,random-relu --tokens 3,4,5 --max-depth 12 -o demo/depth.jsonl \
	  --figure demo/depth.html --figure demo/depth.pdf --width text
	@for network in examples/*.json; do echo; $(BIN)/regioncount count "$$network" || exit; done
	@echo
	$(BIN)/regioncount figure examples/trained_relu.json -o demo/partition_relu.pdf
	$(BIN)/regioncount build random-maxout --widths 2,12,12,1 --rank 3 --init uniform --seed 3 -o demo/maxout.json
	$(BIN)/regioncount figure demo/maxout.json -o demo/partition_maxout.pdf
	$(BIN)/regioncount figure examples/attention_conic.json -o demo/partition_attention.pdf
	@echo
	$(BIN)/regioncount arrangement examples/arrangements/lines.json -o demo/lines.pdf
	@echo; echo "Counts against depth: demo/depth.pdf, demo/depth.html (for a browser), demo/depth.jsonl (the records)."
	@echo "Linear regions in the plane: demo/partition_relu.pdf, demo/partition_maxout.pdf, demo/partition_attention.pdf."
	@echo "An arrangement of lines in the whole plane: demo/lines.pdf."
	@echo "The dashboard: start $(BIN)/regioncount app, then open http://127.0.0.1:8050/ in a browser."

test: lint browser
	$(BIN)/python -m pytest $(SELECT)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m nojit

test-all: SELECT :=
test-all: test

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# the tests of the dashboard drive a real browser; without one they are skipped, with CI=true they fail
browser:
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit; done; \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; \
	  then apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium; \
	  else echo "No Chromium for the tests of the dashboard; install it with: sudo apt-get install chromium" >&2; fi

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "regioncount needs Python 3.11 or newer; choose one with: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; \
	  then apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv; \
	  else echo "Python's venv module is missing; install it with: sudo apt-get install python3-venv" >&2; exit 1; fi
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-demo: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable '.[paper,app]'
	@echo "Compiling the kernels, once; this takes two or three minutes."
	@for network in examples/*.json; do $(BIN)/regioncount count "$$network" >/dev/null || exit; done
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable '.[test]'
	@touch $(VENV)/.installed-demo $@

clean:
	rm -rf $(VENV) demo build *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
