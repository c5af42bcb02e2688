"""A run of any shape, evaluated under one set of rules: each shape has its driver, which hands it to a kernel of `join`."""
