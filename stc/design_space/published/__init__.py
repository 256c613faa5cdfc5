"""The choices of the publication (StreamTensor, MICRO 2025), as it states them: for comparison with ours, not for use."""
