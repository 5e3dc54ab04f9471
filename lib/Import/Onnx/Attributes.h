// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX's attributes by name, each with what it holds.
#pragma once

#include "Operations.h"

namespace rhizome::importer {
constexpr OnnxAttribute kActivationAlpha{"activation_alpha",
                                         AttributeKind::List};
constexpr OnnxAttribute kActivationBeta{"activation_beta", AttributeKind::List};
constexpr OnnxAttribute kActivations{"activations", AttributeKind::List};
constexpr OnnxAttribute kAlignCorners{"align_corners", AttributeKind::Int};
constexpr OnnxAttribute kAllowzero{"allowzero", AttributeKind::Int};
constexpr OnnxAttribute kAlpha{"alpha", AttributeKind::Float};
constexpr OnnxAttribute kAntialias{"antialias", AttributeKind::Int};
constexpr OnnxAttribute kApproximate{"approximate", AttributeKind::Text};
constexpr OnnxAttribute kAutoPad{"auto_pad", AttributeKind::Text};
constexpr OnnxAttribute kAxes{"axes", AttributeKind::Ints};
constexpr OnnxAttribute kAxis{"axis", AttributeKind::Int};
constexpr OnnxAttribute kBatchAxis{"batch_axis", AttributeKind::Int};
constexpr OnnxAttribute kBatchDims{"batch_dims", AttributeKind::Int};
constexpr OnnxAttribute kBeta{"beta", AttributeKind::Float};
constexpr OnnxAttribute kBias{"bias", AttributeKind::Float};
constexpr OnnxAttribute kBlockSize{"block_size", AttributeKind::Int};
constexpr OnnxAttribute kBlocksize{"blocksize", AttributeKind::Int};
constexpr OnnxAttribute kBody{"body", AttributeKind::Graph};
constexpr OnnxAttribute kCeilMode{"ceil_mode", AttributeKind::Int};
constexpr OnnxAttribute kChannelsLast{"channels_last", AttributeKind::Int};
constexpr OnnxAttribute kClip{"clip", AttributeKind::Float};
constexpr OnnxAttribute kCoordinateTransformationMode{
    "coordinate_transformation_mode", AttributeKind::Text};
constexpr OnnxAttribute kCountIncludePad{"count_include_pad",
                                         AttributeKind::Int};
constexpr OnnxAttribute kCubicCoeffA{"cubic_coeff_a", AttributeKind::Float};
constexpr OnnxAttribute kDataLayout{"data_layout", AttributeKind::Text};
constexpr OnnxAttribute kDetectNegative{"detect_negative", AttributeKind::Int};
constexpr OnnxAttribute kDetectPositive{"detect_positive", AttributeKind::Int};
constexpr OnnxAttribute kDilations{"dilations", AttributeKind::Ints};
constexpr OnnxAttribute kDirection{"direction", AttributeKind::Text};
constexpr OnnxAttribute kDtype{"dtype", AttributeKind::Int};
constexpr OnnxAttribute kElseBranch{"else_branch", AttributeKind::Graph};
constexpr OnnxAttribute kEnd{"end", AttributeKind::Int};
constexpr OnnxAttribute kEnds{"ends", AttributeKind::Ints};
constexpr OnnxAttribute kEpsilon{"epsilon", AttributeKind::Float};
constexpr OnnxAttribute kEquation{"equation", AttributeKind::Text};
constexpr OnnxAttribute kExcludeOutside{"exclude_outside", AttributeKind::Int};
constexpr OnnxAttribute kExclusive{"exclusive", AttributeKind::Int};
constexpr OnnxAttribute kExtrapolationValue{"extrapolation_value",
                                            AttributeKind::Float};
constexpr OnnxAttribute kFmod{"fmod", AttributeKind::Int};
constexpr OnnxAttribute kGroup{"group", AttributeKind::Int};
constexpr OnnxAttribute kHasInf{"has_inf", AttributeKind::Int};
constexpr OnnxAttribute kHasInfinity{"has_infinity", AttributeKind::Int};
constexpr OnnxAttribute kHasNan{"has_nan", AttributeKind::Int};
constexpr OnnxAttribute kHasSubnormal{"has_subnormal", AttributeKind::Int};
constexpr OnnxAttribute kHiddenSize{"hidden_size", AttributeKind::Int};
constexpr OnnxAttribute kInputForget{"input_forget", AttributeKind::Int};
constexpr OnnxAttribute kIsCausal{"is_causal", AttributeKind::Int};
constexpr OnnxAttribute kK{"k", AttributeKind::Int};
constexpr OnnxAttribute kKeepAspectRatioPolicy{"keep_aspect_ratio_policy",
                                               AttributeKind::Text};
constexpr OnnxAttribute kKeepdims{"keepdims", AttributeKind::Int};
constexpr OnnxAttribute kKernelShape{"kernel_shape", AttributeKind::Ints};
constexpr OnnxAttribute kKvNumHeads{"kv_num_heads", AttributeKind::Int};
constexpr OnnxAttribute kLambd{"lambd", AttributeKind::Float};
constexpr OnnxAttribute kLargest{"largest", AttributeKind::Int};
constexpr OnnxAttribute kLayout{"layout", AttributeKind::Int};
constexpr OnnxAttribute kLeftWindowSize{"left_window_size", AttributeKind::Int};
constexpr OnnxAttribute kLinearBeforeReset{"linear_before_reset",
                                           AttributeKind::Int};
constexpr OnnxAttribute kMax{"max", AttributeKind::Float};
constexpr OnnxAttribute kMin{"min", AttributeKind::Float};
constexpr OnnxAttribute kMode{"mode", AttributeKind::Text};
constexpr OnnxAttribute kMomentum{"momentum", AttributeKind::Float};
constexpr OnnxAttribute kNarrow{"narrow", AttributeKind::Int};
constexpr OnnxAttribute kNearestMode{"nearest_mode", AttributeKind::Text};
constexpr OnnxAttribute kNoopWithEmptyAxes{"noop_with_empty_axes",
                                           AttributeKind::Int};
constexpr OnnxAttribute kNumGroups{"num_groups", AttributeKind::Int};
constexpr OnnxAttribute kNumOutputs{"num_outputs", AttributeKind::Int};
constexpr OnnxAttribute kNumScanInputs{"num_scan_inputs", AttributeKind::Int};
constexpr OnnxAttribute kOutBias{"out_bias", AttributeKind::Float};
constexpr OnnxAttribute kOutDtype{"out_dtype", AttributeKind::Text};
constexpr OnnxAttribute kOutScale{"out_scale", AttributeKind::Float};
constexpr OnnxAttribute kOutputDtype{"output_dtype", AttributeKind::Int};
constexpr OnnxAttribute kOutputPadding{"output_padding", AttributeKind::Ints};
constexpr OnnxAttribute kOutputScale{"output_scale", AttributeKind::Int};
constexpr OnnxAttribute kOutputShape{"output_shape", AttributeKind::Ints};
constexpr OnnxAttribute kP{"p", AttributeKind::Int};
constexpr OnnxAttribute kPadValue{"value", AttributeKind::Float};
constexpr OnnxAttribute kPaddingMode{"padding_mode", AttributeKind::Text};
constexpr OnnxAttribute kPads{"pads", AttributeKind::Ints};
constexpr OnnxAttribute kPerm{"perm", AttributeKind::Ints};
constexpr OnnxAttribute kPrecision{"precision", AttributeKind::Int};
constexpr OnnxAttribute kQNumHeads{"q_num_heads", AttributeKind::Int};
constexpr OnnxAttribute kQkMatmulOutputMode{"qk_matmul_output_mode",
                                            AttributeKind::Int};
constexpr OnnxAttribute kRatio{"ratio", AttributeKind::Float};
constexpr OnnxAttribute kReduction{"reduction", AttributeKind::Text};
constexpr OnnxAttribute kReverse{"reverse", AttributeKind::Int};
constexpr OnnxAttribute kRightWindowSize{"right_window_size",
                                         AttributeKind::Int};
constexpr OnnxAttribute kRoundMode{"round_mode", AttributeKind::Text};
constexpr OnnxAttribute kRoundingMode{"rounding_mode", AttributeKind::Text};
constexpr OnnxAttribute kSaturate{"saturate", AttributeKind::Int};
constexpr OnnxAttribute kSaturation{"saturation", AttributeKind::Int};
constexpr OnnxAttribute kScale{"scale", AttributeKind::Float};
constexpr OnnxAttribute kScales{"scales", AttributeKind::Floats};
constexpr OnnxAttribute kScanInputAxes{"scan_input_axes", AttributeKind::Ints};
constexpr OnnxAttribute kScanInputDirections{"scan_input_directions",
                                             AttributeKind::Ints};
constexpr OnnxAttribute kScanOutputAxes{"scan_output_axes",
                                        AttributeKind::Ints};
constexpr OnnxAttribute kScanOutputDirections{"scan_output_directions",
                                              AttributeKind::Ints};
constexpr OnnxAttribute kSeed{"seed", AttributeKind::Int};
constexpr OnnxAttribute kSelectLastIndex{"select_last_index",
                                         AttributeKind::Int};
constexpr OnnxAttribute kSigned{"signed", AttributeKind::Int};
constexpr OnnxAttribute kSize{"size", AttributeKind::Int};
constexpr OnnxAttribute kSoftcap{"softcap", AttributeKind::Float};
constexpr OnnxAttribute kSoftmaxPrecision{"softmax_precision",
                                          AttributeKind::Int};
constexpr OnnxAttribute kSorted{"sorted", AttributeKind::Int};
constexpr OnnxAttribute kSpatial{"spatial", AttributeKind::Int};
constexpr OnnxAttribute kSplit{"split", AttributeKind::Ints};
constexpr OnnxAttribute kStart{"start", AttributeKind::Int};
constexpr OnnxAttribute kStarts{"starts", AttributeKind::Ints};
constexpr OnnxAttribute kStashType{"stash_type", AttributeKind::Int};
constexpr OnnxAttribute kStorageOrder{"storage_order", AttributeKind::Int};
constexpr OnnxAttribute kStrides{"strides", AttributeKind::Ints};
constexpr OnnxAttribute kTimeAxis{"time_axis", AttributeKind::Int};
constexpr OnnxAttribute kThenBranch{"then_branch", AttributeKind::Graph};
constexpr OnnxAttribute kTo{"to", AttributeKind::Int};
constexpr OnnxAttribute kTrainingMode{"training_mode", AttributeKind::Int};
constexpr OnnxAttribute kTransA{"transA", AttributeKind::Int};
constexpr OnnxAttribute kTransB{"transB", AttributeKind::Int};
constexpr OnnxAttribute kUpper{"upper", AttributeKind::Int};
constexpr OnnxAttribute kValue{"value", AttributeKind::Tensor};
constexpr OnnxAttribute kValueFloat{"value_float", AttributeKind::Float};
constexpr OnnxAttribute kValueFloats{"value_floats", AttributeKind::Floats};
constexpr OnnxAttribute kValueInt{"value_int", AttributeKind::Int};
constexpr OnnxAttribute kValueInts{"value_ints", AttributeKind::Ints};
} // namespace rhizome::importer
