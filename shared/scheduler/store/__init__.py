"""The only SQL: tables, transactions, one module per noun. Queries take a connection and return domain values.

The caller owns the transaction: `with engine.begin() as connection:` at the edge, one commit there.
"""
