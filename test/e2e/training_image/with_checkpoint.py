# SPDX-License-Identifier: Apache-2.0
"""What the training image of the tests runs for deploy/elastic/resnet.yaml: examples/collective,
long enough to be scaled, with checkpoints in the directory that the file mounts."""
import runpy
import sys
from pathlib import Path

sys.argv += ["--checkpoint=/checkpoint", "--steps=900", "--pause=0.1"]
runpy.run_path(str(Path(__file__).with_name("train_fleet.py")), run_name="__main__")
