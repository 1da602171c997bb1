//! The rows of `pins` and `check`, as the JSON of schema 1 has them. Takes cases and findings, gives
//! plain values that both fronts print. Never compares, never reads a file.
