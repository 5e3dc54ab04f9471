// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Keys.h"
#include "rhizome/Support/Resources.h"
#include "llvm/ADT/StringExtras.h"
#include <array>
#include <sodium.h>

using namespace llvm;
using namespace rhizome;

using Key = std::array<uint8_t, crypto_shorthash_KEYBYTES>;

static link::Mac hashWith(const Key &key) {
  return [key](std::span<const uint8_t> bytes) {
    uint8_t out[crypto_shorthash_BYTES];
    crypto_shorthash(out, bytes.data(), bytes.size(), key.data());
    return link::readWord(out);
  };
}

static Error start() {
  if (sodium_init() >= 0)
    return Error::success();
  return createStringError("libsodium has no source of random numbers");
}

Expected<link::Mac> deploy::freshMac() {
  if (Error error = start())
    return error;
  Key key;
  crypto_shorthash_keygen(key.data());
  return hashWith(key);
}

Expected<link::Mac> deploy::macOf(const std::string &keyFile) {
  if (Error error = start())
    return error;
  Expected<std::string> text = readFile(keyFile);
  if (!text)
    return text.takeError();
  StringRef digits = StringRef(*text).trim();
  std::string bytes;
  Key key;
  if (digits.size() != 2 * key.size() || !tryGetFromHex(digits, bytes))
    return createStringError("'%s' is no key: it takes %zu hexadecimal "
                             "digits, as 'openssl rand -hex %zu' makes them",
                             keyFile.c_str(), 2 * key.size(), key.size());
  std::copy(bytes.begin(), bytes.end(), key.begin());
  return hashWith(key);
}
