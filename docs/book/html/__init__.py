"""What the HTML of a page holds beside what its author wrote."""
