#!/bin/sh
# Two processes on this machine, each with four simulated devices: sh two.sh
export JAX_PLATFORMS=cpu JAX_NUM_CPU_DEVICES=4
export JAX_COORDINATOR_ADDRESS=localhost:$((20000 + $$ % 10000))  # hardly in use
python hello.py 2 0 > process0.log 2>&1 &
first=$!
python hello.py 2 1 > process1.log 2>&1
second=$?
wait $first && test $second = 0
status=$?
grep -hv Gloo process0.log process1.log  # the library that connects CPUs
exit $status
