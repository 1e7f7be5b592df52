"""Faults at random moments: each kind in turn from a shuffled deck, some overlapping, with lulls to recover in."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random

from tests.faults.history import Fault
from tests.faults.moments import now, show
from tests.faults.striking import KINDS, Kind
from tests.faults.world import OccupiedError, World

AT_ONCE = 8
_LULL_SHARE = 0.1
_LULL = 4.0  # times the mean gap
_SHORT_SHARE = 0.8  # most faults last a quarter of their range at most


@dataclass
class Campaign:
    """One run's faults."""

    world: World
    random: Random
    mean_gap_seconds: float
    longest_seconds: float = 70.0
    kinds: Sequence[Kind] = KINDS
    faults: list[Fault] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)  # of the harness itself
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, seconds: float) -> None:
        """Strike until the time is up, and return when everything is mended."""
        over = threading.Event()
        timer = threading.Timer(seconds, over.set)
        timer.start()
        deck: list[Kind] = []
        try:
            with ThreadPoolExecutor(AT_ONCE) as pool:
                while not over.wait(self._gap()):
                    deck = deck or self.random.sample(list(self.kinds), len(self.kinds))
                    pool.submit(self._strike, deck.pop(), self.random.random(), self.random.getrandbits(32), over)
        finally:
            timer.cancel()

    def _gap(self) -> float:
        gap = self.random.expovariate(1 / self.mean_gap_seconds)
        return gap + (_LULL * self.mean_gap_seconds if self.random.random() < _LULL_SHARE else 0.0)

    def _strike(self, kind: Kind, length: float, seed: int, over: threading.Event) -> None:
        random = Random(seed)
        for _ in range(90):  # until a target is free
            try:
                self._strike_once(kind, self._seconds(kind, length), random, over)
            except OccupiedError:
                if over.wait(1.0):
                    return
            except BaseException as error:  # noqa: BLE001 - it must be seen, and the other faults must go on
                self.troubles.append(f"{kind.name}: {type(error).__name__}: {error}")
                return
            else:
                return

    def _strike_once(self, kind: Kind, seconds: float, random: Random, over: threading.Event) -> None:
        began = now()
        with kind.strike(self.world, random) as target:
            if kind.stalls:
                threading.Event().wait(seconds)
            else:
                over.wait(seconds)
        self._note(Fault(kind=kind.name, target=target, began=began, ended=now()))

    def _seconds(self, kind: Kind, length: float) -> float:
        if kind.stalls:
            return self.world.options.liveness_seconds * (kind.least + length * (kind.most - kind.least))
        # Mostly short: length 0 to 0.8 is stretched over the first quarter.
        share = length / _SHORT_SHARE / 4 if length < _SHORT_SHARE else 0.25 + (length - _SHORT_SHARE) * 3.75
        return min(kind.least + share * (kind.most - kind.least), self.longest_seconds)

    def _note(self, fault: Fault) -> None:
        with self._lock:
            self.faults.append(fault)
        print(f"{show(fault.began)} to {show(fault.ended)} {fault.kind}: {fault.target}", flush=True)  # noqa: T201
