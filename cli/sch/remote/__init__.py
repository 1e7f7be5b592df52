"""The scheduler's API over HTTP: settings, requests, answers, refusals."""
