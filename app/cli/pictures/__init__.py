"""The commands that draw without a screen: pictures, films, replays, and lectures on paper."""
