"""Devices: resources, dies, memory ports, clocks, operator costs. Figures are data files, read into frozen dataclasses."""
