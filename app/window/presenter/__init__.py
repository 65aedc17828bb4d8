"""The window of the presenter: what the speaker sees beside the window of the audience, and on which screens."""
