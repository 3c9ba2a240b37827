#!/bin/sh
# Two processes on this machine, each with four simulated devices: sh two.sh
export JAX_PLATFORMS=cpu JAX_NUM_CPU_DEVICES=4
export JAX_COORDINATOR_ADDRESS=localhost:$((20000 + $$ % 10000))  # a free port
for i in 0 1; do
    python hello.py 2 $i > process$i.log 2>&1 &
done
wait
grep -hv Gloo process0.log process1.log  # the library that connects CPUs
