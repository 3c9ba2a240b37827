"""Train an attention layer on sequences that are sharded over all devices.

Every position recalls the first token of its sequence, which lies on the first device.
Keys and values travel around the ring and are multiplied in their own dtype, which the
result has, too; the maximum, the sum and the weighted values are float32.

Run it: `python -m examples.train.ring_attention`
"""

from functools import partial

import jax
import jax.numpy as jnp
import optax
from jax import NamedSharding, P, lax

from examples.train.progress import plot, show

TOKENS, LENGTH, BATCH, HEADS, FEATURES = 16, 64, 16, 2, 16
product = partial(jnp.einsum, preferred_element_type=jnp.float32)


def ring_attention(q, k, v, name):
    """Attend causally, (batch, positions, heads, features) of one device each."""
    n, me, length = lax.axis_size(name), lax.axis_index(name), q.shape[1]
    position = jnp.arange(length)
    right = [(d, (d + 1) % n) for d in range(n)]

    def step(carry, i):
        k, v, top, total, out = carry
        query, key = me * length + position, (me - i) % n * length + position
        scores = product("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
        scores = jnp.where(query[:, None] >= key, scores, -jnp.inf)
        new_top = jnp.maximum(top, scores.max(axis=-1))
        shrink = jnp.exp(top - new_top)
        weights = jnp.exp(scores - new_top[..., None])
        total = total * shrink + weights.sum(axis=-1)
        values = product("bhqk,bkhd->bhqd", weights.astype(v.dtype), v)
        out = out * shrink[..., None] + values
        k, v = lax.ppermute((k, v), name, right)
        return (k, v, new_top, total, out), None

    zeros = jnp.zeros_like(q, jnp.float32).swapaxes(1, 2)
    carry = k, v, zeros[..., 0] - jnp.inf, zeros[..., 0], zeros
    (_, _, _, total, out), _ = lax.scan(step, carry, jnp.arange(n))
    return (out / total[..., None]).swapaxes(1, 2).astype(q.dtype)


def sharded_attention(mesh):
    """Return attention over sequences that are sharded over the one axis of `mesh`."""
    (name,) = mesh.axis_names
    spec, body = P(None, name), partial(ring_attention, name=name)
    return jax.jit(jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec))


def init(key):
    """Return the parameters of embeddings, one attention layer, and logits."""
    keys, wide = jax.random.split(key, 4), HEADS * FEATURES
    qkv, out = (3, wide, HEADS, FEATURES), (HEADS, FEATURES, TOKENS)
    return {
        "embed": jax.random.normal(keys[0], (TOKENS, wide)),
        "place": jax.random.normal(keys[1], (LENGTH, wide)),
        "qkv": jax.random.normal(keys[2], qkv) * wide**-0.5,
        "out": jax.random.normal(keys[3], out) * wide**-0.5,
    }


def train(attention, mesh, spec, steps=31):
    """Yield loss and parameters of each step; examples are sharded by `spec`."""
    optimizer = optax.adam(0.02)

    def loss(params, tokens, targets):
        x = jax.nn.one_hot(tokens, TOKENS) @ params["embed"] + params["place"]
        q, k, v = (jnp.einsum("bsw,whd->bshd", x, w) for w in params["qkv"])
        logits = jnp.einsum("bshd,hdt->bst", attention(q, k, v), params["out"])
        hits = jax.nn.log_softmax(logits) * jax.nn.one_hot(targets, TOKENS)
        return -hits.sum(axis=-1).mean()

    @jax.jit
    def step(params, state, tokens, targets):
        value, grads = jax.value_and_grad(loss)(params, tokens, targets)
        updates, state = optimizer.update(grads, state)
        return optax.apply_updates(params, updates), state, value

    params = jax.device_put(init(jax.random.key(0)), NamedSharding(mesh, P()))
    state = jax.device_put(optimizer.init(params), NamedSharding(mesh, P()))
    for number in range(steps):
        key = jax.random.fold_in(jax.random.key(1), number)
        tokens = jax.random.randint(key, (BATCH, LENGTH), 0, TOKENS)
        targets = jnp.broadcast_to(tokens[:, :1], tokens.shape)
        batch = jax.device_put((tokens, targets), NamedSharding(mesh, spec))
        params, state, value = step(params, state, *batch)
        yield value, params


def lower(mesh):
    """Lower attention over 2048 positions on each device, for a mesh of any size."""
    shape, spec = (1, 2048 * mesh.size, 8, 128), P(None, mesh.axis_names[0])
    q = jax.ShapeDtypeStruct(shape, jnp.bfloat16, sharding=NamedSharding(mesh, spec))
    return sharded_attention(mesh).lower(q, q, q)


def main():
    """Train on all devices; return the loss of each step.

    >>> with jax.default_matmul_precision("highest"):
    ...     losses = main()  # doctest: +ELLIPSIS
    step  0: loss 3.0...
    step 15: loss 0.6...
    step 30: loss 0.0...
    """
    mesh = jax.make_mesh((jax.device_count(),), ("sequence",))
    spec = P(None, "sequence")
    return show(train(sharded_attention(mesh), mesh, spec), every=15)


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    plot(main())
