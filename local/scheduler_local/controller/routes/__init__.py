"""Routes of the real Cloud Controller, one module per kind of resource."""
