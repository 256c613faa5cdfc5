"""Printers from the stream level: HLS C++, host programs, connectivity, packed parameters, manifest, and their checker."""
