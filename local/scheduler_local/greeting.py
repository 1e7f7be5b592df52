"""`python -m scheduler_local.greeting`: in a suite of containers, says how to try it, and waits to be stopped.

SCHEDULER_URL and UAA_ENDPOINT are as seen from here; SCHEDULER_PUBLIC_URL as seen from the user's machine.
"""

import os
import signal
import threading

import requests

from scheduler_local import seed

_TOKEN_SECONDS = 86_400


def greeting(public_url: str, token: str) -> str:
    """Return what the user sees once everything runs."""
    app = seed.guid_of("app", seed.APP)
    return f"""
OCF Scheduler is running: {public_url}

Paste this into another terminal: a token of the user "{seed.DEVELOPER}", good for a day; a job that runs every five
seconds; its history.

   export SCHEDULER_TOKEN='{token}' SCHEDULER_SPACE={seed.guid_of("space", seed.SPACE)}
   alias sch='docker compose exec -e SCHEDULER_TOKEN -e SCHEDULER_SPACE dev sch'
   sch jobs create hello --app {app} --command 'echo "hello at $(date +%T)"'
   sch jobs schedules create hello '*/5 * * * * *'
   sch jobs history hello
   docker compose logs --follow cf-api     # shows what the job prints

Calls may go to http://echo:8004/. Ctrl-C stops everything; `docker compose down --volumes` also forgets it.
"""


def developer_token(uaa_url: str) -> str:
    """Return a token as `cf oauth-token` would print it."""
    wish = {"user": seed.DEVELOPER, "seconds": _TOKEN_SECONDS}
    with requests.Session() as session:
        session.trust_env = False
        answer = session.post(f"{uaa_url}/_standin/tokens", json=wish, timeout=10)
    answer.raise_for_status()
    return f"bearer {answer.json()['access_token']}"


def main() -> None:
    """Greet, then wait for SIGTERM or SIGINT."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    public_url = os.environ.get("SCHEDULER_PUBLIC_URL", os.environ["SCHEDULER_URL"])
    print(greeting(public_url, developer_token(os.environ["UAA_ENDPOINT"])), flush=True)  # noqa: T201 - this is a command
    stop.wait()


if __name__ == "__main__":
    main()
