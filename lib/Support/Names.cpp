// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Support/Names.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

using namespace rhizome;

/// Words that cannot name a module, a port or a wire in Verilog (2001 and
/// SystemVerilog), or a member of the C++ model that Verilator makes of it.
static bool isKeyword(llvm::StringRef name) {
  static const llvm::StringSet<> words = [] {
    llvm::SmallVector<llvm::StringRef> list;
    llvm::StringRef(
        "accept_on alias always always_comb always_ff always_latch and assert "
        "assign assume auto automatic before begin bind bins binsof bit bool "
        "break buf bufif0 bufif1 byte case casex casez catch cell chandle char "
        "checker class clocking cmos config const constraint context continue "
        "cover covergroup coverpoint cross deassign default defparam delete "
        "design disable dist do double edge else end endcase endchecker "
        "endclass endclocking endconfig endfunction endgenerate endgroup "
        "endinterface endmodule endpackage endprimitive endprogram endproperty "
        "endsequence endspecify endtable endtask enum event eventually expect "
        "explicit export extends extern false final first_match float for "
        "force "
        "foreach forever fork forkjoin friend function generate genvar global "
        "goto highz0 highz1 if iff ifnone ignore_bins illegal_bins implements "
        "implies import incdir include initial inline inout input inside "
        "instance int integer interconnect interface intersect join join_any "
        "join_none large let liblist library local localparam logic long "
        "longint macromodule matches medium modport module mutable namespace "
        "nand negedge nettype new nexttime nmos nor noshowcancelled not notif0 "
        "notif1 null operator or output package packed parameter pmos posedge "
        "primitive priority private program property protected public pull0 "
        "pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure "
        "rand "
        "randc randcase randsequence rcmos real realtime ref reg register "
        "reject_on release repeat restrict return rnmos rpmos rtran rtranif0 "
        "rtranif1 s_always s_eventually s_nexttime s_until s_until_with "
        "scalared sequence short shortint shortreal showcancelled signed "
        "sizeof "
        "small soft solve specify specparam static string strong strong0 "
        "strong1 struct super supply0 supply1 switch sync_accept_on "
        "sync_reject_on table tagged task template this throughout throw time "
        "timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand "
        "trior "
        "trireg true try type typedef typename union unique unique0 unsigned "
        "until until_with untyped use using uwire var vectored virtual void "
        "volatile wait wait_order wand weak weak0 weak1 while wildcard wire "
        "with within wor xnor xor ")
        .split(list, ' ', -1, /*KeepEmpty=*/false);
    llvm::StringSet<> set;
    for (llvm::StringRef word : list)
      set.insert(word);
    return set;
  }();
  return words.contains(name);
}

std::string rhizome::legalName(llvm::StringRef text) {
  std::string name;
  for (char c : text) {
    if (llvm::isAlnum(c))
      name += c;
    else if (name.empty() || name.back() != '_')
      name += '_';
  }
  while (name.size() > 1 && name.back() == '_')
    name.pop_back();
  if (name.empty() || name == "_")
    name = "unnamed";
  if (llvm::isDigit(name.front()))
    name.insert(0, "n");
  if (isKeyword(name))
    name += "_n";
  // Tools and file systems limit names; a hash replaces the truncated part.
  constexpr size_t kLongest = 120, kHash = 16;
  if (name.size() > kLongest)
    name = name.substr(0, kLongest - kHash - 1) + "_" +
           llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, kHash);
  return name;
}

std::string NameScope::unique(llvm::StringRef text) {
  std::string base = legalName(text), name = base;
  for (unsigned k = 2; !taken.insert(name).second; ++k)
    name = base + "_" + std::to_string(k);
  return name;
}
