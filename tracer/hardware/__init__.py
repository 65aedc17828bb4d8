"""What a GPU did and when: timelines of launches, their files, and figures derived from them."""
