"""Clients of Cloud Controller and UAA: thin, typed, and honest about what they do not know.

A method returns CF's answer as a value or raises one of `errors`. The important distinction is between
"it is not there" (`NotFoundError`, only when Cloud Controller itself says so) and "cannot tell" (everything else).
"""
