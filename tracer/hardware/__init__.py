"""What a GPU did and when: times, timelines of launches, their files, and figures derived from them."""
