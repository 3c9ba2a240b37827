"""What Sphinx calls: the book's settings, directives, nodes and handlers of events.

The package `book` itself imports nothing, so what pages take from `book.draw` does not
depend on the rest of the engine: a change there runs no page again.
"""

from __future__ import annotations

from collections.abc import Callable
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
    from book.build import machine_check
    from book.hardware import probe

    machine_check.check(app)
    # The hardware is looked for while the rest loads.
    probe.look_for_hardware(app)

    from book.build import (
        changed_pages,
        cross_references,
        executed_notebook,
        html_builder,
        lifecycle,
        open_reports,
        pipeline,
        site_files,
        stale_files,
    )
    from book.compilers import this_machine
    from book.directives import (
        ask,
        base,
        build_record,
        build_table,
        chapter,
        compiled,
        error_index,
        questions,
        shown,
    )
    from book.exports import copied_programs, lesson_programs, markdown_export, notebook
    from book.html import (
        below_cells,
        chinese_search,
        download_menu,
        english_links,
        folding,
        jax_links,
        metadata,
        page_context,
        release_diff,
        search_sections,
    )
    from book.source import translatable
    from book.translation import edition

    behind_others = partial(app.connect, priority=800)
    before_collectors = partial(app.connect, priority=400)
    last = partial(app.connect, priority=900)

    def when_built(write: Callable[[Sphinx], None]) -> None:
        """Call `write` when a site has been built, unless the build broke off."""

        def finished(app: Sphinx, exception: Exception | None) -> None:
            if exception is None and app.builder.format == "html":
                write(app)

        behind_others("build-finished", finished)

    # How many pages run at a time; 0 leaves it to the target.
    app.add_config_value("book_jobs", 0, "", types=(int,))
    # Whether what this release of JAX raises is kept, for `nox -s outputs`.
    app.add_config_value("book_keep_outputs", False, "", types=(bool,))

    # What pages can ask for in the book's own words.
    app.add_directive("ask", ask.Ask)
    app.add_directive("chapter", chapter.Chapter)
    app.add_directive("compiled", compiled.Compiled)
    app.add_directive("messages", error_index.ErrorIndex)
    app.add_directive("questions", questions.Questions)
    app.add_directive("record", build_table.BuildTable)
    app.connect("source-read", base.lend_book)

    # What fails on a page fails that page alone.
    app.add_builder(html_builder.HTMLBuilder, override=True)

    # A page is read again when its outputs have changed, or what it shows of others.
    app.add_env_collector(changed_pages.ChangedPages)
    app.add_env_collector(shown.ShownCollector)
    # It is written again when what it leads to has changed.
    app.add_env_collector(cross_references.CrossReferences)

    # Folded parts of a page, our own and those of MyST-NB.
    app.add_node(folding.folded, html=(folding.visit_folded, folding.depart_folded))
    app.add_post_transform(folding.FoldHiddenCells)

    # One build at a time in a folder.
    behind_others("config-inited", lifecycle.begin)

    # Words in another language, the scripts' too.
    app.connect("config-inited", edition.find_catalogues)

    # Read all pages, and run those whose outputs are not in the cache.
    before_collectors("env-get-outdated", pipeline.read_and_execute)
    # A lesson needs those above it only.
    before_collectors("env-get-outdated", page_context.check_lessons)
    # What is raised is what was kept of this release of JAX.
    before_collectors("env-get-outdated", release_diff.check_own_release)
    # The program of every lesson and listing.
    before_collectors("env-get-outdated", pipeline.slice_programs)
    # What pages show of this machine's compiler.
    before_collectors("env-get-outdated", this_machine.compile_here)
    # What a build reported is looked at again until it is gone.
    before_collectors("env-get-outdated", open_reports.outdated)
    # No page that is read meets what it was before.
    behind_others("env-before-read-docs", changed_pages.begin_anew)
    # MyST-NB reads a page with the outputs of its cells.
    behind_others("source-read", executed_notebook.replace_source)

    # Code gets the name of its program.
    behind_others("doctree-read", copied_programs.mark)
    # Below a lesson's program, its files.
    behind_others("doctree-read", lesson_programs.offer)
    # Below a cell, what there is to say of its error, types or exercise.
    behind_others("doctree-read", below_cells.put)
    # To JAX's own reference.
    behind_others("doctree-read", jax_links.link_names)
    # What translators are asked for beside the prose.
    behind_others("doctree-read", translatable.offer)
    # Checks that follow each other become one line.
    behind_others("doctree-read", folding.fold_checks)
    # The files that a page shows are known when all of it has been read.
    last("doctree-read", changed_pages.remember)

    # What templates are told, and the pages that are written again for it.
    behind_others("env-updated", page_context.update)
    # Pages that lead to what has changed are written again, too.
    behind_others("env-updated", cross_references.update)

    # The search knows Chinese words, and leaves figures out.
    app.add_search_language(chinese_search.ChineseWords)
    behind_others("doctree-resolved", search_sections.leave_out_figures)
    # A reader in another language sees which links lead to English.
    behind_others("doctree-resolved", english_links.mark)
    # What a template knows of its page.
    behind_others("html-page-context", metadata.context)
    behind_others("html-page-context", page_context.context)
    behind_others("html-page-context", download_menu.offer)
    behind_others("html-collect-pages", metadata.not_found)

    # What readers take along of a page is written with its HTML.
    behind_others("html-page-context", markdown_export.write_page)
    behind_others("html-page-context", notebook.write_page)

    # What readers take along of all pages.
    when_built(copied_programs.write)
    when_built(lesson_programs.write)
    when_built(markdown_export.write_index)
    # What this build verified, and what it raises.
    when_built(build_record.write)
    behind_others("build-finished", release_diff.keep)
    # What was found out about texts is known to the next build.
    behind_others("build-finished", pipeline.keep_results)
    # What the search knows of each section.
    when_built(search_sections.write)
    # Nothing stays of pages that are gone.
    when_built(stale_files.remove)
    # What is in the site is what the next build has to find there.
    when_built(site_files.keep)
    # What is built is what is there.
    behind_others("build-finished", changed_pages.check_saved)
    # Say how it went, here and to the next build.
    behind_others("build-finished", open_reports.keep)
    behind_others("build-finished", lifecycle.end)
    return {"version": version("sphinx"), "parallel_read_safe": True}
