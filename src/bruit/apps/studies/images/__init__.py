"""The studies that train networks on pictures: digits, CIFAR-10, flowers."""
