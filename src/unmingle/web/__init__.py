"""Pages for the browser of the user, served by the command that makes them and for this computer only."""
