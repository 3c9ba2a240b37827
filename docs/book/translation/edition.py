"""The edition that a build makes: the book in English, or pages in another language.

`docs/locale/LANGUAGE/LC_MESSAGES/` has a catalogue for each page that is translated,
`sphinx.po` with the words of the engine and the templates, and `sphinx.js` with those
of the scripts.  A build with another `language` reads the whole book and writes only
the pages that have a catalogue; what leads to the others leads to the English ones, in
the folder above.
"""

from __future__ import annotations

import gettext
from collections.abc import Callable
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

ENGLISH, LOCALE, CATALOGUES = "en", "locale", "LC_MESSAGES"
ENGINE = "sphinx"  # the catalogue that Sphinx asks for words of no page


def translated_pages(docs: Path, language: str) -> set[str]:
    """The pages that have a catalogue in `language`."""
    folder = docs / LOCALE / language / CATALOGUES
    names = {p.relative_to(folder).with_suffix("") for p in folder.rglob("*.po")}
    return {name.as_posix() for name in names} - {ENGINE}


def find_catalogues(app: Sphinx, config: Config) -> None:
    """Say where the catalogues are, from wherever Sphinx was started.

    It looks for `sphinx.js`, with the words of scripts, in the folder it is started in.
    """
    config.locale_dirs = [str(Path(app.srcdir, one)) for one in config.locale_dirs]


def builds_folder(app: Sphinx) -> Path:
    """Where builds keep what they make: `docs/_build`.

    The book in English lies there in the folder `html`, and one in another language in
    a folder of that, which is called as the language.
    """
    out = Path(app.outdir)
    return out.parent.parent if out.name == app.config.language else out.parent


def page_words(docs: Path, language: str, name: str) -> Callable[[str], str]:
    """What translates a text of the page `name`; one without a translation stays."""
    found = gettext.translation(name, docs / LOCALE, [language], fallback=True)

    def translated(text: str) -> str:
        return found.gettext(" ".join(text.split())) if text.strip() else text

    return translated
