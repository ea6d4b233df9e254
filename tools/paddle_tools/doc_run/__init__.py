# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of documents and compares what they print with what the documents show."""
