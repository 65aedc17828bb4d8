"""Films as data: which frames, their palette and the files of pictures, without Qt."""
