"""A stand-in for UAA: real RS256 tokens for users and clients of a little world of its own."""
