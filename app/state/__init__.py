"""The state of a window as one value, the actions that change it, and what panels show of it, without Qt."""
