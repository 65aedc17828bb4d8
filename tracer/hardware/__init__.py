"""What a GPU did and when: the timelines of launches, their files, and what they come to."""
