"""FIFOs: what a network of tasks does in time and in tokens, and the depths at which it ends and loses no cycle."""
