"""Drawing of charts, on screen and into files. The contents of charts come from `model`."""
