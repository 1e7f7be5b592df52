"""Calls, as they are sent and shown. What is secret goes in and never comes out."""

import re
from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, fields, validate

from scheduler.domain.calls import DEFAULT_RETRY_ON, DEFAULT_SUCCESS_STATUSES, MAX_TIMEOUT_SECONDS, Call
from scheduler_api.schemas.base import Answer, Body, Patch
from scheduler_api.schemas.fields import MAX_NAME_CHARACTERS, Instant, Matching, OneOf, Seconds, Text, Whole, entries
from scheduler_api.schemas.headers import MAX_VALUE, VALUE_PATTERN, CallHeaders, is_secret
from scheduler_api.schemas.urls import CallUrl

METHODS = ("POST", "GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS")
MAX_BODY_CHARACTERS = 65_536
_MAX_REDIRECTS = 20
_MAX_ATTEMPTS = 100
_WEEK_SECONDS = 7 * 86_400
_STATUS = r"^[1-5](\d\d|xx)$"
_RETRY_ON = r"^(connect_error|timeout|runner_lost|[1-5](\d\d|xx))$"


def _name(**kwargs: Any) -> Text:
    return Text(most=MAX_NAME_CHARACTERS, blank=False, metadata={"examples": ["my-call"]}, **kwargs)


def _auth_header(**kwargs: Any) -> Text:
    rule = validate.Regexp(re.compile(VALUE_PATTERN, re.ASCII), error="must be printable ASCII")
    return Text(
        most=MAX_VALUE,
        blank=False,
        validate=[rule],
        load_only=True,
        metadata={"description": "sent as Authorization, never shown", "examples": ["bearer TOKEN"]},
        **kwargs,
    )


class _RetryFields(Schema):
    max_attempts = Whole(least=1, most=_MAX_ATTEMPTS, allow_none=True, metadata={"description": "default 1"})
    backoff_seconds = Seconds(least=0, most=86_400, allow_none=True, metadata={"description": "default 1, doubled"})
    max_backoff_seconds = Seconds(least=0, most=86_400, allow_none=True, metadata={"description": "default 60"})
    max_age_seconds = Whole(
        least=1,
        most=_WEEK_SECONDS,
        allow_none=True,
        metadata={"description": "no attempt starts later than this after the first; default 3600"},
    )
    retry_on = fields.List(
        Matching(_RETRY_ON, "must be connect_error, timeout, runner_lost, a status such as 503 or a class such as 5xx"),
        validate=entries(20),
        allow_none=True,
        metadata={"description": f"default {', '.join(DEFAULT_RETRY_ON)}"},
    )


class RetryBody(_RetryFields, Body):
    """When a failed attempt is followed by another."""


class RetryPatch(_RetryFields, Patch):
    """What is to change about retries."""


class _CallOptions(Schema):
    method = OneOf(METHODS, allow_none=True, metadata={"description": "default POST"})
    headers = CallHeaders(
        allow_none=True, metadata={"description": "sent along; values of those that look like secrets are never shown"}
    )
    body = Text(most=MAX_BODY_CHARACTERS, lines=True, allow_none=True)
    connect_timeout_seconds = Seconds(least=0.1, most=60, allow_none=True, metadata={"description": "default 5"})
    timeout_seconds = Seconds(
        least=0.1,
        most=MAX_TIMEOUT_SECONDS,
        allow_none=True,
        metadata={"description": "for everything: name look-up, connection, redirects, answer; default 30"},
    )
    success_statuses = fields.List(
        Matching(_STATUS, "must be a status such as 204, or a class such as 2xx"),
        validate=validate.Length(min=1, max=20, error="must have {min} to {max} entries"),
        allow_none=True,
        metadata={"description": f"default {', '.join(DEFAULT_SUCCESS_STATUSES)}"},
    )
    follow_redirects = Whole(least=0, most=_MAX_REDIRECTS, allow_none=True, metadata={"description": "default 5"})


class CallBody(_CallOptions, Body):
    """A new call."""

    name = _name(required=True)
    url = CallUrl(required=True)
    auth_header = _auth_header(required=True)
    retry = fields.Nested(RetryBody, allow_none=True)


class CallPatch(_CallOptions, Patch):
    """What is to change about a call. Headers are replaced as a whole, the fields of `retry` one by one."""

    name = _name()
    url = CallUrl()
    auth_header = _auth_header()
    retry = fields.Nested(RetryPatch, allow_none=True)


class RetryAnswer(Answer):
    """When a failed attempt is followed by another."""

    max_attempts = fields.Integer(required=True)
    backoff_seconds = fields.Float(required=True)
    max_backoff_seconds = fields.Float(required=True)
    max_age_seconds = fields.Integer(required=True)
    retry_on = fields.List(fields.String(), required=True)


def _shown_headers(call: Call) -> Mapping[str, str]:
    return {name: value for name, value in call.request.headers.items() if not is_secret(name)}


class CallAnswer(Answer):
    """A call, without its auth_header and the values of secret headers."""

    guid = fields.UUID(required=True)
    name = fields.String(required=True)
    url = fields.String(required=True, attribute="request.url")
    method = fields.String(required=True, attribute="request.method")
    headers = fields.Function(_shown_headers, required=True, metadata={"type": "object", "additionalProperties": True})
    secret_headers = fields.Function(
        lambda call: sorted(filter(is_secret, call.request.headers)),
        required=True,
        metadata={"type": "array", "items": {"type": "string"}, "description": "names of headers not shown"},
    )
    body = fields.String(required=True, attribute="request.body")
    connect_timeout_seconds = fields.Float(required=True, attribute="request.connect_timeout_seconds")
    timeout_seconds = fields.Float(required=True, attribute="request.timeout_seconds")
    success_statuses = fields.List(fields.String(), required=True, attribute="request.success_statuses")
    follow_redirects = fields.Integer(required=True, attribute="request.follow_redirects")
    retry = fields.Nested(RetryAnswer, required=True, attribute="request.retry")
    app_guid = fields.String(required=True)
    space_guid = fields.String(required=True, metadata={"description": "the app's space when the call was created"})
    created_at = Instant(required=True)
    updated_at = Instant(required=True)
