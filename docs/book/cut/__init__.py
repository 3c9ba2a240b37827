"""The program that a lesson is: cut out, set, and run alone."""
