"""Codes walked as a trellis: convolutional and turbo codes, Viterbi and BCJR decoders."""
