"""Convolutional and turbo codes on a trellis, with Viterbi and BCJR decoders."""
