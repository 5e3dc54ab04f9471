// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/runtime/key.h"
#ifdef RHIZOME_SODIUM
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sodium.h>

namespace rhizome::link {
using Key = std::array<uint8_t, crypto_shorthash_KEYBYTES>;
constexpr int kDigits = 2 * crypto_shorthash_KEYBYTES;

static Mac hashWith(const Key &key) {
  return [key](std::span<const uint8_t> bytes) {
    uint8_t out[crypto_shorthash_BYTES];
    crypto_shorthash(out, bytes.data(), bytes.size(), key.data());
    return readWord(out);
  };
}

static bool start(std::string &error) {
  if (sodium_init() >= 0)
    return true;
  error = "libsodium has no source of random numbers";
  return false;
}

Mac freshMac(std::string &error) {
  if (!start(error))
    return nullptr;
  Key key;
  crypto_shorthash_keygen(key.data());
  return hashWith(key);
}

Mac macOf(const std::string &keyFile, std::string &error) {
  if (!start(error))
    return nullptr;
  // A device never ends, and who opens a pipe of others waits for them.
  std::error_code unknown;
  const auto type = std::filesystem::status(keyFile, unknown).type();
  const bool isShells = keyFile.rfind("/dev/fd/", 0) == 0 ||
                        keyFile == "/dev/stdin" ||
                        keyFile.rfind("/proc/self/fd/", 0) == 0;
  using Type = std::filesystem::file_type;
  if (type == Type::block || type == Type::character || type == Type::socket ||
      (type == Type::fifo && !isShells)) {
    error = "cannot read '" + keyFile + "': it is no file";
    return nullptr;
  }
  std::ifstream file(keyFile);
  if (!file) {
    error = "cannot read '" + keyFile + "': " + std::strerror(errno);
    return nullptr;
  }
  std::string digits;
  file >> std::setw(kDigits + 1) >> digits >> std::ws;
  Key key;
  size_t size = 0;
  if (!file.eof() || digits.size() != size_t(kDigits) ||
      sodium_hex2bin(key.data(), key.size(), digits.data(), digits.size(),
                     nullptr, &size, nullptr) != 0 ||
      size != key.size()) {
    error = "'" + keyFile + "' is no key: it takes " + std::to_string(kDigits) +
            " hexadecimal digits, as 'openssl rand -hex " +
            std::to_string(kDigits / 2) + "' makes them";
    return nullptr;
  }
  return hashWith(key);
}
} // namespace rhizome::link
#else

namespace rhizome::link {
static Mac missing(std::string &error) {
  error = "this build has no libsodium, without which there are no keys; "
          "install it and configure again";
  return nullptr;
}
Mac freshMac(std::string &error) { return missing(error); }
Mac macOf(const std::string &, std::string &error) { return missing(error); }
} // namespace rhizome::link
#endif
