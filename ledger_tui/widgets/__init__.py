"""Widgets that draw line by line; none mounts a widget per row."""
