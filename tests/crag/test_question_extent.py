"""How much of a document a question asks for."""

from __future__ import annotations

import pytest

from localcrag.crag.questions.question_extent import (
    asks_for_command,
    asks_for_option,
    asks_what_to_do,
    compared_things,
    things_asked_for,
)


@pytest.mark.parametrize(
    "question",
    [
        "What are the advantages of this mode?",
        "Which directories must exist in the root file system?",
        "Which options does the command take, and which two gates are locked?",
        "What does the kit contain?",
        "What is not covered by the insurance?",
        "Name all members of the board.",
        "List the ports that are open",
        "Welche Unterlagen sind nötig?",
        "Was gehört in das Paket?",
        "Quelles sont les conditions ?",
        "¿Cuáles son las ventajas?",
        "¿Qué documentos necesito?",
        "Welche vier Stufen hat der Bootstrap-Prozess?",
        "Welche drei Teile hat das Gerät?",
        "Welche Stufen haben diese Prozesse?",
        "Quali sono le condizioni?",
        "合同有哪些条款？",
    ],
)
def test_it_asks_for_several_things(question: str) -> None:
    assert things_asked_for(question)


@pytest.mark.parametrize(
    "question",
    [
        "What does a replacement tank cost?",
        "What is the name of the red dye?",
        "Which pear pollinates the Autumn Bell?",
        "On which days does the clinic open?",
        "What was the flat charge for power?",
        "When does the gate close?",
        "Welche Farbe hat der Schlüssel?",
        "¿Qué precio tiene?",
        "Welche Nummer hat der Raum?",
        "Welche Version haben die Geräte?",
        "Quale prezzo ha?",
        "合同的期限是哪一年？",
    ],
)
def test_it_asks_for_one_thing(question: str) -> None:
    assert not things_asked_for(question)


def test_they_are_its_content_words() -> None:
    assert things_asked_for("What are the advantages of this mode?") == {"advantag", "mod"}


@pytest.mark.parametrize(
    "question",
    [
        "Comment s'inscrire aux cours de natation ?",
        "Sous Linux, comment changer la langue ?",
        "Que doit faire un développeur avant de partir ?",
        "Que faut-il faire en cas de panne ?",
        "Pourquoi la réunion est-elle reportée ?",
        "¿Cómo se prepara el gazpacho?",
        "Como se prepara el gazpacho?",
        "¿Qué hay que hacer antes?",
        "¿Por qué se aplazó?",
        "Come si pulisce il filtro?",
        "Perché è chiuso?",
        "Как почистить фильтр?",
        "Почему сад закрыт?",
        "怎样卸载旧的内核软件包？",
        "怎么清洁滤网？",
        "如何安装？",
        "为什么推迟？",
        "フィルターはどうやって掃除しますか？",
        "水が漏れたらどうすればいいですか？",
        "なぜ延期されましたか？",
    ],
)
def test_it_asks_what_to_do_or_why_in_another_language(question: str) -> None:
    assert asks_what_to_do(question)


@pytest.mark.parametrize(
    "question",
    [
        "Comment s'appelle le concierge ?",
        "Who wrote the comment?",
        "Quel acompte faut-il verser ?",
        "¿Cómo se llama el conserje?",
        "¿Qué empresa reparará el ascensor y por qué importe?",
        "¿Cuánto tiempo hay que dejarlo enfriar?",
        "Come si chiama il custode?",
        "When does the bus come?",
        "Как называется улица?",
        "Как зовут сторожа?",
        "Wie lautet die Nummer?",
        "这个人怎么称呼？",
        "什么时候发布？",
        "いつですか？",
    ],
)
def test_it_asks_for_a_name_or_another_single_thing(question: str) -> None:
    assert not asks_what_to_do(question)


@pytest.mark.parametrize(
    ("question", "things"),
    [
        ("What is the difference between minsize and maxsize?", ["minsiz", "maxsiz"]),
        ("difference between the lease and a licence", ["leas", "licenc"]),
        ("vim vs emacs", ["vim", "emac"]),
        ("Which train goes between Oslo and Bergen at 9?", ["oslo", "bergen"]),
        ("What does minsize mean?", []),
    ],
)
def test_the_two_things_that_it_compares(question: str, things: list[str]) -> None:
    assert compared_things(question) == things


def test_it_asks_for_a_command() -> None:
    assert asks_for_command("command to wipe a disk") and asks_for_command("Mit welchem Befehl geht es?")
    assert not asks_for_command("Who is in command line support?")


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Which option cuts lines?", True),
        ("Which retention option protects it?", True),
        ("Is there a flag to switch it off?", True),
        ("What is the flag to switch it off?", True),
        ("What is the option for?", False),
        ("What is an option?", False),
        ("Which part of the option is read?", False),
        ("Which of the options?", False),
    ],
)
def test_it_asks_for_an_option(question: str, asks: bool) -> None:
    assert asks_for_option(question) is asks
