import statistics
import time

import jax

jax.config.update("jax_num_cpu_devices", 8)  # a CPU acts as eight devices; GPUs and TPUs stay as they are


def compare(calls, rounds=15):
    for _ in range(12):    # the first round compiles
        jax.block_until_ready([call() for call in calls.values()])
    seconds = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():    # the calls take turns
            start = time.perf_counter()
            jax.block_until_ready(call())
            seconds[name].append(time.perf_counter() - start)
    print(jax.devices()[0].device_kind, rounds, "rounds, µs: median, quartiles")
    for name, taken in seconds.items():
        low, median, high = [1e6 * q for q in statistics.quantiles(taken, n=4)]
        print(f"{name:24}{median:7.0f}{low:7.0f}{high:7.0f}")
