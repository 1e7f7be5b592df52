"""`python -m scheduler_api.openapi > docs/openapi.json`: the committed copy of the contract."""

import sys

from scheduler_api.openapi.pages import as_text

if __name__ == "__main__":
    sys.stdout.write(as_text())
