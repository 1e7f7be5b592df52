"""The contract for machines and for readers, made from the same schemas that read and write requests."""
