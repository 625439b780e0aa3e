"""Runs in the training process: records, cuts windows, writes event files."""
