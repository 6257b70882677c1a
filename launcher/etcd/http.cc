// SPDX-License-Identifier: Apache-2.0
#include "launcher/etcd/http.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

// The header wraps these in macros that name functions we are not linked to.
#undef curl_easy_setopt
#undef curl_easy_getinfo

namespace paddle_launch {
namespace {

SharedLibrary open_curl() {
  try {
    return SharedLibrary("libcurl.so.4");
  } catch (const std::runtime_error&) {
    // The same library with another TLS; its own problem is of no interest.
  }
  try {
    return SharedLibrary("libcurl-gnutls.so.4");
  } catch (const std::runtime_error&) {
    throw std::runtime_error(
        "etcd is reached with libcurl, and libcurl.so.4 is not on this node; install it (package "
        "libcurl4 or libcurl)");
  }
}

}  // namespace

#define CURL_SYMBOL(name) name(library.symbol<decltype(name)>("curl_" #name))

CurlLibrary::CurlLibrary()
    : library(open_curl()),
      CURL_SYMBOL(easy_init),
      CURL_SYMBOL(easy_setopt),
      CURL_SYMBOL(easy_getinfo),
      CURL_SYMBOL(easy_cleanup),
      CURL_SYMBOL(easy_strerror),
      CURL_SYMBOL(multi_init),
      CURL_SYMBOL(multi_add_handle),
      CURL_SYMBOL(multi_remove_handle),
      CURL_SYMBOL(multi_perform),
      CURL_SYMBOL(multi_wait),
      CURL_SYMBOL(multi_info_read),
      CURL_SYMBOL(slist_append),
      CURL_SYMBOL(slist_free_all) {
  const auto global_init = library.symbol<CURLcode (*)(long)>("curl_global_init");
  const CURLcode code = global_init(CURL_GLOBAL_ALL);
  if (code == CURLE_OK) return;
  throw std::runtime_error(fmt::format("libcurl did not start: {}", easy_strerror(code)));
}

namespace {

std::string words_of_system(int error) {
  std::string words = std::generic_category().message(error);
  if (!words.empty()) {
    words.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(words.front())));
  }
  return words;
}

}  // namespace

bool names_a_remedy(const TransportFailure& failure) {
  switch (failure.code) {
    case CURLE_GOT_NOTHING:
      return !failure.tls;
    case CURLE_COULDNT_CONNECT:
      return failure.os_error == 0 && failure.tls;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_WRITE_ERROR:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
      return false;
    default:
      return failure.tls;
  }
}

std::string transport_problem(const TransportFailure& failure) {
  switch (failure.code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return "name not known";
    case CURLE_OPERATION_TIMEDOUT:
      return fmt::format(
          "no answer in {} s",
          std::max<long>(1, std::chrono::round<std::chrono::seconds>(failure.took).count()));
    case CURLE_COULDNT_CONNECT:
      if (failure.os_error != 0) return words_of_system(failure.os_error);
      break;
    case CURLE_GOT_NOTHING:
      return failure.tls ? "closed the connection without an answer"
                         : "closed the connection without an answer; where it speaks TLS, write "
                           "https:// before the address or give --etcd_cacert=FILE";
    case CURLE_WRITE_ERROR:
      return "answers with more than it should";
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
      return "answers, but not as etcd does (no HTTP)";
    default:
      break;
  }
  std::string words(failure.words);
  while (!words.empty() && std::isspace(static_cast<unsigned char>(words.back())) != 0) {
    words.pop_back();
  }
  if (!failure.tls) return words;
  return fmt::format(
      "no TLS connection: {}; check that it speaks TLS, and --etcd_cacert, --etcd_cert and "
      "--etcd_key",
      words);
}

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr long kConnectMilliseconds = 2000;
// Of an answer, or of one piece of a stream that was not handed out yet.
constexpr std::size_t kLongestBody = std::size_t{64} << 20U;
constexpr int kGood = 200;
// A link that was cut is noticed after about this time.
constexpr int kIdleSeconds = 3;
constexpr int kProbeSeconds = 1;
constexpr unsigned kSilenceMilliseconds = 6000;

int mind_the_link(void*, curl_socket_t socket, curlsocktype) {
  const int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &kIdleSeconds, sizeof kIdleSeconds);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &kProbeSeconds, sizeof kProbeSeconds);
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &kSilenceMilliseconds,
             sizeof kSilenceMilliseconds);
  return CURL_SOCKOPT_OK;
}

}  // namespace

