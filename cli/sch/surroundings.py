"""What every command is given: the environment and the screen."""

import os
from collections.abc import Mapping

from sch.terminal.screen import Screen


class Surroundings:
    """The environment, read once, and the screen that suits it."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self.environment = dict(os.environ if environment is None else environment)
        self.screen = Screen(self.environment)
