"""Keep the old address of the instrument until the last page that uses it is rewritten.

Use `examples/tools/traffic.py`.
"""

from examples.tools.traffic import sends, what_it_sends

__all__ = ["sends", "what_it_sends"]
