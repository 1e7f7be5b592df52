"""What the broker does, without a word of HTTP: one transaction each, never across a request to Cloud Controller."""
