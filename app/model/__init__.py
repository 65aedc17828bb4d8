"""What the window shows, as values: sessions, bookmarks, the playhead. No widget, and nothing that runs a launch."""
