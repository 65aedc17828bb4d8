"""What `tilescope server` does for editors: the Language Server Protocol over standard input and output."""
