#!/usr/bin/env bash
# All hosts of a Cloud TPU slice, one process on each: bash tpu_vm.sh NAME ZONE
set -euo pipefail

name=$1
zone=$2
setup='python3 -m pip install --quiet --upgrade "jax[tpu]" optax'

gcloud compute tpus tpu-vm scp train.py "$name:" --zone="$zone" --worker=all
gcloud compute tpus tpu-vm ssh "$name" --zone="$zone" --worker=all --command="$setup"
gcloud compute tpus tpu-vm ssh "$name" --zone="$zone" --worker=all \
    --command="python3 -u train.py --join"
