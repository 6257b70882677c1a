# SPDX-License-Identifier: Apache-2.0
"""From the JSON of the benchmark programs to the pictures in docs/pictures."""
