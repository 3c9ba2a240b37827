"""The hardware a build is asked for, and what is found."""
