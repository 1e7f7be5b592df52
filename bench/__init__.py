"""Load benches: real runs of the real services on real servers. `make bench` runs them; none is a test."""
