"""How commands are written: names, arguments, options, help."""
