"""Where everything is."""

from typing import Any

from flask import Blueprint, current_app, request

routes = Blueprint("root", __name__)


@routes.get("/")
def root() -> Any:
    """Name the other services, as the cf command line asks first."""
    base, uaa = request.url_root.rstrip("/"), current_app.config["UAA_SHOWN"]
    return {
        "links": {
            "self": {"href": base},
            "cloud_controller_v2": None,
            "cloud_controller_v3": {"href": f"{base}/v3", "meta": {"version": "3.180.0"}},
            "login": {"href": uaa},
            "uaa": {"href": uaa},
            "log_cache": None,
            "logging": None,
        }
    }


@routes.get("/v3/info")
def info() -> Any:
    """Say what this is."""
    return {
        "build": "stand-in",
        "cli_version": {"minimum": "", "recommended": ""},
        "custom": {},
        "description": "A stand-in for Cloud Controller",
        "name": "local",
        "version": 0,
        "osbapi_version": "2.15",
        "rate_limits": {"enabled": False},
        "links": {"self": {"href": request.base_url}},
    }
