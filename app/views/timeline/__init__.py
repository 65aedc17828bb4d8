"""The timeline: what each warp does at each moment, to be clicked and dragged; time itself is the playhead's."""
