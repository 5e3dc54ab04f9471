// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How plan.json is described: one record per object. From the records
// scripts/generate_plan.py generates the C++ structs, their writers and readers,
// the bounds of single fields, docs/plan.md and data/plan.schema.json. What
// concerns several objects is checked in lib/Package/PlanBounds.cpp and
// PlanReader.cpp.
#ifndef RHIZOME_PACKAGE_SCHEMA_TD
#define RHIZOME_PACKAGE_SCHEMA_TD

// A check of one field, or of each item if the field is a list.
class Check;
// Bounds of an integer. With a message the reader refuses the number, and says
// only that. Without one, the check of bounds also names the number.
class Range<int least, int most, string message = ""> : Check {
  int Least = least;
  int Most = most;
  string Message = message;
}
class Expects<int least, int most>
    : Range<least, most, "expected " # least # ".." # most>;
// A number from 0 to `most`.
class UpTo<string most> : Check {
  string Most = most;
}
// A text of which a member of Bounds (lib/Package/Bounds.h) says whether it is
// well-formed.
class Spelling<string method, bit mayBeEmpty, string text> : Check {
  string Method = method;
  bit MayBeEmpty = mayBeEmpty;
  string Text = text;
}
def Name : Spelling<"name", 0, "a plain name">;
def NameOrEmpty : Spelling<"name", 1, "a plain name, or empty">;
def Identifier : Spelling<"identifier", 0, "an identifier of Verilog">;
def IdentifierOrEmpty
    : Spelling<"identifier", 1, "an identifier of Verilog, or empty">;
def PlainPath : Spelling<"path", 0, "a path below its folder">;
def SourceFile : Spelling<"source", 0, "a path that ends in .sv, .v or .svh">;
// One of these texts; the reader refuses others.
// `array` names a C++ array of them, if there is one.
class OneOf<list<string> words, string message, string array = ""> : Check {
  list<string> Words = words;
  string Message = message;
  string Array = array;
}

// A field. `member` is its name in C++; its key is the same in snake_case unless
// `key` says otherwise. `preset` is its value before it is read. A reader accepts
// that it is missing if `mayLack` is 1 or `omit` is given: then the writer leaves
// it out where that C++ expression holds.
class Field<string kind, string cpp, string member, string text,
            list<Check> checks, string preset, string key, bit mayLack,
            string omit> {
  string Kind = kind;
  string Cpp = cpp;
  string Member = member;
  string Text = text;
  list<Check> Checks = checks;
  string Preset = preset;
  string Key = key;
  bit MayLack = mayLack;
  string Omit = omit;
  // For a field of kind "either": the words for false and true.
  list<string> Words = [];
  // For an object: its record. For a spelled value: the functions from and to a
  // text.
  string Record = "";
  string Write = "";
  string Read = "";
}
class Text<string member, string text, list<Check> checks = [],
           string preset = "", string key = "", bit mayLack = 0,
           string omit = "">
    : Field<"text", "std::string", member, text, checks, preset, key, mayLack,
            omit>;
class Int<string member, string text, list<Check> checks = [],
          string preset = "0", string key = "", bit mayLack = 0,
          string omit = "">
    : Field<"int", "int64_t", member, text, checks, preset, key, mayLack, omit>;
class Bits<string member, string text, list<Check> checks = [],
           string preset = "", string key = "">
    : Field<"int", "unsigned", member, text, checks, preset, key, 0, "">;
// A number of 16 bits, which identifies something on the links.
class Id<string member, string text, string preset = "0">
    : Field<"id", "uint16_t", member, text, [Expects<0, 65535>], preset, "", 0,
            "">;
// Streamed in the shortest form that reads back as the same double.
class Real<string member, string text, list<Check> checks = [],
           string preset = "0", string key = "", bit mayLack = 0>
    : Field<"real", "double", member, text, checks, preset, key, mayLack, "">;
class Flag<string member, string text, string key = "", string preset = "false">
    : Field<"flag", "bool", member, text, [], preset, key, 0, "">;
