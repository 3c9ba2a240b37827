"""What Sphinx calls: the book's settings, its directives, and its steps in their order.

Steps of one event run in the order of this file.  The package `book` itself imports
nothing, so what pages take from `book.draw` does not depend on the rest of the engine:
a change there runs no page again.
"""

from __future__ import annotations

from importlib.metadata import version
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, object]:
    """Ask for the hardware, and tell Sphinx what there is to call."""
    from book.hardware import probe

    probe.setup(app)  # the answer comes while the rest loads

    from book.build import (
        changed_pages,
        executed_notebook,
        html_builder,
        lifecycle,
        pipeline,
        stale_files,
    )
    from book.compilers import this_machine
    from book.directives import (
        build_table,
        chapter,
        compiled,
        error_index,
        questions,
    )
    from book.exports import copy_button, lesson_programs, markdown_export, notebook
    from book.html import (
        build_record,
        error_links,
        exercise_mistakes,
        folding,
        jax_links,
        last_line,
        metadata,
        page_context,
        release_diff,
        search_sections,
        type_legend,
    )

    app.add_config_value("book_jobs", 0, "", types=(int,))

    build_table.Recorded.app = app
    chapter.Chapter.app = app
    questions.Questions.app = app
    error_index.Messages.app = app
    app.add_directive("compiled", compiled.Compiled)
    app.add_directive("record", build_table.Recorded)
    app.add_directive("chapter", chapter.Chapter)
    app.add_directive("questions", questions.Questions)
    app.add_directive("messages", error_index.Messages)

    # What fails on a page fails that page alone.
    app.add_builder(html_builder.HTMLBuilder, override=True)
    # Sphinx reads again what shows another thing than last time.
    app.add_env_collector(changed_pages.ChangedPages)

    before_collectors, order = count(100), count(800)  # those of Sphinx have 500

    def connect(event: str, step: object) -> None:
        early = event == "env-get-outdated"
        app.connect(event, step, priority=next(before_collectors if early else order))

    # One build at a time in a folder.
    connect("config-inited", lifecycle.begin)
    # Say in HTML what is folded.
    connect("builder-inited", folding.replace)
    # Read all pages, and run those whose outputs are not in the cache.
    connect("env-get-outdated", pipeline.read_and_execute)
    # A lesson needs those above it only.
    connect("env-get-outdated", page_context.check)
    # The program of every lesson and listing.
    connect("env-get-outdated", pipeline.slice_programs)
    # What pages show of this machine's compiler.
    connect("env-get-outdated", this_machine.compile_here)
    connect("env-get-outdated", build_table.again)
    connect("env-get-outdated", questions.again)
    connect("env-get-outdated", chapter.again)
    connect("env-get-outdated", error_index.again)
    connect("env-get-outdated", release_diff.again)
    # MyST-NB reads a page with the outputs of its cells.
    connect("source-read", executed_notebook.replace_source)
    # Code gets the name of its program.
    connect("doctree-read", copy_button.mark)
    # Below a lesson's program, its files.
    connect("doctree-read", lesson_programs.offer)
    # Below an error, the page about it.
    connect("doctree-read", error_links.refer)
    # Below a lesson, how to read its types.
    connect("doctree-read", type_legend.show)
    # Below a cell, what another JAX says.
    connect("doctree-read", release_diff.show)
    # Below an exercise, what its check recognizes.
    connect("doctree-read", exercise_mistakes.show)
    # To JAX's own reference.
    connect("doctree-read", jax_links.lead)
    # Checks that follow each other become one line.
    connect("doctree-read", folding.fold_checks)
    # With -j: from a process that read pages, or could not.
    connect("env-merge-info", build_table.merge)
    # Short titles; pages with another last line.
    connect("env-updated", page_context.shorten)
    connect("env-updated", last_line.changed)
    # The search leaves figures out.
    connect("doctree-resolved", search_sections.leave_out_figures)
    # What a template knows of its page.
    connect("html-page-context", metadata.context)
    connect("html-page-context", page_context.context)
    connect("html-page-context", notebook.offer)
    connect("html-page-context", last_line.last_line)
    connect("html-collect-pages", metadata.not_found)
    # What readers take along of a page is written with its HTML.
    connect("html-page-context", markdown_export.write_page)
    connect("html-page-context", notebook.write_page)
    # What readers take along.
    connect("build-finished", copy_button.write)
    connect("build-finished", lesson_programs.write)
    connect("build-finished", markdown_export.write_index)
    # And nothing of pages that are gone.
    connect("build-finished", notebook.remove_others)
    connect("build-finished", markdown_export.remove_others)
    # record.json, and which outputs have other words than those kept.
    connect("build-finished", build_record.write)
    connect("build-finished", release_diff.tell)
    # What the search knows of each section.
    connect("build-finished", search_sections.write)
    # Nothing stays of pages that are gone.
    connect("build-finished", stale_files.remove)
    # Say how it went.
    connect("build-finished", lifecycle.end)
    return {"version": version("sphinx"), "parallel_read_safe": True}
