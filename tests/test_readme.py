"""What the front door says is so: its code runs, its commands and links exist."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import jax
import pytest
import yaml

from book.draw import strip
from book.draw.svg import WIDTH
from book.hardware.targets import Target, choose, environment, load
from examples.spine import by_shard_map, table
from tests.pictures import mesh_of

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
WORKFLOW = ".github/workflows/book.yml"
WORKFLOWS = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / ".github" / "workflows").glob("*.yml")
)
CALLERS = [
    "README.md",
    "CONTRIBUTING.md",
    ".github/pull_request_template.md",
    *WORKFLOWS,
    ".readthedocs.yaml",
    ".ci/run",
]
NOX = re.compile(r"\bnox(?: --[\w-]+)* -s((?: [a-z_]+)+)")
SHORT = re.compile(r"^\$\w+((?: [a-z_]+)+)$", re.MULTILINE)  # nox in a variable


def sessions():
    """Return the names of the sessions in noxfile.py."""
    tree = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))
    found = set()
    for node in tree.body:
        for decorator in getattr(node, "decorator_list", []):
            if ast.unparse(decorator).startswith(("nox.session", "runs_in")):
                named = getattr(decorator, "keywords", [])
                names = [k.value.value for k in named if k.arg == "name"]
                found.add(names[0] if names else node.name)
    return found


def called(text):
    """Return the sessions that a file's `nox -s` commands name."""
    found = NOX.findall(text) + (SHORT.findall(text) if "nox" in text else [])
    return {name for names in found for name in names.split()}


def test_the_readme_shows_a_program():
    assert len(BLOCKS) == 1
    assert len([line for line in BLOCKS[0].splitlines() if line.strip()]) <= 16
    assert "assert " in BLOCKS[0]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_program_of_the_readme_runs_alone(block, tmp_path):
    env = environment(Target("", "", "", 0), tmp_path)  # nothing steers JAX
    command = [sys.executable, "-P", "-W", "error", "-c", block]
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    "command",
    [
        "python -m pip install nox && python -m nox -s docs",
        "python -m nox -s tests",
        "uvx nox -s docs",
        "pipx run nox -s docs",
        "nox --no-venv",
        "-- -D book_target=gpu",
    ],
)
def test_the_readme_says_how_to_build_and_test(command):
    assert command in README


@pytest.mark.parametrize("name", CALLERS)
def test_every_session_that_is_called_is_there(name):
    found = called((ROOT / name).read_text(encoding="utf-8"))
    assert found
    assert found <= sessions()


