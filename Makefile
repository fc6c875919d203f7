# Everything runs from a fresh checkout with Python (3.10 or later) and make alone:
#
#   make test     style, types and tests; pytest's closing line is the last one
#   make demo     runs notebooks/quickstart.ipynb in a real kernel, prints its findings, writes build/quickstart.html
#   make lint     style and types only
#   make bench    what a watch costs on this machine, ten minutes; build/bench.json (other tools: pip install .[bench])
#
# The first of them makes .venv. Another interpreter: make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: test demo lint bench browser

test: lint browser
	@$(BIN)/python -m pytest -n auto --dist loadfile

# The tests in tests/browser want a Chromium. Where there is none and this may install it, as in CI, it does.
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null \
		|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
			&& { apt-get install -qq -y chromium >/dev/null 2>&1 \
				|| { apt-get update -qq && apt-get install -qq -y chromium >/dev/null; }; }; } \
		|| echo "No Chromium here: the browser tests will be skipped."

lint: $(INSTALLED)
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy

demo: $(INSTALLED)
	@$(BIN)/python notebooks/demo.py

bench: $(INSTALLED)
	@$(BIN)/python benchmarks/run.py

$(INSTALLED): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=21.3"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@
