"""MyST-NB shows notebooks here and runs none, so what it would run them with stays out.

That is a database and a Jupyter client, whose import is a third of a second of a build
in which nothing has changed.
"""

import sys
from types import ModuleType

_UNUSED = {
    "cache": "NotebookClientCache",
    "direct": "NotebookClientDirect",
    "inline": "NotebookClientInline",
}


def leave_out() -> None:
    """Put nothing in the place of MyST-NB's ways to run a notebook."""
    for name, client in _UNUSED.items():
        module = ModuleType(f"myst_nb.core.execute.{name}")
        setattr(module, client, None)
        sys.modules.setdefault(module.__name__, module)
