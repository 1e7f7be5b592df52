"""The call-runner: sends the HTTP requests of calls that are due, one attempt per claim."""
