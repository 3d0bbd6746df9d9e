"""Which problems of a store last, and which may pass."""

import errno
import os
import sqlite3
from contextlib import suppress

import psycopg
import pytest

from probes.store.problem import StoreProblem, of_os, of_postgres, of_sqlite, refusal
from probes.store.read.postgres import connect
from tests.store.stores import other

CONNECTION = 'connection failed: connection to server on socket "/run/.s.PGSQL.5432" failed: '


def denial(url):
    with pytest.raises(StoreProblem) as caught:
        connect(url).close()
    return caught.value.state, caught.value.lasting, caught.value.detail


@pytest.fixture
def roles(postgres):
    """A role that is asked for a password, and others that may do less than that."""
    with other(postgres.url()) as connection:
        connection.execute("CREATE ROLE guarded LOGIN PASSWORD 'right'; CREATE ROLE idle")
        connection.execute("CREATE ROLE barred LOGIN; CREATE ROLE outsider LOGIN")
        connection.execute("CREATE ROLE limited LOGIN CONNECTION LIMIT 0")
        with suppress(psycopg.errors.DuplicateDatabase):
            connection.execute("CREATE DATABASE private")
        connection.execute("REVOKE CONNECT ON DATABASE private FROM PUBLIC")
    yield
    with other(postgres.url()) as connection:
        connection.execute("DROP ROLE guarded, idle, barred, outsider, limited")


@pytest.mark.usefixtures("roles")
@pytest.mark.parametrize(
    ("database", "user", "words"),
    [
        ("postgres", "guarded&password=wrong", 'password authentication failed for user "guarded"'),
        ("postgres", "guarded", "the database asks for a password, and there is none"),
        ("postgres", "barred", 'pg_hba.conf rejects connection for host "[local]", user "barred"'),
        ("postgres", "idle", 'role "idle" is not permitted to log in'),
        ("postgres", "nobody_made_it", 'role "nobody_made_it" does not exist'),
        ("nobody_made_it", "inftop", 'database "nobody_made_it" does not exist'),
        ("private", "outsider", 'permission denied for database "private"'),
    ],
)
def test_a_server_that_will_not_have_us_is_told_from_one_that_is_away(postgres, monkeypatch, database, user, words):
    monkeypatch.delenv("PGPASSWORD", raising=False)
    monkeypatch.setenv("PGPASSFILE", os.devnull)
    state, lasting, detail = denial(postgres.url(database, user))
    assert (state, lasting) == ("denied", True)
    assert detail.startswith(words)


@pytest.mark.usefixtures("roles")
def test_a_server_that_has_no_room_for_us_just_now_may_have_it_later(postgres):
    assert denial(postgres.url(user="limited")) == ("failed", False, 'too many connections for role "limited"')


@pytest.mark.parametrize("url", ["postgresql://x@127.0.0.1:1/x", "postgresql:///x?host=/nowhere&user=x"])
def test_a_server_that_is_not_there_may_come(url):
    state, lasting, _ = denial(url)
    assert (state, lasting) == ("failed", False)


@pytest.mark.parametrize(
    "words",
    [  # PostgreSQL 15's own translations
        "FATAL:  Passwort-Authentifizierung für Benutzer »me« fehlgeschlagen",
        "FATAL:  Datenbank »history« existiert nicht",
        "FATAL:  le rôle « me » n'existe pas",
        "FATAL:  la base de données «\xa0history\xa0» n'existe pas",
        'ВАЖНО:  пользователь "me" не прошёл проверку подлинности (по паролю)',
        'FATAL:  ユーザー"me"のパスワード認証に失敗しました',
        '致命错误:  没有用于主机 "::1", 用户 "you", 数据库 "x", SSL off 的 pg_hba.conf 记录',
        "FATAL:  no such database: history",  # pgbouncer's
    ],
)
def test_a_refusal_is_understood_in_any_language(words):
    assert refusal(CONNECTION + words + "\nmore", ("me", "history")) == words.partition(":  ")[2]


@pytest.mark.parametrize(
    "words",
    [
        "FATAL:  the database system is starting up",
        "FATAL:  das Datenbanksystem startet",
        "FATAL:  sorry, too many clients already",
        'FATAL:  too many connections for role "system"',
        "FATAL:  désolé, trop de clients sont déjà connectés",
        'Connection refused\n\tIs the server running on host "system" and accepting connections?',
    ],
)
def test_a_server_that_starts_or_is_full_is_no_refusal_in_any_language(words):
    assert refusal(CONNECTION + words, ("system", "database")) is None


@pytest.mark.parametrize(
    ("sqlstate", "state", "lasting"),
    [
        ("28P01", "denied", True),
        ("28000", "denied", True),
        ("3D000", "denied", True),
        ("42501", "denied", True),
        ("42P07", "foreign", True),
        ("XX001", "corrupt", True),
        ("57P03", "failed", False),
        ("53300", "failed", False),
        ("53100", "full", False),
        ("55P03", "locked", False),
        ("25006", "read_only", False),
        ("57P01", "failed", False),
    ],
)
def test_what_a_server_says_by_number(sqlstate, state, lasting):
    problem = of_postgres(Exception("its words\nand more"), sqlstate)
    assert (problem.state, problem.lasting) == (state, lasting)


@pytest.mark.parametrize(
    ("code", "state", "lasting"),
    [
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "locked", False),
        (sqlite3.SQLITE_FULL, "full", False),
        (sqlite3.SQLITE_IOERR_SHMSIZE, "full", False),
        (sqlite3.SQLITE_IOERR_WRITE, "failed", False),
        (sqlite3.SQLITE_READONLY, "read_only", True),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "read_only", True),
        (sqlite3.SQLITE_READONLY_DBMOVED, "read_only", False),
        (sqlite3.SQLITE_CORRUPT_INDEX, "corrupt", True),
        (sqlite3.SQLITE_NOTADB, "foreign", True),
        (sqlite3.SQLITE_CANTOPEN_ISDIR, "foreign", True),
        (sqlite3.SQLITE_CANTOPEN, "failed", False),
    ],
)
def test_what_sqlite_says(code, state, lasting):
    error = sqlite3.OperationalError("its words")
    error.sqlite_errorcode = code
    problem = of_sqlite(error)
    assert (problem.state, problem.lasting) == (state, lasting)


@pytest.mark.parametrize(
    ("code", "state", "lasting"),
    [
        (errno.ENOSPC, "full", False),
        (errno.EIO, "failed", False),
        (errno.EMFILE, "failed", False),
        (errno.EACCES, "denied", True),
        (errno.EROFS, "read_only", True),
        (errno.ENOTDIR, "foreign", True),
    ],
)
def test_what_the_file_system_says(code, state, lasting):
    problem = of_os(OSError(code, os.strerror(code)))
    assert (problem.state, problem.lasting) == (state, lasting)
