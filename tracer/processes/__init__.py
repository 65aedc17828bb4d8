"""Helper processes: how they are started, exchange lines of JSON, and end. Their tasks are defined elsewhere."""
