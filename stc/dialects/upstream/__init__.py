"""What xDSL lacks, or reads and prints wrongly, of upstream dialects."""
