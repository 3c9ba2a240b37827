"""What measures has the machine to itself; all else shares it."""

import asyncio

from book.execute.measuring_lock import ReaderWriterLock


def test_readers_hold_it_together():
    async def main():
        lock, met = ReaderWriterLock(), asyncio.Barrier(3)

        async def pass_through():
            async with lock.shared():
                await met.wait()  # nobody leaves before all have come

        await asyncio.wait_for(asyncio.gather(*(pass_through() for _ in range(3))), 10)

    asyncio.run(main())


def test_a_writer_is_alone_and_goes_before_later_readers():
    async def main():
        lock, inside, log = ReaderWriterLock(), set(), []
        first_is_in, first_may_go = asyncio.Event(), asyncio.Event()

        async def shared(name, entered=None, may_go=None):
            async with lock.shared():
                inside.add(name)
                log.append(name)
                if entered:
                    entered.set()
                    await may_go.wait()
                inside.remove(name)

        async def alone(name):
            async with lock.alone():
                assert not inside
                inside.add(name)
                log.append(name)
                for _ in range(10):
                    await asyncio.sleep(0)  # let others try
                assert inside == {name}
                inside.remove(name)

        first = asyncio.create_task(shared("first", first_is_in, first_may_go))
        await first_is_in.wait()
        tasks = [asyncio.create_task(alone("one"))]
        for _ in range(3):
            await asyncio.sleep(0)
        tasks += [
            asyncio.create_task(shared("late")),
            asyncio.create_task(alone("two")),
        ]
        for _ in range(10):
            await asyncio.sleep(0)
        assert log == ["first"]
        first_may_go.set()
        await asyncio.wait_for(asyncio.gather(first, *tasks), 10)
        assert log == ["first", "one", "late", "two"]

    asyncio.run(main())


def test_a_failure_inside_releases_it():
    async def main():
        lock = ReaderWriterLock()
        for way in (lock.alone, lock.shared):
            try:
                async with way():
                    raise ValueError
            except ValueError:
                pass
        async with asyncio.timeout(10), lock.alone():
            pass

    asyncio.run(main())
