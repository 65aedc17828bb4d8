"""What a program of a user's, a notebook or a test calls: launches traced, looked at and checked."""
