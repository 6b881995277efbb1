"""A client of Duet. `duet_client.b` and `duet_client.a` are generated, one for each dialect; this part connects them to a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, Protocol, TypeVar, Unpack, overload

from .a.client import AuthenticatedClient as ClientOfA
from .b.client import AuthenticatedClient as ClientOfB
from .session import DIALECT_A, DIALECT_B, DuetError, Options, Session

__all__ = ["ClientOfA", "ClientOfB", "DuetError", "Options", "Session", "ask", "connect", "connect_to_a", "each"]

P = ParamSpec("P")
T = TypeVar("T")
One = TypeVar("One", covariant=True)


def connect(url: str, **options: Unpack[Options]) -> ClientOfB:
    """A client of dialect B, such as of `https://books.example/b/api`."""
    # Whoever is shown is up to the session, request by request.
    return ClientOfB(base_url=url, token="", httpx_args={"transport": Session(DIALECT_B, url, **options)}, timeout=None)


def connect_to_a(url: str, **options: Unpack[Options]) -> ClientOfA:
    """The same for dialect A, such as of `https://books.example/a/api`: the company stands in each path."""
    return ClientOfA(base_url=url, token="", httpx_args={"transport": Session(DIALECT_A, url, **options)}, timeout=None)


def ask(operation: Callable[P, T | None], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """What an operation answers. Failures are raised before, so there always is something."""
    answer = operation(*args, **kwargs)
    if answer is None:
        raise DuetError(0, "unreadable", "The answer is none that the server's documents foresee")
    return answer


class _Page(Protocol[One]):
    @property
    def items(self) -> list[One]: ...


class _Envelope(Protocol[One]):
    @property
    def data(self) -> _Page[One]: ...


@overload
def each(operation: Callable[..., _Page[T] | None], /, **given: Any) -> Iterator[T]: ...
@overload
def each(operation: Callable[..., _Envelope[T] | None], /, **given: Any) -> Iterator[T]: ...
def each(operation: Callable[..., Any], /, **given: Any) -> Iterator[Any]:
    """All records of a list, page after page. Where they are sorted by what does not change, none comes twice or is left out."""
    cursor: str | None = ""
    while cursor is not None:
        page = operation(**given, cursor=cursor)
        # Dialect A has the page within an envelope.
        page = getattr(page, "data", page)
        if page is None:
            raise DuetError(0, "unreadable", "The answer is none that the server's documents foresee")
        yield from page.items
        cursor = page.pagination.next_cursor or None
