"""The presenter's window for the speaker, and the screens of both windows."""
