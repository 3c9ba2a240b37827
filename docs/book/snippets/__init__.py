"""The program of a lesson: its cell, and what of the cells above it needs."""
