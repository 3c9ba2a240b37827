"""Chinese is taken apart into pairs of characters, by Python as by a browser."""

import json

from py_mini_racer import MiniRacer

from book.html.chinese_search import ChineseWords

TEXT = "八台设备上的 `jax.vmap`，轴 axis_name=3。"


def test_each_two_characters_are_a_word_and_latin_words_stay():
    found = ChineseWords({}).split(TEXT)
    assert {"设备", "备上", "jax", "vmap", "轴", "axis_name"} <= set(found)
    assert not {"设备上", "备j"} & set(found)


def test_the_browser_finds_the_words_that_are_indexed():
    engine = MiniRacer()
    asked = f"JSON.stringify(splitQuery({json.dumps(TEXT)}))"
    found = json.loads(engine.eval(ChineseWords.js_splitter_code + asked))
    engine.close()
    assert "设备" in found and "axis_name" in found
    assert set(found) <= set(ChineseWords({}).split(TEXT))
