# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""lit: .mlir tests with FileCheck. With -Dround_trip=1 rhizome-opt prints and
parses its IR again, as text and as bytecode, before and after the passes."""
import os

import lit.formats

config.name = "rhizome"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.excludes = ["e2e", "hygiene", "reference"]

config.environment["PATH"] = os.pathsep.join(
    [config.rhizome_tools_dir, config.llvm_tools_dir,
     config.environment["PATH"]])
options = ""
if lit_config.params.get("round_trip"):
    options = " --verify-roundtrip"
config.substitutions.append(("%opt", "rhizome-opt" + options))
