// SPDX-License-Identifier: Apache-2.0
// Why no answer came, in plain words.
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <string>
#include <string_view>

namespace paddle_launch {

struct TransportFailure {
  CURLcode code = CURLE_OK;
  int os_error = 0;  // 0: not known
  std::chrono::milliseconds took{};
  bool tls = false;
  std::string_view words{};  // of libcurl
};

std::string transport_problem(const TransportFailure& failure);
// Whether these words say what to do: what is wrong may be the way to speak, not the way there.
bool names_a_remedy(const TransportFailure& failure);

}  // namespace paddle_launch
