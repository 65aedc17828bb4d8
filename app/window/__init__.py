"""The main window: its layout, menu, files and questions. `control` decides which sessions it shows."""
