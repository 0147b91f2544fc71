"""The demo: a film, a table and a song with known truth, separated, compared with simpler ways, and reported."""
