"""Requests that log in by themselves, and are asked again where that helps. Knows no operation but the log-in."""

from __future__ import annotations

import asyncio
import json
import random
import time
import uuid
from collections.abc import Callable, Generator
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, TypedDict

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


@dataclass(frozen=True)
class Dialect:
    """What a dialect calls things."""

    login: str
    name: str
    company: str | None
    #: The token of a log-in's answer, and how many seconds it is good by the server's time.
    token: Callable[[Any, datetime], tuple[str, float]]
    title: str


def _token_of_a(answer: Any, _sent_at: datetime) -> tuple[str, float]:
    return answer["data"]["accessToken"], float(answer["data"]["expiresIn"])


def _token_of_b(answer: Any, sent_at: datetime) -> tuple[str, float]:
    until = datetime.fromisoformat(answer["expiresAt"].replace("Z", "+00:00"))
    return answer["token"], (until - sent_at).total_seconds()


DIALECT_A = Dialect("/Users/login", "credential", None, _token_of_a, "message")
DIALECT_B = Dialect("/auth/login", "email", "X-Business-Id", _token_of_b, "title")


class Options(TypedDict, total=False):
    """How to reach a server, and as whom."""

    #: Who logs in: an e-mail address; in dialect A a username as well.
    user: str
    password: str
    #: The code of a second factor. It is asked for at each log-in.
    totp_code: Callable[[], str]
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
    text: str
    #: From when on another one is fetched.
    renew_at: float


#: What is to be done next: a request is sent, so many seconds are waited.
Step = httpx.Request | float
#: What became of it: an answer, or why there is none.
Came = httpx.Response | httpx.TransportError | None
Steps = Generator[Step, Came, httpx.Response]


class Session(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Carries the requests of a generated client, whether it waits or awaits."""

    def __init__(
        self,
        dialect: Dialect,
        url: str,
        *,
        user: str | None = None,
        password: str | None = None,
        totp_code: Callable[[], str] | None = None,
        key: str | None = None,
        business: str | None = None,
        attempts: int = 5,
        longest_wait: float = 60,
        timeout: float = 60,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """What may be said is in `Options`."""
        self._dialect, self._url = dialect, url.rstrip("/")
        self._user, self._password, self._totp_code, self._key = user, password, totp_code, key
        self._business, self._attempts, self._longest_wait = business, attempts, longest_wait
        self._timeout, self._now = timeout, now
        self._token: Token | None = None
        self._waiting: httpx.HTTPTransport | None = None
        self._awaiting: httpx.AsyncHTTPTransport | None = None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self._waiting is None:
            self._waiting = httpx.HTTPTransport()
        request.read()
        steps = self._steps(request)
        came: Came = None
        while True:
            try:
                step = steps.send(came)
            except StopIteration as end:
                return end.value
            came = None
            if isinstance(step, float):
                time.sleep(step)
                continue
            try:
                came = self._waiting.handle_request(step)
                if _ends(came):
                    came.read()
            except httpx.TransportError as why:
                came = why

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self._awaiting is None:
            self._awaiting = httpx.AsyncHTTPTransport()
        await request.aread()
        steps = self._steps(request)
        came: Came = None
        while True:
            try:
                step = steps.send(came)
            except StopIteration as end:
                return end.value
            came = None
            if isinstance(step, float):
                await asyncio.sleep(step)
                continue
            try:
                came = await self._awaiting.handle_async_request(step)
                if _ends(came):
                    await came.aread()
            except httpx.TransportError as why:
                came = why

    def close(self) -> None:
        if self._waiting is not None:
            self._waiting.close()

    async def aclose(self) -> None:
        if self._awaiting is not None:
            await self._awaiting.aclose()

    def _steps(self, request: httpx.Request) -> Steps:
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
            return (yield from self._answered(request))
        shown = yield from self._current()
        headers["Authorization"] = f"Bearer {shown.text}"
        try:
            return (yield from self._answered(request))
        except DuetError as failure:
            if failure.code != "unauthenticated":
                raise
        if self._token is shown:
            self._token = None
        shown = yield from self._current()
        headers["Authorization"] = f"Bearer {shown.text}"
        return (yield from self._answered(request))

    def _current(self) -> Generator[Step, Came, Token]:
        token = self._token
        if token is None or self._now() >= token.renew_at:
            token = self._token = yield from self._log_in()
        return token

    def _log_in(self) -> Generator[Step, Came, Token]:
        credentials = {self._dialect.name: self._user, "password": self._password}
        if self._totp_code is not None:
            credentials["totpCode"] = self._totp_code()
        timeout = {"timeout": httpx.Timeout(self._timeout).as_dict()}
        url = self._url + self._dialect.login
        answer = yield from self._answered(httpx.Request("POST", url, json=credentials, extensions=timeout))
        sent = answer.headers.get("Date")
        sent_at = parsedate_to_datetime(sent) if sent else datetime.now(timezone.utc)
        text, seconds = self._dialect.token(answer.json(), sent_at)
        # A clock that is wrong by hours matters to nobody: only how long the token is good is believed.
        return Token(text, self._now() + seconds - min(60, seconds / 10))

    def _answered(self, request: httpx.Request) -> Steps:
        attempt = 0
        while True:
            attempt += 1
            came = yield request
            why: Exception | None = None
            if isinstance(came, httpx.Response):
                if came.status_code < 400:
                    return came
                failure = self._refusal(came)
            else:
                failure, why = DuetError(0, "unreachable", "The server did not answer"), came
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
        code = answer.headers.get("X-Error-Code") or f"http_{answer.status_code}"
        return DuetError(
            answer.status_code,
            code,
            said.get(self._dialect.title) or answer.reason_phrase or code,
            said.get("errors"),
            answer.headers.get("X-Request-Id"),
            _seconds(answer.headers.get("Retry-After")),
        )


def _ends(answer: httpx.Response) -> bool:
    """A stream of events has no end; all else is read, so that what breaks off is asked for again."""
    return not answer.headers.get("Content-Type", "").startswith("text/event-stream")


def _seconds(said: str | None) -> float | None:
    """What `Retry-After` says, in seconds or as a day and a time."""
    if said is None:
        return None
    try:
        plain = float(said) if said.isdigit() else parsedate_to_datetime(said).timestamp() - time.time()
    except ValueError:
        return None
    return max(0.0, plain)
