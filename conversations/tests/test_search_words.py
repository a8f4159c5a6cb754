"""What is a word for a search: in any script, with marks or without, symbols and emoji too."""

import pytest

from conftest import Persona
from conversations.tests.rows import talk
from conversations.tests.searching import found, ids, search


@pytest.mark.parametrize(
    ("said", "q"),
    [
        ("Die ÄRGERLICHE Überfahrt", "ärgerliche über"),
        ("os.path.join('a', b)", "path"),
        ("os.path.join('a', b)", "os.path"),
        ("List<String> names", "string"),
        ("read https://example.com/sea.html?x=1", "sea"),
        ("input/output", "output"),
        ("snake_case", "case"),
        ("well-known", "known"),
        ("well-known", "well-kno"),
        ("It costs 3.14 USD", "3.14"),
        ("It\u2019s \u201cdeep\u201d\u2014very", "deep very"),
        ("gpt-5 is out", "gpt-5"),
        ("Я люблю море", "мор"),
        ("東京タワー", "東京"),
        ("東京タワー", "タワー"),
        ("我下个月想去北京旅游。请给我一些建议。", "北京"),
        ("我下个月想去北京旅游。请给我一些建议。", "旅游 建议"),
        ("สวัสดีครับ", "ครับ"),
        ("서울은 한국의 수도", "한국"),
        ("A café in Zürich, in the Hauptstraße", "cafe zurich hauptstrasse"),
        ("A cafe in Zurich", "café zürich"),
        ("A cafe\u0301 in Zu\u0308rich", "café zürich"),
        ("In der Hauptstraße", "HAUPTSTRASSE"),
        ("IN DER HAUPTSTRAẞE", "hauptstraße"),
        ("IN DER HAUPTSTRASSE", "HAUPTSTRAẞE"),
        ("οδός", "ΟΔΟΣ"),
        ("مُحَمَّد", "محمد"),
        ("محمد", "مُحَمَّد"),
        ("שָׁלוֹם", "שלום"),
        ("\uff76\uff9e\uff77\uff9e", "ガギ"),
        ("\uff21\uff22\uff23", "abc"),
        ("🌊sea🌊", "sea"),
        ("Party! 🎉", "🎉"),
        ("Party!🎉🎉🎊", "🎊 party"),
        ("Party 🎉", "party🎉"),
        ("Yes 👍🏽", "👍"),
        ("Yes 👍", "👍🏽"),
        ("I ❤️ tea", "❤"),
        ("👩\u200d🔬 at work", "👩\u200d🔬"),
        ("To 🇩🇪 and 🇫🇷", "🇫🇷"),
        ("It costs 5 €", "€"),
        ("20€", "20 €"),
        ("a → b ≤ c", "→ ≤"),
        ("§ 823 BGB", "§ 823"),
        ("☕ ♞ ♫ ☯ ䷀", "♞ ☯ ䷀"),
        ("𠮷野家で𠮟る", "野家"),
        ("𠮷野家で𠮟る", "𠮟"),
        ("ᥛᥣᥰ ᦟᦲᧉ", "ᥣᥰ"),
        ("हिन्दी में खोज", "हिन्दी"),
        ("አማርኛ ፍለጋ", "ፍለጋ"),
        ("ᏣᎳᎩ", "ᏣᎳᎩ"),
        ("தமிழ் தேடல்", "தேடல்"),
        ("བོད་སྐད་", "སྐད"),
        ("ქართული ძიება", "ძიება"),
        ("Հայերեն որոնում", "ՈՐՈՆՈՒՄ"),
        ("𞤊𞤵𞤤𞤬𞤵𞤤𞤣𞤫 pulaar", "𞤊𞤵𞤤𞤬𞤵𞤤𞤣𞤫"),
    ],
)
def test_words_are_what_people_take_for_words(alice: Persona, said: str, q: str) -> None:
    sea = talk(alice.user, said)

    assert found(alice, q) == ids(sea)


@pytest.mark.parametrize(
    ("said", "q"),
    [
        ("Party 🎉", "🎊"),
        ("Party 🎉", "party 🎊"),
        ("To 🇩🇪 and 🇫🇷", "🇪🇫"),
        ("5 €", "$"),
        ("No hearts", "❤"),
    ],
)
def test_a_symbol_is_not_found_where_there_is_another(alice: Persona, said: str, q: str) -> None:
    talk(alice.user, said)

    assert found(alice, q) == []


def test_a_symbol_is_found_in_titles_and_told_in_the_snippet(alice: Persona) -> None:
    titled = talk(alice.user, "How was it?", title="Party 🎉")
    said = talk(alice.user, f"{'Well. ' * 100}It was a 🎉.")

    hits = {row["id"]: row["match"] for row in search(alice, "🎉")}

    assert hits.keys() == {*ids(titled, said)}
    assert hits[str(titled.pk)] is None
    assert "It was a 🎉." in hits[str(said.pk)]["snippet"]


def test_a_hit_in_a_script_without_spaces_tells_where_it_is(alice: Persona) -> None:
    talk(alice.user, f"{'我想知道。' * 100}北京很大。")

    [row] = search(alice, "北京")

    assert "北京很大" in row["match"]["snippet"]


def test_a_hit_without_its_marks_tells_where_it_is(alice: Persona) -> None:
    talk(alice.user, f"{'Well. ' * 100}Zürich.")

    [row] = search(alice, "zurich")

    assert row["match"]["snippet"].endswith("Zürich.")
