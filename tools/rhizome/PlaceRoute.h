// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Place and route on the command line.
#pragma once

#include "rhizome/Synth/PlaceRoute.h"

namespace rhizome::cli {
/// Places and routes the package in `dir`, with a progress line unless `json`.
llvm::Expected<PlaceRouteResult> placeAndRouteShown(const std::string &dir,
                                                    Changes changes,
                                                    PlaceRouteOptions options,
                                                    bool json);

/// Clock, use, longest path and bitstream as lines of text. Returns 0, or 1
/// and an error on stderr if the clock is missed.
int printPlaceRoute(const PlaceRouteResult &result);
} // namespace rhizome::cli
