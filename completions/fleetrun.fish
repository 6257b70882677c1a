# SPDX-License-Identifier: Apache-2.0
# fleetrun is paddle-launch under its other name.
complete -c fleetrun --wraps paddle-launch
