// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units that read memories outside the chip.
include "Sources.td"

// How the arbiter serves a reader; the reader itself does not know it.
def Turn : Optional<"turn", 1, 1, 15,
                    "bursts that it may be granted in a row"> {
  let InHardware = 0;
}

// Where several readers share a bank, the arbiter lets few bursts be in flight, so
// that the others wait for their turns and not in the memory.
def Flight : Optional<"flight", 0, 0, 65536,
                      "bursts of it that an arbiter has in flight; 0: any"> {
  let InHardware = 0;
}

// Of weights that several frames share.
def Batch : Optional<"batch", 1, 1, 65536,
                     "frames for which its rounds are read once"> {
  let InHardware = 0;
}

def MemReader : Unit<"mem_reader"> {
  let Summary = "a segment of a memory as a stream, round after round, fetched "
                "ahead";
  let Latency = "1 + V from a beat's arrival";
  let Module = [rhz_mem_reader];
  let Parameters = [
    BeatWidth<"DataWidth", "bits of a beat">,
    Count<"Words", "beats of a round, the segment's">,
    Parameter<"Burst", 1, 256, "beats of a burst">,
    Optional<"Page", 0, 0, 2147483647,
             "the page of 4 KiB on which the segment begins">,
    Optional<"Group", 1, 1, 256, "bursts that are asked for in a row">,
    Turn, Flight, Batch, Depth, FrameBeats
  ];
  let Ports = [
    Axi4Read<"m_axi", "DataWidth", "frameBeats * (DataWidth / 8) / batch", "Burst",
             "flight ? flight : ceilDiv(Depth, std::min(Words, Burst)) + ceilDiv(Depth, Words)",
             "Page", "turn">,
    StreamOut<"out", "DataWidth", "frameBeats">
  ];
  let Constraints = [
    Constraint<"frameBeats % Words == 0", "a frame has whole rounds">,
    Constraint<"Depth >= Group * Burst",
               "the buffer takes the bursts that are asked for in a row">,
    Constraint<"DataWidth % 8 == 0 && 4096 % (Burst * (DataWidth / 8)) == 0",
               "a burst has 1, 2, 4 … bytes, at most 4 KiB">
  ];
  let Characterized = ["concat"];
}

def LoadReader : Unit<"load_reader"> {
  let Summary = "the head of the load chain: a segment of a memory, read once "
                "when the design starts";
  let Latency = "1 from a beat's arrival";
  let Module = [rhz_load_reader];
  let Parameters = [
    BeatWidth<"DataWidth", "bits of a beat">,
    Parameter<"Load", 8, 1024, "bits of a word of the load chain">,
    Count<"Words", "beats of the segment">,
    Parameter<"Burst", 1, 256, "beats of a burst">,
    Parameter<"InFlight", 1, 256, "bursts in flight">,
    Optional<"Page", 0, 0, 2147483647, "the page of 4 KiB on which the segment begins">
  ];
  let Ports = [Axi4Read<"m_axi", "DataWidth", "0", "Burst", "InFlight", "Page">,
               LoadOut<"load", "Load">];
  let Constraints = [
    Constraint<"DataWidth % Load == 0", "a beat has whole words of the chain">,
    Constraint<"DataWidth % 8 == 0 && 4096 % (Burst * (DataWidth / 8)) == 0",
               "a burst has 1, 2, 4 … bytes, at most 4 KiB">
  ];
  let Characterized = ["concat"];
}

def MemFifo : Unit<"mem_fifo"> {
  let Summary = "a FIFO between actors whose words lie in a ring in a memory";
  let Latency = "1 + V from a beat of what was read";
  let Module = [rhz_mem_fifo];
  let Parameters = [
    BeatWidth<"Width", "bits of a word">,
    BeatWidth<"DataWidth", "bits of a beat of the memory">,
    Count<"Words", "words of a frame">,
    Parameter<"Per", 1, 32, "words of a beat">,
    Parameter<"Burst", 1, 256, "beats of a burst, and of a place in the ring">,
    Parameter<"Slots", 2, 1073741824, "places in the ring">,
    Optional<"Page", 0, 0, 2147483647,
             "the page of 4 KiB on which the ring begins">,
    Parameter<"Buffer", 2, 65536,
              "beats of the buffer on either side of the memory">,
    Parameter<"InFlight", 1, 256, "bursts that are written without an answer">,
    Depth, FrameBeats
  ];
  let Ports = [
    StreamIn<"in", "Width", "frameBeats">,
    Axi4<"m_axi", "DataWidth",
         "2 * (frameBeats / Per) * ceilDiv(Width * Per, DataWidth) * (DataWidth / 8)",
         "Burst", "ceilDiv(Buffer, Burst) + 1", "Page",
         "Slots * Burst * (DataWidth / 8)">,
    StreamOut<"out", "Width", "frameBeats">
  ];
  let Constraints = [
    Constraint<"Words == frameBeats", "the ring knows where frames end">,
    Constraint<"Words % Per == 0", "a frame has whole beats">,
    Constraint<"Per == 1 || Per * Width <= DataWidth",
               "a beat has room for its words">,
    Constraint<"Buffer >= Burst", "the buffers take a burst">,
    Constraint<"DataWidth % 8 == 0 && 4096 % (Burst * (DataWidth / 8)) == 0",
               "a burst has 1, 2, 4 … bytes, at most 4 KiB">
  ];
  let Characterized = ["concat"];
}
