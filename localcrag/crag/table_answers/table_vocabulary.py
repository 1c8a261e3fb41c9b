"""The words by which questions over tables are recognised, in English."""

from __future__ import annotations

from collections.abc import Mapping

from localcrag.crag.questions.calendar_dates import MONTHS, WEEKDAYS
from localcrag.crag.table_answers.table_values import root, word_list

FUNCTION_WORDS = frozenset(
    word_list(
        """
        a about according all already among an and any are as at be been being by calendar can current
        currently did do does file for from get give given had has have having how i in into is it its
        just list listed many may me much my now of on ones only our out overall please question record
        row rows sheet show so still table tell than that the their them then there these they this
        those to us was we were what when where which who whom whose with within yet you your
        """
    )
)
"""Words that say nothing about a table."""
VERBS = frozenset(
    word_list(
        "am are be been can could did do does had has have is may must shall should was were will would"
    )
)
LIGHT_VERBS = frozenset(
    word_list(
        """
        came cause caused causes come comes consume consumed consumes fallen fell gave get gets give given
        gives go goes going gone got need needed needs offer offered offers
        provide provided provides reach reached reaches receive received receives run runs showed shown shows
        use used uses went play plays played compete competed participate participated belong belongs belonged
        """
    )
)
"""Verbs that say no more than "have", unless a column or a cell of the table has the word."""
RECORDING_VERBS = frozenset(
    word_list(
        """
        book booked enter entered list listed log logged note noted put record recorded register registered
        report reported spend spent take taken took work worked
        """
    )
)
"""Verbs that say in a total that its rows were written down: "how many hours were booked in total"."""
ASSIGNED_WORDS = frozenset(word_list("assigned down rostered scheduled"))
"""Words behind a name that say no more than that it stands in the row: "Ann is down for the desk"."""
EVERYBODY = frozenset(word_list("everybody everyone"))
"""Words by which a sum leaves no row out: "by everybody together"."""
DOCUMENT_KINDS = tuple(
    frozenset(map(root, word_list(words)))
    for words in (
        "plan planning schedule rota roster timetable",
        "log logbook diary journal",
        "register inventory catalogue index",
    )
)
"""What a document of one kind may be called, one word for another."""
DATA_WORDS = frozenset(map(root, word_list("data dataset series statistics")))
"""What a table of figures may be called, whatever its name."""
AUXILIARIES = frozenset(word_list("did do does had has have was were"))
"""Verbs behind which another one follows: "what did she claim"."""
SPENDING_VERBS = frozenset(
    word_list(
        """
        bill billed charge charged claim claimed contribute contributed donate donated expense expensed
        invest invested invoice invoiced
        """
    )
)
"""Verbs that are about an amount of money behind an auxiliary, and may be nouns elsewhere."""
PRONOUNS = frozenset(word_list("i we you they"))
"""Whoever asks: what "we paddled" is what the table is about."""
ROW_NAMES = frozenset(word_list("row rows record records"))
"""Words for the rows of a table, whatever they are."""
PLURALS = frozenset(word_list("children men people women"))
"""Nouns of several things that do not end as others do."""
_PERIODS = word_list("quarter half term semester")
PERIODS_BEHIND: Mapping[str, frozenset[str]] = {
    "first": frozenset(_PERIODS),
    "last": frozenset(_PERIODS).union(
        MONTHS,
        WEEKDAYS,
        word_list("autumn decade fall month night season spring summer week weekend winter year"),
    ),
}
"""The times before which a word says which one is meant: "first quarter", "last June"."""
NEGATIONS = frozenset(
    word_list(
        """
        apart besides cannot except excepting excluding lack lacking lacks neither never no nobody none nor
        not other others without
        """
    )
)
UNSUPPORTED = frozenset(
    word_list(
        """
        compared difference each either every if median or percentage proportion rather ratio respectively
        share times versus vs whether why
        """
    )
)
HIGH, LOW = "high", "low"
SUPERLATIVES: dict[str, tuple[str, str]] = {
    word: (direction, about)
    for direction, about, words in (
        (HIGH, "", "most highest largest biggest greatest maximum max maximal top"),
        (LOW, "", "least lowest smallest fewest minimum min minimal"),
        (HIGH, "merit", "best"),
        (LOW, "merit", "worst"),
        (LOW, "price", "cheapest"),
        (HIGH, "price", "dearest priciest costliest"),
        (HIGH, "length", "longest farthest furthest"),
        (LOW, "length", "shortest"),
        (HIGH, "height", "tallest"),
        (HIGH, "weight", "heaviest"),
        (LOW, "weight", "lightest"),
        (HIGH, "depth", "deepest"),
        (LOW, "depth", "shallowest"),
        (HIGH, "width", "widest broadest"),
        (LOW, "width", "narrowest"),
        (HIGH, "temperature", "hottest warmest"),
        (LOW, "temperature", "coldest coolest"),
        (HIGH, "speed", "fastest quickest"),
        (LOW, "speed", "slowest"),
        (HIGH, "deaths", "deadliest"),
        (HIGH, "sound", "loudest noisiest"),
        (LOW, "sound", "quietest"),
        (LOW, "age", "oldest"),
        (HIGH, "age", "newest youngest"),
        (HIGH, "time", "latest last"),
        (LOW, "time", "earliest first"),
    )
    for word in word_list(words)
}
TWO_WORDS = {
    "most expensive": (HIGH, "price"),
    "least expensive": (LOW, "price"),
    "most recent": (HIGH, "time"),
    "most recently": (HIGH, "time"),
}
GENERIC_ABOUT = {
    "highest": "height", "lowest": "height", "largest": "size", "biggest": "size", "smallest": "size",
    "greatest": "size",
}  # fmt: skip
"""What a word for the most is about if the question names no column: the highest station."""
QUANTITY_WORDS: dict[str, frozenset[str]] = {
    about: frozenset(map(root, word_list(words)))
    for about, words in {
        "price": "price cost fee fare charge rate rent preis kosten gebühr prix tarif precio tarifa",
        "worth": "value worth wert",
        "earnings": "salary wage pay income earning",
        "spending": "amount amt cost expense expenditure spend pay betrag ausgaben montant dépense importe "
        "gasto",
        "length": "length len distance duration runtime",
        "height": "height altitude elevation elev",
        "weight": "weight mass wt",
        "depth": "depth",
        "width": "width breadth",
        "size": "size area",
        "temperature": "temperature temp",
        "speed": "speed",
        "sound": "sound noise loudness",
        "deaths": "death died dead killed fatality mortality todesfall tote",
        "age": "built founded opened established since installed birth construction",
        "time": "",
    }.items()
}
"""The words for columns that each kind of superlative is about."""
COST_WORDS = QUANTITY_WORDS["spending"] | QUANTITY_WORDS["price"]
"""The words for columns of what something costs or cost."""
MEASURE_WORDS = frozenset(
    map(
        root,
        word_list(
            """
            age code date diameter fips id index latitude longitude number percent radius rank rating ratio
            score year zip
            """
        ),
    )
).union(*QUANTITY_WORDS.values())
"""Words in the name of a column whose numbers measure or number something, and count nothing."""
COUNTED_THINGS = {"deaths": frozenset(map(root, word_list("people person life lives human victim")))}
"""Of what numbers of a quantity are: deaths are of people."""
KILLING_VERBS = frozenset(map(root, word_list("kill die")))
"""Verbs that say of the numbers of a column that they are of deaths: "did disease kill the most soldiers"."""
HARM_WORDS = frozenset(
    map(
        root,
        word_list(
            "accident casualty case complaint crime damage defect delay disease error failure illness "
            "incident infection injury loss wound"
        ),
    )
)
"""Words in the name of a column of which more is worse."""
QUANTITY_OF_VERB = {
    root("cost"): "price", root("worth"): "worth", root("earn"): "earnings", root("spend"): "spending",
    root("kill"): "deaths", root("die"): "deaths",
}  # fmt: skip
"""What "costs the most", "is worth the least", "spend most on" and the like are about."""
PERSONS = frozenset(
    map(
        root,
        word_list(
            """
            name person owner leader responsible engineer observer reporter contact member employee author
            teacher player driver student winner manager customer client guest candidate runner salesperson
            tenant resident patient buyer seller supplier rider pupil volunteer speaker applicant holder
            director chair colleague passenger victim pilot captain doctor nurse trainer coach cook artist
            beekeeper borrower donor gardener host reader rep representative scorer skipper sponsor swimmer
            technician trainee tutor worker
            """
        ),
    )
)
"""Words in the name of a column of persons."""
NAMING_WORDS = frozenset(map(root, word_list("name title label bezeichnung titel nom nombre")))
"""Words in the name of a column of the names of whatever the rows are."""
WORD_NUMBERS = {
    word: n for n, word in enumerate(word_list("two three four five six seven eight nine ten"), 2)
}
ORDINAL_NUMBERS = {
    word: str(number)
    for number, word in enumerate(word_list("second third fourth fifth sixth seventh eighth ninth tenth"), 2)
}
"""The numbers of ordinals, but for "first", which also asks for what was before all others."""
WHOLE_WORDS = frozenset(word_list("whole entire complete full"))
"""Words that say of a thing that no part of it is left out."""
TOTAL_PHRASES = (
    ("in", "total"),
    ("in", "all"),
    ("in", "sum"),
    ("altogether",),
    ("combined",),
    ("all", "together"),
    ("so", "far"),
    ("to", "date"),
    ("until", "now"),
)
MORE = (">", "more than|over|above|greater than|higher than|larger than|exceeding|bigger than")
COMPARATORS = tuple(
    (sign, phrase.split())
    for sign, phrases in (
        (">=", "at least|no less than|a minimum of"),
        ("<=", "at most|no more than|up to|a maximum of"),
        MORE,
        ("<", "less than|fewer than|under|below|lower than|smaller than"),
        ("=", "exactly"),
    )
    for phrase in phrases.split("|")
)
SPLIT_COMPARATORS = {"more": ">", "higher": ">", "less": "<", "fewer": "<", "lower": "<"}
"""Words that compare two columns around the name of one of them: "fewer in stock than the minimum"."""
COMPARATIVES: dict[str, tuple[str, str]] = {
    "longer": (">", "length"), "shorter": ("<", "length"), "heavier": (">", "weight"),
    "lighter": ("<", "weight"), "taller": (">", "height"), "deeper": (">", "depth"),
    "shallower": ("<", "depth"), "cheaper": ("<", "price"), "wider": (">", "width"),
    "narrower": ("<", "width"),
}  # fmt: skip
TEMPORAL_COMPARATORS = {"before": "<", "after": ">", "since": ">="}