def test_a_session_that_is_not_there_would_be_seen():
    assert called("run `python -m nox -s docs gone -- x`") == {"docs", "gone"}
    assert called("python -m nox --no-venv -s lost") == {"lost"}
    assert called('book="python -m nox --session"\n$book gone lost\n') == {
        "gone",
        "lost",
    }
    assert not {"gone", "lost"} & sessions()
    assert {"docs", "tests"} <= sessions()


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_file_that_is_linked_is_there(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    files = [link for link in links if not re.match(r"\w+:", link)]
    assert [link for link in files if not (ROOT / link).exists()] == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_folder_that_is_explained_is_there(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    folders = re.findall(r"^\| `([\w/]+/)` \|", text, re.MULTILINE)
    assert folders
    assert [folder for folder in folders if not (ROOT / folder).is_dir()] == []


def test_the_picture_says_in_words_what_it_shows():
    [(alt, path)] = re.findall(r"!\[(.*?)\]\((.*?)\)", README)
    picture = ElementTree.parse(ROOT / path).getroot()
    assert alt == picture.findtext("{http://www.w3.org/2000/svg}title")


def test_the_workflow_asks_for_no_more_than_it_needs():
    workflow = yaml.safe_load((ROOT / WORKFLOW).read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    more = {name: job.get("permissions") for name, job in workflow["jobs"].items()}
    publish = more.pop("publish")
    site, notebooks = {"pages": "write", "id-token": "write"}, {"contents": "write"}
    assert publish == site | notebooks
    assert set(more.values()) == {None}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_runs_actions_by_commit_and_no_text_of_a_stranger(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    used = re.findall(r"\buses: *(.*)", text)
    assert used
    pinned = re.compile(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert [action for action in used if not pinned.fullmatch(action)] == []
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert not any("${{" in step.get("run", "") for step in steps)


def test_one_version_of_an_action_runs_everywhere():
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in WORKFLOWS]
    used = {line for text in texts for line in re.findall(r"\buses: *(.*)", text)}
    names = [action.partition("@")[0] for action in sorted(used)]
    assert len(names) == len(set(names)), sorted(used)


@pytest.mark.parametrize("name", [WORKFLOW, ".ci/run"])
def test_all_checks_are_called_by_one_name(name):
    assert "ci" in called((ROOT / name).read_text(encoding="utf-8"))


def test_the_python_that_builds_the_published_site_is_tested():
    noxfile = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    [found] = re.findall(r"^PUBLISHED = \((\d+), (\d+)\)$", noxfile, re.MULTILINE)
    published = ".".join(found)
    workflow = yaml.safe_load((ROOT / WORKFLOW).read_text(encoding="utf-8"))
    assert published in workflow["jobs"]["cpu"]["strategy"]["matrix"]["python"]
    sites = [
        step["if"]
        for step in workflow["jobs"]["cpu"]["steps"]
        if "nox -s site" in step.get("run", "")
    ]
    assert len(sites) == 1 and f"matrix.python == '{published}'" in sites[0]
    docs = yaml.safe_load((ROOT / ".readthedocs.yaml").read_text(encoding="utf-8"))
    assert docs["build"]["tools"]["python"] == published
    assert f"/{published}/" in (ROOT / ".ci/run").read_text(encoding="utf-8")


def test_commits_are_checked_by_the_linter_of_the_lock():
    lock = (ROOT / "requirements" / "lint.txt").read_text(encoding="utf-8")
    [locked] = re.findall(r"^ruff==\S+", lock, re.MULTILINE)
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    [repository] = yaml.safe_load(text)["repos"]
    for hook in repository["hooks"]:
        assert hook["additional_dependencies"] == [locked]


def test_the_citation_names_this_edition():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    version = project["project"]["version"]
    assert citation["version"] == citation["preferred-citation"]["edition"] == version
    assert citation["license"] == project["project"]["license"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{version}]" in changes


def test_the_workflow_offers_targets_that_there_are():
    workflow = yaml.safe_load((ROOT / WORKFLOW).read_text(encoding="utf-8"))
    offered = workflow[True]["workflow_dispatch"]["inputs"]["target"]  # YAML's "on"
    assert offered["default"] in offered["options"]
    known = load(ROOT / "docs" / "targets.toml")
    for name in offered["options"]:
        assert choose(known, name).name == name


def test_the_workflow_and_the_readme_name_the_same_oldest_python():
    workflow = yaml.safe_load((ROOT / WORKFLOW).read_text(encoding="utf-8"))
    pythons = workflow["jobs"]["cpu"]["strategy"]["matrix"]["python"]
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'requires-python = ">={pythons[0]}"' in project
    assert f"Python {pythons[0]} or newer" in README


def test_the_readme_names_the_jax_that_the_locks_name():
    lock = (ROOT / "requirements" / "docs.txt").read_text(encoding="utf-8")
    [oldest] = re.findall(r"^jax==(\S+) ; python_full_version < '3.12'", lock, re.M)
    assert f"Python 3.11 gets JAX {oldest};" in README


def test_read_the_docs_publishes_what_nox_builds():
    settings = yaml.safe_load((ROOT / ".readthedocs.yaml").read_text(encoding="utf-8"))
    assert settings["version"] == 2
    commands = settings["build"]["commands"]
    assert any(command.startswith("python -m nox -s site") for command in commands)
    assert commands[-1] == 'cp -r docs/_build/site/. "$READTHEDOCS_OUTPUT/html/"'


def spine_painted():
    """Return the picture of the README: the table of the spine, before and after."""
    mesh = mesh_of(("rows", 8))
    x = jax.device_put(table(), jax.NamedSharding(mesh, jax.P("rows")))
    panels = [("x", x), ("center(x)", by_shard_map(x, mesh))]
    alt = (
        "A table of eight rows lies on eight devices, one row on each; below it the"
        " same table with the mean taken off every column, still one row on each."
    )
    figure = strip(panels, alt, width=2 * WIDTH, computed="center(x)")
    return figure.standalone()


def test_the_picture_of_the_readme_is_the_one_that_is_painted_today(tmp_path):
    committed = ROOT / "docs" / "_static" / "spine.svg"
    if spine_painted() != committed.read_text(encoding="utf-8"):
        fresh = tmp_path / "spine.svg"
        fresh.write_text(spine_painted(), encoding="utf-8")
        pytest.fail(f"it looks otherwise today: compare and copy {fresh}")
