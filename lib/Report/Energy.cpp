// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An estimate of the energy from counts. The model and its sources are one
// data file; nothing here was measured, and the page says so.
#include "rhizome/Report/Report.h"
#include "rhizome/Support/Files.h"
#include "rhizome/Support/Untrusted.h"

using namespace llvm;
using namespace rhizome;

Expected<json::Object> report::energyOf(const json::Object &plan,
                                        const json::Object &analysis) {
  Expected<std::string> folder = dataDir();
  if (!folder)
    return folder.takeError();
  std::string path = *folder + "/report/energy.json";
  Expected<std::string> text = readText(path);
  if (!text)
    return text.takeError();
  Expected<json::Value> parsed = parseJson(*text);
  if (!parsed)
    return createStringError("%s: %s", path.c_str(),
                             toString(parsed.takeError()).c_str());
  const json::Object *model = parsed->getAsObject();
  auto coefficient = [&](const char *key) {
    return model ? model->getNumber(key).value_or(0) : 0;
  };
  double macs = 0, weightBytes = 0, linkBytes = 0;
  if (const json::Array *operations = analysis.getArray("operations"))
    for (const json::Value &value : *operations) {
      const json::Object *o = value.getAsObject();
      if (!o)
        continue;
      double products = o->getNumber("macs").value_or(0);
      macs += products;
      // Incoming data are written to a memory or register once and read once.
      weightBytes += 2 * o->getNumber("input_bytes").value_or(0) +
                     o->getNumber("param_bytes").value_or(0);
    }
  if (const json::Array *channels = plan.getArray("channels"))
    for (const json::Value &value : *channels)
      if (const json::Object *channel = value.getAsObject())
        if (const json::Object *element = channel->getObject("element"))
          linkBytes += channel->getNumber("elements").value_or(0) *
                       element->getNumber("width").value_or(0) / 8 /
                       channel->getNumber("every").value_or(1);
  json::Array parts;
  double sum = 0;
  auto add = [&](const char *name, double pj) {
    sum += pj * 1e-6;
    parts.push_back(json::Object{{"name", name}, {"uj", pj * 1e-6}});
  };
  double fabric = coefficient("fpga_over_asic");
  add("products and sums", macs * coefficient("mac_pj") * fabric);
  add("memories", weightBytes * coefficient("memory_pj_per_byte") * fabric);
  add("links", linkBytes * 8 * coefficient("link_pj_per_bit"));
  json::Array sources;
  if (const json::Array *list = model ? model->getArray("sources") : nullptr)
    sources = *list;
  return json::Object{
      {"model", model ? model->getString("model").value_or("").str() : ""},
      {"sources", std::move(sources)},
      {"parts", std::move(parts)},
      {"uj_per_inference", sum}};
}