// A bool that the JSON gives as one of two words.
class Either<string member, string key, string no, string yes, string text,
             string preset = "false", bit mayLack = 0>
    : Field<"either", "bool", member, text, [], preset, key, mayLack, ""> {
  let Words = [no, yes];
}
// A type of its own with a text for each value: `write` is an expression for the
// text, `read` a function that gives the value, if the text is one.
class Spelled<string cpp, string member, string text, string write, string read,
              Check words, string preset = "">
    : Field<"spelled", cpp, member, text, [words], preset, "", 0, ""> {
  let Write = write;
  let Read = read;
}
class Texts<string member, string text, list<Check> checks = [],
            bit mayLack = 0>
    : Field<"texts", "std::vector<std::string>", member, text, checks, "", "",
            mayLack, "">;
class Ints<string member, string text, list<Check> checks = [],
           string preset = "">
    : Field<"ints", "std::vector<int64_t>", member, text, checks, preset, "", 0,
            "">;
class Reals<string member, string text, string preset = "">
    : Field<"reals", "std::vector<float>", member, text, [], preset, "", 0, "">;
// Numbers by name, and lists of texts by name: the first check is the names'.
class Counts<string member, string text, bit mayLack = 0>
    : Field<"counts", "std::map<std::string, int64_t>", member, text, [], "", "",
            mayLack, "">;
class Figures<string member, string text, bit mayLack = 0>
    : Field<"figures", "std::map<std::string, double>", member, text, [], "", "",
            mayLack, "">;
class Lists<string member, string text, Check names, Check items>
    : Field<"lists", "std::map<std::string, std::vector<std::string>>", member,
            text, [names, items], "", "", 0, "">;
// Integers and texts by name.
class Values<string member, string text>
    : Field<"values", "llvm::json::Object", member, text, [], "", "", 0, "">;
// An object, a list of them, and one that may be missing.
class Of<string member, string record, string text, string key = "">
    : Field<"object", record, member, text, [], "", key, 0, ""> {
  let Record = record;
}
class ListOf<string member, string record, string text, string key = "",
             bit mayLack = 0, string omit = "", string preset = "">
    : Field<"objects", "std::vector<" # record # ">", member, text, [], preset,
            key, mayLack, omit> {
  let Record = record;
}
class MaybeOf<string member, string record, string text>
    : Field<"maybe", "std::optional<" # record # ">", member, text, [], "", "", 1,
            ""> {
  let Record = record;
}
// An object that C++ makes from the struct's fields (`write`) and sorts into them
// (`read`).
class Made<string key, string record, string write, string read, string text>
    : Field<"made", "", "", text, [], "", key, 0, ""> {
  let Record = record;
  let Write = write;
  let Read = read;
}
// What follows from other fields, by a C++ expression, and is not read. `kind`:
// int or flag.
class Derived<string key, string kind, string expression, string text,
              list<Check> checks = []>
    : Field<kind, "", "", text, checks, "", key, 0, ""> {
  let Write = expression;
}

// What must hold within an object, as a C++ expression of its members; the
// reader refuses the field `key` with the message otherwise.
class Requires<string key, string expression, string message> {
  string Key = key;
  string Expression = expression;
  string Message = message;
  string Function = "";
}

// A hand-written check of the object, with the path of the field: bool function(
// const T &, json::Path). It reports what is wrong itself.
class Verifies<string key, string function> : Requires<key, "", ""> {
  let Function = function;
}

// An object. The record's name is the struct's, `part` the header that declares it (none:
// PlanParts.h), `title` its heading in the documentation.
class Struct<string part, string title, string text> {
  string Part = part;
  string Title = title;
  string Text = text;
  // The record whose fields it has too, and then the order of the keys.
  string Base = "";
  list<string> Order = [];
  // Whether it is generated: the struct, and the reader.
  bit Declared = 1;
  bit HasReader = 1;
  // "stream": print(OStream, T) writes the keys in the fields' order;
  // "value": toJSON(T) gives a value, whose keys are written by the alphabet.
  list<string> Forms = ["stream"];
  list<Field> Fields = [];
  list<Requires> Constraints = [];
  code ExtraDeclarations = "";
}

// A number that C++ knows by the record's name.
class Limit<string part, int value, string text> {
  string Part = part;
  int Value = value;
  string Text = text;
}

// All objects, in the order of the documentation.
class Schema<list<Struct> structs> {
  list<Struct> Structs = structs;
}

#endif // RHIZOME_PACKAGE_SCHEMA_TD
