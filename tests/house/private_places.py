"""No file names a place of one machine, or the address of a package index."""

from __future__ import annotations

import re
from collections.abc import Iterable

PATHS = re.compile(
    r"(?<![\w.:/~$}-])/(?:home|Users|root|tmp|work|mnt|opt|srv|var)/[\w.-]"
    r"|\b[A-Z]:\\{1,2}\w"
)
REGISTRIES = re.compile(
    r"--(?:extra-)?index-url|--find[-]links|trusted[-]host"
    r"|//[\w.-]*(?:pypi|pythonhosted|artifactory|nexus|devpi|mirror)[\w-]*\.\w",
    re.IGNORECASE,
)


def no_private_places(text: str, where: str, private: Iterable[str] = ()) -> list[str]:
    """Complain of paths of a machine and addresses of package indexes."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if PATHS.search(line) or any(place in line for place in private):
            found.append(f"{where}:{number}: a path of one machine.")
        if REGISTRIES.search(line):
            found.append(f"{where}:{number}: the address of a package index.")
    return found
