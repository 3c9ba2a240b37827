"""New pages, programs and exercises from templates."""
