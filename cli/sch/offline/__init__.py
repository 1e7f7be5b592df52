"""What `sch` does without a server: next runs of expressions, one or many, and the list of time zones."""
