"""The files that start the processes name commands, ports and health checks that exist."""

import re
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from scheduler_local.main import main

ROOT = Path(__file__).parents[3]
SERVICES = {"api", "ticker", "job-runner", "call-runner", "broker"}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return document


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((ROOT / "manifest.yml").read_text())
    return document


def commands() -> set[str]:
    assert isinstance(main, click.Group)
    return set(main.commands)


def test_every_service_is_a_command() -> None:
    assert commands() >= SERVICES


def test_the_procfile_starts_the_five_services_on_ports_of_their_own() -> None:
    lines = dict(line.split(": ", 1) for line in (ROOT / "Procfile").read_text().splitlines())
    assert set(lines) == SERVICES
    assert all(line.endswith(f"scheduler {name}") for name, line in lines.items())
    ports = [match for line in lines.values() for match in re.findall(r"ADMIN_PORT=(\d+)", line)]
    assert len(set(ports)) == len(SERVICES)


def test_the_manifest_pushes_the_five_services(manifest: dict[str, Any]) -> None:
    started = {app["name"]: app["command"].split()[-1] for app in manifest["applications"]}
    assert started == {f"scheduler-{name}": name for name in SERVICES}


def test_the_manifest_gives_the_plugin_and_the_broker_their_routes(manifest: dict[str, Any]) -> None:
    routes = {app["name"]: [route["route"] for route in app.get("routes", [])] for app in manifest["applications"]}
    assert routes["scheduler-api"] == ["scheduler.((system_domain))"]
    assert routes["scheduler-broker"] == ["scheduler.((system_domain))/v2"]
    assert all(app.get("no-route") for app in manifest["applications"] if not routes[app["name"]])


def test_the_manifest_finds_every_package(manifest: dict[str, Any]) -> None:
    folders = manifest["environment"]["PYTHONPATH"].split(":")
    home = "/home/vcap/app/"
    found = {path.name for folder in folders for path in (ROOT / folder.removeprefix(home)).iterdir()}
    assert all(folder.startswith(home) for folder in folders)
    assert found >= {
        "scheduler",
        "sch",
        "scheduler_local",
        *(f"scheduler_{name.replace('-', '_')}" for name in SERVICES),
    }


def test_compose_starts_the_five_services_and_what_they_need(compose: dict[str, Any]) -> None:  # checklist 304
    assert set(compose["services"]) >= SERVICES | {"dev", "test", "postgres", "rabbitmq", "uaa", "cf-api"}
    for name in SERVICES:
        assert compose["services"][name]["command"] == [name]
        assert set(compose["services"][name]["depends_on"]) == {"postgres", "rabbitmq", "uaa", "cf-api"}


def test_compose_publishes_the_usual_ports_to_this_machine_only(compose: dict[str, Any]) -> None:  # checklist 304
    published = {name: port for name, service in compose["services"].items() for port in service.get("ports", [])}
    assert all(port.startswith("127.0.0.1:") for port in published.values())
    usual = {name: int(port.split(":")[1]) for name, port in published.items()}
    assert (usual["api"], usual["uaa"], usual["cf-api"]) == (8000, 8001, 8002)


def test_whatever_compose_waits_for_has_a_health_check(compose: dict[str, Any]) -> None:
    awaited = {name for service in compose["services"].values() for name in service.get("depends_on", {})}
    assert all("test" in compose["services"][name]["healthcheck"] for name in awaited)


def test_the_tests_do_not_start_with_the_suite(compose: dict[str, Any]) -> None:
    assert compose["services"]["test"]["profiles"] == ["test"]


@pytest.mark.parametrize("target", ["help", "up", "test", "check", "lint", "types", "bench", "faults", "fuzz", "lock"])
def test_make_help_lists_every_target(target: str) -> None:
    listed = subprocess.run(["make", "-C", str(ROOT), "help"], capture_output=True, text=True, check=True).stdout
    assert re.search(rf"^  make {target} +\S", listed, re.MULTILINE)


def test_make_says_in_one_sentence_that_python_is_too_old_or_missing(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "requirements.lock", "requirements-dev.lock"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    done = subprocess.run(
        ["make", "-C", str(tmp_path), "up", "PYTHON=no-such-python"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "FAILED: There is no no-such-python; Python 3.11 or later is needed." in done.stderr


def test_the_locks_hold_hashes_and_no_addresses() -> None:
    for name in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / name).read_text()
        assert "://" not in text
        pinned = re.findall(r"^\S+==", text, re.MULTILINE)
        assert pinned
        assert text.count("--hash=sha256:") >= len(pinned)
