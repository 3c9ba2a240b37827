"""What XLA compiled is kept for the next page, except from pages that would show it."""

from book.execute import xla_cache
from book.source.parser import read

ROWS = (
    "import jax\nimport jax.numpy as jnp",
    "rows = jax.jit(lambda x: x * 3 + 1)(jnp.arange(4))\nassert rows[1] == 4\nrows",
)
HITS = """
hits = []
jax.monitoring.register_event_listener(lambda name, **_: hits.append(name))
jax.jit(lambda x: x * 3 + 1)(jnp.arange(4))
print('taken:', sum(name.endswith('cache_hits') for name in hits))
"""


def test_a_page_takes_what_another_has_compiled(book):
    book.page("first", *ROWS)
    assert book.build().code == 0
    compiled = set((book.docs / "_build" / "xla").iterdir())
    assert compiled
    book.page("second", ROWS[0], "assert True" + HITS)
    assert book.build().code == 0
    assert "taken: 2" in book.text("second")


def test_what_is_damaged_is_compiled_again_without_a_word(book):
    book.page("first", *ROWS)
    assert book.build().code == 0
    for path in (book.docs / "_build" / "xla").iterdir():
        path.write_bytes(path.read_bytes()[:100])
    book.page("second", *ROWS)
    built = book.build()
    assert built.code == 0, built.said
    assert "array([ 1,  4,  7, 10]" in book.text("second").replace("Array", "array")


# It looks at a compiled program, and at the environment of what it starts.
LOOKS = """
import subprocess
f = jax.jit(lambda x: x * 3 + 1)
assert "multiply" in f.lower(jnp.arange(4)).compile().as_text()
print("child keeps:", "CACHE_DIR" in subprocess.check_output("env", text=True))
"""


def test_a_page_that_looks_at_what_is_compiled_compiles_all_of_it_for_others(book):
    listens, calls = HITS.split("jax.jit")
    cell = f"{listens}{LOOKS}jax.jit{calls}"
    for name in "looks", "again":
        book.page(name, ROWS[0], cell)
        assert book.build().code == 0
        assert "taken: 0" in book.text(name)
        assert "child keeps: False" in book.text(name)
    book.page("calls", ROWS[0], "assert True" + HITS)
    assert book.build().code == 0
    assert "taken: 2" in book.text("calls")


RECORDS = """
import warnings

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    text = jax.jit(lambda x: x * 3 + 1).lower(jnp.arange(4)).compile().as_text()
print("warned:", len(caught))
"""


def test_a_page_that_records_warnings_sees_none_of_the_cache(book):
    for name in "first", "second":
        book.page(name, ROWS[0], f"assert True{RECORDS}")
        assert book.build().code == 0
        assert "warned: 0" in book.text(name)


def test_pages_that_measure_keep_nothing(book):
    def settings(*cells):
        page = read(book.page("page", "assert True", *cells), "page")
        return xla_cache.environment_of_page(page, book.root)

    assert settings("jax.jit(f)(x)") == xla_cache.environment(book.root)
    assert settings(":alone:\nseconds(f)") == {}
    assert settings("jax.config.jax_compilation_cache_dir") == {}


def test_too_much_is_thrown_away(tmp_path, monkeypatch):
    (tmp_path / "one").write_bytes(b"1" * 100)
    xla_cache.remove_if_too_large(tmp_path)
    assert (tmp_path / "one").exists()
    monkeypatch.setattr(xla_cache, "MAX_BYTES", 99)
    xla_cache.remove_if_too_large(tmp_path)
    assert not tmp_path.exists()


# XLA warns as it compiles this that it copies all of an array to every device.
WARNED = """
import jax
import jax.numpy as jnp
from jax import P

jax.set_mesh(jax.make_mesh((4, 2), ("data", "model")))
x = jax.device_put(jnp.ones((64, 256)), P("data"))
assert jax.jit(lambda x: jax.sharding.reshard(x, P(None, "model")))(x).shape
"""


def test_a_page_of_which_the_compiler_warned_fails_until_it_is_mended(book):
    book.page("warned", WARNED, kernel="mesh-of-eight")
    hides = {"TF_CPP_MIN_LOG_LEVEL": "3"}
    for env in (hides, None, hides):
        built = book.build(env=env)
        assert built.code == 1
        assert "warned, cell 1: wrote to stderr" in built.said
    mended = WARNED.replace('P(None, "model")', 'P("data", "model")')
    book.page("warned", mended, kernel="mesh-of-eight")
    built = book.build()
    assert built.code == 0, built.said
