"""Pictures from arrays: what pages import."""

from book.draw.arrays import shards, strip
from book.draw.claims import chooser, ledger
from book.draw.console import console
from book.draw.messages import messages
from book.draw.moves import before_after, steps
from book.draw.plots import lines
from book.draw.spans import spans

__all__ = [
    "before_after",
    "chooser",
    "console",
    "ledger",
    "lines",
    "messages",
    "shards",
    "spans",
    "steps",
    "strip",
]
