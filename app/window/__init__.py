"""The main window: its parts put together, its menu, files and questions."""
