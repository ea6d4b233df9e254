# SPDX-License-Identifier: Apache-2.0
"""Writes the quickstart's image set: ten classes of striped, noisy pictures of about 38 KB.

    python make_images.py DIRECTORY        <part>/<class>/<number>.png, parts train and val

The same pictures on every machine. A class is the direction of its stripes; the noise hides them
from a single pixel and makes the files as large as photographs.
"""
import os
import sys

import numpy as np
from PIL import Image

SIDE, CLASSES = 112, 10
PARTS = {"train": 1200, "val": 200}


def image(label, random):
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    angle = np.pi * label / CLASSES
    stripes = np.sin((x * np.cos(angle) + y * np.sin(angle)) / 6 + random.uniform(0, 2 * np.pi))
    noise = random.normal(0, 70, (SIDE, SIDE, 3))
    return np.clip(127 + 45 * stripes[..., None] + noise, 0, 255).astype("uint8")


def main(root):
    random = np.random.default_rng(7)
    for part, count in PARTS.items():
        for number in range(count):
            folder = os.path.join(root, part, str(number % CLASSES))
            os.makedirs(folder, exist_ok=True)
            picture = Image.fromarray(image(number % CLASSES, random))
            picture.save(os.path.join(folder, f"{number:05}.png"), compress_level=1)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
