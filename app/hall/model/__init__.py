"""What a hall holds: questions, votes, histograms, limits and results."""
