"""A lecture in a hall: phones follow its steps and vote on its questions."""
