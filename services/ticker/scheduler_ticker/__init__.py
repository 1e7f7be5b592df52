"""The ticker: plans what is due, publishes what waits, rescues what was lost, prunes what is old.

Any number of instances may run; they share the work through row locks that others skip.
"""
