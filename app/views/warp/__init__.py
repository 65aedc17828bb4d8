"""The warp view: the lanes of one request and the memory that they touch; whole buffers are for memory."""
