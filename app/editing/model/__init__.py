"""The text of an edited kernel and the differences of two versions, without Qt."""
