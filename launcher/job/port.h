// SPDX-License-Identifier: Apache-2.0
// How far TCP's ports go: told by everything that reads, gives out or sends one.
#pragma once

namespace paddle_launch {

constexpr int kLastPort = 65535;

}  // namespace paddle_launch
