"""The commands of the book, for Nox; what follows `--` goes on to the tool.

`nox -s docs` builds the book, `nox -s tests` tests it, and `nox -s ci` runs all that
has to pass before a change is merged. `nox --list` shows the others.
"""

import functools
import hashlib
import itertools
import locale
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import nox

nox.needs_version = ">=2025.2"
nox.options.sessions = ["docs", "tests"]
nox.options.reuse_existing_virtualenvs = True

# What `nox -s ci` runs on the Python that builds the published site; and on another
# one, what depends on JAX or Python most.  The code of the pages runs once on each: as
# programs, which readers copy, and as it is pasted, cell by cell.  (The workflow builds
# and tests all of the book on the others, too.)
PUBLISHED = (3, 12)
PASTED = "tests/test_pasted.py"
CHECKS = {
    "lint": (),
    "docs": (),
    "languages": (),
    "translations": ("--check",),
    "compile": ("--check",),
    "small": (),
    "tests": (f"--ignore={PASTED}",),
}
OF_ENGINE = "build/test_html_builder execute/test_kernel execute/test_fork_server"
ELSEWHERE = [PASTED, "examples", *(f"tests/{name}.py" for name in OF_ENGINE.split())]
CHECKS_ELSEWHERE = {"tests": tuple(ELSEWHERE)}

HTML = Path("docs/_build/html")
LOCALE = Path("docs/locale")
BUILD = ("sphinx-build", "-W", "--keep-going", "-j", "auto")
BUILD += ("-d", "docs/_build/doctrees", "docs")
LAUNCH = Path("examples/scale/runners")  # files that schedulers read
FORMS = Path(".github/ISSUE_TEMPLATE")
SCHEMAS = {
    "--builtin-schema vendor.readthedocs": [".readthedocs.yaml"],
    "--builtin-schema vendor.citation-file-format": ["CITATION.cff"],
    "--builtin-schema vendor.dependabot": [".github/dependabot.yml"],
    "--builtin-schema vendor.github-issue-config": [FORMS / "config.yml"],
    "--builtin-schema vendor.github-issue-forms": [
        FORMS / "question.yml",
        FORMS / "wrong_page.yml",
    ],
    "--schemafile tests/scale/jobset.schema.json": LAUNCH.glob("jobset*.yaml"),
}
WORKERS = str((os.cpu_count() or 1) + 1)  # some tests wait, for what hangs or ends
PYTEST = ("python", "-m", "pytest", "-n", WORKERS, "--dist", "worksteal")
OF_PAGES = ["tests/house/test_rules.py", "tests/test_pasted.py"]
OF_PAGES += [f"tests/test_{name}.py" for name in ("snippets", "exercises", "notebooks")]
OF_SEARCH = ["tests/test_search.py", "tests/house/test_error_pages.py"]
ALONE = Path("docs/_build/alone")  # a page that is built without the others
ABSENT = "mystnb.nbcell,toc,ref,myst"  # what Sphinx says of pages that are not there
COMPILE = ("python", "-m", "book.compilers.command")

# What `docs` and `tests` run in their environments, asked for under other names: each
# environment takes about a gigabyte, and is installed once.
ASKED: dict[str, list[Callable[[nox.Session], None]]] = {"docs": [], "tests": []}
ENDED: set[str] = set()  # those that have run, or failed


def runs_in(environment: str) -> Callable[[Callable], nox.registry.Func]:
    """Make a function a session that runs in the environment of another one."""

    def register(run: Callable[[nox.Session], None]) -> nox.registry.Func:
        @functools.wraps(run)
        def ask(session: nox.Session) -> None:
            if environment in ENDED:  # Nox runs no session twice
                session.error(f"runs by itself: nox -s {run.__name__}")
            ASKED[environment].append(run)
            session.notify(environment, session.posargs)

        return nox.session(ask, venv_backend="none")

    return register


def run_asked(session: nox.Session, usual: Callable[[nox.Session], None]) -> None:
    """Run what was asked for in this session's environment, or else what is `usual`."""
    environment = session.name.partition("-")[0]  # such as docs-3.11
    ENDED.add(environment)
    for run in ASKED[environment] or [usual]:
        run(session)


