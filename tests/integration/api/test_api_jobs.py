"""Jobs: what is stored, what is shown, what is refused."""

from scheduler_local.testing import MadeApp
from tests.fixtures.api import Api


def test_a_job_is_answered_as_it_is_stored(api: Api, app: MadeApp) -> None:
    job = api.create_job(app.guid)
    assert api.get(f"/jobs/{job['guid']}").json == job
