"""A build from its beginning to its end: each step is called in this order."""

from book import (
    build,
    fold,
    head,
    legend,
    mistakes,
    packed,
    place,
    prepare,
    private,
    provenance,
    questions,
    record,
    recorded,
    refer,
    reference,
    shelf,
    slim,
    sweep,
    twin,
    wordings,
)
from book.compilers import here
from book.cut import button, downloads, percent

STEPS = [
    ("config-inited", build.begin),  # one build at a time in a folder
    ("builder-inited", build.guard),  # what fails on a page fails that page
    ("builder-inited", slim.renew),  # styles come whole again
    ("builder-inited", packed.restore),  # Sphinx reads its index again
    ("builder-inited", fold.replace),  # say in HTML what is folded
    ("env-get-outdated", prepare.run),  # read all pages; run what is not cached
    ("env-get-outdated", place.check),  # a lesson needs those above it only
    ("env-get-outdated", prepare.cut),  # the program of every lesson and listing
    ("env-get-outdated", here.compile_here),  # what pages show of compilers
    ("env-get-outdated", prepare.outdated),  # Sphinx reads what shows another thing
    ("env-get-outdated", recorded.again),  # and pages that show the record
    ("env-get-outdated", questions.again),  # or list what readers ask
    ("env-get-outdated", place.again),  # or the pages of a chapter
    ("env-get-outdated", shelf.again),  # or messages
    ("env-get-outdated", wordings.again),  # or what another JAX says
    ("doctree-read", button.name),  # code gets the name of its program
    ("doctree-read", percent.offer),  # below a lesson's program, its files
    ("doctree-read", refer.refer),  # below an error, the page about it
    ("doctree-read", legend.show),  # below a lesson, how to read its types
    ("doctree-read", wordings.show),  # below a cell, what another JAX says
    ("doctree-read", mistakes.show),  # below an exercise, what its check recognizes
    ("doctree-read", reference.lead),  # to JAX's own reference
    ("doctree-read", fold.fold_checks),  # checks that follow each other: one line
    ("env-merge-info", recorded.merge),  # with -j: from a process that read pages
    ("env-merge-info", build.merge),  # or could not
    ("env-updated", prepare.stamp),  # what Sphinx has read
    ("env-updated", place.shorten),  # the sidebar has short titles
    ("env-updated", provenance.changed),  # write pages with another last line
    ("doctree-resolved", slim.unread),  # the search leaves figures out
    ("html-page-context", sweep.note),  # what is written
    ("html-page-context", head.context),  # what it says of itself elsewhere
    ("html-page-context", place.context),  # which page of which chapter this is
    ("html-page-context", slim.search),  # the search page loads less
    ("html-page-context", downloads.buttons),  # the page as files to take along
    ("html-page-context", provenance.last_line),  # where outputs are from
    ("html-collect-pages", head.not_found),  # 404.html
    ("build-finished", build.miss),  # pages that another process could not write
    ("build-finished", button.write),  # the programs, beside the pages
    ("build-finished", downloads.write),  # a page's notebook and script
    ("build-finished", percent.write),  # the programs of lessons, and as notebooks
    ("build-finished", twin.write),  # and its Markdown with outputs
    ("build-finished", record.write),  # record.json
    ("build-finished", wordings.tell),  # which outputs have other words than those kept
    ("build-finished", packed.write),  # the index of the search, packed
    ("build-finished", slim.slim),  # the theme's files, without what is not used
    ("build-finished", sweep.sweep),  # nothing stays of pages that are gone
    ("build-finished", private.check),  # nor of this machine
    ("build-finished", build.end),  # say how it went
]
