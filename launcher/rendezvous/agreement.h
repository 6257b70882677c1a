// SPDX-License-Identifier: Apache-2.0
// What a pod says about the job, and whether others were told the same: two pods, or all tasks that
// a scheduler started together. What differs is said with both values and both nodes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launcher/channel/message.h"
#include "launcher/job/errors.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/pod.h"
#include "launcher/rendezvous/task_group.h"
#include "launcher/site/launch_values.h"
#include "launcher/site/offer.h"

namespace paddle_launch {

// "192.168.0.2 (n2)": the host in the endpoints and, where it says more, the machine's name.
std::string node_name(const OfferMessage& pod);

// Nothing: they agree. Otherwise the reason why there can be no job.
std::optional<std::string> disagreement(const OfferMessage& one, const OfferMessage& other);

// Why the other one cannot take part: its own problem, or a disagreement.
std::optional<std::string> misfit(const OfferMessage& one, const OfferMessage& other);

// Differences that may be meant so, at most a few of them.
std::vector<std::string> oddities(const OfferMessage& one,
                                  const std::map<int, OfferMessage>& others);

// The place that it claims is not among those of the job.
std::string no_such_place(const OfferMessage& pod, int nodes);

// Two launchers claim the same place.
std::string both_claim(const OfferMessage& one, const OfferMessage& other);

// NoLongerNeeded, NodeMissing, StoppedBySignal or LaunchError, by its status.
[[noreturn]] void throw_refusal(const RefusalMessage& refusal);

// The reason of a pod whose user ended it between two rounds.
RefusalMessage refusal_because(const StoppedBySignal& stopped, const OfferMessage& mine);

// What a pod says of itself to the hub. Long lists travel as their digest.
OfferMessage offer_message(const JobTerms& terms, const PodOffer& offer);

// What is wrong, with the status that all end with; it names the nodes and both values. `node_of`:
// of each pod.
std::optional<RefusalMessage> task_disagreement(const std::vector<OfferMessage>& pods,
                                                const std::vector<int>& node_of);

// Where --ips, --master or --nnodes say something else than the scheduler, whose word counts.
std::vector<std::string> contradictions(const Launch& launch, const TaskGroup& group,
                                        const Roster& roster);

// `tasks`: those that a scheduler started; null: nobody did.
JobTerms terms_of(const JobSpec& job, const Machine& here, const Offer& offer,
                  const TaskGroup* tasks);

}  // namespace paddle_launch
