"""The index of an access as the source has it: its parts, the expressions behind them, and its value."""
