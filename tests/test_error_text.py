"""An error is shown with all its lines that say something, and none that do not."""

import jax
import jax.numpy as jnp
import pytest
from jax import P, lax

from book.error_text import (
    ADDRESS,
    MAX_FIRST_LINE,
    MAX_MESSAGE,
    first_line,
    message,
    plain,
    without_addresses,
)

FRAMES = (
    "\n--------------------\nFor simplicity, JAX has removed its internal frames from "
    "the traceback of the following exception. Set JAX_TRACEBACK_FILTERING=off"
)
CELL = "/kernels/ipykernel_4711/1234567.py"
LEAK = f"""Encountered an unexpected tracer.
The function being traced when the value leaked was f at {CELL}:3 traced for jit.
------------------------------
The leaked intermediate value was created on line {CELL}:4:12 (f). 
------------------------------
When the value was created, the final 5 stack frames (most recent last) excluding JAX-\
internal frames were:
------------------------------
{CELL}:4:12 (f)
{CELL}:7:0 (<module>)
------------------------------

To catch the leak earlier, try a checker."""


@pytest.fixture(scope="module")
def mesh():
    return jax.make_mesh((8,), ("data",))


def replication(mesh):
    specs = {"in_specs": P("data"), "out_specs": P()}
    jax.jit(jax.shard_map(lambda x: x, mesh=mesh, **specs))(
        jax.device_put(jnp.ones(8), jax.NamedSharding(mesh, P("data")))
    )


def sizes(_):
    jax.vmap(lambda a, b: a + b)(jnp.ones(3), jnp.ones(4))


def carry(_):
    lax.scan(lambda c, _: (c.astype(int), None), jnp.float32(0), length=3)


def boolean(_):
    jax.jit(lambda x: 1 if x else 2)(jnp.float32(1))


REAL = {
    replication: [
        "ValueError: shard_map applied to the function '<lambda>' was given out_specs",
        "which require replication which can't be statically inferred given the mesh:",
        "",
        "The mesh given has shape (8,) with corresponding axis names ('data',).",
        "not, consider revising the corresponding out_specs entries. If so, consider",
    ],
    sizes: [
        "ValueError: vmap got inconsistent sizes for array axes to be mapped:",
        "  * one axis had size 3: axis 0 of argument a of type float32[3];",
        "  * one axis had size 4: axis 0 of argument b of type float32[4]",
    ],
    carry: [
        "Revise the function so that all output types match the corresponding input"
    ],
    boolean: [
        "The error occurred while tracing the function <lambda> for jit. This concrete",
        "See",
    ],
}


@pytest.mark.parametrize("raises", REAL, ids=lambda f: f.__name__)
def test_what_jax_says_is_shown_whole_and_wrapped(raises, mesh):
    with pytest.raises(Exception) as caught:  # noqa: PT011 - each its own
        raises(mesh)
    shown = message(caught.type.__name__, str(caught.value))
    lines = shown.splitlines()
    assert [line for line in REAL[raises] if line not in lines] == []
    assert all(len(line) <= 80 or " " not in line for line in lines)
    said = " ".join(str(caught.value).split())
    missing = [word for word in said.split() if word not in shown]
    assert all(word.startswith("/") or __file__ in word for word in missing)
    assert "/test_messages.py" not in shown


def test_places_of_this_machine_say_nothing():
    assert message("UnexpectedTracerError", LEAK) == (
        "UnexpectedTracerError: Encountered an unexpected tracer.\n"
        "The function being traced when the value leaked was f traced for jit.\n\n"
        "To catch the leak earlier, try a checker."
    )
    remark = f"wrong. This error occurs at source:  {CELL}:37:4 (f)"
    assert message("E", remark) == "E: wrong."
    library = "at /x/lib/python3.12/site-packages/jax/_src/a.py:3 it broke"
    assert message("E", library) == "E: at jax/_src/a.py it broke"
    assert message("E", "got <function f at 0x7f12345678>") == "E: got <function f>"


