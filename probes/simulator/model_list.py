"""The lists of models that the simulator answers a GET with, in the shape of the provider whose path it is."""

from collections.abc import Mapping
from typing import Any, Final

from probes.simulator.behaviour import Behaviour
from probes.simulator.faults.fault import ReplacedResponse
from probes.simulator.request import Request

_OLLAMA: Final = "/api/tags"
_END: Final = "/models"
_GEMINI: Final = "/v1beta/models"


def list_response(request: Request, models: Mapping[str, Behaviour]) -> ReplacedResponse | None:
    """The list that a request asks for, or the refusal of its key; None for any other request.

    It is refused where no header holds the key of any model, though each has one: each dialect has a header of its own.
    """
    path = request.path.partition("?")[0]
    if request.method != "GET" or not path.endswith((_OLLAMA, _END)):
        return None
    sent = {value.removeprefix("Bearer ") for value in request.headers.values()}
    if models and all(one.key is not None and one.key not in sent for one in models.values()):
        return ReplacedResponse(401, {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}})
    return ReplacedResponse(200, _body(path, list(models)))


def _body(path: str, names: list[str]) -> dict[str, Any]:
    if path.endswith(_GEMINI):
        methods = ["generateContent", "countTokens"]
        return {"models": [{"name": f"models/{one}", "supportedGenerationMethods": methods} for one in names]}
    if path.endswith(_OLLAMA):
        return {"models": [{"name": one, "model": one} for one in names]}
    return {"object": "list", "data": [{"id": one, "object": "model"} for one in names], "has_more": False}
