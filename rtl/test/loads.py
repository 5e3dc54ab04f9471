# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stands around a cell with a memory port, or in a load chain: text of the
test bench, and what it must find. cells.py makes the cases."""

import timing


class LoadChain:
    """Words that come along a load chain in the cycles of a pattern: the first
    `own` of them stay in the cell, the others pass on a cycle later."""

    def __init__(self, rng, width, words, own):
        bits = [int(rng.random() < rng.choice([0.3, 0.8, 1.0])) for _ in range(64)]
        bits[rng.randrange(64)] = 1
        cycles, cycle = [], 0
        for _ in words:
            while not bits[cycle % 64]:
                cycle += 1
            cycles.append(cycle)
            cycle += 1
        self.loaded, self.last = cycles[own - 1] + 1, cycles[-1]
        self.files = {"load.hex": words + [0]}
        names = {"bits": width, "count": len(words), "own": own, "loaded": self.loaded,
                 "pattern": sum(bit << k for k, bit in enumerate(bits))}
        self.text = """
  localparam [63:0] load_pattern = 64'h%(pattern)x;
  reg [%(bits)d-1:0] load_words [0:%(count)d]; initial $readmemh("load.hex", load_words);
  integer load_at, load_out; wire loaded, open_ready, load_valid_o;
  wire [%(bits)d-1:0] load_data_o; reg [5:0] load_now;
  assign in_ready = open_ready && loaded;
  wire load_valid = load_at < %(count)d && load_pattern[load_now];
  always @(posedge clk) if (!rst_n) begin
    load_at <= 0; load_out <= %(own)d; load_now <= 0;
  end else begin
    load_now <= load_now + 1;
    if (load_valid) load_at <= load_at + 1;
    if (load_valid_o) begin
      if (load_data_o !== load_words[load_out]) $fwrite(log, "F word %%0d of the chain\\n", load_out);
      load_out <= load_out + 1;
    end
  end""" % names
        self.record = ('if (loaded !== (cycle >= %(loaded)d)) $fwrite(log, "F loaded is %%b in cycle '
                       '%%0d\\n", loaded, cycle);' % names)
        self.final = 'if (load_out != %(count)d) $fwrite(log, "F %%0d words of the chain\\n", load_out);' % names
        self.connections = [".load_valid_i(load_valid)", ".load_data_i(load_words[load_at])",
                            ".load_valid_o(load_valid_o)", ".load_data_o(load_data_o)",
                            ".loaded_o(loaded)"]


def resident(case_of, rng, cell, p, rows, width, files, source, sink, stages):
    """The case of a cell whose memory the load chain fills with `rows` of so many
    bits; its input is shut until then."""
    chain = [row >> low & ((1 << p["Load"]) - 1) for row in rows
             for low in range(0, width, p["Load"])]
    spare = [rng.getrandbits(p["Load"]) for _ in range(3)]    # of memories that follow
    load = LoadChain(rng, p["Load"], chain + spare, len(chain))

    def predict(i, o):
        i[0].start = load.loaded
        timing.actor(i, o, produces=lambda n: n % p["Folds"] == p["Folds"] - 1)
    case = case_of(cell, p, [source], [sink], stages, predict, dict(files, **load.files))
    case.extra, case.record, case.final = [load.text], [load.record], [load.final]
    case.cycles = load.last
    case.connections = [text.replace("(in_valid)", "(in_valid && loaded)").replace(
        "(in_ready)", "(open_ready)") for text in case.connections] + load.connections
    return case


def streamed(case_of, rng, fixed, p, rows, files, source, sink, stages):
    """The case of a cell to which `rows` of weights come as a second stream: the
    beats of each result, and which firing takes which beat."""
    word, beat, folds = p["Pe"] * p["Simd"] * p["WWidth"], p["Beat"], p["Folds"]
    pieces, group = -(-word // beat), p["Positions"]
    p["Words"] = 1 if pieces > 1 else fixed.get("Words", rng.randint(1, min(beat // word, folds)))
    beats, firings = [], []     # a firing: the inputs it pops, those it sees, is it the last
    for result in range(len(sink.beats) // group):
        trip = result // (p["OutFolds"] * p["Uses"]) % p["Trips"]
        first = (trip * p["OutFolds"] + result % p["OutFolds"]) * folds
        for fold in range(folds):
            last, place = fold == folds - 1, fold % p["Words"]
            if place == 0:
                filled, used = rng.getrandbits(pieces * beat), 0
                beats += [None] * pieces
            mask = (1 << word) - 1 << used
            filled = filled & ~mask | rows[first + fold] << used
            used += word
            for piece in range(pieces):
                beats[piece - pieces] = [filled >> piece * beat & ((1 << beat) - 1)]
            spent = last or place == p["Words"] - 1
            firings += [([1], [], False)] * (pieces - 1)
            firings.append(([0, 1] if spent else [0], [] if spent else [1], last))
            firings += [([0], [], last)] * (group - 1)
    firings.append(([0], [], False))
    if group > 1 and pieces > 1:
        uses = [(place == 0, fold == folds - 1) for _ in range(len(sink.beats) // group)
                for fold in range(folds) for place in range(group)]
        return case_of("rhz_matvec_streamed", p, [source, type(source)("w", beat, 1, beats)],
                       [sink], stages - (1 if p["Style"] >= 2 else 2),
                       lambda i, o: timing.shared_weights(i[0], i[1], o[0], uses, pieces), files)
    return case_of("rhz_matvec_streamed", p, [source, type(source)("w", beat, 1, beats)], [sink],
                   stages - (1 if p["Style"] >= 2 else 2),
                   lambda i, o: timing.actor(i, o, popped=lambda n: firings[n][0],
                                             produces=lambda n: firings[n][2],
                                             seen=lambda n: firings[n][1]), files)


# A memory behind a port: when it takes requests (64 cycles), after how many
# cycles it answers and how many a beat takes.
MEMORY = """
  wire arvalid, rready; wire [63:0] araddr; wire [7:0] arlen;
  localparam [63:0] memory_pattern = 64'h%(pattern)x;
  reg [%(width)d-1:0] segment [0:%(words)d-1]; initial $readmemh("segment.txt", segment);
  integer now, head, tail, due, i; integer dues [0:%(most)d], places [0:%(most)d];
  wire arready = memory_pattern[now %% 64];
  wire rvalid = head < tail && now >= dues[head];
  wire [%(width)d-1:0] rdata = rvalid ? segment[places[head]] : 'x;
  reg waiting; reg [71:0] held;
  always @(posedge clk) if (!rst_n) begin
    now <= 0; head <= 0; tail <= 0; due = 0; waiting = 0;
  end else begin
    now <= now + 1;
    if (rvalid && rready) head <= head + 1;
    if (waiting && (!arvalid || held !== {araddr, arlen})) $fwrite(log, "F a request changes\\n");
    waiting = arvalid && !arready; held = {araddr, arlen};
    if (arvalid && arready) begin
      if (araddr %% %(bytes)d != 0 || araddr < %(base)d ||
          araddr + (arlen + 1) * %(bytes)d > %(base)d + %(words)d * %(bytes)d)
        $fwrite(log, "F address %%0d, length %%0d\\n", araddr, arlen);
      if (araddr / 4096 != (araddr + (arlen + 1) * %(bytes)d - 1) / 4096)
        $fwrite(log, "F a burst crosses 4 KiB\\n");
      for (i = 0; i <= arlen && tail + i < %(most)d; i = i + 1) begin
        due = due + %(gap)d; if (i == 0 && due < now + %(latency)d) due = now + %(latency)d;
        dues[tail + i] = due; places[tail + i] = (araddr - %(base)d) / %(bytes)d + i;
      end
      tail <= tail + i;
    end
  end
