"""The toolbar with its fields and options; `model` turns edits into setups."""
