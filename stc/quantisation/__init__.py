"""The arithmetic of quantised linear layers: what is chosen for each layer, and PyTorch modules that compute exactly that."""
