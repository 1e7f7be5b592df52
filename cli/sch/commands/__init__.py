"""The commands, one module per noun; each is loaded only when it is called."""
