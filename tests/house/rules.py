"""All rules, and which of them a page, a program and the book keep.

A rule is a function from what it judges to sentences of complaint, each of which begins
with a file and a line; one that finds nothing returns an empty list.  The modules
beside this one have them, one topic each.  Those in a table called `..._RULES` fail the
tests: `test_rules.py` applies them to the book.  Those in one called `..._ADVICE` fail
nothing: `nox -s advice` lists what they find.
"""

from __future__ import annotations

from collections.abc import Callable

from book.html.error_links import SHELF
from book.source.chapters import LESSON
from book.source.model import Page
from tests.house import (
    axis_names,
    coherence,
    compiler_choices,
    error_pages,
    lengths,
    lessons,
    pages,
    programs,
    teaching_pages,
    typed_outputs,
    wording,
)
from tests.house.book import Book

Rule = Callable[[Page], list[str]]

# ---- what fails ------------------------------------------------------------------

PAGE_RULES: tuple[Rule, ...] = (
    pages.it_has_a_short_title,
    typed_outputs.no_typed_outputs,
    pages.pictures_have_words,
    pages.page_is_written,
)
# Of pages whose front matter names a `kind`: of all, of those to look something up on,
# and of the lessons of the course.
TEACHING_RULES: tuple[Rule, ...] = (
    teaching_pages.it_has_one_title,
    teaching_pages.it_sets_eight_devices,
    teaching_pages.checks_prove,
    teaching_pages.specs_are_written_out,
    teaching_pages.links_and_tables_can_be_read_aloud,
    teaching_pages.a_note_is_referred_to_once,
    compiler_choices.what_a_compiler_chose_is_guarded,
)
REFERENCE_RULES: tuple[Rule, ...] = (teaching_pages.names_are_in_view,)
LESSON_RULES: tuple[Rule, ...] = (
    lessons.a_lesson_needs_no_book,
    lessons.it_lists_its_program,
    lessons.it_says_where_to_look_it_up,
    lessons.it_has_an_exercise,
)
ERROR_PAGE_RULES: tuple[Rule, ...] = (
    error_pages.it_is_about_a_message,
    error_pages.the_title_has_the_words,
    error_pages.the_words_are_raised,
    error_pages.what_a_cell_declares_was_raised,
    error_pages.it_leads_to_a_page_that_teaches,
    error_pages.it_ends_with_other_causes,
    error_pages.what_was_called_exists,
)
PROGRAM_RULES = (
    programs.everything_is_documented,
    typed_outputs.outputs_are_doctests,
    programs.no_type_comments,
    programs.content_imports_pictures_only,
    programs.program_is_written,
)
BOOK_RULES = (
    coherence.programs_are_shown,
    coherence.pages_are_reachable,
    coherence.short_titles_are_unique,
    coherence.questions_are_unique,
    coherence.questions_are_collected,
    error_pages.every_message_is_listed,
    error_pages.what_pages_raise_is_on_the_shelf,
)


def rules_of(page: Page) -> tuple[Rule, ...]:
    """The rules for a page: everybody's, its kind's, and the shelf's."""
    rules = PAGE_RULES
    if page.kind:
        rules += TEACHING_RULES
        rules += LESSON_RULES if page.kind == LESSON else REFERENCE_RULES
    if page.name.startswith(SHELF):
        rules += ERROR_PAGE_RULES
    return rules


# ---- what is only advised --------------------------------------------------------

PAGE_ADVICE: tuple[Rule, ...] = (
    pages.its_short_title_fits,
    axis_names.page_axes,
    wording.page_is_calm,
)
TEACHING_ADVICE: tuple[Rule, ...] = (
    teaching_pages.its_first_code_is_in_view,
    wording.words_are_jaxs,
    teaching_pages.it_answers_questions,
    lengths.code_comes_soon,
    lengths.lessons_are_short,
    teaching_pages.headings_say_something,
)
REFERENCE_ADVICE: tuple[Rule, ...] = (
    teaching_pages.it_begins_with_the_answer,
    teaching_pages.it_ends_with_a_card,
)
LESSON_ADVICE: tuple[Rule, ...] = (
    lessons.it_lets_the_reader_guess,
    lengths.a_lesson_takes_half_an_hour,
    lessons.a_lesson_stands_alone,
)
PROGRAM_ADVICE = (axis_names.program_axes, wording.program_is_calm)


def programs_use_usual_words(book: Book) -> list[str]:
    """Programs name axes, and say what they do, as the others do."""
    found = []
    for program in map(book.program, book.program_names):
        for rule in PROGRAM_ADVICE:
            found += rule(program)
    return found


BOOK_ADVICE = (
    wording.exercises_say_jaxs_words,
    coherence.headings_are_unique,
    wording.first_uses_lead_to_the_words,
    programs_use_usual_words,
    wording.front_door_is_calm,
    lengths.copies_are_short,
    lengths.training_is_read_in_one_go,
)


def advice_of(page: Page) -> tuple[Rule, ...]:
    """The advice for a page of its kind."""
    if not page.kind:
        return PAGE_ADVICE
    kind = LESSON_ADVICE if page.kind == LESSON else REFERENCE_ADVICE
    return PAGE_ADVICE + TEACHING_ADVICE + kind
