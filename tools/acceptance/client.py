"""Calls the model through the gateway, from a pod. Prints one line of JSON.

Settings come from the environment: ADDRESS (host:port), PATH_PREFIX, MODEL, KEY (empty for none), SECONDS (0 for a
single request) and THREADS. Each request has a connection of its own and streams its answer.
"""

import http.client
import json
import os
import sys
import threading
import time
from collections import Counter

RESULTS: Counter[str] = Counter()


def request() -> str:
    """Send a request; return ``completed``, or how it failed."""
    body = {
        "model": os.environ["MODEL"],
        "messages": [{"role": "user", "content": "Why is the sky blue?"}],
        "max_tokens": 64,
        "stream": True,
    }
    headers = {"Content-Type": "application/json"}
    if os.environ["KEY"]:
        headers["Authorization"] = f"Bearer {os.environ['KEY']}"
    connection = http.client.HTTPConnection(os.environ["ADDRESS"], timeout=90)
    try:
        connection.request("POST", f"{os.environ['PATH_PREFIX']}/chat/completions", json.dumps(body), headers)
        response = connection.getresponse()
        if response.status != http.client.OK:
            return f"status {response.status}"
        return "completed" if b"data: [DONE]" in response.read() else "cut off"
    except (OSError, http.client.HTTPException) as error:
        return type(error).__name__
    finally:
        connection.close()


def requests(end: float) -> None:
    """Send requests, one after the other, until a time."""
    while True:
        RESULTS[request()] += 1
        if time.monotonic() >= end:
            return
        time.sleep(0.2)


def main() -> None:
    end = time.monotonic() + float(os.environ["SECONDS"])
    threads = [threading.Thread(target=requests, args=(end,)) for _ in range(int(os.environ["THREADS"]))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.stdout.write(json.dumps(RESULTS) + "\n")


if __name__ == "__main__":
    main()
