"""A listing's program is made again when a file that it is made of changes."""

PAGE = """# Shown

```{literalinclude} ../examples/shown.py
```
"""
SHOWN = """from examples.below import name


def show():
    return name()
"""


def test_the_program_of_a_listing_follows_its_file_and_what_that_imports(book):
    book.write("docs/shown.md", PAGE)
    book.write("examples/shown.py", SHOWN)
    below = book.write("examples/below.py", "def name():\n    return 'first'\n")
    book.index("shown")
    program = book.docs / "_build" / "snippets" / "shown" / "listing1.py"
    assert book.build().code == 0
    assert "'first'" in program.read_text()
    below.write_text("def name():\n    return 'second'\n")
    assert book.build().code == 0
    assert "'second'" in program.read_text()
    book.write("examples/shown.py", SHOWN.replace("show()", "told()"))
    assert book.build().code == 0
    assert "told()" in program.read_text()
