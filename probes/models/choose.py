"""Which model of a list is watched where nobody chose one."""

import re
from collections.abc import Sequence
from typing import Final

from probes.models.model import Model

_NO_CHAT: Final = re.compile(
    r"embed|whisper|tts|speech|audio|transcri|image|dall-e|moderation|rerank|guard|ocr|realtime|sora|veo-|imagen|lyria|aqa"
)
_SMALL: Final = re.compile(r"nano|mini|flash|haiku|small|lite|instant|(?<![\d.])[1-9](\.\d)?b\b")


def model_to_watch(models: Sequence[Model]) -> Model | None:
    """The one to watch where nobody chose: the first small model that chats, else the first that does, else any."""
    chats = [one for one in models if not _NO_CHAT.search(one.id.lower())]
    small = [one for one in chats if _SMALL.search(one.id.lower())]
    return next(iter((*small, *chats, *models)), None)
