"""What was recorded of launches on a GPU, as a chart shows it: which recording, what is told of it, where one looks."""
