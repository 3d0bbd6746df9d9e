"""Token bounds against what real tokenizers made of the same texts, and what becomes of the speed of an answer.

The counts were made once, on 2026-11-22, with the vocabularies that the packages litellm, dashscope, mistral-common and
anthropic ship: cl100k and o200k (OpenAI), Qwen, DeepSeek, Tekken and v1 (Mistral), and Claude 2's.
"""

from dataclasses import dataclass

import pytest

from probes.events import Kind
from probes.figures.decode_speed import ShownText, decode_speed
from probes.figures.timeline import ContentEvent
from probes.figures.timing import Tokens
from probes.figures.token_bounds import MARGIN, fewest_tokens, most_tokens

MS = 1_000_000


@dataclass(frozen=True)
class Measured:
    """A text, and the most and the fewest tokens that a tokenizer made of it."""

    name: str
    text: str
    most: int
    fewest: int


MEASURED = [
    Measured(
        "English story",
        "Once upon a time, in a small village at the edge of a great forest, there lived an old clo"
        "ckmaker named Elias. Every morning he opened the shutters of his shop, swept the floor, an"
        "d wound the hundred clocks that hung upon his walls. The children of the village loved to "
        "visit him, because he always had a story to tell and a piece of honey cake to share.",
        81,
        78,
    ),
    Measured(
        "English reasoning",
        "Okay, so the user wants a short story. Let me think about the length first: about 120 word"
        "s. I need a character, a conflict, and an ending. Hmm, maybe a lighthouse keeper? Wait, th"
        "at's a cliche. Alright: 3 paragraphs, 40 words each, so 3 * 40 = 120. Let me check: if x ="
        " 2y + 3 then y = (x - 3)/2.",
        108,
        90,
    ),
    Measured(
        "German",
        "Es war einmal ein alter Uhrmacher, der am Rande eines großen Waldes lebte. Jeden Morgen öf"
        "fnete er die Fensterläden seiner Werkstatt, fegte den Boden und zog die hundert Uhren auf,"
        " die an den Wänden hingen. Die Kinder des Dorfes besuchten ihn gern, denn er hatte immer e"
        "ine Geschichte zu erzählen.",
        96,
        71,
    ),
    Measured(
        "Polish",
        "Dawno temu w małej wiosce na skraju wielkiego lasu mieszkał stary zegarmistrz. Każdego ran"
        "ka otwierał okiennice swojego warsztatu, zamiatał podłogę i nakręcał sto zegarów wiszących"
        " na ścianach. Dzieci lubiły go odwiedzać, bo zawsze miał dla nich jakąś opowieść.",
        124,
        96,
    ),
    Measured(
        "Turkish",
        "Bir zamanlar büyük bir ormanın kıyısındaki küçük bir köyde yaşlı bir saatçi yaşarmış. Her "
        "sabah dükkânının kepenklerini açar, yerleri süpürür ve duvarlarda asılı yüz saati kurarmış"
        ". Köyün çocukları onu ziyaret etmeyi çok severmiş.",
        123,
        70,
    ),
    Measured(
        "Finnish",
        "Olipa kerran pienessä kylässä suuren metsän laidalla vanha kelloseppä. Joka aamu hän avasi"
        " pajansa ikkunaluukut, lakaisi lattian ja veti sata seinillä riippuvaa kelloa. Kylän lapse"
        "t kävivät mielellään hänen luonaan.",
        93,
        66,
    ),
    Measured(
        "Vietnamese",
        "Ngày xửa ngày xưa, trong một ngôi làng nhỏ bên bìa khu rừng lớn, có một người thợ đồng hồ "
        "già. Mỗi buổi sáng ông mở cửa tiệm, quét sàn nhà và lên dây một trăm chiếc đồng hồ treo tr"
        "ên tường.",
        133,
        56,
    ),
    Measured(
        "Russian",
        "Жил-был в маленькой деревне на краю большого леса старый часовщик. Каждое утро он открывал"
        " ставни своей мастерской, подметал пол и заводил сто часов, висевших на стенах. Дети любил"
        "и приходить к нему, потому что у него всегда была история.",
        125,
        68,
    ),
    Measured(
        "Greek",
        "Μια φορά κι έναν καιρό, σε ένα μικρό χωριό στην άκρη ενός μεγάλου δάσους, ζούσε ένας γέρος"
        " ρολογάς. Κάθε πρωί άνοιγε τα παντζούρια του μαγαζιού του και κούρδιζε τα εκατό ρολόγια.",
        199,
        71,
    ),
    Measured(
        "Arabic",
        "كان يا ما كان في قرية صغيرة على حافة غابة كبيرة، عاش صانع ساعات عجوز. كان يفتح كل صباح نوا"
        "فذ دكانه ويكنس الأرض ويملأ مئة ساعة معلقة على الجدران.",
        138,
        47,
    ),
    Measured(
        "Hindi",
        "एक समय की बात है, एक बड़े जंगल के किनारे एक छोटे से गाँव में एक बूढ़ा घड़ीसाज़ रहता था। हर"
        " सुबह वह अपनी दुकान के किवाड़ खोलता और दीवारों पर टँगी सौ घड़ियों में चाबी भरता था।",
        194,
        58,
    ),
    Measured(
        "Thai",
        "กาลครั้งหนึ่งนานมาแล้ว ในหมู่บ้านเล็กๆ ริมป่าใหญ่ มีช่างทำนาฬิกาชราคนหนึ่งอาศัยอยู่ ทุกเช้าเขาจะเปิดบานหน้าต่างร้านและกวาดพื้น",
        205,
        52,
    ),
    Measured(
        "Chinese",
        "从前，在一片大森林的边缘有一个小村庄，村里住着一位老钟表匠。每天早晨，他打开店铺的百叶窗，"
        "扫净地板，给墙上的一百座钟上发条。村里的孩子们都喜欢来看他，因为他总有故事可讲，还有一块蜂"
        "蜜蛋糕可以分享。一个冬天的夜晚，雪积得很深，风在烟囱里呼啸，一个陌生人敲响了他的门。",
        178,
        86,
    ),
    Measured(
        "Japanese",
        "昔々、大きな森のはずれの小さな村に、年老いた時計職人が住んでいました。毎朝、彼は店の雨戸を"
        "開け、床を掃き、壁に掛けられた百個の時計のねじを巻きました。村の子どもたちは彼を訪ねるのが"
        "大好きでした。コンピューターのメモリ帯域が速度を決めます。",
        146,
        90,
    ),
    Measured(
        "Korean",
        "옛날 옛적에 큰 숲 가장자리의 작은 마을에 늙은 시계공이 살고 있었습니다. 매일 "
        "아침 그는 가게의 덧문을 열고 바닥을 쓸고 벽에 걸린 백 개의 시계태엽을 감았습니"
        "다. 마을 아이들은 그를 찾아가는 것을 좋아했습니다.",
        146,
        61,
    ),
    Measured(
        "Python",
        'def quantile(ascending: Sequence[float], q: float) -> float | None:\n    """The q quantile '
        'of ascending values."""\n    if not ascending:\n        return None\n    place = q * (len(asc'
        "ending) - 1)\n    low = int(place)\n    high = min(low + 1, len(ascending) - 1)\n    return a"
        "scending[low] + (place - low) * (ascending[high] - ascending[low])\n",
        116,
        97,
    ),
    Measured(
        "JSON",
        '{"users":[{"id":17,"name":"Ada","tags":["a","b"],"score":23.29,"active":true},{"id":18,"na'
        'me":"Grace","tags":[],"score":24.66,"active":false},{"id":19,"name":"Edsger","tags":["c"],'
        '"score":26.03,"active":true}],"next":null,"total":412}',
        103,
        81,
    ),
    Measured(
        "a table",
        "| model | tokens/s | TTFT ms |\n|---|---|---|\n| m-1 | 13.7 | 307 |\n| m-2 | 27.4 | 514 |\n| m"
        "-3 | 41.1 | 721 |\n| m-4 | 54.8 | 928 |\n| m-5 | 68.5 | 1135 |\n| m-6 | 82.2 | 1342 |\n",
        122,
        92,
    ),
    Measured(
        "counting",
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 "
        "34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 "
        "64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 "
        "94 95 96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 "
        "118 119",
        368,
        119,
    ),
    Measured(
        "digits",
        "314159265358979323846264338327950288419716939937510582097494459230781640628620899862803482"
        "5342117067982148086513282306647",
        122,
        41,
    ),
    Measured(
        "LaTeX",
        "\\begin{align} \\frac{d}{dx} \\int_{a}^{x} f(t)\\,dt &= f(x) \\\\ \\sum_{n=1}^{\\infty} \\frac{1}{n"
        "^2} &= \\frac{\\pi^2}{6} \\end{align} Let $x_1, x_2 \\in \\mathbb{R}^n$ with $\\lVert x_1 - x_2 "
        "\\rVert < \\epsilon$.",
        104,
        92,
    ),
    Measured(
        "emoji",
        "🚀🔥😀👍🏽 👩\u200d👩\u200d👧\u200d👦 ❤️\u200d🔥 🇺🇳 1️⃣ 🎉✨🌍🐍🍕☕️ 🤖🧠💡📈 🚀🔥😀👍🏽 🎉✨🌍🐍🍕☕️ 🤖🧠💡📈",
        159,
        68,
    ),
    Measured(
        "English with emoji",
        "Great job! 🎉 You did it 💪😀. Let's go 🚀🔥 and celebrate 🥳 with pizza 🍕 and coffee ☕️! See yo"
        "u at the party 🎈 tonight.",
        55,
        41,
    ),
]
SCRIPTS = pytest.mark.parametrize("one", MEASURED, ids=[one.name for one in MEASURED])


