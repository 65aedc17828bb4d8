"""What all commands share: the words they take and what they print."""
