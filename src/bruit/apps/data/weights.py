"""Weights of networks that others trained on other images."""

from bruit.apps.data.files import PublicFile

VGG16 = PublicFile(
    "vgg16/vgg16-397923af.pth",
    "https://download.pytorch.org/models/vgg16-397923af.pth",
    ("397923af8e79cdbb6a7127f12361acd7a2f83e06b05044ddf496e83de57a5bf0",),
)
"""Of torchvision; those that the thesis starts from."""
