"""Emitted projects on XRT's own runtime, with their C simulation as the device: docs/hosts.md says what is whose."""
