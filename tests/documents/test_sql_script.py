"""The rows of SQL dumps are those of tables; scripts without rows are source code."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcrag.crag.table_answers.parsed_tables import tables_of
from localcrag.documents import LocalCorpus
from localcrag.documents.extracted import Limits
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.readers import sql_tokens
from localcrag.documents.readers.plain_text import read_text
from localcrag.documents.readers.sql_script import read_sql
from localcrag.errors import UnreadableError
from localcrag.types import BlockKind
from tests.crag.test_group_questions import asked
from tests.documents.conftest import ReadFunction

BOATS = """-- Boats of the club
CREATE TABLE boat (
    boat_no INTEGER NOT NULL PRIMARY KEY,
    name VARCHAR(20) CHECK (name <> ''),
    berth_code CHAR(3),
    FOREIGN KEY (berth_code) REFERENCES berth (berth_code)
);
INSERT INTO berth (berth_code, metres) VALUES ('N1', 8.5);
INSERT INTO boat (boat_no, name, berth_code) VALUES (7, 'Gull', 'N1');
-- The tern is new
INSERT INTO boat (boat_no, name, berth_code) VALUES (9, 'Tern', 'S2');
INSERT INTO berth (berth_code, metres) VALUES ('S2', 11);
INSERT INTO boat (boat_no, name, berth_code) VALUES (12, 'Skua', 'S2');
COMMIT;
"""
BOAT_ROWS = [
    "boat_no: 7 · name: Gull · berth_code: N1",
    "boat_no: 9 · name: Tern · berth_code: S2",
    "boat_no: 12 · name: Skua · berth_code: S2",
]
BERTH_ROWS = ["berth_code: N1 · metres: 8.5", "berth_code: S2 · metres: 11"]

MYSQL = r"""-- MySQL dump 10.13
/*!40101 SET NAMES utf8mb4 */;
DROP TABLE IF EXISTS `plant list`;
CREATE TABLE `plant list` (
  `id` int unsigned NOT NULL AUTO_INCREMENT,
  `common name` varchar(40) DEFAULT NULL,
  `height` decimal(5,2) DEFAULT '0.00',
  `sown` date DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `by_name` (`common name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
LOCK TABLES `plant list` WRITE;
/*!40000 ALTER TABLE `plant list` DISABLE KEYS */;
INSERT INTO `plant list` VALUES (1,'Lady\'s mantle',0.40,'2024-03-01'),(2,'Say \"aah\"; (x),\nrue',-1,NULL),
(3,'C:\\seed',1.2e1,'2024-05-09');
/*!40000 ALTER TABLE `plant list` ENABLE KEYS */;
UNLOCK TABLES;
DELIMITER ;;
CREATE TRIGGER `grown` AFTER INSERT ON `plant list` FOR EACH ROW BEGIN
  INSERT INTO `growth` VALUES (NEW.id, 'sown');
END ;;
DELIMITER ;
INSERT IGNORE INTO `plant list` (`id`, `common name`) VALUES (4, _utf8mb4'Sage')
ON DUPLICATE KEY UPDATE `id` = 4;
REPLACE INTO `plant list` (`id`, `common name`) VALUES (5, 'Thyme');
"""
POSTGRES = r"""SET standard_conforming_strings = on;
CREATE TABLE public.walks (
    id integer NOT NULL,
    "Full title" text,
    km numeric(6,2)
);
CREATE FUNCTION public.longer() RETURNS trigger AS $body$
BEGIN
  INSERT INTO walks VALUES (0, 'none', 1);
  RETURN NEW;
END;
$body$ LANGUAGE plpgsql;
COPY public.walks (id, "Full title", km) FROM stdin;
1	Mill's path; north	4.20
2	Over\tthe\nhill	\N
3	C:\\moor \x41\102	-1
\.
COPY public.empty (id) FROM stdin;
\.
INSERT INTO public.walks VALUES (4, E'Tom\'s way', '7.5'::numeric(6,2));
INSERT INTO public.stage (id, day) OVERRIDING SYSTEM VALUE VALUES (1, DATE '2024-02-29') RETURNING id;
"""
TSQL = """USE [Yard]
GO
CREATE TABLE [dbo].[Tool] ([ToolId] [int] IDENTITY(1,1) NOT NULL, [Tool Name] [nvarchar](50) NULL)
GO
SET IDENTITY_INSERT [dbo].[Tool] ON
INSERT [dbo].[Tool] ([ToolId], [Tool Name], [Bought]) VALUES (1, N'Joe''s saw', CAST(N'2008-04-30' AS Date))
INSERT [dbo].[Tool] ([ToolId], [Tool Name], [Bought]) VALUES (2, N'Plane', NULL)
GO
CREATE PROCEDURE [dbo].[Lend] AS
INSERT INTO [dbo].[Loan] VALUES (1, 'lent');
INSERT INTO [dbo].[Loan] VALUES (2, 'lent');
GO
INSERT [dbo].[Tool] VALUES (3, N'Adze')
GO
"""


def of_kind(text: str, kind: BlockKind, limits: Limits | None = None) -> list[str]:
    [page] = read_sql(text.encode(), limits or Limits()).pages
    return [page.text[block.start : block.end] for block in page.blocks if block.kind is kind]


def rows_of(text: str) -> list[str]:
    return of_kind(text, BlockKind.ROW)


def values_of(*values: str) -> list[str]:
    """What is shown of values, each of which stands in a row of its own."""
    made = "".join(
        f"INSERT INTO t (n, v) VALUES ({number}, {value});\n" for number, value in enumerate(values)
    )
    return [row.partition(" · v: ")[2] for row in rows_of(made + "INSERT INTO t (n) VALUES (8),(9),(10);")][
        :-3
    ]


def is_code(text: str) -> bool:
    """Whether a script is read as source code is."""
    data = text.encode()
    return read_sql(data, Limits()) == read_text(DocumentFormat.CODE, data, Limits())


def test_rows_of_a_table_stand_together_below_its_name(read: ReadFunction) -> None:
    document = read("boats.sql", BOATS)
    [page] = document.pages
    assert (document.title, document.media_type) == ("boats", "application/sql")
    assert page.number is None
    shown = [(block.kind, block.level, page.text[block.start : block.end]) for block in page.blocks]
    assert [text for kind, _, text in shown if kind is BlockKind.CODE] == [
        BOATS[: BOATS.index("\nINSERT")],
        "-- The tern is new",
        "COMMIT;",
    ]
    assert shown[3:] == [
        (BlockKind.HEADING, 2, "berth"),
        *((BlockKind.ROW, number, row) for number, row in enumerate(BERTH_ROWS, 1)),
        (BlockKind.HEADING, 2, "boat"),
        *((BlockKind.ROW, number, row) for number, row in enumerate(BOAT_ROWS, 1)),
    ]


def test_tables_are_parsed_apart_by_their_names(read: ReadFunction, corpus: LocalCorpus) -> None:
    tables = tables_of(corpus.split(read("boats.sql", BOATS)))
    assert [(table.names[0], table.columns, len(table.rows)) for table in tables] == [
        ("berth", ("berth_code", "metres"), 2),
        ("boat", ("boat_no", "name", "berth_code"), 3),
    ]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many boats have the berth code S2?", "2 – name: Tern [1], Skua [2]"),
        ("How many boats are there?", "3"),
        ("Which berth has the most metres?", "S2 has the most"),
    ],
)
def test_a_question_is_computed_over_a_dump(tmp_path: Path, question: str, answer: str) -> None:
    found = asked(tmp_path, "boats.sql", question, BOATS)
    assert found is not None and found[0].text.startswith(answer)


def test_a_dump_of_mysql() -> None:
    assert rows_of(MYSQL) == [
        "id: 1 · common name: Lady's mantle · height: 0.40 · sown: 2024-03-01",
        'id: 2 · common name: Say "aah"; (x), rue · height: -1',
        r"id: 3 · common name: C:\seed · height: 1.2e1 · sown: 2024-05-09",
        "id: 4 · common name: Sage",
        "id: 5 · common name: Thyme",
    ]
    assert of_kind(MYSQL, BlockKind.HEADING) == ["plant list"]
    code = "\n".join(of_kind(MYSQL, BlockKind.CODE))
    assert "(NEW.id, 'sown')" in code and "KEY `by_name`" in code and "Sage" not in code


def test_a_dump_of_postgres() -> None:
    assert rows_of(POSTGRES) == [
        "id: 1 · Full title: Mill's path; north · km: 4.20",
        "id: 2 · Full title: Over the hill",
        r"id: 3 · Full title: C:\moor AB · km: -1",
        "id: 4 · Full title: Tom's way · km: 7.5",
        "id: 1 · day: 2024-02-29",
    ]
    assert of_kind(POSTGRES, BlockKind.HEADING) == ["walks", "stage"]
    code = "\n".join(of_kind(POSTGRES, BlockKind.CODE))
    assert "$body$ LANGUAGE plpgsql;" in code and "COPY public.empty" in code and "RETURNING" not in code


def test_a_dump_of_sql_server() -> None:
    assert rows_of(TSQL) == [
        "ToolId: 1 · Tool Name: Joe's saw · Bought: 2008-04-30",
        "ToolId: 2 · Tool Name: Plane",
        "ToolId: 3 · Tool Name: Adze",
    ]
    assert "INSERT INTO [dbo].[Loan] VALUES (2, 'lent');" in "\n".join(of_kind(TSQL, BlockKind.CODE))


def test_columns_without_names_are_numbered() -> None:
    script = "INSERT INTO tide VALUES ('am', 3.1), ('pm', -0.4), (NULL, NULL), ('late', 2);"
    assert rows_of(script) == [
        "column 1: am · column 2: 3.1",
        "column 1: pm · column 2: -0.4",
        "column 1: late · column 2: 2",
    ]


@pytest.mark.parametrize(
    "made",
    [
        "CREATE TABLE main.meta (key TEXT, value TEXT, PRIMARY KEY (key))",
        "create temp table if not exists meta (key text, value text unique, unique (key, value))",
        'CREATE TABLE "meta" ("key" VARCHAR (20), "value" NUMERIC(5, 2), CONSTRAINT c CHECK (key <> 2))',
        "CREATE TABLE meta (key VARCHAR (20), value INT, KEY by_key (key), INDEX (value))",
        "CREATE TABLE meta (key INT DEFAULT (1 + 2), /* , none */ value INT, FOREIGN KEY (key) REFERENCES a)",
    ],
)
def test_columns_are_those_that_a_table_is_made_with(made: str) -> None:
    script = f"{made};\nINSERT INTO meta VALUES ('a', 1), ('b', 2), ('c', 3);"
    assert rows_of(script) == ["key: a · value: 1", "key: b · value: 2", "key: c · value: 3"]


def test_values_are_shown_as_text() -> None:
    assert values_of("'O''Hara'", '"a ""b"""', "''", "'two\n  lines'") == ["O'Hara", 'a "b"', "", "two lines"]
    assert values_of("-5", "- 5", "+1.50", ".5", "1e-3") == ["-5", "-5", "+1.50", ".5", "1e-3"]
    assert values_of("NULL", "null", "DEFAULT", "TRUE", "'NULL'") == ["", "", "", "TRUE", "NULL"]
    assert values_of("now()", "f(1, (2))", "3 + 4", "'a' || 'b'") == [
        "now()",
        "f(1, (2))",
        "3 + 4",
        "'a' || 'b'",
    ]
    assert values_of("DATE '2024-01-02'", "CAST(-3 AS INT)", "'7'::int", "'a'::text || 'b'") == [
        *("2024-01-02", "-3", "7", "'a'::text || 'b'"),
    ]
    assert values_of("'<p>One</p><p>two</p>'", "'a · b'") == ["One two", "a · b"]
    assert values_of("X'" + "ff" * 50 + "'", "0x" + "ab" * 40, "X'ff'") == ["", "", "X'ff'"]


def test_statements_name_different_columns_of_one_table() -> None:
    script = """insert into Pond (id, depth) values (1, 2.5); INSERT INTO pond (id, fish) VALUES (2, 'tench');
    INSERT INTO "pond" VALUES (3, 4, 5);"""
    assert rows_of(script) == [
        "id: 1 · depth: 2.5",
        "id: 2 · fish: tench",
        "column 1: 3 · column 2: 4 · column 3: 5",
    ]
    assert of_kind(script, BlockKind.HEADING) == ["Pond"]


def test_tables_of_different_schemas_are_different_ones() -> None:
    script = "INSERT INTO old.log (n) VALUES (1);\nINSERT INTO new.log (n) VALUES (2), (3);"
    assert of_kind(script, BlockKind.HEADING) == ["log", "log"]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO a SELECT n, m FROM b;",
        "INSERT INTO a (n, m) SELECT 1, 2 UNION ALL SELECT 3, 4;",
        "INSERT INTO a (n) (SELECT n FROM b);",
        "INSERT INTO a SET n = 1, m = 2;",
        "INSERT INTO a DEFAULT VALUES;",
        "INSERT INTO a VALUES (1, 2), (3);",
        "INSERT INTO a VALUES (1, 2;",
        "INSERT INTO a VALUES ROW(1, 2);",
        "UPDATE a SET n = 'x; INSERT INTO a VALUES (1)';",
        "/* INSERT INTO a VALUES (1, 2); */",
        "-- INSERT INTO a VALUES (1, 2);",
        "CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE a SET n = CASE WHEN n THEN 1 ELSE 2 END;"
        " INSERT INTO a VALUES (1, 2); END;",
        "CREATE OR REPLACE PROCEDURE p IS\n  x INT;\nBEGIN\n  IF x > 1 THEN\n    INSERT INTO a VALUES (1, 2);"
        "\n  END IF;\n  INSERT INTO a VALUES (3, 4);\nEND;\n/",
        "SET TERM ^ ;\nCREATE TRIGGER t FOR a AS BEGIN\n INSERT INTO a VALUES (1, 'x');\nEND ^\nSET TERM ; ^",
        "DELIMITER $$\nCREATE PROCEDURE p() BEGIN INSERT INTO a VALUES (1, 2); END$$\nDELIMITER ;",
        "CREATE FUNCTION f() RETURNS void AS $$ INSERT INTO a VALUES (1, 2); $$ LANGUAGE sql;",
        "DO $x$ BEGIN INSERT INTO a VALUES (1, 2); END $x$;",
        "CREATE PROCEDURE p AS BEGIN INSERT INTO a VALUES (1, 2) END\nGO",
        "COPY a (n, m) FROM stdin WITH (FORMAT csv);\n1,2\n\\.",
        "GRANT ALL ON a TO b; VACUUM; PRAGMA foreign_keys=OFF; BEGIN TRANSACTION;",
    ],
)
def test_what_is_no_row_stays_code(statement: str) -> None:
    script = f"{statement}\nINSERT INTO mole VALUES ('here');\nINSERT INTO mole VALUES ('there'), ('gone');\n"
    assert rows_of(script) == ["here", "there", "gone"]
    assert statement in read_sql(script.encode(), Limits()).pages[0].text
    assert is_code(statement)


@pytest.mark.parametrize(
    "script",
    [
        MYSQL[: MYSQL.index("LOCK")],
        "SELECT n, m\nFROM a\n\n\n\nWHERE n = 'x';\n\n-- done\n",
        "INSERT INTO a VALUES (1, 2), (3, 4);\n",
        BOATS.replace("'Skua'", "'Skua"),
        "",
        "\r\nCREATE VIEW v AS\r\n  SELECT 1;\r\n",
    ],
)
def test_a_script_without_rows_is_code(script: str) -> None:
    assert is_code(script)


def test_a_script_without_rows_is_stored_as_code(read: ReadFunction) -> None:
    script = BOATS[: BOATS.index("INSERT")]
    document, code = read("boats.sql", script), read("boats.py", script)
    assert (document.title, document.media_type) == ("boats.sql", MEDIA_TYPES[DocumentFormat.CODE])
    assert document.pages == code.pages


def test_a_string_may_end_with_a_backslash_where_it_escapes_nothing() -> None:
    script = "PRAGMA foreign_keys=OFF;\nINSERT INTO d VALUES ('C:\\', 1), ('D:\\', 2), ('E', 3);"
    assert rows_of(script)[0] == "column 1: C:\\ · column 2: 1"


def test_a_dialect_that_nothing_tells_is_the_one_in_which_quotes_are_balanced() -> None:
    script = r"INSERT INTO d VALUES ('Tom\'s', 1), ('a', 2), ('b', 3);"
    assert rows_of(script)[0] == "column 1: Tom's · column 2: 1"


def test_a_long_script_is_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"({number},'reed (x),\n;\n{number}'),\n" for number in range(300)]
    comment = "/* INSERT INTO pond VALUES (1, 'a');\nINSERT INTO pond VALUES (2, 'it''s');\n */\n"
    script = f"{comment}INSERT INTO pond (n, kind) VALUES {''.join(rows)}(300,'end');\n{comment}"
    whole = rows_of(script)
    for characters in (40, 100):
        monkeypatch.setattr(sql_tokens, "_PART_CHARACTERS", characters)
        assert rows_of(script) == whole
    assert len(whole) == 301 and whole[7] == "n: 7 · kind: reed (x), ; 7"


def test_a_large_dump_is_read_in_the_order_of_its_rows() -> None:
    rows = ",".join(f"({number},'reed {number}',{number}.5)" for number in range(20_000))
    found = rows_of(f"INSERT INTO pond (n, kind, depth) VALUES {rows};")
    assert len(found) == 20_000 and found[-1] == "n: 19999 · kind: reed 19999 · depth: 19999.5"


def test_more_text_than_the_limit_is_refused() -> None:
    column = "c" * 500
    rows = ",".join("(1)" for _ in range(100))
    with pytest.raises(UnreadableError, match="text expands"):
        read_sql(f"INSERT INTO t ({column}) VALUES {rows};".encode(), Limits(text=20_000))


def test_too_many_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("localcrag.documents.table_rows._MAX_CELLS", 5)
    with pytest.raises(UnreadableError, match="cells"):
        read_sql(BOATS.encode(), Limits())


@pytest.mark.parametrize("end", range(0, len(MYSQL), 37))
def test_a_script_that_is_cut_anywhere_is_read(end: int) -> None:
    assert read_sql(MYSQL[:end].encode(), Limits()).pages
    assert read_sql(POSTGRES[:end].encode(), Limits()).pages
    assert read_sql(TSQL[:end].encode(), Limits()).pages


def test_the_key_of_another_row_is_what_tells_that_row() -> None:
    script = "".join(
        "INSERT INTO town (state, code, name) VALUES "
        f"((SELECT id FROM state WHERE land='AU' AND code='NT'), 08{at:02}, '{name}');\n"
        for at, name in enumerate(("Alder", "Birch", "Cedar"))
    )
    text = read_sql(script.encode(), Limits()).pages[0].text
    assert "state: AU NT · code: 0800 · name: Alder\n" in text and "SELECT" not in text
    plain = script.replace("SELECT id FROM state WHERE land='AU' AND code='NT'", "1 + 2")
    assert "state: (1 + 2) · code: 0800" in read_sql(plain.encode(), Limits()).pages[0].text
