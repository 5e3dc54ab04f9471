// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units that move elements.
include "Sources.td"

// Of the entry of a body that feeds itself: a stream waits while the other one is
// taken, and what comes back has a place for each beat of a frame.
def IsEntry : Optional<"isEntry", 0, 0, 1, "frames come in turn"> {
  let InHardware = 0;
}
def Keeps : Optional<"keeps", 2, 2, 1099511627776, "places at least"> {
  let InHardware = 0;
}

def Concat : Unit<"concat"> {
  let Summary = "BlockA beats of a, then BlockB beats of b, forever";
  let Latency = "1 + V";
  let Module = [rhz_concat];
  let Parameters = [
    Width<"Elem", "bits of an element">,
    Count<"Lanes", "elements of a beat">,
    Count<"BlockA", "beats of a per turn">,
    Count<"BlockB", "beats of b per turn">,
    Depth, FrameBeats, IsEntry
  ];
  let Ports = [
    StreamIn<"a", "Lanes * Elem", "frameBeats / (BlockA + BlockB) * BlockA">,
    StreamIn<"b", "Lanes * Elem", "frameBeats / (BlockA + BlockB) * BlockB">,
    StreamOut<"out", "Lanes * Elem", "frameBeats">
  ];
  let Characterized = ["concat"];
}

def Select : Unit<"select"> {
  let Summary = "some beats of a period, the others dropped";
  let Latency = "1 + V";
  let Module = [rhz_select];
  let Parameters = [
    BeatWidth<"Elem", "bits of a beat">,
    Count<"Inner", "beats of a group">,
    Count<"Period", "groups of a period">,
    Natural<"Start", "the first group that is kept">,
    Count<"Stride", "groups from one that is kept to the next">,
    Count<"Count", "groups that are kept">,
    Depth, FrameBeats, Keeps
  ];
  let Ports = [StreamIn<"in", "Elem", "frameBeats / Count * Period">,
               StreamOut<"out", "Elem", "frameBeats">];
  let Constraints = [
    Constraint<"Start + (Count - 1) * Stride < Period",
               "the last group that is kept lies within the period">
  ];
  let Characterized = ["concat"];
}

def Unbatch : Unit<"unbatch"> {
  let Summary = "the frames of a batch that are there, without what stands for "
                "the others";
  let Latency = "1 + V";
  let Module = [rhz_unbatch];
  let Parameters = [
    BeatWidth<"Elem", "bits of a beat">,
    Count<"Beats", "beats of a frame">,
    Parameter<"Frames", 2, 65536, "frames of a batch">,
    Depth
  ];
  let Ports = [StreamIn<"in", "Elem", "Frames * Beats">,
               StreamIn<"n", "addressBits(Frames)", "1">,
               StreamOut<"out", "Elem", "Beats">];
  let Characterized = ["concat"];
}

def Reorder : Unit<"reorder"> {
  let Summary = "blocks of beats rearranged by a memory of addresses";
  let Latency = "3 + V";
  let Module = [rhz_reorder];
  let Parameters = [
    BeatWidth<"Elem", "bits of a beat">,
    Count<"Elements", "beats of a block">,
    Count<"OutElements", "beats that are read of it">,
    Placed<"Block", "the order is in block RAM">,
    Optional<"Ultra", 0, 0, 1, "the pages are in UltraRAM">,
    Depth, FrameBeats
  ];
  let Files = [File<"AddressFile", "which beat of the block is read next">];
  let Ports = [StreamIn<"in", "Elem", "frameBeats / OutElements * Elements">,
               StreamOut<"out", "Elem", "frameBeats">];
  let Roms = [Rom<"AddressFile", "Block", "OutElements",
                  "addressBits(Elements)">];
  let Characterized = ["reorder"];
}

def Replay : Unit<"replay"> {
  let Summary = "blocks of words, each stored and put out several times";
  let Latency = "2 + V";
  let Module = [rhz_replay];
  let Parameters = [
    BeatWidth<"Width", "bits of a word">,
    Count<"Words", "words of a block">,
    Count<"Times", "times that a block is put out">,
    BeatWidth<"Beat", "bits of an input beat">,
    Count<"PerBeat", "words of an input beat">,
    Depth, FrameBeats
  ];
  let Ports = [
    StreamIn<"in", "Beat", "frameBeats / (Words * Times) * ceilDiv(Words * ceilDiv(Width, Beat), PerBeat)">,
    StreamOut<"out", "Width", "frameBeats">
  ];
  let Constraints = [
    Constraint<"PerBeat == 1 || PerBeat * Width <= Beat",
               "a beat has room for its words">,
    Constraint<"frameBeats % (Words * Times) == 0", "a frame has whole blocks">
  ];
  // As alike as the characterized unit is.
  let Characterized = ["reorder"];
}
