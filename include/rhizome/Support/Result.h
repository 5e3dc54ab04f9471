// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an operation gives, or why it gives nothing: a value or a Failure whose
// kind a caller can tell from others without reading English.
#pragma once

#include "rhizome/Support/Refusal.h"
#include <any>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace rhizome {
class Failure {
public:
  enum class Kind {
    Usage,       ///< options that contradict each other or come too late
    Input,       ///< a file of the user's that cannot be read, or is wrong
    Unsupported, ///< the model, or a part of it, cannot be built
    Infeasible,  ///< no plan meets the goal, or fits
    Environment, ///< what the machine lacks: files of ours, room on the disk
    Internal,    ///< a mistake of ours
  };
  Kind kind;
  /// Where, why, and what would work; at least one. All refusals of a model
  /// stand here; other kinds have one cause, of which the place may be "".
  Refusals causes;
  /// More for those who know the layer above, e.g. the nearest plan.
  std::any detail = {};
  /// What a user should know besides, such as files that had changed.
  std::vector<std::string> notes = {};

  Failure(Kind kind, Refusals causes) : kind(kind), causes(std::move(causes)) {}
  Failure(Kind kind, std::string reason, std::string remedy = "")
      : kind(kind), causes{{"", "", std::move(reason), std::move(remedy)}} {}

  /// Of a model that was refused: Input if a file is at fault, otherwise
  /// Unsupported.
  static Failure refused(Refusals causes) {
    Kind kind = Kind::Unsupported;
    for (const Refusal &cause : causes)
      if (cause.fault == Refusal::Fault::File)
        kind = Kind::Input;
    return Failure(kind, std::move(causes));
  }

  /// The first cause's sentence.
  const std::string &reason() const { return causes.front().reason; }
  /// Of a program that ends with it: 2 for bad usage, otherwise 1.
  int exitCode() const { return kind == Kind::Usage ? 2 : 1; }
};

/// A value of T, or a Failure.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : content(std::in_place_index<0>, std::move(value)) {}
  Result(Failure failure)
      : content(std::in_place_index<1>, std::move(failure)) {}

  explicit operator bool() const { return content.index() == 0; }
  T &operator*() { return std::get<0>(content); }
  const T &operator*() const { return std::get<0>(content); }
  T *operator->() { return &std::get<0>(content); }
  const T *operator->() const { return &std::get<0>(content); }
  Failure &failure() { return std::get<1>(content); }
  const Failure &failure() const { return std::get<1>(content); }

private:
  std::variant<T, Failure> content;
};

/// Of what gives nothing but may fail.
struct Done {};
using Status = Result<Done>;
} // namespace rhizome
