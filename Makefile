# make help says what there is.  Each target makes .venv from the hashed lock when it is missing or stale; modules are
# compiled to bytecode when they are first imported, by pip's installation as by uv's.  The lock names all dependencies:
# pip need not resolve them again, so that two of it install eighths of the lock in turns, and one checks afterwards that
# none is missing.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
LOCKED := $(VENV)/.locked
READY  := $(VENV)/.ready
UV     := $(shell command -v uv 2>/dev/null)
ARGS   ?=
# Images of containers set the first, and each of the many interpreters that start would compile all libraries anew;
# by the others pip puts them elsewhere.
unexport PYTHONDONTWRITEBYTECODE PIP_TARGET PIP_PREFIX PIP_USER

# What a link leads to belongs to another checkout, whose environment would be emptied or imported.
ifneq ($(shell [ -L $(VENV) ] && echo link),)
$(error $(VENV) is a link; remove it, and make makes an environment of its own)
endif

.PHONY: help book test lab may-lab peers lock clean env
.DELETE_ON_ERROR:

env: $(READY)

$(LOCKED): requirements.lock
	@[ ! -e $(VENV) ] || grep -q "prompt.*rerun" $(VENV)/pyvenv.cfg || { echo "make: $(VENV) is none that make has made; move it away" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "make: Python 3.11 or newer is needed, found " + sys.version.split()[0] + "; name another with PYTHON=python3.12")'
ifeq ($(UV),)
	"$(PYTHON)" -m venv --clear --prompt rerun $(VENV)
	@$(BIN)/python -m pip uninstall -qq --disable-pip-version-check --yes setuptools  # of the venv: the lock has its own
	awk '/^[^ #]/ { n++ } { print > ("$(VENV)/lock." n % 8) }' requirements.lock
	ls $(VENV)/lock.* | xargs -P 2 -n 1 $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --require-hashes -r
	@rm $(VENV)/lock.*
	@$(BIN)/python -m pip check --quiet --disable-pip-version-check
else
	"$(UV)" venv --quiet --clear --seed --prompt rerun --python "$(PYTHON)" $(VENV)
	"$(UV)" pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock
endif
	@touch $@

$(READY): $(LOCKED) pyproject.toml
ifeq ($(UV),)
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
else
	"$(UV)" pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
endif
	@touch $@

help:
	@echo "make book    executes every notebook and builds book/_build/html/index.html"
	@echo "             make book PAGE=notebooks/04_p5plus builds that page alone, in .cache/page/_build/html"
	@echo "make test    runs the tests, notebooks included"
	@echo "make lab     opens the notebooks in JupyterLab; make lab ARGS=--no-browser passes a flag on"
	@echo "make peers   times the kernels and other software in turns"
	@echo "make lock    resolves the dependencies anew into requirements.lock"
	@echo "make env     makes .venv alone, with uv where it is on the path"
	@echo "make clean   removes everything the other targets made"

# The execution cache and the reaction to changed sources are in book/_ext/execution.py.
ifndef PAGE
book: $(READY)
	$(BIN)/jupyter-book build . --config book/_config.yml --toc book/_toc.yml --path-output book -W -n --keep-going
else
# one page, apart from the book: links to other pages lead nowhere there
ONE := $(basename $(PAGE))
book: $(READY)
	@test -f "$(PAGE)" || test -f "$(ONE).ipynb" || test -f "$(ONE).md" || { echo "make: there is no page $(PAGE); name one as PAGE=notebooks/04_p5plus" >&2; exit 1; }
	@mkdir -p .cache/page && printf 'format: jb-book\nroot: %s\n' "$(ONE)" > .cache/page/_toc.yml
	$(BIN)/jupyter-book build . --config book/_config.yml --toc .cache/page/_toc.yml --path-output .cache/page --quiet
	@echo "the page: .cache/page/_build/html/$(ONE).html"
endif

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist=loadfile --no-loadscope-reorder

# the settings there fetch no news and look for no updates; a terminal in it finds companion
lab: $(READY) may-lab
	PATH="$(abspath $(BIN)):$$PATH" JUPYTER_CONFIG_PATH=supercomputers_rerun/companion/jupyter $(BIN)/jupyter lab START.md $(ARGS)

may-lab:
	@[ "$$(id -u)" != 0 ] || case "$(ARGS)" in *--allow-root*) ;; *) echo "make: JupyterLab starts for root, as in many containers, where you say make lab ARGS=--allow-root" >&2; exit 1;; esac

peers: $(READY)
	$(BIN)/python -m supercomputers_rerun.peers $(ARGS)

lock: $(READY)
	$(BIN)/python -m uv pip compile pyproject.toml --universal --all-extras --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --upgrade --output-file requirements.lock

clean:
	rm -rf $(VENV) .cache book/_build build dist *.egg-info
