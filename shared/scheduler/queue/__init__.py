"""The bell: RabbitMQ or PostgreSQL, one contract (`scheduler.ports`)."""
