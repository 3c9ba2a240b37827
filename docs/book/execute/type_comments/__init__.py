"""Comments such as `# float32[8@data]` are compared with the values while a cell runs.

    build process                              the page's kernel
    ─────────────                              ─────────────────
    client.TypeComments
      │ reads the comments with `parse`; one
      │ that nothing can verify fails the page
      │
      │  before the first cell: the texts of
      │  parse.py and in_kernel.py, and the
      ├─ numbers of the cells  ───────────────► in_kernel.begin
      │                                           │ before each cell: `parse` reads its
      │  a cell runs  ────────────────────────►   │ comments, and calls of `__typed__`
      │                                           │ are put where they are
      │                                           │ each call: `jax.typeof(value)`
      │  after each cell:                         │ is compared with the comment
      ├─ "what is wrong?"  ───────────────────► in_kernel.found
      │◄─ JSON: [[cell, line, reason], …]  ───────┘
      ▼
    Problem: page, cell, line, reason

The messages are Jupyter's, silent ones that no page shows.  Texts are sent because a
page's kernel imports nothing of the engine; `parse` and `in_kernel` import the standard
library and each other.
"""
