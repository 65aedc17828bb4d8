"""The timeline: each warp's activity at each moment, with clicks and drags; the playhead owns the time."""
