"""A small transformer that learns to count, and the batches it learns from.

Each sequence counts on by a step of its own, so that the network has to look back to
see the step. The pages on training put this network on eight devices in five ways,
and `one_device` trains it alone.
"""

import jax
import jax.numpy as jnp
import numpy as np

VOCAB, LENGTH, WIDTH, HEADS, BLOCKS = 32, 16, 64, 8, 2
HEAD_WIDTH = WIDTH // HEADS  # the width of a head
BLOCK = ("qkv", "out", "up", "down")  # the weights of a block


def batch(seed, examples=64, length=LENGTH):
    """Return tokens, int32 (examples, length + 1): inputs, and targets one later."""
    rng = np.random.default_rng(seed)
    start = rng.integers(0, VOCAB, (examples, 1))
    step = rng.integers(1, 4, (examples, 1))
    return ((start + step * np.arange(length + 1)) % VOCAB).astype(np.int32)


def shapes_of(blocks, width=WIDTH, length=LENGTH):
    """Return the shape of each parameter; those of all blocks are stacked on axis 0."""
    shapes = {"embed": (VOCAB, width), "position": (length, width)}
    shapes |= {"qkv": (blocks, width, 3, width), "out": (blocks, width, width)}
    return shapes | {
        "up": (blocks, width, 4 * width),
        "down": (blocks, 4 * width, width),
    }


def init(seed, blocks=BLOCKS):
    """Return parameters in NumPy, drawn from `seed`."""
    shapes, rng = shapes_of(blocks), np.random.default_rng(seed)
    drawn = {name: rng.normal(0, WIDTH**-0.5, shapes[name]) for name in shapes}
    return {name: weights.astype(np.float32) for name, weights in drawn.items()}


def norm(x):
    """Return `x` with a mean square of one along its last axis."""
    return x * jax.lax.rsqrt((x**2).mean(axis=-1, keepdims=True) + 1e-6)


def attention(q, k, v):
    """Let each position look at those before it: (batch, length, heads, k) thrice."""
    scores = jnp.einsum("bqhk,bthk->bhqt", q, k) / q.shape[-1] ** 0.5
    future = jnp.where(np.tri(q.shape[1], dtype=bool), 0, -jnp.inf)
    return jnp.einsum("bhqt,bthk->bqhk", jax.nn.softmax(scores + future), v)


def block(weights, x, head=HEAD_WIDTH):
    """Attention by heads of width `head`, and an MLP: (batch, length, width), same."""
    qkv = jnp.einsum("bld,dne->nble", norm(x), weights["qkv"])
    q, k, v = qkv.reshape(*qkv.shape[:3], -1, head)
    heads = attention(q, k, v)
    x = x + heads.reshape(*x.shape[:2], -1) @ weights["out"]
    return x + jax.nn.relu(norm(x) @ weights["up"]) @ weights["down"]


def embed(params, inputs, keys=None):
    """Return x (batch, length, width), a tenth dropped out, by one key an example."""
    x = jax.nn.one_hot(inputs, VOCAB) @ params["embed"] + params["position"]
    if keys is None:
        return x
    keep = jax.vmap(lambda key: jax.random.bernoulli(key, 0.9, x.shape[1:]))(keys)
    return x * keep / 0.9


def score(params, x, targets):
    """Return the loss of each example, (batch,), from x after the last block."""
    logits = norm(x) @ params["embed"].T
    right = jax.nn.one_hot(targets, VOCAB)
    return -(jax.nn.log_softmax(logits) * right).sum(axis=-1).mean(axis=-1)


def through(params, x, block=block):
    """Return x after all blocks of `params`: (batch, length, width) to the same."""
    for n in range(len(params["up"])):
        x = block({name: params[name][n] for name in BLOCK}, x)
    return x


def loss(params, tokens, keys=None, block=block):
    """Return the mean loss of a batch: ()."""
    x = through(params, embed(params, tokens[:, :-1], keys), block)
    return score(params, x, tokens[:, 1:]).mean()
