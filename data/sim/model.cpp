// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Verilated design behind the C interface of rhz_model.h. The generated
// rhz_ports.h names the ports of a design by itself, or says how wide the
// streams of a node with an endpoint are (RHZ_LINK bits) and how many parts its
// configuration has.
#include "rhz_model.h"
#include "rhz_ports.h"
#include "verilated.h"

#include "rhz_bench.h"
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace {
constexpr int kResetCycles = 8;

#ifdef RHZ_LINK
constexpr rhz_model_info kInfo = {RHZ_MODEL_ABI, 1, 1, RHZ_PARTS};
#define FOR_INPUTS(X) X(0, s_link, RHZ_LINK)
#define FOR_OUTPUTS(X) X(0, m_link, RHZ_LINK)
#else
#define COUNT(k, p, w) +1
constexpr rhz_model_info kInfo = {RHZ_MODEL_ABI, 0 RHZ_INPUTS(COUNT),
                                  0 RHZ_OUTPUTS(COUNT), 0};
#define FOR_INPUTS RHZ_INPUTS
#define FOR_OUTPUTS RHZ_OUTPUTS
#endif

struct Model {
  VerilatedContext context;
  Top *top = nullptr;
  std::vector<rhz::BankFigures> figures = {RHZ_BANKS};
  std::vector<rhz::ReadPort> banks;
  std::vector<rhz::WritePort> writers;
  int64_t now = 0;
};

/// A memory port that is misused: the design is wrong.
void stop(const std::string &text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::abort();
}
} // namespace

rhz_model_info rhz_model_describe(void) { return kInfo; }

void *rhz_model_open(const char *folder, uint64_t seed, uint16_t address,
                     const uint16_t *configuration) {
  // Reading the folder may not be allowed; returning to it is.
  int before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (before < 0 || chdir(folder) != 0)
    return nullptr;
  Model *model = new Model;
  model->context.randReset(2);
  model->context.randSeed(int(seed % 2147483646 + 1));
  Top *top = model->top = new Top(&model->context);
#ifdef RHZ_LINK
  top->address_i = address;
  rhz::put(top->channels_i, reinterpret_cast<const uint8_t *>(configuration),
           2 * RHZ_PARTS);
#else
  (void)address, (void)configuration;
#endif
  const auto banks = rhz::banksOf(model->figures, {RHZ_SEGMENTS}, {RHZ_SPACES});
  for (const rhz::BankFigures &bank : model->figures)
    model->banks.emplace_back(bank, seed, 0, stop, banks[model->banks.size()]);
#define ADD_WRITER(j, k, p)                                                    \
  model->writers.emplace_back(model->figures[k], seed, 0, stop, banks[k]);
  RHZ_WRITERS(ADD_WRITER)
  top->rst_ni = 0;
  for (int i = 0; i < kResetCycles; ++i) {
#define QUIET_IN(k, p, w) top->p##_tvalid = 0;
    FOR_INPUTS(QUIET_IN)
#define QUIET_OUT(k, p, w) top->p##_tready = 0;
    FOR_OUTPUTS(QUIET_OUT)
#define QUIET_BANK(k, p) top->p##_arready = top->p##_rvalid = 0;
    RHZ_MEMORIES(QUIET_BANK)
#define QUIET_WRITER(j, k, p)                                                  \
  top->p##_awready = top->p##_wready = top->p##_bvalid = 0;
    RHZ_WRITERS(QUIET_WRITER)
    top->clk_i = 0;
    top->eval();
    top->clk_i = 1;
    top->eval();
  }
  top->rst_ni = 1;
  if (fchdir(before) != 0)
    std::abort();
  close(before);
  return model;
}

void rhz_model_cycle(void *handle, rhz_stream *inputs, rhz_stream *outputs) {
  Model *model = static_cast<Model *>(handle);
  Top *top = model->top;
#define DRIVE_IN(k, p, w)                                                      \
  top->p##_tvalid = inputs[k].valid;                                           \
  top->p##_tlast = inputs[k].last;                                             \
  if (inputs[k].valid)                                                         \
    rhz::put(top->p##_tdata, inputs[k].data, w / 8);
  FOR_INPUTS(DRIVE_IN)
#ifdef RHZ_LINK
  top->s_link_tkeep = inputs[0].keep;
#endif
#define DRIVE_OUT(k, p, w) top->p##_tready = outputs[k].ready;
  FOR_OUTPUTS(DRIVE_OUT)
#define DRIVE_BANK(k, p)                                                       \
  model->banks[k].drive(top->p##_arready, top->p##_rvalid, top->p##_rdata,     \
                        top->p##_rlast, model->now);
  RHZ_MEMORIES(DRIVE_BANK)
#define DRIVE_WRITER(j, k, p)                                                  \
  model->writers[j].drive(top->p##_awready, top->p##_wready, top->p##_bvalid,  \
                          model->now);
  RHZ_WRITERS(DRIVE_WRITER)
  top->clk_i = 0;
  top->eval();
#define SAMPLE_IN(k, p, w) inputs[k].ready = top->p##_tready;
  FOR_INPUTS(SAMPLE_IN)
#define SAMPLE_OUT(k, p, w)                                                    \
  outputs[k].valid = top->p##_tvalid;                                          \
  outputs[k].last = top->p##_tlast;                                            \
  if (outputs[k].valid)                                                        \
    std::memcpy(outputs[k].data, &top->p##_tdata, size_t(w / 8));
  FOR_OUTPUTS(SAMPLE_OUT)
#define SAMPLE_BANK(k, p)                                                      \
  model->banks[k].sample(top->p##_arvalid, top->p##_araddr, top->p##_arlen,    \
                         top->p##_rready, model->now);
  RHZ_MEMORIES(SAMPLE_BANK)
#define SAMPLE_WRITER(j, k, p)                                                 \
  model->writers[j].sample(top->p##_awvalid, top->p##_awaddr, top->p##_awlen,  \
                           top->p##_wvalid, top->p##_wdata,                    \
                           rhz::WritePort::allBytes(model->figures[k]),        \
                           top->p##_wlast, top->p##_bready, model->now);
  RHZ_WRITERS(SAMPLE_WRITER)
  ++model->now;
#ifdef RHZ_LINK
  outputs[0].keep = top->m_link_tkeep;
  outputs[0].dest = top->m_link_tdest;
#endif
  top->clk_i = 1;
  top->eval();
}

void rhz_model_close(void *handle) {
  Model *model = static_cast<Model *>(handle);
  model->top->final();
  delete model->top;
  delete model;
}
