"""A stand-in for Cloud Controller: tasks that really run, roles, and services driven through a real broker."""
