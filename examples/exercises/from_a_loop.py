"""Find the brightest pixel of every picture, from a function for one picture.

Write `brightest(image)`: an image, (8, 8), to the row and the column of its brightest
pixel, a tuple of two numbers.
Make `brightest_of_all` of it: images, (n, 8, 8), to all rows, (n,), and all columns.
"""

import jax
import jax.numpy as jnp
import numpy as np


def brightest(image):
    """Return row and column of the brightest pixel of one image, (8, 8)."""
    return jnp.unravel_index(image.argmax(), image.shape)


def solution(images):
    """Map a function that knows one picture."""

    def brightest(image):
        return jnp.unravel_index(image.argmax(), image.shape)

    return jax.vmap(brightest)(images)


def check(brightest_of_all):
    """Raise AssertionError, with what to look at, unless `brightest_of_all` is right.

    brightest_of_all(images): float32 (n, 8, 8) to rows and columns, two arrays (n,).
    """
    rng = np.random.default_rng(0)
    for count in (3, 8):  # with 8 images, every axis has the length 8
        asked = f"{count} images need two arrays of shape ({count},), rows and columns"
        assert callable(brightest_of_all), (
            f"{asked}, and {brightest_of_all!r} is no function that returns them"
        )
        images = rng.permuted(np.arange(64 * count).reshape(count, 64), axis=1)
        images = images.reshape(count, 8, 8).astype(np.float32)
        found = brightest_of_all(images)
        shapes = [np.shape(part) for part in _parts(found)]
        assert shapes == [(count,)] * 2, f"{asked}; yours returns {_says(found)}"
        rows, columns = map(np.asarray, _parts(found))
        right = [np.unravel_index(image.argmax(), (8, 8)) for image in images]
        right_rows, right_columns = np.transpose(right)
        swapped = np.array_equal(rows, right_columns)
        assert not (swapped and np.array_equal(columns, right_rows)), (
            "the rows stand where the columns should be: if you take the maximum along "
            "the rows of an image, which axis is left?"
        )
        for k in range(count):
            assert (rows[k], columns[k]) == right[k], (
                f"the brightest pixel of image {k} of {count} is in row {right[k][0]} "
                f"and column {right[k][1]}; yours is in row {rows[k]} and column "
                f"{columns[k]}"
            )
    print("The check passes.")


def _parts(found):
    """What was returned, as a list; empty where it has no parts."""
    try:
        return list(found)
    except TypeError:
        return []


def _says(found):
    """Describe what was returned."""
    if isinstance(found, tuple | list):
        return f"{len(found)} things, of shapes {[np.shape(part) for part in found]}"
    if hasattr(found, "shape"):
        return f"one array of shape {found.shape}"
    return repr(found)


def mistake_finds_one_for_all(images):
    """You called it with all pictures at once, so it saw one picture of 8n rows."""
    return brightest(images.reshape(-1, 8))


def mistake_joins_row_and_column(images):
    """You made one array of row and column, and `vmap` stacks whole results."""
    return jax.vmap(lambda image: jnp.stack(brightest(image)))(images)


def mistake_unravels_the_batch(images):
    """You gave `unravel_index` the shape of the batch, which has an axis too many."""
    return jnp.unravel_index(images.reshape(-1, 64).argmax(axis=1), images.shape)


def mistake_swaps_rows_and_columns(images):
    """You took the maximum over the rows for the row, but what is left are columns."""
    return images.max(axis=1).argmax(axis=1), images.max(axis=2).argmax(axis=1)
