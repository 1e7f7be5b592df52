"""`scheduler up`: the whole suite on one machine, with nothing but Python."""
