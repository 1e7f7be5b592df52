"""What both runners share: liveness, claim, perform, finish, drain; and how every service starts.

    deliveries ──► Claims ──► threads: perform ──► Finisher ──► executions
                     │            ▲
                 Liveness: a claim of an older generation is given back, never sent

Two processes can hold the same message, and a process can be stopped at any line of this package. What keeps a run
from being lost or doubled is in the rows: the claim is one conditional update, an outcome is written only where the
claim's token still stands, and a process that may have been declared dead starts nothing on old claims.
"""
