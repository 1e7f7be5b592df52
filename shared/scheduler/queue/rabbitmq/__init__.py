"""The queue over RabbitMQ, and the only place that knows pika.

A `Link` is a thread that keeps one connection, come what may: any failure (RabbitMQ gone, a queue deleted or
declared differently, a channel closed, an answer overdue) ends the connection, and after a short wait a new one
starts from nothing and declares all it needs. There is one way to recover, not one for each failure: a channel that
has seen a quorum queue deleted keeps a memory of it that can make its successor deaf. Nothing that matters is lost
with a connection, since messages are only bells.

Publisher and consumer keep their pika objects inside their link's thread. Other threads hand over whole batches,
never single messages: waking a thread costs more than publishing does.
"""
