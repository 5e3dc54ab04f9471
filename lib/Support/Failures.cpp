// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Support/Failures.h"
#include "llvm/ADT/STLExtras.h"

using namespace rhizome;

namespace {
class KindedError : public llvm::ErrorInfo<KindedError> {
public:
  static char ID;
  KindedError(Failure::Kind kind, std::string text)
      : kind(kind), text(std::move(text)) {}
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }
  const Failure::Kind kind;

private:
  std::string text;
};
char KindedError::ID = 0;
} // namespace

llvm::Error rhizome::ofKind(Failure::Kind kind, llvm::Error error) {
  if (!error || error.isA<KindedError>())
    return error;
  return llvm::make_error<KindedError>(kind, llvm::toString(std::move(error)));
}

Failure rhizome::failureOf(llvm::Error error, Failure::Kind otherwise) {
  Failure::Kind kind = otherwise;
  std::string text;
  auto add = [&](const llvm::ErrorInfoBase &one) {
    text += (text.empty() ? "" : "\n") + one.message();
  };
  llvm::handleAllErrors(
      std::move(error),
      [&](const KindedError &kinded) {
        kind = kinded.kind;
        add(kinded);
      },
      add);
  return Failure(kind, std::move(text));
}
