"""As the package of the same name in tau2."""
