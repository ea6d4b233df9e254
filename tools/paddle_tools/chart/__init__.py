# SPDX-License-Identifier: Apache-2.0
"""The Helm chart, made from deploy/."""
