"""A pseudo-terminal with one command on it."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping

_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Terminal:
    """What the command writes can be read, what is typed reaches it."""

    def __init__(
        self, command: list[str], environment: Mapping[str, str], *, columns: int = 120, rows: int = 40
    ) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=dict(environment),
            start_new_session=True,
            close_fds=True,
        )
        os.close(slave)
        self.raw = ""

    def wait_for(self, text: str, *, within: float = 20) -> None:
        """Read on until the text has been shown."""
        deadline = time.monotonic() + within
        while text not in self.raw:
            assert time.monotonic() < deadline, f"{text!r} was not shown within {within} s, but: {self.raw!r}"
            if not self._read(0.1) and self._process.poll() is not None:
                assert text in self.raw, f"the command ended without showing {text!r}: {self.raw!r}"

    def type(self, text: str) -> None:
        """Type something."""
        os.write(self._master, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        os.killpg(self._process.pid, signal.SIGINT)

    def wait(self, *, within: float = 20) -> int:
        """Read everything that is still shown; return the exit code."""
        deadline = time.monotonic() + within
        while self._process.poll() is None:
            assert time.monotonic() < deadline, f"the command has not ended within {within} s: {self.raw!r}"
            self._read(0.05)
        while self._read(0):
            pass
        return self._process.returncode

    @property
    def text(self) -> str:
        """Return what was shown, without colours and with plain line ends."""
        return _ESCAPES.sub("", self.raw).replace("\r\n", "\n")

    def close(self) -> None:
        """Leave nothing behind."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        os.close(self._master)

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], seconds)
        try:
            data = os.read(self._master, 65_536) if ready else b""
        except OSError:  # Linux reports the end of a pseudo-terminal so
            return False
        self.raw += data.decode(errors="replace")
        return bool(data)
