// SPDX-License-Identifier: Apache-2.0
// POST requests over libcurl, which is opened at run time, and what its failures mean.
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "launcher/job/job_spec.h"
#include "launcher/os/shared_library.h"

namespace paddle_launch {

// libcurl, opened at run time: nodes without it can run every job that does not use etcd. The
// header gives types and constants only.
struct CurlLibrary {
  // Throws std::runtime_error with what to install.
  CurlLibrary();

  SharedLibrary library;
  CURL* (*easy_init)();
  CURLcode (*easy_setopt)(CURL*, CURLoption, ...);
  CURLcode (*easy_getinfo)(CURL*, CURLINFO, ...);
  void (*easy_cleanup)(CURL*);
  const char* (*easy_strerror)(CURLcode);
  CURLM* (*multi_init)();
  CURLMcode (*multi_add_handle)(CURLM*, CURL*);
  CURLMcode (*multi_remove_handle)(CURLM*, CURL*);
  CURLMcode (*multi_perform)(CURLM*, int*);
  // Not curl_multi_poll: that is younger (7.66), and differs only where there is no descriptor.
  CURLMcode (*multi_wait)(CURLM*, curl_waitfd[], unsigned, int, int*);
  CURLMsg* (*multi_info_read)(CURLM*, int*);
  curl_slist* (*slist_append)(curl_slist*, const char*);
  void (*slist_free_all)(curl_slist*);
};

// Why no answer came, in plain words.
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

// POST requests over libcurl, any number at a time, on one thread that also minds one descriptor of
// somebody else's.
struct HttpRequest {
  std::string url{};
  std::string body{};
  std::string token{};                  // of the header Authorization; empty: none
  std::chrono::milliseconds timeout{};  // 0: none, but for making the connection
  // libcurl sends a request again by itself when a connection that it had kept turns out to be
  // dead, and cannot know whether the server has seen it. With this one it does not.
  bool is_single = false;
};

struct HttpReply {
  bool has_come = false;
  bool was_sent = false;  // at least a part of the request
  int status = 0;
  std::string body{};
  std::string problem{};    // why it has not come
  bool has_remedy = false;  // the problem names one
};

class Http {
 public:
  using Id = std::uint64_t;
  using Done = std::function<void(const HttpReply&)>;
  using Arrived = std::function<void(std::string_view)>;

  // Throws std::runtime_error where there is no libcurl.
  explicit Http(EtcdSpec spec);
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;
  ~Http();

  // `done` is called in a later wait(). With `arrived` the body of a good answer is given piece by
  // piece.
  Id post(HttpRequest request, Done done, Arrived arrived = {});
  // Without a word. One that is not there any more is fine.
  void cancel(Id id);

  // Waits until something can go on or `fd` is ready, and calls back.
  void wait(int fd, bool wants_to_write, std::chrono::milliseconds longest);

 private:
  struct Transfer;

  void set_up(Transfer& transfer) const;
  void hand_out_pieces();
  void finish_transfers();
  HttpReply reply_of(Transfer& transfer, CURLcode code) const;

  EtcdSpec spec_;
  CurlLibrary curl_;
  CURLM* multi_;
  Id last_id_ = 0;
  std::map<Id, std::unique_ptr<Transfer>> transfers_;
};

}  // namespace paddle_launch
