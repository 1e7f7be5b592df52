"""How a service's memory is tidied up."""

import gc

NEW_OBJECTS = 50_000
_YOUNG_ROUNDS, _MIDDLE_ROUNDS = 20, 20


def collect_rarely() -> None:
    """Let Python look for cycles of objects after 50,000 new ones instead of 700, and never among what was imported.

    Batches of a thousand rows make objects by the thousand and hardly a cycle: looking cost a fifth of a tick.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, _YOUNG_ROUNDS, _MIDDLE_ROUNDS)
