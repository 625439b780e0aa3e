"""Runs in the TensorBoard process: reads recordings and logs, answers the browser."""