def install(session: nox.Session, group: str) -> None:
    """Install what the lock names, uncompiled; nothing if it is there, or no venv."""
    session.env.update(PYTHONPATH="", PYTHONDONTWRITEBYTECODE="")  # hundreds start
    use_known_locale(session)
    if session.venv_backend == "none":
        return  # nox --no-venv: the packages are the machine's own
    lock = Path("requirements", f"{group}.txt")
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    stamp = Path(session.virtualenv.location, f"{group}.sha256")
    if not stamp.exists() or stamp.read_text() != digest:
        session.install("--no-compile", "--no-deps", "--require-hashes", f"-r{lock}")
        stamp.write_text(digest)


def use_known_locale(session: nox.Session) -> None:
    """Take another locale where the one asked for is missing, as Sphinx would end."""
    try:
        locale.setlocale(locale.LC_ALL, "")
    except locale.Error:
        names = ("LC_ALL", "LC_CTYPE", "LANG")
        asked = next((os.environ[name] for name in names if os.environ.get(name)), "")
        session.warn(f"The locale {asked} is not installed here; C.UTF-8 is used.")
        session.env["LC_ALL"] = "C.UTF-8"


def pytest(session: nox.Session, *args: str) -> None:
    """Run pytest on all cores, on what is asked for or on `args`."""
    install(session, "test")
    session.run(*PYTEST, *(session.posargs or args))


def build(session: nox.Session, *options: str) -> None:
    """Build the site, and say where it is."""
    install(session, "docs")
    session.run(*BUILD, str(HTML), "-b", "html", *options, *session.posargs)
    session.log(f"The book: {(HTML / 'index.html').resolve().as_uri()}")


@nox.session
def docs(session: nox.Session) -> None:
    """Every page runs here and becomes the site in docs/_build/html."""
    run_asked(session, build)


@nox.session
def languages(session: nox.Session) -> None:
    """The pages in other languages, beside the English; run after `docs`."""
    install(session, "docs")
    build_languages(session, *session.posargs)


def build_languages(session: nox.Session, *options: str) -> None:
    """Build docs/_build/html/LANGUAGE, with the outputs that the English book has."""
    for language in sorted(path.name for path in LOCALE.glob("*/")):
        made = ("-d", f"docs/_build/doctrees_{language}", str(HTML / language))
        own = [
            f"{word.rstrip('/')}/{language}/" if "html_baseurl=http" in word else word
            for word in options
        ]
        session.run(*BUILD, *made, "-b", "html", "-D", f"language={language}", *own)


@nox.session
def translations(session: nox.Session) -> None:
    """Catalogues follow their pages; what is left to do: -- [--check] [NEW PAGE]."""
    install(session, "docs")
    templates = "docs/_build/gettext"
    made = ("-q", "-d", "docs/_build/doctrees_gettext", templates)
    session.run(*BUILD, *made, "-b", "gettext")
    command = ("python", "-m", "book.translation.command", templates)
    session.run(*command, *session.posargs, env={"PYTHONPATH": "docs"})


@nox.session
def tests(session: nox.Session) -> None:
    """Every promise is tested: programs, snippets, house rules, engine."""
    run_asked(session, pytest)


@nox.session(venv_backend="none")
def ci(session: nox.Session) -> None:
    """All that has to pass before a change is merged, on the Python that runs this."""
    published = sys.version_info[:2] == PUBLISHED
    for name, arguments in (CHECKS if published else CHECKS_ELSEWHERE).items():
        session.notify(name, posargs=arguments)


@nox.session
def newest(session: nox.Session) -> None:
    """Build and test with the newest of all packages, past the locks: -- docs|tests."""
    project = nox.project.load_toml("pyproject.toml")
    packages = nox.project.dependency_groups(project, "test")
    session.install("--upgrade", "jax", *packages)
    session.env.update(PYTHONPATH="", PYTHONDONTWRITEBYTECODE="")
    wanted = session.posargs or ["docs", "tests"]
    if "docs" in wanted:
        session.run(*BUILD, str(HTML), "-b", "html")
    if "tests" in wanted:
        session.run(*PYTEST)


@runs_in("tests")
def doctest(session: nox.Session) -> None:
    """Every program prints what its docstring says."""
    pytest(session, "examples")


@runs_in("tests")
def page(session: nox.Session) -> None:
    """One page built, and all that is tested of it: -- vmap/axes."""
    install(session, "test")
    if not session.posargs:
        session.error("which page? `nox -s page -- vmap/axes`")
    for name in session.posargs:
        path = Path("docs", f"{name}.md")
        if not path.is_file():
            session.error(f"there is no docs/{name}.md")
        if "{code-cell}" in path.read_text(encoding="utf-8"):
            build_alone(session, name)
        stem = name.rpartition("/")[2]
        chosen = f"{name} or {stem} or book_keeps or test_search or test_error_pages"
        session.run(*PYTEST, "-rs", *OF_PAGES, *OF_SEARCH, "-k", chosen)
    session.log("Links to other pages are left: `nox -s docs` follows them.")


