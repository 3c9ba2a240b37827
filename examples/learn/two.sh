#!/bin/sh
# Two processes on this machine, each with four simulated devices: sh two.sh
export JAX_PLATFORMS=cpu JAX_NUM_CPU_DEVICES=4
export JAX_COORDINATOR_ADDRESS=localhost:$((20000 + $$ % 10000))  # hardly in use
python past_one_machine.py 2 0 > process0.log 2>&1 &
first=$!
python past_one_machine.py 2 1 > process1.log 2>&1
second=$?
wait $first && test $second = 0
status=$?
if test $status = 0; then  # without the lines of Gloo, the library that connects CPUs
    grep -hE '^process|^loss' process0.log process1.log
else # all that they said
    cat process0.log process1.log
fi
exit $status
