"""The names and codes of countries and of the states of the USA, and the names of regions of countries.

The codes of countries are those of ISO 3166 (from the library iso3166), or of the Olympic committees where
these differ; those of the states are the two letters that the post of the USA writes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from localcrag.crag.table_answers.table_values import roots, word_list

_USUAL_NAMES = {
    "US": "United States|United States of America|USA|U.S.|America",
    "GB": "United Kingdom|UK|Great Britain|Britain",
    "RU": "Russia",
    "KR": "South Korea|Korea",
    "KP": "North Korea",
    "IR": "Iran",
    "SY": "Syria",
    "VN": "Vietnam",
    "LA": "Laos",
    "MD": "Moldova",
    "MK": "Macedonia",
    "TZ": "Tanzania",
    "BO": "Bolivia",
    "VE": "Venezuela",
    "BN": "Brunei",
    "BA": "Bosnia",
    "CI": "Ivory Coast",
    "CV": "Cape Verde",
    "CZ": "Czech Republic",
    "NL": "Holland",
    "TR": "Turkey",
    "AE": "UAE|Emirates",
}
"""What countries are called otherwise than in the standard."""
_OLYMPIC_CODES = (
    "DE:GER NL:NED CH:SUI DK:DEN GR:GRE PT:POR HR:CRO SI:SLO BG:BUL ZA:RSA CL:CHI UY:URU PY:PAR MY:MAS "
    "ID:INA PH:PHI VN:VIE DZ:ALG SA:KSA AE:UAE IR:IRI LV:LAT MN:MGL NG:NGR TW:TPE HT:HAI PR:PUR KW:KUW "
    "LK:SRI ZW:ZIM ZM:ZAM CR:CRC SV:ESA GT:GUA HN:HON LB:LBN BS:BAH BB:BAR AO:ANG BW:BOT TZ:TAN MM:MYA "
    "NE:NIG SD:SUD"
)
"""The codes of the Olympic committees that are not those of the standard."""
_STATES = (
    "AL:Alabama AK:Alaska AZ:Arizona AR:Arkansas CA:California CO:Colorado CT:Connecticut DE:Delaware "
    "FL:Florida GA:Georgia HI:Hawaii ID:Idaho IL:Illinois IN:Indiana IA:Iowa KS:Kansas KY:Kentucky "
    "LA:Louisiana ME:Maine MD:Maryland MA:Massachusetts MI:Michigan MN:Minnesota MS:Mississippi "
    "MO:Missouri MT:Montana NE:Nebraska NV:Nevada NH:New_Hampshire NJ:New_Jersey NM:New_Mexico "
    "NY:New_York NC:North_Carolina ND:North_Dakota OH:Ohio OK:Oklahoma OR:Oregon PA:Pennsylvania "
    "PR:Puerto_Rico RI:Rhode_Island SC:South_Carolina SD:South_Dakota TN:Tennessee TX:Texas UT:Utah "
    "VT:Vermont VA:Virginia WA:Washington WV:West_Virginia WI:Wisconsin WY:Wyoming "
    "DC:District_of_Columbia"
)
_REGION = re.compile(
    r"(?:the )?(?:whole )?(?:world(?:wide)?|earth|global|(?:rest of|all) (?:the )?(?:world|countries)"
    r"|(?:(?:north|south|east|west|central|middle|latin|sub-saharan|northern|southern|eastern|western)"
    r"[ -]?(?:east(?:ern)?[ -]|west(?:ern)?[ -]|and [a-z]+ )?)?(?:africa|asia|europe|americas?)"
    r"|middle east|oceania|caribbean|european union|eu(?:[- ]?(?:15|25|27|28))?|euro ?(?:area|zone)|oecd|nato"
    r"|asia[ -]pacific|(?:high|low|(?:upper|lower)?[ -]?middle)[ -]income(?: countries)?"
    r"|(?:developing|developed|least developed) (?:countries|regions))"
    r"(?:,? (?:and|&|excl\.?|excluding) [a-z ,.'-]+|,? total)?(?: ?\([^()]*\))?",
    re.IGNORECASE,
)
"""The names of what is made up of countries: the world, continents, groups by their income."""
_MIN_COUNTRIES, _MIN_COUNTRY_SHARE = 8, 0.5
"""How many different countries name rows, and their share of all names, if the rows are countries."""


@dataclass(frozen=True)
class PlaceCodes:
    """The codes of one kind, by the name of the place."""

    by_name: Mapping[str, str]

    @cached_property
    def codes(self) -> frozenset[str]:
        """All codes of the kind."""
        return frozenset(self.by_name.values())

    @cached_property
    def by_words(self) -> Mapping[tuple[str, ...], str]:
        """The codes by the words of the names, for comparison."""
        return {roots(name): code for name, code in self.by_name.items()}

    @cached_property
    def longest(self) -> int:
        """The words of the longest name."""
        return max(map(len, self.by_words))


@lru_cache(maxsize=1)
def place_codes() -> tuple[PlaceCodes, ...]:
    """The codes of each kind: of countries with two and three letters, of Olympic teams, and of states."""
    from iso3166 import countries

    olympic = dict(pair.split(":") for pair in word_list(_OLYMPIC_CODES))
    two: dict[str, str] = {}
    three: dict[str, str] = {}
    teams: dict[str, str] = {}
    for country in countries:
        usual = _USUAL_NAMES.get(country.alpha2, "")
        for name in filter(None, (country.apolitical_name, *usual.split("|"))):
            two[name], three[name] = country.alpha2, country.alpha3
            teams[name] = olympic.get(country.alpha2, country.alpha3)
    pairs = (pair.split(":") for pair in word_list(_STATES))
    states = {name.replace("_", " "): code for code, name in pairs}
    return PlaceCodes(two), PlaceCodes(three), PlaceCodes(teams), PlaceCodes(states)


def regions_among_countries(names: Sequence[str]) -> frozenset[str]:
    """Those of the names of rows that are regions, if most of the others are those of countries."""
    distinct = set(names)
    regions = {name for name in distinct if _REGION.fullmatch(name.strip()) and not _is_country(name)}
    if not regions:
        return frozenset()
    countries = sum(map(_is_country, distinct))
    are_countries = countries >= max(_MIN_COUNTRIES, _MIN_COUNTRY_SHARE * len(distinct))
    return frozenset(regions) if are_countries else frozenset()


def _is_country(name: str) -> bool:
    """Whether a name is that of a country."""
    return roots(name) in _country_roots()


@lru_cache(maxsize=1)
def _country_roots() -> frozenset[tuple[str, ...]]:
    """The names of countries by their words, without what stands behind a comma."""
    names = place_codes()[0].by_name
    return frozenset(roots(each) for name in names for each in (name, name.partition(",")[0]))
