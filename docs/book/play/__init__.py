"""The site on this machine's own devices: lessons are edited and run in place."""
