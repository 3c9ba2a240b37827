"""What the book says of hardware is what its records say."""

import json
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_book_claims_no_hardware_that_no_record_names():
    records = (DOCS / "evidence" / "records").glob("*.json")
    ran = {json.loads(path.read_text(encoding="utf-8"))["platform"] for path in records}
    page = (DOCS / "scale" / "build_this_book.md").read_text(encoding="utf-8")
    nothing = "Nothing of this book, until a record in"
    assert (nothing in page) == (ran <= {"cpu"}), f"records are of {ran}"
