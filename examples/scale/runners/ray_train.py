"""Two nodes of eight GPUs of a Ray cluster, one process on each.

Submit it: `ray job submit --working-dir . -- python ray_train.py`
"""


def main(processes=2, gpus=8):
    """Run `train.main` in `processes` workers; Ray joins them."""
    import train
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.v2.jax import JaxTrainer

    JaxTrainer(
        train.main,  # without train.join: Ray has called jax.distributed.initialize
        scaling_config=ScalingConfig(
            num_workers=processes,
            use_gpu=True,
            resources_per_worker={"GPU": gpus},
        ),
        run_config=RunConfig(failure_config=FailureConfig(max_failures=100)),
    ).fit()


if __name__ == "__main__":
    main()
