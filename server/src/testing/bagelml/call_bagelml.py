"""Calls methods of bagelml: the port of a server, then a JSON list of [method, argument, ...]."""

import contextlib
import json
import sys

import bagel
from bagel.config import Settings

client = bagel.Client(
    Settings(
        bagel_api_impl="rest", bagel_server_host="127.0.0.1", bagel_server_http_port=sys.argv[1]
    )
)
answers = []
for method, *arguments in json.loads(sys.argv[2]):
    # The client prints what it does.
    with contextlib.redirect_stdout(sys.stderr):
        try:
            answers.append(getattr(client, method)(*arguments))
        except Exception as error:
            answers.append({"raised": str(error)})
print(json.dumps(answers, default=str))
