"""Take a step of training with momentum, with copies or with parts on each device.

Given a function mean_loss(params, images, labels), params and velocity, dicts of w1,
(64, h), and w2, (h, 10), images, (n, 8, 8), and labels, (n,), return the new params,
the new velocity, and the loss, ().  The velocity becomes 0.9 * velocity + gradient of
`mean_loss`, and 0.1 times it is subtracted from the parameter.  What comes in parts
goes back in parts, and copies as copies.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P


def image_loss(params, image, label):
    """Return the loss of one image, (8, 8)."""
    logits = jax.nn.relu(image.reshape(64) @ params["w1"]) @ params["w2"]
    return -jax.nn.log_softmax(logits)[label]


def batch_loss(params, images, labels):
    """Return the mean loss, (), with parameters that may be stored in parts."""
    params = jax.reshard(params, P())
    return jax.vmap(image_loss, in_axes=(None, 0, 0))(params, images, labels).mean()


def solution(mean_loss, params, velocity, images, labels):
    """Change the velocity by the gradient, and the parameters by the velocity."""
    value, grads = jax.value_and_grad(mean_loss)(params, images, labels)
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, grads)
    params = jax.tree.map(lambda p, v: p - 0.1 * v, params, velocity)
    return params, velocity, value


def check(momentum_step):
    """Raise AssertionError, with what to look at, unless `momentum_step` is right.

    momentum_step(mean_loss, params, velocity, images, labels): as above, to three
    things.
    """
    devices = max(n for n in (1, 2, 4, 8) if n <= jax.device_count())
    mesh = jax.make_mesh((devices,), ("data",), devices=jax.devices()[:devices])
    rng = np.random.default_rng(0)
    params = {
        "w1": np.float32(rng.normal(size=(64, 32)) / 8),
        "w2": np.float32(rng.normal(size=(32, 10)) / 5),
    }
    velocity = {
        name: np.float32(rng.normal(size=leaf.shape) / 9)
        for name, leaf in params.items()
    }
    batch = np.float32(rng.normal(size=(32, 8, 8))), np.arange(32, dtype=np.int32) % 10

    def step(*args):
        found = momentum_step(batch_loss, *args)
        assert isinstance(found, tuple | list) and len(found) == 3, (
            "momentum_step returns three things, params, velocity and loss; "
            f"yours returns {_named(found)}"
        )
        assert isinstance(found[2], jax.Array) and found[2].shape == (), (
            f"the loss is one number, of shape (); yours is {_named(found[2])}"
        )
        for name, one, was in zip(("params", "velocity"), found, args, strict=False):
            shapes, yours = (jax.tree.map(np.shape, tree) for tree in (was, one))
            assert yours == shapes, (
                f"{name} should have the shapes {shapes}; yours: {yours}"
            )
        return tuple(found)

    with jax.set_mesh(mesh), jax.default_matmul_precision("highest"):
        images, labels = jax.device_put(batch, P("data"))
        value_and_grad = jax.jit(jax.value_and_grad(batch_loss))
        value, grads = value_and_grad(jax.device_put(params, P()), images, labels)
        right = float(value), *_moved(params, velocity, grads)
        for kind, spec in {"parts": P("data"), "copies": P()}.items():
            given = jax.device_put((params, velocity), spec)
            found = jax.jit(step)(*given, images, labels)
            _compare(found, given, right, kind)
    print("The check passes.")


def _moved(params, velocity, grads):
    """Return velocity and params after the step, in NumPy."""
    velocity = {name: 0.9 * v + np.asarray(grads[name]) for name, v in velocity.items()}
    return velocity, {name: p - 0.1 * velocity[name] for name, p in params.items()}


def _compare(found, given, right, kind):
    """Raise AssertionError unless what a step returns is `right`, and lies as `given`.

    found, given: trees as a step returns and takes them; right: loss, velocity, params.
    """
    value, velocity, params = right
    assert np.isclose(float(found[2]), value, atol=1e-3), (
        f"the loss before the step is {value:.4f}, yours is {float(found[2]):.4f}"
    )
    for name, leaf in velocity.items():
        assert np.allclose(found[1][name], leaf, atol=1e-4), (
            f"with {kind}, the velocity for {name} is not 0.9 times the old one plus "
            "the gradient: was the old one there, and is 0.1 left out of it?"
        )
    for name, leaf in params.items():
        assert np.allclose(found[0][name], leaf, atol=1e-4), (
            f"with {kind}, {name} has not moved by 0.1 times the new velocity: which "
            "velocity do you subtract, and do you subtract it?"
        )
    for name, one, two in zip(("params", "velocity"), found, given, strict=False):
        for leaf, was in zip(jax.tree.leaves(one), jax.tree.leaves(two), strict=True):
            assert leaf.sharding.is_equivalent_to(was.sharding, was.ndim), (
                f"{name} came as {jax.typeof(was)}, in {kind}, and goes back as "
                f"{jax.typeof(leaf)}: where did you collect it, or divide it?"
            )


def _named(found):
    """Say what `found` is: of an array, its shape."""
    if isinstance(found, tuple | list):
        return f"{len(found)} of them"
    if isinstance(found, jax.Array | np.ndarray):
        return f"an array of shape {found.shape}"
    return f"something of type {type(found).__name__}"


def mistake_keeps_what_it_collected(mean_loss, params, velocity, images, labels):
    """You collected the parts for the whole step, and gave back copies of all."""
    params, velocity = jax.reshard((params, velocity), P())
    return solution(mean_loss, params, velocity, images, labels)


def mistake_forgets_the_old_velocity(mean_loss, params, velocity, images, labels):
    """You took the gradient for the velocity, so nothing is left of earlier steps."""
    nothing = jax.tree.map(jnp.zeros_like, velocity)
    return solution(mean_loss, params, nothing, images, labels)


def mistake_moves_by_the_old_velocity(mean_loss, params, velocity, images, labels):
    """You moved the parameters before the velocity had become the new one."""
    _, after, value = solution(mean_loss, params, velocity, images, labels)
    return jax.tree.map(lambda p, v: p - 0.1 * v, params, velocity), after, value


def mistake_shrinks_the_velocity(mean_loss, params, velocity, images, labels):
    """You put the 0.1 into the velocity, so the old one and the gradient do not fit."""
    value, grads = jax.value_and_grad(mean_loss)(params, images, labels)
    velocity = jax.tree.map(lambda v, g: 0.9 * v + 0.1 * g, velocity, grads)
    return jax.tree.map(jnp.subtract, params, velocity), velocity, value


def mistake_moves_uphill(mean_loss, params, velocity, images, labels):
    """You added the velocity to the parameters, which makes the loss larger."""
    _, velocity, value = solution(mean_loss, params, velocity, images, labels)
    return jax.tree.map(lambda p, v: p + 0.1 * v, params, velocity), velocity, value
