"""What Sphinx calls: the book's settings, directives, nodes and handlers of events.

The package `book` itself imports
nothing, so what pages take from `book.draw` does not depend on the rest of the engine:
a change there runs no page again.
"""

from __future__ import annotations

from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, object]:
    """Ask for the hardware, and tell Sphinx what there is to call.

    This extension is loaded first, so its handlers have a priority behind those of
    Sphinx, MyST-NB and the theme; of one event they run in the order in which they
    stand here.
    """
    from book.hardware import probe

    # The hardware is looked for while the rest loads.
    probe.setup(app)

    from book.build import lifecycle, pipeline, stale_files
    from book.compilers import this_machine
    from book.directives import (
        base,
        build_record,
        build_table,
        chapter,
        compiled,
        error_index,
        questions,
        shown,
    )
    from book.exports import downloads, lesson_files, markdown, runnable_programs
    from book.html import (
        annotations,
        folding,
        jax_links,
        metadata,
        page_context,
        release_diff,
    )
    from book.publish import privacy_check, prune_assets, search_index

    behind_others = partial(app.connect, priority=800)
    before_collectors = partial(app.connect, priority=400)

    # How many pages run at a time; 0 leaves it to the target.
    app.add_config_value("book_jobs", 0, "", types=(int,))
    # Whether what this release of JAX raises is kept, for `nox -s outputs`.
    app.add_config_value("book_keep_outputs", False, "", types=(bool,))

    # What pages can ask for in the book's own words.
    app.add_directive("chapter", chapter.Chapter)
    app.add_directive("compiled", compiled.Compiled)
    app.add_directive("messages", error_index.ErrorIndex)
    app.add_directive("questions", questions.Questions)
    app.add_directive("record", build_table.BuildTable)
    app.connect("source-read", base.lend_book)

    # A page is read again when what it shows of others has changed.
    app.add_env_collector(shown.ShownCollector)

    # Folded parts of a page, our own and those of MyST-NB.
    app.add_node(folding.folded, html=(folding.visit_folded, folding.depart_folded))
    app.add_post_transform(folding.FoldHiddenCells)

    # One build at a time in a folder; what fails on a page fails that page alone.
    behind_others("config-inited", lifecycle.begin)
    behind_others("builder-inited", lifecycle.guard)
    # Styles and the index of the search are as MyST-NB and Sphinx know them.
    behind_others("builder-inited", prune_assets.renew)
    behind_others("builder-inited", search_index.restore)

    # Read all pages, and run those whose outputs are not in the cache.
    before_collectors("env-get-outdated", pipeline.run)
    # A lesson needs those above it only.
    before_collectors("env-get-outdated", page_context.check_lessons)
    # What is raised is what was kept of this release of JAX.
    before_collectors("env-get-outdated", release_diff.check_own_release)
    # The program of every lesson and listing.
    before_collectors("env-get-outdated", pipeline.cut)
    # What pages show of this machine's compiler.
    before_collectors("env-get-outdated", this_machine.compile_here)
    # A page that another text, output or program stands on is read again.
    behind_others("env-get-outdated", pipeline.outdated)

    # Code gets the name of its program.
    behind_others("doctree-read", runnable_programs.name)
    # Below a lesson's program, its files.
    behind_others("doctree-read", lesson_files.offer)
    # Below a cell, what there is to say of its error, types or exercise.
    behind_others("doctree-read", annotations.annotate)
    # To JAX's own reference.
    behind_others("doctree-read", jax_links.link_names)
    # Checks that follow each other become one line.
    behind_others("doctree-read", folding.fold_checks)

    # With -j: from a process that could not read a page.
    behind_others("env-merge-info", lifecycle.merge)
    # What Sphinx has read.
    behind_others("env-updated", pipeline.stamp)
    # What templates are told, and the pages that are written again for it.
    behind_others("env-updated", page_context.update)

    # The search leaves figures out.
    behind_others("doctree-resolved", prune_assets.unread)
    # What a template knows of its page.
    behind_others("html-page-context", stale_files.note)
    behind_others("html-page-context", metadata.context)
    behind_others("html-page-context", page_context.context)
    behind_others("html-page-context", prune_assets.search)
    behind_others("html-page-context", downloads.buttons)
    behind_others("html-collect-pages", metadata.not_found)

    # Pages that another process could not write.
    behind_others("build-finished", lifecycle.miss)
    # What readers take along.
    behind_others("build-finished", runnable_programs.write)
    behind_others("build-finished", downloads.write)
    behind_others("build-finished", lesson_files.write)
    behind_others("build-finished", markdown.write)
    # What this build verified, and what it raises.
    behind_others("build-finished", build_record.write)
    behind_others("build-finished", release_diff.keep)
    # The site's files, as they are published.
    behind_others("build-finished", search_index.write)
    behind_others("build-finished", prune_assets.slim)
    # Nothing stays of pages that are gone, nor of this machine.
    behind_others("build-finished", stale_files.sweep)
    behind_others("build-finished", privacy_check.check)
    # Say how it went.
    behind_others("build-finished", lifecycle.end)
    return {"version": version("sphinx"), "parallel_read_safe": True}
