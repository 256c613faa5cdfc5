"""Tasks and the channels between them as one graph, and who waits for whom in it. Free of IR."""