def test_the_number_of_a_tracer_is_left_out_for_it_is_another_in_every_run():
    said = (
        "traced.\nThis VmapTracer with object id 139818969876720 was created on line:"
    )
    found = message("E", f"{said}\n  {CELL}:9:4 (<module>)\nSee the docs")
    assert found == "E: traced.\nSee the docs"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("<dict 139780121203648>['x']", "<dict …>['x']"),
        (
            "a <DynamicJaxprTracer 139780121093104> of f",
            "a <DynamicJaxprTracer …> of f",
        ),
        ("<a.b.C 0x7f0012345678>", "<a.b.C …>"),
        ("A tracer with object id 4711 was", "A tracer with object id … was"),
        ("the module (id=0x7f0012345678)", "the module (id=…)"),
        ("got <f at 0x7f0012345678> and 3000000000", "got <f> and 3000000000"),
        (
            "axis <data 8>, id=3, Array[4294967295]",
            "axis <data 8>, id=3, Array[4294967295]",
        ),
    ],
)
def test_a_message_shows_no_address(said, shown):
    assert message("E", said) == f"E: {shown}"
    assert without_addresses(said) == shown
    assert not ADDRESS.search(shown)
    assert bool(ADDRESS.search(said)) == (said != shown)


def test_what_jax_says_of_its_frames_is_left_out():
    assert message("KeyError", f"'x'{FRAMES}") == "KeyError: 'x'"
    assert message("KeyError", "") == "KeyError"


def test_bullets_hang_and_words_are_never_broken():
    shown = message("E", "see\n  * " + "word " * 30 + "\n" + "x" * 100)
    assert shown.splitlines()[2].startswith("    word")
    assert shown.splitlines()[-1] == "x" * 100


def test_a_message_of_three_megabytes_is_cut_with_a_sentence():
    shown = message("E", "word " * 600_000)
    assert len(shown) < MAX_MESSAGE + 200
    assert shown.endswith(
        f"(The message goes on for {3_000_000 - MAX_MESSAGE:,} more characters.)"
    )
    assert len(first_line("E", "x" * 3_000_000)) < MAX_FIRST_LINE + 5
    assert first_line("E", "\n\n first \n second") == "E: first"


def test_no_escape_is_left_in_what_is_shown():
    text = "\x1b[31mred\x1b[0m\x1b[2J\x1b]0;title\x07\x1bc\x00\x9b\n\tend"
    assert plain(text) == "red\n\tend"
    assert "\x1b" not in message("E", text)


def test_a_page_shows_the_message_and_no_place(book):
    book.page(
        "errors",
        "import jax, jax.numpy as jnp\nkept = []",
        ":raises: IndivisibleError\njax.pmap(lambda x: x)(jnp.ones((8, 2))"
        ".reshape(8, 2))\njax.jit(lambda x: x, in_shardings=jax.NamedSharding("
        "jax.make_mesh((8,), ('data',)), jax.P('data')))(jnp.ones((9, 2)))",
        "@jax.jit\ndef f(x):\n    kept.append(x * 2)\n    return x\nf(1.0)",
        ":raises: UnexpectedTracerError\nkept[0] + 1",
        ":raises: \"ValueError: long\"\nraise ValueError('long ' * 100_000)",
        "print('a\\x1b[2Jb\\x07c')",
    )
    book.page("bad", "raise ValueError('x' * 500_000)")
    built = book.build()
    assert "bad, cell 1: raised ValueError: xxx" in built.said
    assert len(built.said) < 20_000
    assert "errors, cell" not in built.said
    text = book.text("errors")
    assert "IndivisibleError: " in text and "evenly divide" in text
    assert "UnexpectedTracerError: Encountered an unexpected tracer." in text
    assert "To catch the leak earlier" in text
    assert "ipykernel" not in text and "stack frames" not in text
    assert "(The message goes on for" in text and len(text) < 60_000
    assert "abc" in text and "\x1b" not in text and "\x07" not in text
