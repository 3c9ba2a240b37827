#!/usr/bin/env bash
# One machine, one process for each GPU: bash gpu_node.sh 8
# Watch it from elsewhere: tail -F train-0.log
set -euo pipefail

export PROCESSES=${1:-8}
export JAX_COORDINATOR_ADDRESS=${JAX_COORDINATOR_ADDRESS:-localhost:8476}
# Leave no process behind. One that has joined does not end at SIGTERM, so kill it.
trap '{ kill -KILL $(jobs -p) || true; wait; } 2> /dev/null' EXIT

started=()
for ((i = 0; i < PROCESSES; i++)); do
    PROCESS=$i JAX_LOCAL_DEVICE_IDS=$i python -u train.py --join > "train-$i.log" 2>&1 &
    started+=($!)
done
code=0
until ((code)); do wait -n || code=$?; done
((code == 127)) || exit "$code"    # the first process that fails ends the others
# 127: no process is left. Of two that end at once, `wait -n` may report only one.
for process in "${started[@]}"; do wait "$process"; done
cat train-0.log
