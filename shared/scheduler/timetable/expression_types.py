"""The word that says how an expression is to be read."""

from scheduler.domain.errors import Finding, InvalidInputError
from scheduler.domain.states import ExpressionType


def read_expression_type(word: str | None) -> ExpressionType:
    """Return the expression type called `word`; absent or empty it is a cron expression.

    Raises InvalidInputError.
    """
    if not word:
        return ExpressionType.CRON
    if word not in set(ExpressionType):
        valid = ", ".join(ExpressionType)
        message = f"expression type {word} is not known (valid: {valid})"
        raise InvalidInputError(
            Finding(
                code="unknown_expression_type",
                message=message,
                field="expression_type",
                value=word,
                valid_range=valid,
            )
        )
    return ExpressionType(word)
