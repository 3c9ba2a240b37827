"""What the compilers of TPUs and GPUs make of a program."""
