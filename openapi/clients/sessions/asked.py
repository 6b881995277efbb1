"""What a session is told, and what it holds failures against."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from duet_client import DuetError

_ASKED = json.loads(sys.argv[1])
#: Where a server is whose answers to writes are lost the first time.
LOSSY: str = _ASKED["lossy"]
USER: str = _ASKED["user"]
PASSWORD: str = _ASKED["password"]


def refused(status: int, code: str, asking: Callable[[], Any]) -> DuetError:
    """Holds that something fails so, and answers how."""
    try:
        asking()
    except DuetError as failure:
        assert (failure.status, failure.code) == (status, code), failure
        return failure
    raise AssertionError(f"{code} was not refused")


class Later:
    """A clock that is put forward."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.by = 0.0
        self._now = now

    def __call__(self) -> float:
        return self._now() + self.by
