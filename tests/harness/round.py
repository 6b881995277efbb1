"""Sends the requests that standard input lists through httpx, and prints what came of each: status and text."""

import json
import sys

import httpx

asked = json.load(sys.stdin)
told = []
with httpx.Client(base_url=asked["base"], timeout=180) as client:
    for request in asked["requests"]:
        body = request["body"]
        content = None if body is None else (body * request["times"]).encode()
        answer = client.request(request["method"], request["path"], headers=request["headers"], content=content)
        told.append([answer.status_code, answer.text])
json.dump(told, sys.stdout)
