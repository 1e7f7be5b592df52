"""The queue over PostgreSQL: a message is a row of `executions` that is PENDING and stamped `queued_at`.

So publishing is the relay's stamp, and ringing a NOTIFY in the same transaction; a delivery is a row that a consumer
has seen, acknowledging changes nothing, and no message can be lost. Consumers do not lock what they see: two may
see the same row, and the claim decides, as it does for a message that RabbitMQ delivers twice.
"""
