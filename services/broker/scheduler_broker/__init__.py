"""The service broker: a space turns the scheduler on with an instance, an app joins it with a binding.

Every operation is finished when it is answered, so nothing is ever polled. Races are settled in the database: one
instance in a space by a unique constraint, binding against unbinding by a lock on the app (`scheduler.store.bindings`).
What a platform sends twice, late or for things never seen is safe to answer.
"""
