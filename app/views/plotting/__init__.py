"""What every chart adds to pyqtgraph: theme, ticks in our units, fidelity labels, crosshair, legend, keys, export."""
