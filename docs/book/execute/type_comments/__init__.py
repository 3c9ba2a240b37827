"""Check comments such as `# float32[8@data]` while a cell runs."""
