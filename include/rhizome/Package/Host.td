// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// plan.json's `host`: which tensors a caller gives and gets, and how each of
// them becomes a frame of the device's ports, or is made from one.
#ifndef RHIZOME_PACKAGE_HOST_TD
#define RHIZOME_PACKAGE_HOST_TD

include "rhizome/Package/Limits.td"

def StreamElement : Struct<"", "Element",
    "The elements of a stream: their format, of integers, and which occur."> {
  let Declared = 0;
  let HasReader = 0;
  let Fields = [
    Derived<"signed", "flag", "value.isSigned()", "whether the format is signed">,
    Derived<"width", "int", "value.width()", "bits", [Range<1, 64>]>,
    Int<"lo", "the least that occurs">,
    Int<"hi", "the greatest that occurs">];
}

def HostTensor : Struct<"HostBorder", "Tensor of the host",
    "A tensor in the caller's memory, row-major."> {
  let Fields = [
    Text<"name", "the model's input or output">,
    Either<"isFloat", "type", "int64", "float32", "the type of an element",
           preset = "true">,
    Ints<"shape", "its shape">,
    Flag<"ofModel", [{whether it is the model's own; otherwise tasks on the host
        stand between it and the model's inputs or outputs}], preset = "true">];
  let Constraints = [
    Requires<"shape", "isShape(shape)",
             "expected positive sizes, at most 2^40">];
}

def OrderDigit : Struct<"HostBorder", "Digit",
    "One digit of the order in which a frame takes a tensor's elements."> {
  let Fields = [
    Int<"size", "values of the digit", preset = "1">,
    Int<"stride", "elements of the tensor for which one stands", preset = "1">];
  let Constraints = [
    Requires<"size", "size >= 1 && stride >= 0",
             "expected a positive size and stride">];
}

defvar Roundings = ["half_even", "half_up", "half_down", "half_away",
                    "half_toward_zero", "toward_zero", "away_from_zero", "up",
                    "down", "sign"];

def HostBorder : Struct<"HostBorder", "Border of the host",
    [{A tensor as a frame of one port. Element i of the frame is the tensor's
    element at the sum of digit × stride, the digits being i in the mixed radix of
    the sizes, the last one least significant; element m of the tensor has channel
    m / inner mod channels.}]> {
  let Fields = [
    Text<"port", "the stream's port, `s_axis_0`; of a cluster `input0`">,
    Int<"tensor", "the tensor's index in the section's inputs or outputs">,
    Of<"element", "StreamElement", "the format of an element of the frame">,
    Bits<"dataWidth", "bits of a beat; frames are padded to whole ones",
         preset = "8">,
    ListOf<"order", "OrderDigit", "the digits">,
    Text<"rounding", "how a real becomes an integer, as osa.quantize names it",
         [OneOf<Roundings, "expected a rounding of osa.quantize",
                "kHostBorderRounding">],
         preset = "half_even">,
    Int<"channels", "channels of the tensor", preset = "1">,
    Int<"inner", "elements that are next to each other in a channel",
        preset = "1">,
    Reals<"scale", "one for each channel; none for a tensor of integers",
          preset = "{}">,
    Ints<"zeroPoint", "the integer of the real 0, for each channel",
         preset = "{}">,
    Reals<"offset", "added after the scale, for each channel; none for zeros",
          preset = "{}">];
  let Constraints = [
    Requires<"data_width", "dataWidth && dataWidth % 8 == 0",
             "expected whole bytes">,
    Requires<"scale", [{channels >= 1 && inner >= 1 &&
        scale.size() == zeroPoint.size() &&
        (scale.empty() || int64_t(scale.size()) == channels) &&
        (offset.empty() || offset.size() == scale.size())}],
             "expected as many values as channels">,
    Requires<"scale", "areFiniteAndNotZero(scale)",
             "expected finite numbers that are not 0">];
  let ExtraDeclarations = "int64_t elements() const;";
}

def HostState : Struct<"HostBorder", "State of the host",
    "A tensor that the caller's side keeps from frame to frame."> {
  let Fields = [
    Int<"input", "the index of the input">,
    Int<"output", "the index of the output">,
    Reals<"initial", "what it is at first; none for zeros">];
}

def HostSection : Struct<"HostBorder", "Host",
    "The tensors at the model's border."> {
  let Fields = [
    Flag<"complete", [{whether every input and output is the model's: then a
        caller needs nothing else}]>,
    ListOf<"inputs", "HostTensor", "what a caller gives">,
    ListOf<"outputs", "HostTensor", "what a caller gets">,
    ListOf<"toDevice", "HostBorder", "inputs as frames">,
    ListOf<"fromDevice", "HostBorder", "outputs from frames">,
    ListOf<"states", "HostState",
           "those of the model's states of which both ends are the device's",
           omit = "states.empty()", preset = "{}">];
  let Constraints = [
    // Each of them reports the index of what is wrong.
    Verifies<"states", "checkStates">,
    Verifies<"to_device", "checkBordersTo">,
    Verifies<"from_device", "checkBordersFrom">];
}

#endif // RHIZOME_PACKAGE_HOST_TD