@SCRIPTS
def test_the_bounds_hold_for_every_tokenizer_that_was_run(one: Measured):
    assert fewest_tokens(one.text) <= one.fewest
    assert one.most <= most_tokens(one.text)


@SCRIPTS
def test_no_bound_is_so_wide_that_as_much_hidden_reasoning_as_text_could_be_in_the_count(one: Measured):
    assert most_tokens(one.text) < 2.3 * one.most


def test_english_prose_is_bound_closely_and_other_scripts_loosely():
    least = {one.name: len(one.text) / most_tokens(one.text) for one in MEASURED}
    assert least["English story"] > 3.0
    assert least["English reasoning"] > 2.2
    assert least["German"] > 2.0
    assert 0.4 < least["Chinese"] < 0.7


def test_a_long_text_is_like_its_beginning_and_no_text_has_no_tokens():
    text = MEASURED[0].text * 10
    assert most_tokens(text * 10) == pytest.approx(most_tokens(text) * 10, rel=0.05)
    assert fewest_tokens(text * 10) == pytest.approx(fewest_tokens(text) * 10, rel=0.05)
    assert (most_tokens(""), fewest_tokens("")) == (0.0, 0.0)
    assert most_tokens(" " * 50) == MARGIN


def answer_of(text: str, tokens: int) -> tuple[list[ContentEvent], Tokens, ShownText]:
    """The text in events of one character each, at 50 tokens a second."""
    text, tokens = text * 3, tokens * 3
    step = tokens * 20 * MS / len(text)
    contents = [ContentEvent(round(place * step), Kind.ANSWER, 1) for place in range(len(text))]
    return contents, Tokens(10, None, tokens, None, "usage"), ShownText({Kind.ANSWER: text})


@SCRIPTS
def test_an_answer_in_any_script_keeps_its_speed_whoever_counted_its_tokens(one: Measured):
    for tokens in (one.most, one.fewest):
        found = decode_speed(*answer_of(one.text, tokens))
        assert found.tokens_per_s == pytest.approx(50, rel=0.05), found.withheld
        assert found.basis == "output"


@SCRIPTS
def test_an_answer_of_nine_tenths_hidden_reasoning_has_no_speed_in_any_script(one: Measured):
    found = decode_speed(*answer_of(one.text, 9 * one.most))
    assert found.tokens_per_s is None
    assert "fewer than any tokenizer makes of such text" in (found.withheld or "")
