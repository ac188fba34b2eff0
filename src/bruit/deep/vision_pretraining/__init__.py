"""Image features from a network that was pre-trained on pictures of noise alone, and the program that trained it."""

from bruit.deep.vision_pretraining.contrast import Pretraining, pretrain
from bruit.deep.vision_pretraining.draws import Draws
from bruit.deep.vision_pretraining.eyes import Eyes, eye_features, eye_views, load_eyes
from bruit.deep.vision_pretraining.random_processes import pictures
from bruit.deep.vision_pretraining.views import view

__all__ = ["Draws", "Eyes", "Pretraining", "eye_features", "eye_views", "load_eyes", "pictures", "pretrain", "view"]
