"""The only package that knows the wire format and the HTTP routes of OpenCode."""
