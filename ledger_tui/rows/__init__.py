"""What each pane shows, as plain lines of styled text; nothing here knows Textual."""
