#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates everything that follows from the descriptions of hardware units
(include/rhizome/Unit/Unit.td, rtl/units/*.td). Reads llvm-tblgen's
--dump-json and writes

    Units.cpp.inc  the table of kinds and of the library's modules, in C++
    Units.h.inc    a struct of parameters for each kind
    units.json     for test programs: sources, parameters, files
    units.md       the page of the documentation

    generate_units.py RECORDS.json cpp|header|json|page -o FILE"""
import argparse
import json
import pathlib
import re
import sys

# As unit::signalsOf has them.
SIGNALS = {("Stream", 1): ("_valid_i", "_data_i", "_ready_o"),
           ("Stream", 0): ("_valid_o", "_data_o", "_ready_i"),
           ("Axis", 1): ("_tdata", "_tvalid", "_tlast", "_tready"),
           ("Axis", 0): ("_tdata", "_tvalid", "_tlast", "_tready"),
           ("Load", 1): ("_valid_i", "_data_i", "_valid_o", "_data_o", "ed_o"),
           ("Load", 0): ("_valid_o", "_data_o"),
           ("Status", 0): ("",),
           ("Axi4Read", 0): ("_arready", "_rvalid", "_rdata", "_rlast",
                             "_arvalid", "_araddr", "_arlen", "_rready")}
SIGNALS["Axi4", 0] = SIGNALS["Axi4Read", 0] + (
    "_awready", "_wready", "_bvalid", "_awvalid", "_awaddr", "_awlen", "_wvalid",
    "_wdata", "_wlast", "_bready")
MEMORY = ("Axi4Read", "Axi4")
FUNCTIONS = {"ceilDiv", "clog2", "addressBits", "std", "min", "max"}


class Records:
    def __init__(self, data):
        self.data = data
        lists = data["!instanceof"].get("UnitList", [])
        if len(lists) != 1:
            sys.exit("generate_units: there must be one UnitList")
        self.units = [Unit(self, r) for r in self.all(data[lists[0]]["Kinds"])]

    def all(self, references):
        return [self.data[r["def"]] for r in references]

    def modules(self):
        """{module: its files, callees first}, of every source."""
        found = {}
        for name in self.data["!instanceof"].get("Source", []):
            if self.data[name]["Folder"] == "src":
                found[name] = self.closure(self.data[name])
        return found

    def closure(self, source):
        files, seen = [], set()

        def visit(record):
            if record["!name"] in seen:
                return
            seen.add(record["!name"])
            for used in self.all(record["Uses"]):
                visit(used)
            files.append((record["!name"] + ".sv", record["Folder"] == "sim"))

        visit(source)
        return files


class Unit:
    def __init__(self, records, record):
        self.name = record["Name"]
        self.type = "".join(p.capitalize() for p in self.name.split("_"))
        self.summary, self.latency = record["Summary"], record["Latency"]
        self.parameters = records.all(record["Parameters"])
        self.files = records.all(record["Files"])
        self.ports = records.all(record["Ports"])
        self.roms = records.all(record["Roms"])
        self.constraints = records.all(record["Constraints"])
        self.bindings = records.all(record["ShellParameters"])
        self.characterized = record["Characterized"]
        self.rows, self.columns = record["Rows"], record["Columns"]
        module, shell = records.all(record["Module"]), records.all(record["Shell"])
        if len(module) + len(shell) != 1:
            sys.exit(f"generate_units: '{self.name}' has neither a module nor a "
                     "shell, or both")
        self.module = module[0]["!name"] if module else ""
        self.shell = shell[0]["!name"] if shell else ""
        self.sources = records.closure((module or shell)[0])
        self.index = {p["Name"]: i for i, p in enumerate(self.parameters)}
        if len(self.index) != len(self.parameters) or len(self.index) > 64:
            sys.exit(f"generate_units: parameters of '{self.name}' are not "
                     "unique, or more than 64")
        if not set(self.columns) <= set(self.index):
            sys.exit(f"generate_units: '{self.name}' has columns that are no "
                     "parameters")

    def expression(self, text):
        """A C++ function of the values; a number that is not a parameter's name
        and no function's is refused."""
        def one(match):
            word = match.group(0)
            if word in self.index:
                return f"v[{self.index[word]}]"
            if word in FUNCTIONS:
                return "std::" + word if word in ("min", "max") else word
            sys.exit(f"generate_units: '{self.name}' has no parameter '{word}', "
                     f"which '{text}' names")
        text = text.replace("std::", "")
        # The tables' numbers are of one type, so that std::max takes them.
        body = re.sub(r"[A-Za-z_]\w*", one, text)
        body = re.sub(r"(?<![\w\[.])(\d+)(?![\w\]])", r"int64_t(\1)", body)
        unused = "" if "v[" in body else "[[maybe_unused]] "
        return f"[]({unused}const int64_t *v) -> int64_t {{ return {body}; }}"


def quoted(text):
    return json.dumps(text)


def cpp(records):
    out = []
    modules = records.modules()
    for name, files in sorted(modules.items()):
        rows = ", ".join(f"{{{quoted(f)}, {str(m).lower()}}}" for f, m in files)
        out.append(f"constexpr SourceFile kFilesOf_{name}[] = {{{rows}}};")
    out.append("struct Module {\n  const char *name;\n"
               "  llvm::ArrayRef<SourceFile> sources;\n};")
    rows = ",\n".join(f"  {{{quoted(n)}, kFilesOf_{n}}}" for n in sorted(modules))
    out.append(f"const Module kModules[] = {{\n{rows}}};")
    for unit in records.units:
        out.append(tables_of(unit))
    rows = []
    for u in records.units:
        lists = [f"k{u.type}{part}" if rows_of else "{}" for part, rows_of in (
            ("Parameters", u.parameters), ("Files", u.files), ("Ports", u.ports),
            ("Roms", u.roms), ("Constraints", u.constraints))]
        bindings = f"k{u.type}Bindings" if u.bindings else "{}"
        names = [quoted(t) for t in (u.name, u.summary, u.module, u.shell)]
        rows.append("  {" + ", ".join(names + [bindings] + lists) +
                    f",\n   kFilesOf_{u.module or u.shell}, "
                    f"k{u.type}Characterized" +
                    (f", {quoted(u.rows)}, k{u.type}Columns" if u.rows else "") +
                    "}")
    out.append("const Kind kKinds[] = {\n" + ",\n".join(rows) + "};")
    return "\n".join(out) + "\n"


def tables_of(u):
    """The parts of one kind."""
    def table(of_type, part, rows):
        if not rows:
            return ""
        return (f"const {of_type} k{u.type}{part}[] = {{\n  " +
                ",\n  ".join("{" + ", ".join(row) + "}" for row in rows) + "};\n")

    boolean = {0: "false", 1: "true"}
    text = table("Parameter", "Parameters", [
        (quoted(p["Name"]), f"{p['Least']}", f"{p['Most']}",
         f"{p['Preset']}" if p["HasPreset"] else "std::nullopt",
         boolean[p["InHardware"]], quoted(p["Text"])) for p in u.parameters])
    text += table("File", "Files", [
        (quoted(f["Name"]), quoted(f["Text"])) for f in u.files])
    def traffic(p):
        if p["Protocol"] not in MEMORY:
            return "{}"
        if p["Page"] not in u.index:
            sys.exit(f"generate_units: '{u.name}' has no parameter "
                     f"'{p['Page']}', which a memory port names")
        if p["Turn"] and p["Turn"] not in u.index:
            sys.exit(f"generate_units: '{u.name}' has no parameter "
                     f"'{p['Turn']}', which a memory port names")
        return "{" + ", ".join([u.expression(p[k]) for k in (
            "Bytes", "Burst", "InFlight")] + [quoted(p["Page"]), quoted(p["Turn"]),
                                              u.expression(p["Space"]),
                                              u.expression(p["Held"])]) + "}"

    text += table("Port", "Ports", [
        (quoted(p["Name"]), "Protocol::" + p["Protocol"], boolean[p["IsInput"]],
         *(u.expression(p[k]) for k in ("Width", "Beats", "Count")),
         quoted(p["Width"]), quoted(p["Beats"]), traffic(p)) for p in u.ports])
    text += table("Rom", "Roms", [
        (quoted(r["File"]), quoted(r["PlacedBy"]),
         *(u.expression(r[k]) for k in ("Words", "Width", "Copies", "Exists")))
        for r in u.roms])
    text += table("Constraint", "Constraints", [
        (u.expression(c["Expression"]), quoted(c["Text"])) for c in u.constraints])
    text += table("Binding", "Bindings", [
        (quoted(b["Name"]), u.expression(b["Expression"])) for b in u.bindings])
    if u.rows:
        columns = ", ".join(str(u.index[c]) for c in u.columns)
        text += f"constexpr unsigned k{u.type}Columns[] = {{{columns}}};\n"
    names = ", ".join(quoted(c) for c in u.characterized)
    return text + f"const char *const k{u.type}Characterized[] = {{{names}}};"


def header(records):
    out = []
    for u in records.units:
        out.append(f"/// {u.summary[0].upper()}{u.summary[1:]}.")
        out.append(f"struct {u.type} {{\n"
                   f"  static constexpr const char *kKind = {quoted(u.name)};")
        out += [f"  int64_t {p['Name']}; ///< {p['Text']}" for p in u.parameters]
        out.append("};\n")
    return "\n".join(out)


def as_json(records):
    """What the cells' tests read."""
    def files(sources):
        return [("sim/" if model else "src/") + name for name, model in sources]

    kinds = {}
    for u in records.units:
        kinds[u.module or u.shell] = {
            "kind": u.name, "summary": u.summary, "latency": u.latency,
            "generated": not u.module, "files": files(u.sources),
            "parameters": [b["Name"] for b in u.bindings] or [
                p["Name"] for p in u.parameters if p["InHardware"]],
            "bounds": {p["Name"]: [p["Least"], p["Most"]]
                       for p in u.parameters if p["InHardware"]},
            "presets": {p["Name"]: p["Preset"] for p in u.parameters
                        if p["InHardware"] and p["HasPreset"]},
            "images": [f["Name"] for f in u.files],
            "ports": [{"name": p["Name"], "protocol": p["Protocol"],
                       "input": bool(p["IsInput"]), "width": p["Width"],
                       "count": p["Count"]} for p in u.ports],
            "signals": [p["Name"] + s for p in u.ports for s in SIGNALS[
                p["Protocol"], p["IsInput"]]],
            "characterized": u.characterized}
    modules = {name: files(sources)
               for name, sources in sorted(records.modules().items())}
    return json.dumps({"kinds": kinds, "modules": modules}, indent=1) + "\n"


def code_of(expression):
    return f"`{expression}`"


def page(records):
    out = ["# Hardware units", "",
           "The unit kinds that the compiler instantiates, from their "
           "descriptions in `rtl/units`.", "`V` is the latency of the output "
           "buffer: 1 up to 64 places, 2 above. Their cycle-by-cycle",
           "behavior is described in [stream cells](rationale/stream-cells.md).",
           ""]
    out += [f"- [{u.name}](#{u.name}): {u.summary}" for u in records.units]
    for u in records.units:
        out += ["", f"## {u.name}", "", f"{u.summary[0].upper()}{u.summary[1:]}.",
                ""]
        where = (f"Module `{u.module}`." if u.module else
                 f"A generated module around `{u.shell}`.")
        out += [f"{where} Latency: {u.latency}.", "",
                "| parameter | least | most | default | |", "|---|---|---|---|---|"]
        for p in u.parameters:
            preset = p["Preset"] if p["HasPreset"] else ""
            mark = "" if p["InHardware"] else " (the compiler's)"
            out.append(f"| `{p['Name']}` | {p['Least']} | {p['Most']} | {preset} | "
                       f"{p['Text']}{mark} |")
        out += ["", "| port | protocol | bits | beats per frame |",
                "|---|---|---|---|"]
        for p in u.ports:
            count = "" if p["Count"] == "1" else f", `{p['Count']}` times"
            way = "in" if p["IsInput"] else "out"
            out.append(f"| `{p['Name']}` | {p['Protocol']}, {way} | "
                       f"`{p['Width']}`{count} | "
                       f"{code_of(p['Beats']) if p['Beats'] != '0' else ''} |")
        memories = [p for p in u.ports if p["Protocol"] in MEMORY]
        if memories:
            out += ["", "| memory port | bytes per frame | beats per burst | "
                    "bursts in flight | page |", "|---|---|---|---|---|"]
            out += [f"| `{p['Name']}` | `{p['Bytes']}` | `{p['Burst']}` | "
                    f"`{p['InFlight']}` | `{p['Page']}` |" for p in memories]
        if u.roms:
            out += ["", "| memory | words | bits per word | copies | condition |",
                    "|---|---|---|---|---|"]
            out += [f"| `{r['File']}` (`{r['PlacedBy']}`) | `{r['Words']}` | "
                    f"`{r['Width']}` | `{r['Copies']}` | "
                    f"{'' if r['Exists'] == '1' else '`' + r['Exists'] + '`'} |"
                    for r in u.roms]
        if u.constraints:
            out += [""] + [f"- {c['Text']}: `{c['Expression']}`"
                           for c in u.constraints]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("records")
    parser.add_argument("what", choices=["cpp", "header", "json", "page"])
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args()
    with open(options.records) as stream:
        records = Records(json.load(stream))
    make = {"cpp": cpp, "header": header, "json": as_json, "page": page}
    text = make[options.what](records)
    if options.what in ("cpp", "header"):
        text = "// Generated from rtl/units by scripts/generate_units.py.\n" + text
    # A file that stays as it was makes nothing be built again.
    path = pathlib.Path(options.output)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


if __name__ == "__main__":
    main()
