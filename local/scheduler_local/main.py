"""The `scheduler` command: every process of the suite, the stand-ins, and `up`, which starts all of them."""

import runpy
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import click

from scheduler import __version__

_SERVICES = {
    "api": ("scheduler_api", "Serve the REST API."),
    "ticker": ("scheduler_ticker", "Plan what is due and put it onto the queue."),
    "job-runner": ("scheduler_job_runner", "Run jobs as Cloud Foundry tasks."),
    "call-runner": ("scheduler_call_runner", "Make HTTP calls."),
    "broker": ("scheduler_broker", "Serve the Open Service Broker API."),
}
_STAND_INS = {
    "stand-in-uaa": ("scheduler_local.uaa", "Serve a stand-in UAA, for development only."),
    "stand-in-cc": ("scheduler_local.controller", "Serve a stand-in Cloud Controller, for development only."),
}
_PASS_THROUGH = {"ignore_unknown_options": True, "help_option_names": []}


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="scheduler")
def main() -> None:
    """Run OCF Scheduler.

    `scheduler up` needs nothing but this package: it brings PostgreSQL, all five services and a stand-in for Cloud
    Foundry. In a real installation each service is a process of its own, configured by its environment
    (docs/settings.md).
    """


@main.command()
@click.option(
    "--state",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".scheduler"),
    show_default=True,
    help="The folder that keeps database, keys and logs.",
)
def up(state: Path) -> None:
    """Start everything on this machine, with nothing to install or configure."""
    # The PostgreSQL wheel's own dependencies warn about folders that it does not need.
    warnings.filterwarnings("ignore", module="platformdirs")
    from scheduler_local.up.supervisor import run  # noqa: PLC0415 - the services do without these modules

    sys.exit(run(state))


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(*, as_json: bool) -> None:
    """Check settings, database, queue, UAA and Cloud Controller, and say what to do about each finding."""
    from scheduler_local.doctor import run  # noqa: PLC0415 - likewise

    sys.exit(run(as_json=as_json))


def _run_module(module: str) -> Callable[[tuple[str, ...]], None]:
    def run(arguments: tuple[str, ...]) -> None:
        sys.argv = [module, *arguments]
        runpy.run_module(module, run_name="__main__", alter_sys=True)

    return run


for _name, (_module, _help) in {**_SERVICES, **_STAND_INS}.items():
    _command = click.argument("arguments", nargs=-1, type=click.UNPROCESSED)(_run_module(_module))
    main.command(_name, help=_help, context_settings=_PASS_THROUGH if _name in _STAND_INS else None)(_command)


if __name__ == "__main__":
    main()
