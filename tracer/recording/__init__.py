"""Shared by both engines: loads kernels, records accesses, and builds traces of finished runs. Contains no engine."""
