"""Which facts of an answer are shown, and under which names."""