def build_alone(session: nox.Session, name: str) -> None:
    """Run and check a page as the build of the book does, without the other pages.

    What JAX raises on it is kept, as `outputs` does for the book.
    """
    made = ("-d", str(ALONE / "doctrees"), "docs", str(ALONE / "html"), "-b", "html")
    options = (*only(name, f"{name}.md"), "-D", "book_keep_outputs=1")
    session.run("sphinx-build", "-q", "-W", "--keep-going", *made, *options)


def only(root: str, pages: str) -> list[str]:
    """Options of a build of some `pages`, the first of them `root`, and no others."""
    found = ["-D", f"root_doc={root}", "-D", f"include_patterns={pages}"]
    return [*found, "-D", f"suppress_warnings={ABSENT}"]


@runs_in("tests")
def said(session: nox.Session) -> None:
    """What each exercise's `check` says of its mistakes is kept: -- [EXERCISE...]."""
    install(session, "test")
    eight = {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "8", "PYTHONPATH": "docs:."}
    session.run("python", "-m", "tests.said", *session.posargs, env=eight)


@runs_in("tests")
def snippets(session: nox.Session) -> None:
    """Every cell runs alone, in a fresh process in an empty folder."""
    pytest(session, "tests/test_snippets.py", "-v")


@runs_in("tests")
def advice(session: nox.Session) -> None:
    """Where a page or a program is longer than most; fails nothing: -- [PAGE...]."""
    install(session, "test")
    command = ("python", "-m", "tests.house.advice", *session.posargs)
    session.run(*command, env={"PYTHONPATH": "docs:."})


@nox.session
def compile(session: nox.Session) -> None:
    """What TPU compilers make of each program is kept: -- [--check] [PROGRAM]."""
    install(session, "compile")
    session.run(*COMPILE, *session.posargs, env={"PYTHONPATH": "docs:."})
    session.run("python", "-m", "examples.scale.plan", "v5e:2x4")


@nox.session
def compile_gpu(session: nox.Session) -> None:
    """The same for eight H100s."""
    install(session, "compile_gpu")
    session.run(*COMPILE, "--gpu", *session.posargs, env={"PYTHONPATH": "docs:."})


@nox.session
def rounding(session: nox.Session) -> None:
    """Pages and programs hold where products round as on a TPU or a GPU: -- [PAGE]."""
    install(session, "test")
    made = "docs/_build/rounding"
    quiet = [*BUILD[2:], "-q", "-b", "dummy", "-d", f"{made}/doctrees"]
    if session.posargs:
        pages = ",".join(f"{page}.md" for page in session.posargs)
        quiet += [*only(session.posargs[0], pages), "-d", f"{made}/some"]
    for target, bits in {"bfloat16": "7", "tf32": "10"}.items():
        how = ("-D", f"book_target={target}", f"{made}/{target}")
        session.run(BUILD[0], *quiet, *how)
        if not session.posargs:  # here Python has to start with what rounds
            start = {"PYTHONPATH": "tests/rounding", "BOOK_MANTISSA": bits}
            programs = (*PYTEST, "examples", "--target", target)
            session.run(*programs, env=start)


@nox.session
def small(session: nox.Session) -> None:
    """A chapter builds, and programs run, on one device and on four: -- [CHAPTER]."""
    install(session, "test")
    [chapter] = session.posargs or ["start"]
    alone = only(f"{chapter}/index", f"{chapter}/*")
    solutions = "tests/test_exercises.py::test_the_solution_passes"
    for target in ("cpu-1", "cpu-4"):
        made = f"docs/_build/small/{target}"
        session.run(*BUILD, f"{made}/html", *alone, "-D", f"book_target={target}")
        session.run(*PYTEST, "examples", solutions, "--target", target)


@nox.session
def browser(session: nox.Session) -> None:
    """The built site in a real Chromium: copying, searching, axe, print, phone."""
    install(session, "browser")
    chromium = (
        os.environ.get("CHROMIUM")
        or shutil.which("chromium")
        or shutil.which("google-chrome")
    )
    if not chromium:
        # Where this fails, the tests say what else can be done.
        fetch = ("playwright", "install", "--with-deps", "chromium")
        session.run(*fetch, success_codes=range(256))
    env = {"CHROMIUM": chromium or ""}
    session.run(*PYTEST, "tests/browser", *session.posargs, env=env)


