"""Pictures of a session at a moment, a room each; what several of them need is in common."""
