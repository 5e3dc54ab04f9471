#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates everything that follows from the description of plan.json
(include/rhizome/Package/{Schema,Plan,Host,Kernel}.td). Reads llvm-tblgen's
--dump-json and writes into the folders

    headers/PART.h.inc      structs, and the declarations of writers and readers
    headers/Plan.cpp.inc    writers and readers
    headers/Bounds.cpp.inc  the bounds of single fields
    pages/plan.md           the page of the documentation
    pages/plan.schema.json  the JSON schema

    generate_plan.py RECORDS.json --headers FOLDER --pages FOLDER"""
import argparse
import json
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSION = ROOT / "include/rhizome/Support/Version.h"
NOTE = "// Generated from include/rhizome/Package/Plan.td by scripts/generate_plan.py.\n"


class Records:
    def __init__(self, data):
        self.data = data
        schemas = data["!instanceof"].get("Schema", [])
        if len(schemas) != 1:
            sys.exit("generate_plan: there must be one Schema")
        names = [r["def"] for r in data[schemas[0]]["Structs"]]
        missing = set(data["!instanceof"]["Struct"]) ^ set(names)
        if missing or len(names) != len(set(names)):
            sys.exit(f"generate_plan: each Struct must be in the Schema exactly once: {missing}")
        self.structs = {name: Struct(self, data[name]) for name in names}
        for struct in self.structs.values():
            struct.finish(self)
        self.limits = [data[name] for name in data["!instanceof"]["Limit"]]
        number = re.search(r"kPlanSchema = (\d+);", VERSION.read_text())
        self.schema = int(number.group(1))

    def all(self, references):
        return [self.data[r["def"]] for r in references]

    def described(self):
        """What is an object of the JSON; the others are bases of some."""
        return [s for s in self.structs.values()
                if s.forms or s.has_reader]

    def parts(self):
        return sorted({s.part or "PlanParts" for s in self.structs.values()})


class Struct:
    def __init__(self, records, record):
        self.name, self.title = record["!name"], record["Title"]
        self.part, self.text = record["Part"], words(record["Text"])
        self.base, self.order = record["Base"], record["Order"]
        self.declared, self.has_reader = record["Declared"], record["HasReader"]
        self.forms = record["Forms"]
        self.constraints = records.all(record["Constraints"])
        self.extra = textwrap.dedent(record["ExtraDeclarations"]).strip("\n")
        self.own = [Field(records, r) for r in records.all(record["Fields"])]
        self.fields = list(self.own)

    def finish(self, records):
        if self.base:
            self.fields = records.structs[self.base].fields + self.fields
            self.fields.sort(key=lambda field: self.order.index(field.key))
        code = re.sub(r"//.*", "", self.extra)
        self.members = {f.member for f in self.fields if f.member}
        self.members |= set(re.findall(r"(\w+)(?=\(| = )", code))
        keys = [f.key for f in self.fields]
        for constraint in self.constraints:
            if constraint["Key"] not in keys:
                sys.exit(f"generate_plan: {self.name} has no key "
                         f"'{constraint['Key']}'")
        if len(set(keys)) != len(keys):
            sys.exit(f"generate_plan: two keys of {self.name} are equal")
        for field in self.fields:
            if field.record and field.record not in records.structs:
                sys.exit(f"generate_plan: there is no object '{field.record}'")
        # The objects that must be declared before.
        self.needs = [f.record for f in self.own if f.record and f.member]
        self.needs += [name for name in records.structs if name == self.base
                       or re.search(rf"<{name}>", code)]

    def expression(self, text):
        """With members as those of `value`, unless it names that itself."""
        if "value." in text:
            return words(text)
        return words(re.sub(
            r"(?<![\w.>\"])[A-Za-z_]\w*",
            lambda m: ("value." if m.group(0) in self.members else "") + m.group(0),
            text))


# The greatest numbers of types of fewer than 64 bits.
NARROW = {"unsigned": (1 << 32) - 1, "uint16_t": (1 << 16) - 1}


class Field:
    def __init__(self, records, record):
        self.kind, self.cpp = record["Kind"], record["Cpp"]
        self.member, self.text = record["Member"], words(record["Text"])
        self.key = record["Key"] or re.sub(
            "[A-Z]", lambda m: "_" + m.group(0).lower(), self.member)
        self.checks = [Check(records, r) for r in records.all(record["Checks"])]
        self.preset, self.omit = record["Preset"], record["Omit"]
        self.may_lack = bool(record["MayLack"] or self.omit)
        self.words, self.record = record["Words"], record["Record"]
        self.write, self.read = record["Write"], record["Read"]
        self.derived = not self.member and self.kind != "made"
        # Bounds and message of a number that C++ holds in fewer than 64 bits,
        # which it must fit before it is checked further.
        self.narrow = None
        if self.cpp in NARROW and not self.derived:
            own = self.range()
            least, most = ((own.least, own.most) if own and own.in_reader
                           else (0, NARROW[self.cpp]))
            self.narrow = least, most, (own.message if own and own.in_reader
                                        else f"expected {least}..{most}")

    def range(self):
        return next((c for c in self.checks if c.kind == "Range"), None)


class Check:
    def __init__(self, records, record):
        self.kind = next(k for k in ("Range", "UpTo", "Spelling", "OneOf")
                         if k in record["!superclasses"])
        self.__dict__.update({k.lower(): v for k, v in record.items()
                              if k[0].isupper()})
        # What the reader refuses, and not the check of bounds.
        self.in_reader = bool(getattr(self, "message", ""))


def words(text):
    return " ".join(text.split())


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


#===------------------------------------------------------------------------===#
# C++
#===------------------------------------------------------------------------===#

def comment(text, indent=""):
    sentence = text[0].upper() + text[1:] if text[0] != "`" else text
    return textwrap.wrap(sentence + ("" if sentence.endswith((".", "…")) else "."),
                         79, initial_indent=indent + "/// ",
                         subsequent_indent=indent + "/// ")


def preset_of(field):
    if not field.preset:
        return ""
    if field.preset == "{}":
        return "{}"
    if field.kind == "text":
        return f" = {quoted(field.preset)}"
    return f" = {field.preset}"


def header(records, part):
    out = [NOTE]
    out += [f"/// {limit['Text']}\ninline constexpr int64_t {limit['!name']} = "
            f"{limit['Value']};" for limit in records.limits
            if limit["Part"] == part]
    here = [s for s in records.structs.values()
            if (s.part or "PlanParts") == part]
    for struct in in_order(here):
        if struct.declared:
            out += declaration(struct)
        if "stream" in struct.forms:
            out.append("void print(llvm::json::OStream &os, "
                       f"const {struct.name} &value);")
        if "value" in struct.forms:
            out.append(f"llvm::json::Value toJSON(const {struct.name} &value);")
        if struct.has_reader:
            out.append("bool fromJSON(const llvm::json::Value &in, "
                       f"{struct.name} &value, llvm::json::Path path);")
        for field in struct.own:
            for check in field.checks:
                if check.kind == "OneOf" and check.array:
                    names = ", ".join(map(quoted, check.words))
                    out.append("inline constexpr const char "
                               f"*{check.array}[] = {{{names}}};")
    return "\n".join(out) + "\n"


def in_order(structs):
    """Each after those that it has."""
    done, names = [], {s.name: s for s in structs}

    def visit(struct):
        if struct in done:
            return
        for name in struct.needs:
            if name in names:
                visit(names[name])
        done.append(struct)

    for struct in structs:
        visit(struct)
    return done


def declaration(struct):
    base = f" : {struct.base}" if struct.base else ""
    out = ["", *comment(struct.text), f"struct {struct.name}{base} {{"]
    for field in struct.own:
        if field.member:
            out += comment(field.text, "  ")
            out.append(f"  {field.cpp} {field.member}{preset_of(field)};")
    if struct.extra:
        out.append(textwrap.indent(struct.extra, "  "))
    return out + [f"  bool operator==(const {struct.name} &) const = default;",
                  "};"]


def writers(records):
    out = []
    for struct in records.described():
        if "stream" in struct.forms:
            out += [f"void print(json::OStream &os, const {struct.name} &value) {{",
                    "  os.object([&] {"]
            for field in struct.fields:
                out.append(unless(struct, field, streamed(struct, field, records)))
            out += ["  });", "}"]
        if "value" in struct.forms:
            out += [f"json::Value toJSON(const {struct.name} &value) {{",
                    "  json::Object out;"]
            for field in struct.fields:
                made = valued(struct, field)
                out.append(unless(struct, field,
                                  f"out[{quoted(field.key)}] = {made};"))
            out += ["  return out;", "}"]
    return out


def unless(struct, field, statement):
    if field.kind == "maybe":
        return f"  if (value.{field.member}) {{ {statement} }}"
    if field.omit:
        return f"  if (!({struct.expression(field.omit)})) {{ {statement} }}"
    return "  " + statement


def valued(struct, field):
    """An expression of a json::Value."""
    member = f"value.{field.member}"
    if field.derived:
        member = struct.expression(field.write)
    if field.kind in ("int", "id"):
        return f"int64_t({member})"
    if field.kind == "either":
        return f"{member} ? {quoted(field.words[1])} : {quoted(field.words[0])}"
    if field.kind in ("texts", "ints", "objects"):
        return f"json::Array({member})"
    if field.kind == "spelled":
        return struct.expression(field.write)
    if field.kind == "made":
        return f"toJSON({field.write}(value))"
    if field.kind == "object":
        return f"toJSON({member})"
    if field.kind == "maybe":
        return f"toJSON(*{member})"
    if field.kind in ("text", "real", "flag"):
        return member
    return sys.exit(f"generate_plan: {struct.name} has a field of kind "
                    f"'{field.kind}', which no value is made of")


def streamed(struct, field, records):
    """A statement that writes the field."""
    key, member = quoted(field.key), f"value.{field.member}"
    if field.kind in ("real", "figures", "reals", "counts", "lists"):
        return f"print(os, {key}, {member});"
    if field.kind == "values":
        return f"os.attribute({key}, json::Object({member}));"
    if field.record and "stream" in records.structs[field.record].forms:
        made = (f"{field.write}(value)" if field.kind == "made" else
                f"*{member}" if field.kind == "maybe" else member)
        return f"printAt(os, {key}, {made});"
    return f"os.attribute({key}, {valued(struct, field)});"


def readers(records):
    out = []
    for struct in records.described():
        if not struct.has_reader:
            continue
        out += [f"bool fromJSON(const json::Value &in, {struct.name} &value, "
                "json::Path path) {", "  json::ObjectMapper map(in, path);",
                "  if (!map) return false;"]
        for field in struct.fields:
            if not field.derived:
                out.append(f"  {reading(field)}")
        for field in struct.fields:
            out += [refusal for check in field.checks if not field.derived
                    for refusal in refusing(field, check)]
        for constraint in struct.constraints:
            if constraint["Function"]:
                out.append(f"  if (!{constraint['Function']}(value, "
                           f"path.field({quoted(constraint['Key'])}))) "
                           "return false;")
            else:
                out += refused(constraint["Key"],
                               f"!({struct.expression(constraint['Expression'])})",
                               constraint["Message"])
        out += ["  return true;", "}"]
    return out


def reading(field):
    key, member = quoted(field.key), f"value.{field.member}"
    if field.narrow:
        call = (f"readNarrow(map, {key}, {member}, {field.narrow[0]}, "
                f"{field.narrow[1]}, {quoted(field.narrow[2])}, path)")
    elif field.kind == "reals":
        call = f"readReals(map, {key}, {member}, path)"
    elif field.kind == "values":
        call = f"readObject(in, {key}, {member}, path)"
    elif field.kind == "either":
        usual = field.words[::-1] if field.preset == "true" else field.words
        message = quoted(f"expected '{usual[0]}' or '{usual[1]}'")
        yes, no = quoted(field.words[1]), quoted(field.words[0])
        call = f"readEither(map, {key}, {no}, {yes}, {member}, {message}, path)"
        if field.may_lack:
            call = f"(in.getAsObject()->get({key}) && !{call})"
            return f"if ({call}) return false;"
    elif field.kind == "spelled":
        message = quoted(field.checks[0].message)
        call = (f"readSpelled(map, {key}, {field.read}, {member}, {message}, "
                "path)")
    elif field.kind == "made":
        return (f"{field.record} made;\n  if (!map.map({key}, made)) return false;"
                f"\n  {field.read}(value, std::move(made));")
    else:
        call = f"map.map{'Optional' if field.may_lack else ''}({key}, {member})"
    return f"if (!{call}) return false;"


def refused(key, condition, message):
    return [f"  if ({condition}) {{", f"    path.field({quoted(key)}).report("
            f"{quoted(message)});", "    return false;", "  }"]


def refusing(field, check):
    """What the reader refuses of one field."""
    member = f"value.{field.member}"
    if not check.in_reader or field.kind == "spelled" or (
            field.narrow and check.kind == "Range"):
        return []
    if check.kind == "OneOf":
        return refused(field.key, " && ".join(
            f"{member} != {quoted(word)}" for word in check.words), check.message)
    if field.kind == "ints":
        return refused(field.key, f"any_of({member}, [](int64_t each) {{ return "
                       f"{outside('each', check)}; }})", check.message)
    return refused(field.key, outside(f"int64_t({member})", check), check.message)


def outside(number, check):
    return f"{number} < {check.least} || {number} > {check.most}"


def bounds(records):
    """check(Bounds, path, T) of every object that has bounds in it."""
    bounded = set()
    while True:
        more = {s.name for s in records.structs.values()
                if s.declared and any(f.record in bounded or any(
                    not c.in_reader for c in f.checks) for f in s.fields
                    if not f.derived)}
        if more == bounded:
            break
        bounded = more
    out = []
    structs = [s for s in records.described() if s.name in bounded]
    for struct in structs:
        out.append("static void check(Bounds &bounds, const std::string &at, "
                   f"const {struct.name} &value);")
    for struct in structs:
        out.append("static void check(Bounds &bounds, const std::string &at, "
                   f"const {struct.name} &value) {{")
        for field in struct.fields:
            if not field.derived:
                out += bounding(field, bounded)
        out.append("}")
    return "\n".join(out) + "\n"


def bounding(field, bounded):
    at, member = quoted("." + field.key), f"value.{field.member}"
    if field.record in bounded:
        if field.kind == "objects":
            return [f"  checkAll(bounds, at + {at}, {member});"]
        if field.kind == "maybe":
            return [f"  if ({member}) check(bounds, at + {at}, *{member});"]
        made = f"{field.write}(value)" if field.kind == "made" else member
        return [f"  check(bounds, at + {at}, {made});"]
    checks = [c for c in field.checks if not c.in_reader]
    if field.kind == "lists":
        names, items = checks
        return [f"  for (const auto &[name, list] : {member}) {{",
                f"    {bound(names, f'at + {at}', 'name')}",
                "    for (const std::string &each : list)",
                f"      {bound(items, f'at + {quoted(at[1:-1] + chr(46))} + printable(name)', 'each')}",
                "  }"]
    out = []
    for check in checks:
        if field.kind == "texts":
            out += [f"  for (size_t i = 0; i < {member}.size(); ++i)",
                    f"    {bound(check, f'item(at + {at}, i)', f'{member}[i]')}"]
        elif field.kind == "ints":
            out += [f"  for (int64_t each : {member})",
                    f"    {bound(check, f'at + {at}', 'each')}"]
        else:
            out.append(f"  {bound(check, f'at + {at}', member)}")
    return out


def bound(check, at, value):
    if check.kind == "Range":
        return (f"bounds.number({at}, int64_t({value}), {check.least}, "
                f"{check.most});")
    if check.kind == "UpTo":
        return f"bounds.number({at}, {value}, {check.most});"
    more = ", true" if check.maybeempty else ""
    return f"bounds.{check.method}({at}, {value}{more});"


#===------------------------------------------------------------------------===#
# The page and the JSON schema
#===------------------------------------------------------------------------===#

def page(records):
    out = ["# plan.json", "",
           "What a package's `plan.json` says: what was built, where, with which "
           "prediction, and what",
           f"goes in and out. This is schema {records.schema}. Every object is "
           "described here by its keys, from the records",
           "in `include/rhizome/Package/Plan.td`. The same is in "
           "`data/plan.schema.json`, a JSON schema (draft",
           "2020-12). It describes what this version writes. A reader ignores keys that "
           "are not listed and",
           "those that are not read, accepts that an optional one is missing, and "
           "checks further that the",
           "parts of a plan fit each other. A plain name has letters, digits and "
           "any of `_.+-`, and begins",
           "with none of `.+-`.", ""]
    described = records.described()
    out += [f"- [{s.title}](#{anchor(s.title)}): {first_sentence(s.text)}"
            for s in described]
    for struct in described:
        out += ["", f"## {struct.title}", "", markdown(struct.text), "",
                "| key | type | meaning |", "|---|---|---|"]
        for field in struct.fields:
            out.append(f"| `{field.key}` | {type_of(field, records)} | "
                       f"{markdown(meaning(field))} |")
    return "\n".join(out) + "\n"


def anchor(title):
    return title.lower().replace(" ", "-").replace(".", "")


def first_sentence(text):
    return markdown(re.split(r"(?<=\.) ", text)[0].rstrip(".") + ".")


def markdown(text):
    return text.replace("<", "&lt;").replace(">", "&gt;").replace("|", "\\|")


def meaning(field):
    text = field.text
    for check in field.checks:
        if check.kind == "Spelling" and field.kind != "lists":
            text += ("; each is " if field.kind == "texts" else "; ") + check.text
    return text


KINDS = {"text": "text", "spelled": "text", "int": "integer", "id": "integer",
         "real": "number", "flag": "true or false", "texts": "list of texts",
         "ints": "list of integers", "reals": "list of numbers",
         "counts": "integers by name", "figures": "numbers by name",
         "lists": "lists of texts by name", "values": "integers and texts by name"}


def type_of(field, records):
    if field.record:
        title = records.structs[field.record].title
        text = ("list of " if field.kind == "objects" else "") + (
            f"[{title}](#{anchor(title)})")
    elif field.kind == "either":
        text = " or ".join(f"`{word}`" for word in field.words)
    else:
        text = KINDS[field.kind]
    one_of = [c for c in field.checks if c.kind == "OneOf" and c.words]
    if one_of:
        text = " or ".join(f"`{word}`" for word in one_of[0].words)
    if field.range():
        text += f", {field.range().least} to {shown(field.range().most)}"
    up_to = [c for c in field.checks if c.kind == "UpTo"]
    if up_to:
        text += f", 0 to {float(up_to[0].most):g}"
    return text + (", not read" if field.derived else
                   ", optional" if field.may_lack else "")


def shown(number):
    if number > 1 << 32 and number & (number - 1) == 0:
        return f"2^{number.bit_length() - 1}"
    return str(number)


def schema_of(field, records):
    one = {"text": {"type": "string"}, "spelled": {"type": "string"},
           "int": {"type": "integer"}, "id": {"type": "integer"},
           "real": {"type": "number"}, "flag": {"type": "boolean"},
           "either": {"enum": field.words}}
    for kind, check in ((c.kind, c) for c in field.checks):
        if kind == "Range":
            one["int"] = {**one["int"], "minimum": check.least,
                          "maximum": check.most}
        elif kind == "UpTo":
            one["real"] |= {"minimum": 0, "maximum": float(check.most)}
        elif kind == "OneOf" and check.words:
            one["text"] = one["spelled"] = {"enum": check.words}
    one["id"] = one["int"]
    many = {"texts": "text", "ints": "int", "reals": "real"}
    named = {"counts": one["int"], "figures": one["real"],
             "lists": {"type": "array", "items": one["text"]},
             "values": {"type": ["integer", "string"]}}
    if field.record:
        made = {"$ref": f"#/$defs/{field.record}"}
        if field.kind == "objects":
            made = {"type": "array", "items": made}
    elif field.kind in many:
        made = {"type": "array", "items": one[many[field.kind]]}
    elif field.kind in named:
        made = {"type": "object", "additionalProperties": named[field.kind]}
    else:
        made = one[field.kind]
    if field.key == "schema":
        made = {"const": records.schema}
    return {"description": field.text, **made}


def object_schema(struct, records):
    return {"description": struct.text, "type": "object",
            "properties": {f.key: schema_of(f, records) for f in struct.fields},
            "required": [f.key for f in struct.fields if not f.may_lack],
            "additionalProperties": False}


def json_schema(records):
    described = records.described()
    out = {"$schema": "https://json-schema.org/draft/2020-12/schema",
           "title": f"plan.json of a Rhizome package, schema {records.schema}",
           **object_schema(described[0], records),
           "$defs": {s.name: object_schema(s, records) for s in described[1:]}}
    return json.dumps(out, indent=1, ensure_ascii=False) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("records")
    parser.add_argument("--headers", type=pathlib.Path, required=True)
    parser.add_argument("--pages", type=pathlib.Path, required=True)
    options = parser.parse_args()
    with open(options.records) as stream:
        records = Records(json.load(stream))
    for part in records.parts():
        write(options.headers / f"{part}.h.inc", header(records, part))
    code = "\n".join(writers(records) + readers(records)) + "\n"
    write(options.headers / "Plan.cpp.inc", NOTE + code)
    write(options.headers / "Bounds.cpp.inc", NOTE + bounds(records))
    write(options.pages / "plan.md", page(records))
    write(options.pages / "plan.schema.json", json_schema(records))


def write(path, text):
    """A file that is as it was keeps its time, so that nothing is built anew."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


if __name__ == "__main__":
    main()
