"""What the vendor's tool says of a design that we estimated: its reports read, and compared with the model."""
