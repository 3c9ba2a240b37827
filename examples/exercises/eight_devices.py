"""Put one network on each device, and let all of them look at the same images.

Given an ensemble, w1, (8, 64, 128), and w2, (8, 128, 10), and images, (n, 8, 8), both
as NumPy arrays, place the networks along the mesh axis "data" and the images on every
device, and return the logits, (8, n, 10), sharded so that each device holds those of
its own network.  Nothing may be communicated.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P

from examples.tools.traffic import sends

NETWORKS, COUNT = 8, 32


def predict(params, image):
    """Return ten numbers for one image, (8, 8): the largest is the guessed digit."""
    image = image - image.mean()
    image = image / jnp.sqrt((image**2).mean())
    hidden = jax.nn.relu(image.reshape(64) @ params["w1"])
    return hidden @ params["w2"]


def predict_each(ensemble, images):
    """Return the logits, (8, n, 10), of each network for each image, (n, 8, 8)."""
    predict_all = jax.vmap(predict, in_axes=(None, 0))
    return jax.vmap(predict_all, in_axes=(0, None))(ensemble, images)


def solution(ensemble, images):
    """Divide the networks along data, give everybody the images, and map twice."""
    ensemble = jax.device_put(ensemble, P("data"))
    images = jax.device_put(images, P())
    predict_all = jax.vmap(predict, in_axes=(None, 0))
    predict_each = jax.vmap(predict_all, in_axes=(0, None))
    return jax.jit(predict_each)(ensemble, images)


def check(place_and_predict):
    """Raise AssertionError, with what to look at, unless `place_and_predict` is right.

    place_and_predict(ensemble, images): NumPy's (8, 64, 128) and (8, 128, 10) in a
    dict, and (n, 8, 8), to (8, n, 10), on a mesh with the axis data.
    """
    devices = max(n for n in (1, 2, 4, 8) if n <= jax.device_count())
    rng = np.random.default_rng(0)
    ensemble = {
        "w1": np.float32(rng.normal(size=(NETWORKS, 64, 128)) / 8),
        "w2": np.float32(rng.normal(size=(NETWORKS, 128, 10)) / 11),
    }
    images = np.float32(rng.normal(size=(COUNT, 8, 8)))
    mesh = jax.make_mesh((devices,), ("data",), devices=jax.devices()[:devices])
    with jax.set_mesh(mesh), jax.default_matmul_precision("highest"):
        found = place_and_predict(ensemble, images)
        shape = NETWORKS, COUNT, 10
        assert np.shape(found) == shape, (
            f"{NETWORKS} networks and {COUNT} images need logits of shape {shape}; "
            f"yours gives {_named(found)}"
        )
        assert isinstance(found, jax.Array), (
            "the logits should stay on the devices, in one array of JAX; "
            f"yours gives {_named(found)}"
        )
        expected = jax.jit(predict_each)(ensemble, images)
        assert np.allclose(found, expected, atol=1e-2), (
            "the logits have the right shape and are not those of network k for image "
            "i at [k, i]: which axis does each of the two maps take?"
        )
        own = NETWORKS // devices, COUNT, 10
        held = {shard.data.shape for shard in found.addressable_shards}
        spread = {shard.device for shard in found.addressable_shards}
        assert held == {own} and len(spread) == devices, (
            f"each of {devices} devices should hold logits of shape {own}, those of "
            f"its own network; on yours, {len(spread)} hold {sorted(held)}: along "
            "which axis of which array does data go?"
        )
        compiled = _compiled(place_and_predict, ensemble, images)
    if compiled is not None:
        kinds = sorted({sent.kind for sent in sends(compiled)})
        assert kinds == [], (
            f"the compiled program has {', '.join(kinds)}, and nothing need be "
            "communicated: does a device have all images, and all of its own network?"
        )
        if jax.default_backend() == "cpu":
            needed = 2 * COUNT * (64 * 128 + 128 * 10) * NETWORKS / devices
            computed = compiled.cost_analysis()["flops"]
            assert computed < 1.5 * needed, (
                f"each device computes {computed / needed:.0f} times as much as its "
                "own network takes: on which devices are the networks before the maps?"
            )
    print("The check passes.")


def _named(found):
    """Say what `found` is: of an array, its shape."""
    if isinstance(found, jax.Array | np.ndarray):
        return f"an array of shape {found.shape}"
    return f"something of type {type(found).__name__}"


def _compiled(f, *args):
    """Compile `f` as one program; None where it asks NumPy while it is traced."""
    try:
        return jax.jit(f).lower(*args).compile()
    except jax.errors.TracerArrayConversionError:
        return None


def mistake_divides_the_images(ensemble, images):
    """You divided the images and copied the networks, as in data parallelism."""
    ensemble = jax.device_put(ensemble, P())
    images = jax.device_put(images, P("data"))
    return jax.jit(predict_each)(ensemble, images)


def mistake_moves_the_logits(ensemble, images):
    """You divided the images and moved the logits afterwards, which communicates."""
    logits = mistake_divides_the_images(ensemble, images)
    return jax.reshard(logits, P("data"))


def mistake_computes_all_everywhere(ensemble, images):
    """You gave everybody all networks, so each device computes all logits."""
    ensemble, images = jax.device_put((ensemble, images), P())
    return jax.device_put(jax.jit(predict_each)(ensemble, images), P("data"))


def mistake_maps_both(ensemble, images):
    """You mapped networks and images at once, so network k saw the images of k."""
    ensemble, images = jax.device_put((ensemble, images), P("data"))
    ours = images.reshape(NETWORKS, COUNT // NETWORKS, 8, 8)
    predict_all = jax.vmap(predict, in_axes=(None, 0))
    return jax.jit(jax.vmap(predict_all))(ensemble, ours)
