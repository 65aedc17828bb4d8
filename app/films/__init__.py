"""Films of the window: the moment of each frame, the drawing of frames, and the files."""
