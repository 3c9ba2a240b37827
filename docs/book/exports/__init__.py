"""What readers take along: programs, notebooks, scripts, Markdown."""
