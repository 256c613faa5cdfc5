"""The contract of an emitted project: the schema of `manifest.json`, versioned, read and written with validation."""
