"""Posts of status pages in the store, and the notes they leave in incidents."""

from msgspec.structs import replace

from probes import typed_json
from probes.store.alerts.status_posts import StatusPosts, posts_of, read_posts
from tests.alerts.test_lead_time import BEGAN, INCIDENT, MINUTE, NOW, post
from tests.store.stores import ask, other, url_of

PAGES = {"p"}


def open_incident(store, incident):
    with other(store) as connection:
        text = typed_json.encode(incident).decode().replace("'", "''")
        resolved = "NULL" if incident.resolved_at is None else incident.resolved_at
        connection.execute(
            f"INSERT INTO incident (id, opened_at, resolved_at, text) "
            f"VALUES ('{incident.id}', {incident.opened_at}, {resolved}, '{text}')"
        )


def noted(store):
    return ask(store, "SELECT incident_id, at, what, text FROM incident_event ORDER BY at")


def test_posts_are_kept_once_and_read_back(store):
    posts = StatusPosts(store)
    posts.keep([post(1), post(5, "y")], ["groq"], NOW)
    posts.keep([replace(post(1), text="edited")], ["groq"], NOW + 9)
    assert read_posts(store, PAGES, 0, NOW) == [replace(post(1), text="edited"), post(5, "y")]
    assert read_posts(store, {"q"}, 0, NOW) == []
    assert read_posts(store, PAGES, BEGAN + 2 * MINUTE, NOW) == [post(5, "y")]
    assert ask(store, "SELECT DISTINCT seen_at, provider FROM status_post") == [(NOW, "groq")]


def test_a_post_is_noted_once_in_an_incident_of_its_provider(store):
    open_incident(store, INCIDENT)
    open_incident(store, replace(INCIDENT, id="old", resolved_at=NOW - 24 * 60 * MINUTE))
    posts = StatusPosts(store)
    posts.keep([post(12)], ["openai"], NOW)
    assert noted(store) == []
    posts.keep([post(12), post(-2_000, "old")], ["groq"], NOW)
    posts.keep([post(12), post(30)], ["groq"], NOW)
    assert noted(store) == [
        ("I", BEGAN + 12 * MINUTE, "status page", "s: t"),
        ("I", BEGAN + 30 * MINUTE, "status page", "s: t"),
    ]


def test_a_post_that_was_there_before_the_incident_is_noted_when_it_opens(store):
    posts = StatusPosts(store)
    posts.keep([post(-4)], ["groq"], NOW)
    open_incident(store, INCIDENT)
    posts.keep([post(-4)], ["groq"], NOW)
    assert [at for _, at, _, _ in noted(store)] == [BEGAN - 4 * MINUTE]
    assert posts_of(store, INCIDENT, PAGES, NOW) == (post(-4),)


def test_what_cannot_be_read_is_left_out_and_an_empty_store_has_none(store, tmp_path):
    StatusPosts(store).keep([post(1)], ["groq"], NOW)
    open_incident(store, INCIDENT)
    with other(store) as connection:
        connection.execute("UPDATE status_post SET text = '{}'")
        connection.execute("UPDATE incident SET text = '{}'")
    assert read_posts(store, PAGES, 0, NOW) == []
    StatusPosts(store).keep([post(2)], ["groq"], NOW)
    assert read_posts(url_of(tmp_path / "none.db"), PAGES, 0, NOW) == []
    StatusPosts(store).keep([], ["groq"], NOW)
