def test_what_is_written_below_python_is_of_the_cell_that_wrote_it(book):
    """Even where no other thread of the kernel has run until the next cell does."""
    write = (
        "import os, sys\nsys.setswitchinterval(100)\nassert True\n"
        "os.write(2, b'from below\\n');"
    )
    book.page("late", "x = 1", write, *["assert True\nfor k in range(100_000): pass"] * 3)
    for number in range(6):
        book.page(f"late{number}", "x = 1", write, *["assert True"] * 3)
    built = book.build()
    lines = [line for line in built.said.splitlines() if "WARNING" in line]
    assert len(lines) == 7, built.said
    assert all("cell 2: wrote to stderr: from below" in line for line in lines)
