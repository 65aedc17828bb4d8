"""Run a launch, record it, store it, analyse it."""
