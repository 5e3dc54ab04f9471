// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is done with an image before it enters a model: resized, cropped, turned
// to gray or to RGB. The pixels are those of Pillow, and so of torchvision's
// transforms on its images, bit for bit: this is part of how a network was
// trained.
#pragma once

#include "rhizome/Support/Data.h"

namespace rhizome {
class ImageSteps {
public:
  /// Steps in their order, with commas between: `resize=N` (the shorter side
  /// has N pixels) or `resize=HxW`, bilinear, or with `:bicubic`; `crop=N` or
  /// `crop=HxW` from the middle; `gray`; `rgb`. "" gives none.
  static llvm::Expected<ImageSteps> parse(llvm::StringRef text,
                                          llvm::StringRef option = "--images");

  bool empty() const { return steps.empty(); }
  /// The option that sets it, for messages.
  const std::string &option() const { return theOption; }
  /// `image` is [H,W,C] with C 1 or 3; `file` is for messages.
  llvm::Expected<NamedTensor> apply(NamedTensor image,
                                    llvm::StringRef file) const;

private:
  enum class Kind { Resize, Crop, Gray, Rgb };
  struct Step {
    Kind kind;
    /// Of resize and crop; width 0: the shorter side, or a square.
    int64_t height = 0, width = 0;
    bool isBicubic = false;
  };
  std::vector<Step> steps;
  std::string theOption = "--images";
};
} // namespace rhizome
