"""Bring the catalogues up to date with the pages: `nox -s translations -- [PAGE...]`.

    python -m book.translation.command [--check] TEMPLATES [PAGE...]

TEMPLATES is what Sphinx's builder `gettext` made of the pages.  Every page that has a
catalogue gets the messages that are new; of one that has changed, the old translation
stays and is marked `fuzzy`, and those of messages that are gone go.  A page that is
named gets a catalogue in each language.  What is left to do is printed, page by page.

With `--check` nothing is written, and what is left to do fails: a message that is
fuzzy, outdated or does not agree with its English, and more than 5 % that are missing.
A translation that differs on purpose has a comment that says why: `# differs: …`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from book.translation.agreement import disagreements
from book.translation.edition import CATALOGUES, ENGINE, LOCALE, translated_pages

DOCS = Path(__file__).parents[2]
_METHODS = [("book/**.py", "python"), ("_templates/**.html", "jinja2")]
MISSING = 0.05  # so much of a page may be without a translation
ON_PURPOSE = "differs:"
MEND = """These catalogues are behind their pages: {pages}.
`nox -s translations` brings them up to date: translate what it names in
docs/locale, read what is marked `fuzzy` and remove the mark."""
# What the theme would say in English.
_THEME = ("Color mode", "Light", "Dark", "System Settings")
_HEADER = """msgid ""
msgstr ""
"Language: {language}\\n"
"Content-Type: text/plain; charset=UTF-8\\n"

"""


def read(path: Path, language: str | None = None) -> Catalog:
    """The catalogue in the file at `path`; an empty one where there is none."""
    if not path.is_file():
        return Catalog(locale=language)
    with path.open("rb") as file:
        return read_po(file, locale=language, charset="utf-8")


def messages(catalogue: Catalog) -> list[Message]:
    """The messages of a catalogue, without its header."""
    return [message for message in catalogue if message.id]


def engine_template(docs: Path = DOCS) -> Catalog:
    """What the engine and the templates say, as they stand there."""
    found = Catalog()
    options = {"**.html": {"extensions": "jinja2.ext.do"}}
    every = extract_from_dir(
        docs,
        _METHODS,
        options,
        keywords={"_": None},
        directory_filter=lambda folder: Path(folder).name not in ("_build", "locale"),
    )
    for _file, _line, text, _comments, _context in every:
        found.add(text)
    for text in _THEME:
        found.add(text)
    return found


def updated(old: Catalog, template: Catalog, language: str) -> str:
    """The text of the catalogue `old`, brought up to date with a template."""
    old.update(template)
    for message in old:
        message.flags &= {"fuzzy"}  # {term} is no field of a Python string
    file = BytesIO()
    options = {"width": 0, "no_location": True, "omit_header": True}
    write_po(file, old, ignore_obsolete=True, **options)
    return _HEADER.format(language=language) + file.getvalue().decode().lstrip()


def left_to_do(template: Catalog, catalogue: Catalog) -> Iterator[str]:
    """What is missing, fuzzy, outdated or does not agree, a line for each message.

    The template has the messages of the page as it is now.
    """
    for message in messages(template):
        found = catalogue.get(message.id)
        start = " ".join(str(message.id).split())[:60]
        if not found or not found.string:
            yield f"missing: {start}"
        elif found.fuzzy:
            yield f"fuzzy: {start}"
        elif not any(c.startswith(ON_PURPOSE) for c in found.user_comments):
            for one in disagreements(str(message.id), str(found.string)):
                yield f"{one}: {start}"
    for message in messages(catalogue):
        if message.id not in template:
            yield f"outdated: {message.id[:60]}"


def fails(template: Catalog, lines: list[str]) -> bool:
    """Whether so much is left to do that a page should not be published."""
    missing = sum(line.startswith("missing") for line in lines)
    return len(lines) > missing or missing > MISSING * len(messages(template))


def main(argv: list[str] | None = None) -> None:
    """Update all catalogues of all languages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("templates", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("pages", nargs="*", help="pages that get a catalogue")
    asked = parser.parse_args(argv)
    failed = []
    for folder in sorted((DOCS / LOCALE).glob("*/")):
        language = folder.name
        pages = translated_pages(DOCS, language) | set(asked.pages)
        templates = {name: read(asked.templates / f"{name}.pot") for name in pages}
        templates[ENGINE] = engine_template()
        for name, template in sorted(templates.items()):
            path = folder / CATALOGUES / f"{name}.po"
            if not asked.check:
                text = updated(read(path, language), template, language)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            lines = list(left_to_do(template, read(path, language)))
            failed += [name] * fails(template, lines)
            print(f"{language} {name}: {len(lines) or 'nothing'} to do")
            print("".join(f"    {line}\n" for line in lines), end="")
    if failed and asked.check:
        sys.exit(MEND.format(pages=", ".join(failed)))


if __name__ == "__main__":
    main()
