"""Runs the commands of tasks in processes, and shows their output as an app's log would."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import IO

from scheduler_local.controller.tasks import CANCELLED, Step, Task, Tasks
from scheduler_local.controller.world import World

_LINE_BYTES = 4_096
_OUTPUT_BYTES = 1_048_576  # of one task, with what we add to each line; what it prints beyond is dropped
_LINE_COST_BYTES = 64
_GRACE_SECONDS = 10.0  # between SIGTERM and SIGKILL, as in Cloud Foundry


class Commands:
    """At most `parallel` processes at a time; further tasks wait for their turn, RUNNING like the others."""

    def __init__(self, tasks: Tasks, world: World, *, parallel: int) -> None:
        self._tasks = tasks
        self._world = world
        self._pool = ThreadPoolExecutor(parallel, thread_name_prefix="task")
        self._lock = threading.Lock()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._unfinished: set[str] = set()  # those that wait for their turn, too
        self._stopped = False

    def start(self, task: Task) -> None:
        """Run the task's command as soon as there is room."""
        self._unfinished.add(task.guid)
        self._pool.submit(self._run, task)

    def is_running(self, guid: str) -> bool:
        """Tell whether the task's end is up to us."""
        return guid in self._unfinished

    def cancel(self, task: Task) -> None:
        """Stop the task's process, first politely."""
        with self._lock:
            process = self._processes.get(task.guid)
        if process is not None:
            threading.Thread(target=_end, args=(process,), daemon=True).start()

    def reset(self) -> None:
        """Kill all processes."""
        with self._lock:
            for process in self._processes.values():
                _signal(process, signal.SIGKILL)

    def stop(self) -> None:
        """Kill all processes and start no more."""
        self._stopped = True
        self.reset()

    def _run(self, task: Task) -> None:
        if self._stopped:
            return
        if task.state != "RUNNING":  # cancelled while it waited
            self._finish(task, Step(state="FAILED", reason=CANCELLED))
            return
        folder = tempfile.mkdtemp(prefix="task-")
        try:
            status = self._wait_for(task, folder)
        except OSError as error:
            self._finish(task, Step(state="FAILED", reason=f"Unable to run: {error.strerror}"))
        else:
            ended = Step(state="FAILED", reason=f"Exited with status {status}") if status else Step(state="SUCCEEDED")
            self._finish(task, ended)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _wait_for(self, task: Task, folder: str) -> int:
        """Return the exit status, that of a killed process as a shell shows it."""
        with self._lock:
            process = subprocess.Popen(  # noqa: S603  running what users ask for is what tasks are
                ["/bin/sh", "-c", task.command], cwd=folder, env=self._environment(task, folder),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            self._processes[task.guid] = process
        assert process.stdout is not None
        reader = threading.Thread(target=_show, args=(process.stdout, task.name), daemon=True)
        reader.start()
        try:
            status = process.wait()
        finally:
            with self._lock:
                del self._processes[task.guid]
            _signal(process, signal.SIGKILL)  # a container ends with its first process; so do those it left behind
        reader.join()
        return status if status >= 0 else 128 - status

    def _finish(self, task: Task, step: Step) -> None:
        ended = Step(state="FAILED", reason=CANCELLED) if task.state == "CANCELING" else step
        self._unfinished.discard(task.guid)
        self._tasks.follow(task, ended)

    def _environment(self, task: Task, folder: str) -> dict[str, str]:
        """Return what the command sees: nothing of our own environment, which may hold secrets."""
        app = self._world.apps.get(task.app_guid)
        about = {
            "application_id": task.app_guid,
            "application_name": app.name if app else "",
            "space_id": task.space_guid,
        }
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "HOME": folder,
            "TMPDIR": folder,
            "MEMORY_LIMIT": f"{task.memory_in_mb}m",
            "CF_INSTANCE_GUID": task.guid,
            "VCAP_APPLICATION": json.dumps(about),
        }


def _show(output: IO[bytes], name: str) -> None:
    shown = 0
    with output:
        while line := output.readline(_LINE_BYTES):
            if shown < _OUTPUT_BYTES:
                _print(name, line.decode(errors="replace").rstrip("\n"))
                shown += _LINE_COST_BYTES + len(line)
                if shown >= _OUTPUT_BYTES:
                    _print(name, "(the rest of the output is not shown)")


def _print(name: str, text: str) -> None:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    sys.stdout.write(f"{now} [APP/TASK/{name}/0] OUT {text}\n")
    sys.stdout.flush()


def _end(process: subprocess.Popen[bytes]) -> None:
    _signal(process, signal.SIGTERM)
    try:
        process.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        _signal(process, signal.SIGKILL)


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Signal the process and all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