@nox.session
def lint(session: nox.Session) -> None:
    """Style, types and imports of the code; scripts, workflows and settings."""
    install(session, "lint")
    session.run("ruff", "check", *session.posargs)
    session.run("ruff", "format", "--check", *session.posargs)
    session.run("mypy")
    imports = ("lint-imports", "--no-cache", "--no-logo", "pyproject.toml")
    session.run(*imports, env={"PYTHONPATH": "docs"})
    session.run("actionlint")  # with shellcheck, of each step's commands
    session.run("zizmor", "--offline", "--no-progress", "--quiet", ".github")
    session.run("shellcheck", ".ci/run", *map(str, LAUNCH.parent.rglob("*.s[bh]*")))
    for schema, files in SCHEMAS.items():
        session.run("check-jsonschema", *schema.split(), *map(str, files))


@runs_in("docs")
def speed(session: nox.Session) -> None:
    """The build is as fast as promised, measured on this machine."""
    install(session, "docs")
    session.run("python", "tests/speed.py", *session.posargs)


@runs_in("docs")
def measure(session: nox.Session) -> None:
    """What the devices here reach, in a few minutes: a record that can be published."""
    install(session, "docs")
    measuring = ("python", "-m", "examples.evidence.measured", *session.posargs)
    session.run(*measuring, env={"PYTHONPATH": "docs:."})


@runs_in("docs")
def outputs(session: nox.Session) -> None:
    """What the installed JAX raises is kept: others show it where words differ."""
    build(session, "-D", "book_keep_outputs=1")


@runs_in("docs")
def site(session: nox.Session) -> None:
    """What is published: -- [HTML of another JAX...] [-D html_baseurl=https://…/]."""
    install(session, "docs")
    others = [word for word in session.posargs if Path(word, "record.json").is_file()]
    options = [word for word in session.posargs if word not in others]
    for before, word in itertools.pairwise(["", *options]):
        if not (word.startswith("-") or before.startswith("-")):
            session.error(f"{word} is no folder with a book: it has no record.json")
    session.run(*BUILD, str(HTML), "-b", "html", *options)
    build_languages(session, *options)
    command = ("python", "-m", "book.publish.assemble", "docs/_build/site", str(HTML))
    session.run(*command, *others, env={"PYTHONPATH": "docs"})


@runs_in("docs")
def live(session: nox.Session) -> None:
    """The site, rebuilt and reloaded at every save."""
    install(session, "docs")
    ignore = ("--ignore", "*/_build/*", "--ignore", "*/__pycache__/*")
    watch = ("--watch", "examples")
    watched = (*ignore, *watch, *BUILD[3:], str(HTML), *session.posargs)
    session.run("sphinx-autobuild", *watched)


@runs_in("docs")
def play(session: nox.Session) -> None:
    """JupyterLab on the notebooks of the built book, on this machine alone."""
    install(session, "play")
    command = ("python", "-m", "book.exports.play", str(HTML), "docs/_build/play")
    session.run(*command, *session.posargs, env={"PYTHONPATH": "docs"})


@runs_in("docs")
def new(session: nox.Session) -> None:
    """A page, its program and its exercise, ready to be filled: -- shard_map/name."""
    install(session, "docs")
    command = ("python", "-m", "book.scaffold.new", *session.posargs)
    session.run(*command, env={"PYTHONPATH": "docs"})


@runs_in("docs")
def linkcheck(session: nox.Session) -> None:
    """Every link leads somewhere."""
    install(session, "docs")
    made = ("-d", "docs/_build/doctrees_linkcheck", "docs/_build/linkcheck")
    session.run(*BUILD, *made, "-b", "linkcheck", *session.posargs)


@nox.session
def lock(session: nox.Session) -> None:
    """The dependencies, locked with hashes for every Python from 3.11."""
    session.install("uv>=0.10")
    universal = ("--universal", "--python-version", "3.11", "--generate-hashes")
    plain = ("--no-header", "--no-annotate", "--quiet")
    for group in [path.stem for path in Path("requirements").glob("*.txt")]:
        goal = ("--group", group, "--output-file", f"requirements/{group}.txt")
        source = () if group == "lint" else ("pyproject.toml",)
        command = ("uv", "pip", "compile", *source, *universal, *plain, *goal)
        session.run(*command, *session.posargs)
