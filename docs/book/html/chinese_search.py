"""How the search takes Chinese apart: into pairs of characters, and Latin words.

Chinese has no spaces between words.  Every two characters that stand beside each other
count as a word, on a page and in a query, so no list of words is needed: 设备 is found
in 八台设备上.  A single character is indexed as well, for queries like 轴.
"""

from __future__ import annotations

import re

from sphinx.search.en import SearchEnglish

_HAN = "\u3400-\u9fff"
_RUN = re.compile(rf"[{_HAN}]+|[^\W{_HAN}]+")
_ASKING = (  # pairs that questions are made of, whatever they are about
    "怎样 怎么 么样 什么 如何 为什 哪里 哪个 哪些 可以 能否 是否 有没 没有 有人 我想 "
    "想要 知道 请问 的时 时候 我的 问题 这个 一个 还是 就是 不是 是不 以及 并且 然而"
)


class ChineseWords(SearchEnglish):
    """The words of a text in Chinese, with Latin words stemmed as in English."""

    lang = "zh"
    language_name = "Chinese"
    stopwords = SearchEnglish.stopwords | frozenset(_ASKING.split())
    js_splitter_code = """
const HAN = /^[\\u3400-\\u9fff]/;
const OTHER = "(?:(?![\\\\u3400-\\\\u9fff])[\\\\p{Letter}\\\\p{Number}_])+";
const RUNS = new RegExp(`[\\\\u3400-\\\\u9fff]+|${OTHER}`, "gu");
var splitQuery = (query) =>
  (query.match(RUNS) ?? []).flatMap((run) =>
    HAN.test(run) && run.length > 1
      ? [...run].slice(1).map((one, n) => run[n] + one)
      : [run],
  );
"""

    def split(self, input: str) -> list[str]:
        """The Latin words, the pairs of Chinese characters, and the single ones."""
        found: list[str] = []
        for run in _RUN.findall(input):
            if re.match(f"[{_HAN}]", run):
                found += [*run, *(run[n : n + 2] for n in range(len(run) - 1))]
            else:
                found.append(run)
        return found
