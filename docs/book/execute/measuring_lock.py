"""The lock by which a cell that measures has the machine to itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class ReaderWriterLock:
    """A reader-writer lock that prefers writers, for tasks of one event loop.

    Any number of pages run together, or one alone; whoever wants to be alone goes
    first.
    """

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._readers = self._waiting_writers = 0
        self._writing = False

    @asynccontextmanager
    async def shared(self) -> AsyncIterator[None]:
        """Hold it as a reader: with others, while no writer holds or awaits it."""
        async with self._changed:
            await self._changed.wait_for(
                lambda: not self._writing and not self._waiting_writers
            )
            self._readers += 1
        try:
            yield
        finally:
            async with self._changed:
                self._readers -= 1
                self._changed.notify_all()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Hold it as a writer: once everyone has left, while everyone else waits."""
        async with self._changed:
            self._waiting_writers += 1
            try:
                await self._changed.wait_for(
                    lambda: not self._writing and not self._readers
                )
                self._writing = True
            finally:
                self._waiting_writers -= 1
                self._changed.notify_all()
        try:
            yield
        finally:
            async with self._changed:
                self._writing = False
                self._changed.notify_all()
