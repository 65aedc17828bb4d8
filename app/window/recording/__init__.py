"""What is shown as a film: which moment each frame shows, the frames drawn, and the file that they are written into."""