struct Http::Transfer {
  Transfer(const CurlLibrary& library, HttpRequest what, Done on_done, Arrived on_arrived)
      : curl(library),
        request(std::move(what)),
        done(std::move(on_done)),
        arrived(std::move(on_arrived)),
        easy(library.easy_init()) {
    if (easy == nullptr) throw std::runtime_error("libcurl has no memory for a request to etcd");
    add_header("Content-Type: application/json");
    add_header("Expect:");  // libcurl would wait for a leave to send what is long
    if (!request.token.empty()) add_header("Authorization: " + request.token);
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() {
    curl.easy_cleanup(easy);
    curl.slist_free_all(headers);
  }

  void add_header(const std::string& line) {
    curl_slist* const longer = curl.slist_append(headers, line.c_str());
    if (longer != nullptr) headers = longer;
  }

  static std::size_t take(const char* data, std::size_t size, std::size_t count, void* self) {
    std::string& body = static_cast<Transfer*>(self)->body;
    if (body.size() + size * count > kLongestBody) return 0;
    body.append(data, size * count);
    return size * count;
  }

  const CurlLibrary& curl;
  HttpRequest request;
  Done done;
  Arrived arrived;
  CURL* easy;
  curl_slist* headers = nullptr;
  std::array<char, CURL_ERROR_SIZE> words{};
  std::string body{};
  steady_clock::time_point start = steady_clock::now();
};

Http::Http(EtcdSpec spec) : spec_(std::move(spec)), multi_(curl_.multi_init()) {
  if (multi_ == nullptr) throw std::runtime_error("libcurl has no memory for a request to etcd");
}

// The rest of libcurl goes with the process: cleaning up would wait for names being looked up.
Http::~Http() {
  for (const auto& [id, transfer] : transfers_) curl_.multi_remove_handle(multi_, transfer->easy);
}

void Http::set_up(Transfer& transfer) const {
  const HttpRequest& request = transfer.request;
  const auto set = [&](CURLoption option, auto value) {
    curl_.easy_setopt(transfer.easy, option, value);
  };
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_POST, 1L);
  set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  set(CURLOPT_POSTFIELDS, request.body.c_str());
  set(CURLOPT_HTTPHEADER, transfer.headers);
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_PROXY, "");  // http_proxy is for the world outside
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS, kConnectMilliseconds);
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
  set(CURLOPT_SOCKOPTFUNCTION, &mind_the_link);
  set(CURLOPT_ERRORBUFFER, transfer.words.data());
  set(CURLOPT_WRITEFUNCTION, &Transfer::take);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
  set(CURLOPT_FRESH_CONNECT, request.is_single ? 1L : 0L);
  set(CURLOPT_FORBID_REUSE, request.is_single ? 1L : 0L);
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  if (!spec_.cacert.empty()) set(CURLOPT_CAINFO, spec_.cacert.c_str());
  if (!spec_.cert.empty()) set(CURLOPT_SSLCERT, spec_.cert.c_str());
  if (!spec_.key.empty()) set(CURLOPT_SSLKEY, spec_.key.c_str());
}

Http::Id Http::post(HttpRequest request, Done done, Arrived arrived) {
  auto transfer =
      std::make_unique<Transfer>(curl_, std::move(request), std::move(done), std::move(arrived));
  set_up(*transfer);
  curl_.multi_add_handle(multi_, transfer->easy);
  transfers_.emplace(++last_id_, std::move(transfer));
  return last_id_;
}

void Http::cancel(Id id) {
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) return;
  curl_.multi_remove_handle(multi_, found->second->easy);
  transfers_.erase(found);
}

void Http::wait(int fd, bool wants_to_write, milliseconds longest) {
  curl_waitfd other{};
  other.fd = fd;
  other.events = static_cast<short>(CURL_WAIT_POLLIN | (wants_to_write ? CURL_WAIT_POLLOUT : 0));
  curl_.multi_wait(multi_, &other, 1, static_cast<int>(longest.count()), nullptr);
  int running = 0;
  curl_.multi_perform(multi_, &running);
  hand_out_pieces();
  finish_transfers();
}

// Outside of libcurl's own callbacks, where requests may be neither made nor cancelled.
void Http::hand_out_pieces() {
  std::vector<Id> ids;
  for (const auto& [id, transfer] : transfers_) {
    if (transfer->arrived && !transfer->body.empty()) ids.push_back(id);
  }
  for (const Id id : ids) {
    const auto found = transfers_.find(id);
    if (found == transfers_.end()) continue;
    Transfer& transfer = *found->second;
    long status = 0;
    curl_.easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
    if (status != kGood) continue;
    const std::string piece = std::exchange(transfer.body, {});
    const Arrived arrived = transfer.arrived;
    arrived(piece);
  }
}

void Http::finish_transfers() {
  std::vector<std::pair<Id, CURLcode>> finished;
  int left = 0;
  while (const CURLMsg* message = curl_.multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    for (const auto& [id, transfer] : transfers_) {
      if (transfer->easy == message->easy_handle) finished.emplace_back(id, message->data.result);
    }
  }
  for (const auto& [id, code] : finished) {
    const auto found = transfers_.find(id);
    if (found == transfers_.end()) continue;
    const HttpReply reply = reply_of(*found->second, code);
    const Done done = std::move(found->second->done);
    cancel(id);
    done(reply);
  }
}

HttpReply Http::reply_of(Transfer& transfer, CURLcode code) const {
  long sent = 0;
  long status = 0;
  long error = 0;
  curl_.easy_getinfo(transfer.easy, CURLINFO_REQUEST_SIZE, &sent);
  curl_.easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
  curl_.easy_getinfo(transfer.easy, CURLINFO_OS_ERRNO, &error);
  HttpReply reply{.has_come = code == CURLE_OK, .was_sent = sent > 0};
  reply.status = static_cast<int>(status);
  reply.body = std::move(transfer.body);
  if (reply.has_come) return reply;
  const char* const words =
      transfer.words.front() != '\0' ? transfer.words.data() : curl_.easy_strerror(code);
  auto took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - transfer.start);
  // On a busy node we may come late.
  if (transfer.request.timeout.count() > 0) took = std::min(took, transfer.request.timeout);
  const TransportFailure failure{.code = code,
                                 .os_error = static_cast<int>(error),
                                 .took = took,
                                 .tls = spec_.tls,
                                 .words = words};
  reply.problem = transport_problem(failure);
  reply.has_remedy = names_a_remedy(failure);
  return reply;
}

}  // namespace paddle_launch
