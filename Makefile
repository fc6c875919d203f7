# Everything runs from a fresh checkout with Python (3.10 or later) and make alone:
#
#   make test     what README.md promises: all tests that tests/conftest.py does not call slow, a kernel, a browser, the
#                 wheel, and of all others a tenth, another one with each commit (tests/drawing_lots.py)
#   make test-all everything, for CI and before a release: also style and types, each labelled program run anew, PyTorch's
#                 own databases, generated cells, kernels with the newest and the oldest tools, Paddle, browsers, other
#                 people's suites; pytest's closing line is the last one;
#                 of the proofs that tests/proven.json lists for these very files, nine tests in ten are left out
#   make prove    runs the proofs whose files changed and writes tests/proven.json; make prove ANEW=1 runs all
#   make check    while one works: style, types, and all tests that are not slow
#   make gate     what the rules say of the recorded traces of all labelled programs, against the golden file, in a minute;
#                 make gate ACCEPT=1 writes that file anew
#   make dist     dist/: the sdist, the wheel made from it, the page of an index checked, and a report from the wheel in an
#                 environment of its own. To publish: docs/RELEASING.md
#   make cuda     the tests on a GPU, where there is one: two minutes
#   make paddle   the tests on Paddle's tensors, in an environment of their own; part of make test-all
#   make demo     runs notebooks/quickstart.ipynb in a real kernel, prints its findings, writes build/quickstart.html; a
#                 minute, in .venv-demo with no tools of development, or in .venv where there is one
#   make lint     style and types only
#   make lessons  makes the teaching notebooks of their texts, and runs them
#   make gallery  the course as static pages with its reports and pictures, in build/gallery; three minutes
#   make docs     the documentation site, from docs/ and the notebooks, in build/site; a broken link is an error
#   make bench    what a watch costs on this machine, ten minutes; build/bench.json (other tools: pip install .[bench])
#   make suites   other people's test suites, unwatched and watched, and a table of what differs; hours. It wants the
#                 packages, and for most of them a checkout: make suites CHECKOUTS=~/src SUITES="gpytorch kornia".
#                 A fixed sample of two minutes is part of make test-all
#   make corpus   public repositories, trained for a few steps plainly and watched, and what changed against the judged
#                 findings; twenty minutes. It wants a checkout of each: make corpus CHECKOUTS=~/src ONLY="minGPT dino"
# The first of the others makes .venv; make test-all makes .venv-min with the oldest Jupyter tools and .venv-paddle with
# Paddle.
# Another interpreter: make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
OLDEST := .venv-min
OLDEST_INSTALLED := $(OLDEST)/.installed
DEMO := .venv-demo
DEMO_INSTALLED := $(DEMO)/.installed
PADDLE := .venv-paddle
PADDLE_INSTALLED := $(PADDLE)/.installed
PACKAGING := .venv-dist
OUTPUTS := build/outputs/made

.PHONY: check gate prove test test-all dist cuda everything paddle paddle-beside demo lint lessons gallery docs bench suites corpus browser

# Hundreds of processes of the tests import the package; its bytecode is kept, whatever the caller's habit.
export PYTHONDONTWRITEBYTECODE :=

check: lint
	@$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow"

gate: $(INSTALLED)
	@$(BIN)/python -W ignore tests/gate.py -v $(if $(ACCEPT),--accept)

test: $(INSTALLED)
	@$(MAKE) --no-print-directory browser
	@$(BIN)/python -m pytest -n auto --dist worksteal -m "not nightly"

# Beside each other: installing waits for a network, and the tests that come first wait for browsers.
test-all: $(INSTALLED)
	@$(MAKE) --no-print-directory --jobs browser $(OLDEST_INSTALLED) $(PADDLE_INSTALLED)
	@$(MAKE) --no-print-directory --jobs lint paddle-beside everything

everything: $(INSTALLED)
	@$(BIN)/python -m pytest -n auto --dist worksteal --unproven

prove: $(INSTALLED)
	@$(BIN)/python tests/proven.py $(if $(ANEW),--anew)

# It needs no more than this repository, pytest and a PyTorch with CUDA.
cuda: $(INSTALLED)
	@$(BIN)/python -m pytest --quiet -m cuda tests/cuda

# It takes what the others leave while they wait for browsers and kernels. What it says is said at its end, in one piece.
paddle-beside: $(PADDLE_INSTALLED)
	@said=$$(nice $(PADDLE)/bin/python -m pytest --quiet tests/of_paddle 2>&1); status=$$?; echo; echo "$$said"; exit $$status

