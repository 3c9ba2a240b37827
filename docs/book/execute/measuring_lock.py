"""What measures has the machine to itself; all else shares it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Gate:
    """Any number pass together, or one alone; who wants to be alone goes first."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._sharing = self._waiting = 0
        self._taken = False

    @asynccontextmanager
    async def shared(self) -> AsyncIterator[None]:
        """Pass with others, once nobody is alone or waits to be."""
        async with self._changed:
            await self._changed.wait_for(lambda: not (self._taken or self._waiting))
            self._sharing += 1
        try:
            yield
        finally:
            async with self._changed:
                self._sharing -= 1
                self._changed.notify_all()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Pass when everyone has left, and keep everyone out."""
        async with self._changed:
            self._waiting += 1
            try:
                await self._changed.wait_for(lambda: not (self._taken or self._sharing))
                self._taken = True
            finally:
                self._waiting -= 1
                self._changed.notify_all()
        try:
            yield
        finally:
            async with self._changed:
                self._taken = False
                self._changed.notify_all()
