#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Accuracy of the two digits models on the 450 test images, computed from the
# files alone by evaluators that share nothing with train.py: onnxruntime for
# the QDQ model, the numpy evaluator of test/reference for the QONNX model.

import sys
from pathlib import Path

import numpy as np
import onnx

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "test" / "reference"))

import ort_reference
import qonnx_reference


def main():
    images = np.load(HERE / "test_images.npy")
    labels = np.load(HERE / "test_labels.npy")

    def report(name, what, logits):
        right = int((logits["logits"].argmax(axis=1) == labels).sum())
        print(f"{name:24}{what:32}{right}/{len(labels)} "
              f"= {100 * right / len(labels):.2f} %")

    name = "digits_qdq_int8.onnx"
    for optimize in (False, True):
        report(name, "onnxruntime, " + ("optimized" if optimize
                                        else "not optimized"),
               ort_reference.run(onnx.load(HERE / name), {"image": images},
                                 optimize=optimize, split_batch=True))
    name = "digits_qonnx_w4a4.onnx"
    report(name, "numpy float64", qonnx_reference.evaluate(
        onnx.load(HERE / name), {"image": images}))


if __name__ == "__main__":
    main()
