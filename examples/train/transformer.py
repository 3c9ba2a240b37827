"""A small transformer that learns to count, and the batches it learns from.

Each sequence counts on by a step of its own, so that the network has to look back to
see the step. The pages on training put this network on eight devices in five ways.

Run it: `python -m examples.train.transformer`
"""

import jax
import jax.numpy as jnp
import numpy as np
import optax

VOCAB, LENGTH, WIDTH, HEADS, BLOCKS = 32, 16, 64, 8, 2
optimizer = optax.adam(1e-2)


def batch(seed, examples=64):
    """Return tokens, int32 (examples, LENGTH + 1): inputs, and targets one later."""
    rng = np.random.default_rng(seed)
    start = rng.integers(0, VOCAB, (examples, 1))
    step = rng.integers(1, 4, (examples, 1))
    return ((start + step * np.arange(LENGTH + 1)) % VOCAB).astype(np.int32)


def init(seed, blocks=BLOCKS):
    """Return parameters in NumPy; the weights of all blocks are stacked on axis 0."""
    shapes = {"embed": (VOCAB, WIDTH), "position": (LENGTH, WIDTH)}
    shapes |= {"qkv": (blocks, WIDTH, 3, WIDTH), "out": (blocks, WIDTH, WIDTH)}
    shapes |= {"up": (blocks, WIDTH, 4 * WIDTH), "down": (blocks, 4 * WIDTH, WIDTH)}
    rng = np.random.default_rng(seed)
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


def block(weights, x):
    """Attention and an MLP: (batch, length, width) to the same."""
    qkv = jnp.einsum("bld,dne->nble", norm(x), weights["qkv"])
    q, k, v = qkv.reshape(*qkv.shape[:3], -1, WIDTH // HEADS)
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


def losses(params, tokens, keys=None, block=block):
    """Return the loss of each example: (batch,)."""
    x = embed(params, tokens[:, :-1], keys)
    for n in range(len(params["up"])):
        x = block({k: params[k][n] for k in ("qkv", "out", "up", "down")}, x)
    return score(params, x, tokens[:, 1:])


def loss(params, tokens, keys=None, block=block):
    """Return the mean loss of a batch: ()."""
    return losses(params, tokens, keys, block).mean()


def train_step(params, state, tokens, keys):
    """Return the next parameters and optimizer state, and the loss before the step."""
    mean_loss, grads = jax.value_and_grad(loss)(params, tokens, keys)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, mean_loss


def train(steps, order=slice(None), blocks=BLOCKS):
    """Train on one device: return the loss and the parameters of each step."""
    found, alone = [], jax.make_mesh((1,), ("data",), devices=jax.devices()[:1])
    with jax.set_mesh(alone):
        params, key = jax.device_put(init(0, blocks), jax.P()), jax.random.key(1)
        state, step = optimizer.init(params), jax.jit(train_step)
        for number in range(steps):
            keys = jax.random.split(jax.random.fold_in(key, number), 64)[order]
            params, state, mean_loss = step(params, state, batch(number)[order], keys)
            found.append((float(mean_loss), jax.device_get(params)))
    return found


def main():
    """Train on one device.

    >>> main()
    step  0: loss 3.98
    step  5: loss 2.62
    step 10: loss 1.63
    """
    for number, (mean_loss, _) in enumerate(train(11)):
        if number % 5 == 0:
            print(f"step {number:2}: loss {mean_loss:.2f}")


if __name__ == "__main__":
    main()
