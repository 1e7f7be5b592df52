"""Values and errors of the scheduler, standard library only; everything else may depend on these."""
