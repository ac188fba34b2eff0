"""Low-density parity-check codes: parity-check matrices, encoders and message-passing decoders."""
