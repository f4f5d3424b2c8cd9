"""Blocks of models: softmax, layer norm, attention, GELU. Computed in f64 by NumPy from the formula."""
