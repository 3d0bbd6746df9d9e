"""Bodies of status pages, written from the documented formats of Atlassian Statuspage and of incident.io."""

from typing import Any

STATUSPAGE: dict[str, Any] = {
    "page": {
        "id": "kctbh9vrtdwd",
        "name": "Groq",
        "url": "https://status.example",
        "time_zone": "Etc/UTC",
        "updated_at": "2026-11-02T10:45:00.000Z",
    },
    "incidents": [
        {
            "id": "p31zjtct2jer",
            "name": "Elevated error rates on gpt-oss-120b",
            "status": "resolved",
            "created_at": "2026-11-02T10:10:00.000Z",
            "updated_at": "2026-11-02T10:45:00.000Z",
            "monitoring_at": "2026-11-02T10:30:00.000Z",
            "resolved_at": "2026-11-02T10:45:00.000Z",
            "impact": "major",
            "shortlink": "https://stspg.io/p31zjtct2jer",
            "started_at": "2026-11-02T10:00:00.000Z",
            "page_id": "kctbh9vrtdwd",
            "incident_updates": [
                {
                    "id": "u3",
                    "status": "resolved",
                    "body": "This incident has been resolved.",
                    "incident_id": "p31zjtct2jer",
                    "created_at": "2026-11-02T10:45:00.000Z",
                    "updated_at": "2026-11-02T10:45:00.000Z",
                    "display_at": "2026-11-02T10:45:00.000Z",
                    "affected_components": None,
                },
                {
                    "id": "u1",
                    "status": "investigating",
                    "body": "We are investigating \u001b[31melevated\u001b[0m errors.\r\nMore soon.",
                    "incident_id": "p31zjtct2jer",
                    "created_at": "2026-11-02T10:10:00.000Z",
                    "display_at": "2026-11-02T10:00:00.000Z",
                },
            ],
            "components": [{"id": "c1", "name": "API", "status": "operational"}],
        },
        {"id": "quiet", "name": "Notice", "impact": "none", "created_at": "2026-11-01T08:00:00.000-07:00"},
    ],
}

WIDGET: dict[str, Any] = {
    "page_title": "Example",
    "page_url": "https://status.example",
    "ongoing_incidents": [
        {
            "id": "01FDAG4SAP5TYPT98WGR2N7W91",
            "name": "Chat completions are slow",
            "status": "identified",
            "url": "https://status.example/incidents/01FDAG4SAP5TYPT98WGR2N7W91",
            "last_update_at": "2026-11-02T10:12:00Z",
            "last_update_message": "We found the cause.",
            "current_worst_impact": "partial_outage",
            "affected_components": [
                {"id": "a", "name": "Chat", "group_name": "APIs", "current_status": "partial_outage"}
            ],
        }
    ],
    "in_progress_maintenances": [],
    "scheduled_maintenances": [
        {
            "id": "01FDAG4SAP5TYPT98WGR2N7W92",
            "name": "Database upgrade",
            "status": "maintenance_scheduled",
            "last_update_at": "2026-11-01T10:00:00Z",
            "last_update_message": "Planned.",
            "url": "https://status.example/maintenance/1",
            "affected_components": [],
            "starts_at": "2026-11-05T02:00:00Z",
            "ends_at": "2026-11-05T03:00:00Z",
        }
    ],
}
