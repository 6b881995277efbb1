"""Reads what a collector was sent, one body a line after its path, by the messages of opentelemetry-proto, and prints what they say.

Nothing is let pass that the messages do not know: a member with another name, a number that is no number. As OTLP has it,
identifiers are hexadecimal in its JSON, where the JSON of protocol buffers has base64."""

import base64
import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

LENGTHS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}


def in_base64(value):
    if isinstance(value, list):
        return [in_base64(one) for one in value]
    if not isinstance(value, dict):
        return value
    made = {}
    for name, one in value.items():
        if name in LENGTHS:
            raw = bytes.fromhex(one)
            assert len(raw) == LENGTHS[name] and any(raw), (name, one)
            made[name] = base64.b64encode(raw).decode()
        else:
            made[name] = in_base64(one)
    return made


def said(attributes):
    told = {}
    for one in attributes:
        assert one.key not in told, one.key
        told[one.key] = getattr(one.value, one.value.WhichOneof("value"))
    return told


told = {"spans": [], "lines": [], "resources": []}
for line in sys.stdin:
    path, body = line.rstrip("\n").split(" ", 1)
    message = {"/v1/traces": ExportTraceServiceRequest, "/v1/logs": ExportLogsServiceRequest}[path]()
    json_format.ParseDict(in_base64(json.loads(body)), message)
    for of_resource in getattr(message, "resource_spans", None) or message.resource_logs:
        told["resources"].append(said(of_resource.resource.attributes))
        for of_scope in getattr(of_resource, "scope_spans", None) or of_resource.scope_logs:
            for span in getattr(of_scope, "spans", []):
                assert span.start_time_unix_nano <= span.end_time_unix_nano, span
                told["spans"].append({
                    "trace": span.trace_id.hex(), "span": span.span_id.hex(), "parent": span.parent_span_id.hex(),
                    "state": span.trace_state, "name": span.name, "kind": span.kind, "failed": span.status.code == 2,
                    "nanos": span.end_time_unix_nano, "said": said(span.attributes),
                })
            for record in getattr(of_scope, "log_records", []):
                told["lines"].append({
                    "trace": record.trace_id.hex(), "span": record.span_id.hex(), "text": record.body.string_value,
                    "severity": record.severity_text, "number": record.severity_number, "said": said(record.attributes),
                })
json.dump(told, sys.stdout)
