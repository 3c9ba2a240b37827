"""Messages are listed by the functions that raise them, and by their words."""

import re

PAGE = """---
error: {{called: [{called}], raised: "{words}"{more}}}
---

# {title}

Prose.
"""
LIST = "# Listed\n\n```{messages} called\n```\n\n```{messages} words\n```\n"


def write(book, name, called, words, title, more=""):
    text = PAGE.format(called=called, words=words, title=title, more=more)
    book.write(f"docs/errors/{name}.md", text)


def listed(book):
    """Functions, pages and kinds of error, in the order in which they are listed."""
    article = book.text("errors/listed").split("<h1>")[1].split("footer")[0]
    found = re.findall(r'pre">(jax\.\w+)<|href="(\w+)\.html"|(\(\w+\))', article)
    return ["".join(one) for one in found]


def test_messages_are_listed_by_function_and_by_words(book):
    write(book, "late", "jax.vmap", "TypeError: zebra", '"zebra"')
    write(book, "early", "jax.jit, jax.vmap", "ValueError: ant", "ValueError: ant")
    book.write("docs/errors/listed.md", LIST)
    book.index("errors/late", "errors/early", "errors/listed")
    built = book.build()
    assert built.code == 0, built.said
    by_function = ["jax.vmap", "early", "late", "jax.jit", "early"]
    by_words = ["early", "late", "(TypeError)"]
    assert listed(book)[:8] == by_function + by_words

    write(book, "late", "jax.jit", "TypeError: zebra", '"zebra"')
    built = book.build()
    assert built.code == 0, built.said
    by_function = ["jax.jit", "early", "late", "jax.vmap", "early"]
    assert listed(book)[:8] == by_function + by_words


def test_messages_of_jax_in_general_stand_apart_and_last(book):
    write(book, "ours", "jax.vmap", "ValueError: zebra", "zebra")
    write(book, "theirs", "jax.vmap", "ValueError: ant", "ant", ", general: true")
    text = LIST + "\n```{messages} general\n```\n"
    book.write("docs/errors/listed.md", text)
    book.index("errors/ours", "errors/theirs", "errors/listed")
    built = book.build()
    assert built.code == 0, built.said
    by_function = ["jax.vmap", "ours", "theirs"]
    found = [one for one in listed(book) if not one.startswith("(")]
    assert found[:5] == [*by_function, "ours", "theirs"]


def test_a_list_without_messages_or_order_is_refused(book):
    book.write("docs/errors/listed.md", LIST.replace("words", "colour"))
    book.index("errors/listed")
    built = book.build()
    assert built.code == 1
    assert "{messages} called: no page has `error:`" in built.said
    assert "{messages} colour: it lists called, words or general" in built.said