"""


# Beside the memory: what the head of a load chain passes on, from the next cycle
# on and without a gap between the words of a beat, and how many bursts it has on
# their way.
LOAD_CHECK = """
  wire load_valid; wire [%(load)d-1:0] load_data; integer words, flying, left;
  reg [%(width)d-1:0] beat; wire rlast = rvalid && rready && lasts[head];
  reg lasts [0:%(most)d];
  always @(posedge clk) if (!rst_n) begin words <= 0; flying <= 0; left <= 0; end else begin
    if (rvalid && rready) begin beat <= rdata; left <= %(pieces)d; end
    else begin beat <= beat >> %(load)d; left <= left > 0 ? left - 1 : 0; end
    if (rready !== (left < 2)) $fwrite(log, "F ready with %%0d words left\\n", left);
    flying <= flying + (arvalid && arready) - rlast;
    if (flying > %(most_bursts)d) $fwrite(log, "F %%0d bursts on their way\\n", flying);
    if (load_valid !== (left > 0) || (left > 0 && load_data !== beat[%(load)d-1:0]))
      $fwrite(log, "F a word is not passed\\n");
    if (load_valid) begin
      if (load_data !== segment[words / %(pieces)d][words %% %(pieces)d * %(load)d +: %(load)d])
        $fwrite(log, "F word %%0d\\n", words);
      words <= words + 1;
    end
    if (arvalid && arready) for (i = 0; i <= arlen; i = i + 1) lasts[tail + i] <= i == arlen;
  end"""