# In processes of their own: whoever tests PyTorch shall not have Paddle beside it.
paddle: $(PADDLE_INSTALLED)
	@$(PADDLE)/bin/python -m pytest -n auto --dist worksteal --quiet tests/of_paddle

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

# The wheel is made from the sdist, as an index's users make it.
dist:
	@test -x $(PACKAGING)/bin/python || $(PYTHON) -m venv $(PACKAGING)
	@$(PACKAGING)/bin/python -m pip install --quiet --disable-pip-version-check build twine
	@rm -rf dist
	@$(PACKAGING)/bin/python -m build --outdir dist
	@$(PACKAGING)/bin/python -m twine check --strict dist/*
	@$(PYTHON) .ci/try_install.py dist/*.whl

demo: $(or $(wildcard $(INSTALLED)),$(DEMO_INSTALLED))
	@$(<D)/bin/python notebooks/demo.py

lessons: $(INSTALLED)
	@$(BIN)/python notebooks/build.py

# The outputs of the notebooks, which no one commits. After a change of the package: make lessons.
$(OUTPUTS): $(wildcard notebooks/*.md notebooks/*/*.md) | $(INSTALLED)
	@$(BIN)/python notebooks/build.py --outputs
	@touch $@

gallery: $(OUTPUTS)
	@$(BIN)/python notebooks/gallery.py

docs: $(INSTALLED) $(OUTPUTS)
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --builder html --conf-dir docs --doctree-dir build/doctrees . build/site
	@echo "build/site/index.html"

bench: $(INSTALLED)
	@$(BIN)/python benchmarks/run.py

suites: $(INSTALLED)
	@$(BIN)/python tests/suites/run.py $(SUITES) --confirm $(if $(CHECKOUTS),--checkouts $(CHECKOUTS))

corpus: $(INSTALLED)
	@$(BIN)/python -W ignore tests/corpus/run.py $(ONLY) --checkouts $(CHECKOUTS)

$(INSTALLED): pyproject.toml .ci/constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=21.3"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c .ci/constraints.txt -e ".[dev,docs]"
	@touch $@

# The torch of the interpreter is taken where it has one: the .pth file names the folder, also that of a virtual environment.
# What nobody imports is not compiled: most of torch. nbconvert looks for its templates in its own environment alone.
$(DEMO_INSTALLED): pyproject.toml .ci/constraints.txt
	@set -e; torch=$$($(PYTHON) -c 'import importlib.util as u; \
		s = u.find_spec("torch"); print(s.origin.rpartition("/torch/")[0] if s and s.origin else "")'); \
	echo "Make $(DEMO), an environment for the demo, with torch of $${torch:-a package index, most of what is installed}."; \
	$(PYTHON) -m venv $(DEMO); \
	if [ "$$torch" ]; then echo "$$torch" \
		>$$($(DEMO)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/torch.pth; fi; \
	echo "Install inplace_magic there and what runs a notebook: no linter, no browser, no site builder."; \
	$(DEMO)/bin/python -m pip install -qq --disable-pip-version-check "pip>=21.3"; \
	$(DEMO)/bin/python -m pip install -qq --disable-pip-version-check --no-compile \
		$$([ "$$torch" ] || echo -c .ci/constraints.txt) -e ".[demo]"; \
	$(DEMO)/bin/python -m pip install -qq --disable-pip-version-check --ignore-installed --no-deps nbconvert
	@touch $@

# torch is not installed a second time: the .pth file lets this environment look into .venv for what it lacks.
# As below: only what .venv lacks is installed.
$(PADDLE_INSTALLED): $(INSTALLED) .ci/constraints.txt
	@test -x $(PADDLE)/bin/python || $(BIN)/python -m venv $(PADDLE)
	@$(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))" \
		>$$($(PADDLE)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/newest.pth
	@$(PADDLE)/bin/python -m pip install --quiet --disable-pip-version-check -c .ci/constraints.txt paddlepaddle
	@touch $@

$(OLDEST_INSTALLED): $(INSTALLED) .ci/constraints-min.txt
	@test -x $(OLDEST)/bin/python || $(BIN)/python -m venv $(OLDEST)
	@$(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))" \
		>$$($(OLDEST)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/newest.pth
	@$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -c .ci/constraints-min.txt -e .
	@touch $@
