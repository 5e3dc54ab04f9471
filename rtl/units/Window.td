// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sliding window.
include "Sources.td"

// Where rows lie, if synthesis does not choose by their shape.
def Ultra : Optional<"Ultra", 0, 0, 1, "the rows are in UltraRAM">;

def Window : Unit<"window"> {
  let Summary = "stores rows of a frame and reads sliding windows";
  let Latency = "4 + V if KernelParallel = 0, else 5 + V";
  let Module = [rhz_window];
  let Parameters = [
    Width<"Elem", "bits of an element">,
    Count<"Channels", "channels of a pixel">,
    Count<"Height", "rows of the frame">,
    Count<"Width", "columns of the frame">,
    Count<"KernelH", "rows of the kernel">,
    Count<"KernelW", "columns of the kernel">,
    Count<"StrideH", "rows from a window to the one below">,
    Count<"StrideW", "columns from a window to the next one">,
    Count<"DilationH", "rows between two of the kernel">,
    Count<"DilationW", "columns between two of the kernel">,
    Natural<"PadTop", "rows of padding above the frame">,
    Natural<"PadLeft", "columns of padding left of the frame">,
    Count<"OutHeight", "rows of windows">,
    Count<"OutWidth", "columns of windows">,
    Signed<"PadValue", "the element outside the frame">,
    Count<"Lanes", "channels of a stored word">,
    Count<"Groups", "groups of words that are read one after another">,
    Count<"Repeat", "times that a group is read">,
    Flag<"KernelParallel", "all positions of the kernel in one beat">,
    Count<"PixelsIn", "pixels of an input beat, a power of two">,
    Count<"PixelsOut", "windows of an output beat">,
    Count<"Rows", "stored rows">,
    Ultra, Depth, Frames
  ];
  let Ports = [
    StreamIn<"in", "PixelsIn * Lanes * Elem",
             "frames * Height * (PixelsIn > 1 ? ceilDiv(Width, PixelsIn) : Width * ceilDiv(Channels, Lanes))">,
    StreamOut<"out", "Elem * Lanes * (KernelParallel ? PixelsOut * KernelH * KernelW : 1)",
              "frames * OutHeight * ceilDiv(OutWidth, PixelsOut) * Repeat * ceilDiv(Channels, Lanes) * (KernelParallel ? 1 : KernelH * KernelW)">
  ];
  let Constraints = [
    Constraint<"Rows >= std::min(Height, (KernelH - 1) * DilationH + 1)",
               "Rows hold the rows of a window">,
    Constraint<"ceilDiv(Channels, Lanes) % Groups == 0",
               "Groups divides the words of a pixel">,
    Constraint<"PixelsOut == 1 || KernelParallel",
               "several windows a beat need KernelParallel">,
    Constraint<"(PixelsIn == 1 && PixelsOut == 1) || (Lanes == Channels && Groups == 1)",
               "several pixels a beat need Lanes = Channels and one group">,
    Constraint<"(PixelsIn & (PixelsIn - 1)) == 0", "PixelsIn is a power of two">,
    Constraint<"!(Ultra && KernelParallel)",
               "rows that are read as whole kernels are not in UltraRAM">
  ];
  let Characterized = ["window_serial", "window_parallel"];
}

// What windows have in common that are read by tiles, before what says of how
// many rows or frames these are.
defvar ShapeOfTiles = [
  Width<"Elem", "bits of an element">,
  Count<"Channels", "channels of a pixel">,
  Count<"Height", "rows of the frame">,
  Count<"Width", "columns of the frame">,
  Count<"KernelH", "rows of the kernel">,
  Count<"KernelW", "columns of the kernel">,
  Count<"StrideH", "rows from a window to the one below">,
  Count<"StrideW", "columns from a window to the next one">,
  Count<"DilationH", "rows between two of the kernel">,
  Count<"DilationW", "columns between two of the kernel">,
  Natural<"PadTop", "rows of padding above the frame">,
  Natural<"PadLeft", "columns of padding left of the frame">,
  Count<"OutHeight", "rows of windows">,
  Count<"OutWidth", "columns of windows">,
  Signed<"PadValue", "the element outside the frame">,
  Count<"Lanes", "channels of a stored word">,
  Count<"Repeat", "times that a tile is read">
];

def WindowTiled : Unit<"window_tiled"> {
  let Summary = "stores rows of a frame and reads the windows of several "
                "positions together, element by element";
  let Latency = "4 + V";
  let Module = [rhz_window_tiled];
  let Parameters = !listconcat(ShapeOfTiles, [
    Count<"TileRows", "rows of windows that are read together">,
    Count<"Rows", "stored rows">,
    Ultra, Depth, Frames
  ]);
  let Ports = [
    StreamIn<"in", "Lanes * Elem",
             "frames * Height * Width * ceilDiv(Channels, Lanes)">,
    StreamOut<"out", "Lanes * Elem",
              "frames * OutHeight * OutWidth * Repeat * ceilDiv(Channels, Lanes) * KernelH * KernelW">
  ];
  let Constraints = [
    Constraint<"OutHeight % TileRows == 0", "tiles have equal rows">,
    Constraint<"Rows >= std::min(Height, (TileRows - 1) * StrideH + (KernelH - 1) * DilationH + 1 - PadTop)",
               "Rows hold the rows of a tile">
  ];
  // As alike as the characterized unit is.
  let Characterized = ["window_serial"];
}

def WindowBatch : Unit<"window_batch"> {
  let Summary = "stores frames and reads the windows of those of a batch "
                "together, element by element";
  let Latency = "4 + V";
  let Module = [rhz_window_batch];
  let Parameters = !listconcat(ShapeOfTiles, [
    Parameter<"Frames", 2, 65536, "frames of a batch">,
    Count<"Places", "stored frames">,
    Count<"Patience", "cycles without a beat after which a batch begins that is "
                      "not full">,
    Ultra, Depth
  ]);
  let Ports = [
    StreamIn<"in", "Lanes * Elem", "Height * Width * ceilDiv(Channels, Lanes)">,
    StreamOut<"out", "Lanes * Elem",
              "Frames * OutHeight * OutWidth * Repeat * ceilDiv(Channels, Lanes) * KernelH * KernelW">,
    StreamOut<"n", "addressBits(Frames)", "1">
  ];
  let Constraints = [
    Constraint<"Places >= Frames", "Places hold the frames of a batch">
  ];
  // As alike as the characterized unit is.
  let Characterized = ["window_serial"];
}
