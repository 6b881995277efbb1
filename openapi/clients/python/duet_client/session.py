"""Requests that log in by themselves, and are asked again where that helps. Knows no operation but the log-in."""

from __future__ import annotations

import asyncio
import json
import math
import random
import re
import threading
import time
import uuid
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, TypedDict, TypeVar

import httpx


class DuetError(Exception):
    """A failure of any kind: what the server refused, and what never reached it."""

    def __init__(
        self,
        status: int,
        code: str,
        title: str,
        errors: dict[str, list[str]] | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        faults = "; ".join(f"{field}: {', '.join(all_of_it)}" for field, all_of_it in (errors or {}).items())
        super().__init__(" ".join(part for part in (str(status or ""), f"{code}: {title}", faults and f"({faults})") if part))
        #: The HTTP status; 0 where there was no answer.
        self.status = status
        #: A stable word, such as `validation_failed`; `/errors/<code>` of the server says what to do about it.
        self.code = code
        self.title = title
        #: The messages by field.
        self.errors = errors or {}
        #: What the server's log calls the request.
        self.request_id = request_id
        #: How many seconds the server asks to wait before the next attempt.
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        told = (self.status, self.code, self.title, self.errors, self.request_id, self.retry_after)
        return type(self), told


@dataclass(frozen=True)
class Dialect:
    """What a dialect calls things."""

    login: str
    name: str
    company: str | None
    #: The token of a log-in's answer, and how many seconds it is good: by the server's time, if that is known.
    token: Callable[[Any, datetime | None], tuple[str, float | None]]
    title: str


def _token_of_a(answer: Any, _sent_at: datetime | None) -> tuple[str, float | None]:
    return answer["data"]["accessToken"], float(answer["data"]["expiresIn"])


def _token_of_b(answer: Any, sent_at: datetime | None) -> tuple[str, float | None]:
    if sent_at is None:
        return answer["token"], None
    until = datetime.fromisoformat(answer["expiresAt"].replace("Z", "+00:00"))
    return answer["token"], (until - sent_at).total_seconds()


DIALECT_A = Dialect("/Users/login", "credential", None, _token_of_a, "message")
DIALECT_B = Dialect("/auth/login", "email", "X-Business-Id", _token_of_b, "title")


class Options(TypedDict, total=False):
    """How to reach a server, and as whom."""

    #: Who logs in: an e-mail address; in dialect A a username as well.
    user: str
    password: str
    #: The code of a second factor. One is good once: it is asked for at each attempt to log in, and a text is used at the first.
    totp_code: str | Callable[[], str]
    #: An API key, instead of a user and a password.
    key: str | None
    #: The company, by its identifier. In dialect A it is said to each operation instead.
    business: str
    #: How often a request is made at most; 5 unless said. 1 never repeats.
    attempts: int
    #: The longest `Retry-After`, in seconds, that is waited for; 60 unless said. What asks for more fails at once.
    longest_wait: float
    #: How many seconds an answer is waited for; 60 unless said.
    timeout: float
    #: A clock in seconds, by which a token's end is foreseen.
    now: Callable[[], float]


@dataclass(frozen=True)
class Token:
    text: str = field(repr=False)
    #: From when on another one is fetched.
    renew_at: float


@dataclass(frozen=True)
class LogIn:
    """A token is asked for, any but the one that was refused."""

    refused: Token | None = None


#: What is to be done next: a request is sent, so many seconds are waited, a token is got.
Step = httpx.Request | float | LogIn
#: What became of it: an answer, why there is none, or a token.
Came = httpx.Response | httpx.RequestError | Token | None
T = TypeVar("T")
Steps = Generator[Step, Came, T]


@dataclass(frozen=True)
class _Loop:
    """What belongs to one event loop."""

    transport: httpx.AsyncHTTPTransport
    logging_in: asyncio.Lock


class Session(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Carries the requests of a generated client, whether it waits or awaits."""

    def __init__(
        self,
        dialect: Dialect,
        url: str,
        *,
        user: str | None = None,
        password: str | None = None,
        totp_code: str | Callable[[], str] | None = None,
        key: str | None = None,
        business: str | None = None,
        attempts: int = 5,
        longest_wait: float = 60,
        timeout: float = 60,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """What may be said is in `Options`."""
        for name, value in (("key", key), ("business", business)):
            if value is not None and not _is_plain(value):
                raise DuetError(0, "invalid_option", f"`{name}` has a character that no header carries")
        self._dialect, self._url = dialect, url.rstrip("/")
        self._user, self._password, self._totp_code, self._key = user, password, totp_code, key
        self._business, self._attempts, self._longest_wait = business, attempts, longest_wait
        self._timeout, self._now = timeout, now
        self._token: Token | None = None
        #: One log-in at a time, for all who ask meanwhile.
        self._logging_in = threading.Lock()
        #: Of the two that follow.
        self._opening = threading.Lock()
        self._waiting: httpx.HTTPTransport | None = None
        self._loops: dict[asyncio.AbstractEventLoop, _Loop] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        with self._opening:
            if self._waiting is None:
                self._waiting = httpx.HTTPTransport()
            transport = self._waiting
        request.read()
        return self._wait(self._steps(request), transport)

    def _wait(self, steps: Steps[T], transport: httpx.HTTPTransport) -> T:
        came: Came = None
        while True:
            try:
                step = steps.send(came)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            came = None
            if isinstance(step, LogIn):
                with self._logging_in:
                    came = self._wait(self._current(step.refused), transport)
            elif isinstance(step, float):
                time.sleep(step)
            else:
                try:
                    came = transport.handle_request(step)
                    if _ends(came):
                        came.read()
                except httpx.RequestError as why:
                    came = why

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        loop = self._loop()
        await request.aread()
        return await self._await(self._steps(request), loop)

    async def _await(self, steps: Steps[T], loop: _Loop) -> T:
        came: Came = None
        while True:
            try:
                step = steps.send(came)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            came = None
            if isinstance(step, LogIn):
                async with loop.logging_in:
                    came = await self._await(self._current(step.refused), loop)
            elif isinstance(step, float):
                await asyncio.sleep(step)
            else:
                try:
                    came = await loop.transport.handle_async_request(step)
                    if _ends(came):
                        await came.aread()
                except httpx.RequestError as why:
                    came = why

    def _loop(self) -> _Loop:
        """Connections belong to the loop that opened them: those of another one are of no use here."""
        running = asyncio.get_running_loop()
        with self._opening:
            for old in [known for known in self._loops if known.is_closed()]:
                del self._loops[old]
            if running not in self._loops:
                self._loops[running] = _Loop(httpx.AsyncHTTPTransport(), asyncio.Lock())
            return self._loops[running]

    def close(self) -> None:
        with self._opening:
            known, self._waiting = self._waiting, None
        if known is not None:
            known.close()

    async def aclose(self) -> None:
        with self._opening:
            known = self._loops.pop(asyncio.get_running_loop(), None)
        if known is not None:
            await known.transport.aclose()

    def _steps(self, request: httpx.Request) -> Steps[httpx.Response]:
        """Whatever a request comes to."""
        request.extensions = {**request.extensions, "timeout": httpx.Timeout(self._timeout).as_dict()}
        headers = request.headers
        headers.setdefault("X-Decimal-Format", "string")
        if self._dialect.company is not None and self._business is not None:
            headers.setdefault(self._dialect.company, self._business)
        # The same for all attempts, so that what was done is not done again.
        if request.method not in ("GET", "HEAD"):
            headers.setdefault("Idempotency-Key", str(uuid.uuid4()))
        # The generated client shows what it was given, which is nothing.
        is_shown = headers.get("Authorization", "Bearer").strip() != "Bearer"
        if self._key is not None and not is_shown:
            headers["Authorization"] = f"Bearer {self._key}"
        if is_shown or self._user is None or self._password is None:
            if not is_shown and self._key is None:
                headers.pop("Authorization", None)
            return (yield from self._answered(lambda: request))
        shown = yield from self._shown(None)
        headers["Authorization"] = f"Bearer {shown.text}"
        try:
            return (yield from self._answered(lambda: request))
        except DuetError as failure:
            if failure.code != "unauthenticated":
                raise
        shown = yield from self._shown(shown)
        headers["Authorization"] = f"Bearer {shown.text}"
        return (yield from self._answered(lambda: request))

    def _shown(self, refused: Token | None) -> Steps[Token]:
        token = self._token
        if token is not None and token is not refused and self._now() < token.renew_at:
            return token
        came = yield LogIn(refused)
        if not isinstance(came, Token):
            raise TypeError("a log-in comes to a token")
        return came

    def _current(self, refused: Token | None) -> Steps[Token]:
        """Somebody else may have logged in before it was our turn. What was just given is used, whatever the clock says."""
        token = self._token
        if token is None or token is refused or self._now() >= token.renew_at:
            token = self._token = yield from self._log_in()
        return token

    def _log_in(self) -> Steps[Token]:
        answer = yield from self._answered(self._credentials)
        try:
            text, seconds = self._dialect.token(answer.json(), _sent_at(answer))
            if not _is_plain(text):
                raise ValueError
        except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
            raise _unreadable(answer) from None
        # A clock that is wrong by hours matters to nobody: only how long the token is good is believed. Where nobody says
        # so, it is good until it is refused.
        if seconds is None or not seconds > 0:
            return Token(text, math.inf)
        return Token(text, self._now() + seconds - min(60, seconds / 10))

    def _credentials(self) -> httpx.Request:
        said = {self._dialect.name: self._user, "password": self._password}
        if isinstance(self._totp_code, str):
            said["totpCode"], self._totp_code = self._totp_code, None
        elif self._totp_code is not None:
            said["totpCode"] = self._totp_code()
        timeout = {"timeout": httpx.Timeout(self._timeout).as_dict()}
        try:
            return httpx.Request("POST", self._url + self._dialect.login, json=said, extensions=timeout)
        except (ValueError, httpx.InvalidURL):
            # Their texts may show what was given.
            raise DuetError(0, "invalid_option", "No request comes of `url`, `user` and `password`") from None

    def _answered(self, made: Callable[[], httpx.Request]) -> Steps[httpx.Response]:
        attempt = 0
        while True:
            attempt += 1
            request = made()
            came = yield request
            why: Exception | None = None
            if isinstance(came, httpx.Response):
                if came.status_code < 300 or (came.status_code == 304 and "If-None-Match" in request.headers):
                    if not _is_readable(request, came):
                        raise _unreadable(came)
                    return came
                failure = self._refusal(came)
            else:
                failure = DuetError(0, "unreachable", "The server did not answer")
                why = came if isinstance(came, httpx.RequestError) else None
            rest = self._pause(failure, attempt) if attempt < self._attempts else None
            if rest is None:
                raise failure from why
            yield rest

    def _pause(self, failure: DuetError, attempt: int) -> float | None:
        """How many seconds to wait before asking once more; none where that would change nothing."""
        if failure.retry_after is not None:
            return failure.retry_after if failure.retry_after <= self._longest_wait else None
        # Nobody answered, or somebody between us and the server did.
        if failure.status in (0, 502, 504):
            return min(2.0 ** (attempt - 2), self._longest_wait) * random.uniform(0.5, 1)
        return None

    def _refusal(self, answer: httpx.Response) -> DuetError:
        try:
            said = answer.json()
        except ValueError:
            said = None
        if not isinstance(said, dict):
            # Not by the server itself, such as the page of a proxy.
            said = {}
        if answer.status_code < 400:
            return DuetError(answer.status_code, "redirected", "The answer points elsewhere, which is not followed")
        code = answer.headers.get("X-Error-Code") or f"http_{answer.status_code}"
        title = said.get(self._dialect.title)
        return DuetError(
            answer.status_code,
            code,
            (title if isinstance(title, str) else "") or answer.reason_phrase or code,
            _by_field(said.get("errors")),
            answer.headers.get("X-Request-Id"),
            _seconds(answer.headers.get("Retry-After")),
        )


def _ends(answer: httpx.Response) -> bool:
    """A stream of events has no end; all else is read, so that what breaks off is asked for again."""
    return answer.status_code != 200 or not _media(answer).startswith("text/event-stream")


def _media(answer: httpx.Response) -> str:
    return str(answer.headers.get("Content-Type", "")).lower()


def _is_plain(text: str) -> bool:
    """Whether a header carries it as it is."""
    return re.fullmatch("[!-~]*", text) is not None


def _is_readable(request: httpx.Request, answer: httpx.Response) -> bool:
    """Whether it is what it is said to be, and not the page of somebody in between."""
    if request.method == "HEAD" or answer.status_code in (204, 304):
        return True
    media = _media(answer)
    is_unnamed = media.startswith("text/plain") or (media == "" and answer.content != b"")
    if is_unnamed or ("json" in media and "ndjson" not in media):
        try:
            answer.json()
        except (ValueError, RecursionError):
            return False
    return not media.startswith("text/html")


def _unreadable(answer: httpx.Response) -> DuetError:
    request_id = answer.headers.get("X-Request-Id")
    return DuetError(answer.status_code, "unreadable", "The answer is not what the server's documents say", None, request_id)


def _by_field(said: Any) -> dict[str, list[str]]:
    """The messages by field, of what has that form."""
    if not isinstance(said, dict):
        return {}
    return {str(name): [str(one) for one in all_of_it] for name, all_of_it in said.items() if isinstance(all_of_it, list)}


def _sent_at(answer: httpx.Response) -> datetime | None:
    """When it was sent by the server's time, if it says so."""
    try:
        sent = parsedate_to_datetime(answer.headers.get("Date", ""))
    except (TypeError, ValueError):
        return None
    return sent if sent.tzinfo else sent.replace(tzinfo=timezone.utc)


def _seconds(said: str | None) -> float | None:
    """What `Retry-After` says, in seconds or as a day and a time."""
    if said is None:
        return None
    try:
        plain = float(said) if said.isdigit() else parsedate_to_datetime(said).timestamp() - time.time()
    except (OverflowError, TypeError, ValueError):
        return None
    return max(0.0, plain)
