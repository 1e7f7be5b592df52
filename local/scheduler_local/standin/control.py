"""The control endpoint of a stand-in, under `/_standin`, and the hooks that let faults strike every other route."""

from collections.abc import Callable
from typing import Any

from flask import Blueprint, Flask, Response, g, jsonify, request

from scheduler_local.standin.faults import Fault, Faults
from scheduler_local.standin.traffic import Traffic, busiest_second

PREFIX = "/_standin"
_SHOWN = 5_000


def control(app: Flask, *, reset: Callable[[], None]) -> Blueprint:
    """Install the hooks in `app` and return the blueprint, to which a stand-in adds what only it has."""
    faults, traffic = Faults(), Traffic()
    _install_hooks(app, faults, traffic)
    routes = Blueprint("standin", __name__, url_prefix=PREFIX)

    @routes.get("/health")
    def health() -> Any:
        return {"status": "ok"}

    @routes.post("/reset")
    def start_over() -> Any:
        request.get_json()  # refuses what a web page could send without asking
        faults.clear()
        reset()
        traffic.clear()
        return {}

    @routes.post("/faults")
    def add_fault() -> Any:
        faults.add(Fault(**request.get_json()))
        return {}, 201

    @routes.delete("/faults")
    def clear_faults() -> Any:
        faults.clear()
        return {}

    @routes.get("/requests")
    def requests() -> Any:
        found = traffic.find(
            method=request.args.get("method", ""),
            path=request.args.get("path", ""),
            since=request.args.get("since", 0.0, float),
        )
        return jsonify(count=len(found), busiest_second=busiest_second(found), requests=found[-_SHOWN:])

    return routes


def _install_hooks(app: Flask, faults: Faults, traffic: Traffic) -> None:
    @app.before_request
    def strike_first() -> Response | None:
        if request.path.startswith(PREFIX):
            return None
        g.entry = traffic.begin(request)
        fault = faults.take(request)
        if fault is None:
            return None
        if fault.after:
            g.fault = fault
            return None
        return fault.strike(request)

    @app.after_request
    def strike_last(response: Response) -> Response:
        fault: Fault | None = g.pop("fault", None)
        if fault is not None:
            response = fault.strike(request) or response
        if "entry" in g:
            g.entry["status"] = response.status_code
        return response
