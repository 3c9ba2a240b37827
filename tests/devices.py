"""The devices that a test asks for, or the test is skipped."""

import jax
import pytest


def cpus(count):
    """Return `count` CPU devices; skips the test where there are fewer.

    A target with accelerators has eight simulated ones beside them.
    """
    found = jax.devices("cpu")
    if len(found) < count:
        pytest.skip(f"needs {count} CPU devices, has {len(found)}")
    return found[:count]


def eight():
    """Return eight devices: the accelerators, or simulated ones; skips as `cpus` does.

    Some of what is tested has to hold on any platform.
    """
    return jax.devices()[:8] if jax.device_count() >= 8 else cpus(8)
