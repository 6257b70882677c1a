// SPDX-License-Identifier: Apache-2.0
// The yardstick of a meeting: as many TCP connections between two processes, and not a byte on
// them.
#pragma once

namespace paddle_launch {

// Says "ready" when it listens, "accepted" with the moment when the last connection was taken, and
// its costs when it is told to end (SIGTERM).
void play_acceptor(int connections);
// Says "began" and "connected": the moments before the first and after the last connect.
void play_connector(int connections);

}  // namespace paddle_launch
