"""The lock by which a cell that measures has the machine to itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class ReaderWriterLock:
    """A reader-writer lock for tasks of one event loop; who asks first goes first.

    Any number of pages run together, or one alone.
    """

    def __init__(self) -> None:
        self._door = asyncio.Lock()  # its holder is the next to enter
        self._readers, self._empty = 0, asyncio.Event()
        self._empty.set()

    @asynccontextmanager
    async def shared(self) -> AsyncIterator[None]:
        """Hold it as a reader: with others, while no writer holds or awaits it."""
        async with self._door:
            self._readers += 1
            self._empty.clear()
        try:
            yield
        finally:
            self._readers -= 1
            if not self._readers:
                self._empty.set()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Hold it as a writer: once everyone has left, while everyone else waits."""
        async with self._door:
            await self._empty.wait()
            yield
