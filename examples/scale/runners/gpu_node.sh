#!/usr/bin/env bash
# One machine, one process for each GPU: bash gpu_node.sh 8
# Watch it from elsewhere: tail -F train-0.log
set -euo pipefail

export PROCESSES=${1:-8}
export JAX_COORDINATOR_ADDRESS=${JAX_COORDINATOR_ADDRESS:-localhost:8476}
# None is left behind. A process that has joined does not end at SIGTERM.
trap '{ kill -KILL $(jobs -p) || true; wait; } 2> /dev/null' EXIT

for ((i = 0; i < PROCESSES; i++)); do
    PROCESS=$i JAX_LOCAL_DEVICE_IDS=$i python -u train.py --join > "train-$i.log" 2>&1 &
done
for ((i = 0; i < PROCESSES; i++)); do
    wait -n    # the first process that fails ends this script, and so the others
done
cat train-0.log
