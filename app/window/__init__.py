"""The main window: its parts put together, its menu, files and questions; what it shows is decided in control."""
