"""The warp view: the lanes of one request and the memory that they access."""
