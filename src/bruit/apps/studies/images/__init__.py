"""The studies that train networks on images: digits, CIFAR-10, flowers."""
