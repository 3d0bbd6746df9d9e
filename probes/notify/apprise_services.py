"""The services that Apprise may deliver to, by the schemas of their addresses (https://appriseit.com/services/)."""

from typing import Final

CHAT: Final = frozenset(
    {
        *(
            "discord",
            "gchat",
            "guilded",
            "lark",
            "feishu",
            "dingtalk",
            "matrix",
            "matrixs",
            "mmost",
            "mmosts",
            "nctalk",
        ),
        *("nctalks", "rocket", "rockets", "ryver", "signal", "signals", "slack", "tgram", "threema", "twist", "webex"),
        *("wxteams", "wecombot", "workflow", "workflows", "zulip", "revolt", "mastodon", "mastodons", "line", "zoom"),
    }
)
PUSH: Final = frozenset(
    {
        *("bark", "barks", "gotify", "gotifys", "join", "ntfy", "ntfys", "pbul", "pover", "prowl", "pushy", "pushdeer"),
        *("pushdeers", "simplepush", "spush", "schan", "lametric", "lametrics", "hassio", "hassios", "notifiarr"),
    }
)
ON_CALL: Final = frozenset(
    {
        *("opsgenie", "pagertree", "signl4", "splunk", "victorops", "squadcast", "goalert", "goalerts", "ilert"),
        *("incidentio", "betterstack", "xmatters", "spike", "firehydrant"),
    }
)
MAIL_AND_SMS: Final = frozenset(
    {
        *("mailto", "mailtos", "mailgun", "postmark", "resend", "sendgrid", "ses", "sparkpost", "smtp2go", "brevo"),
        *("o365", "sns", "twilio", "vonage", "nexmo", "plivo", "clicksend", "seven", "whatsapp", "voipms"),
    }
)
PROGRAMS: Final = frozenset({"json", "jsons"})

SCHEMAS: Final = CHAT | PUSH | ON_CALL | MAIL_AND_SMS | PROGRAMS
"""Left out: what acts on this machine (dbus, syslog, …), leads to further addresses (apprise), or speaks no TLS."""

NOT_ALLOWED: Final = ("redirect", "config", "attach", "template")
"""Parameters of an address that would undo what is refused here: they stand in its query."""
