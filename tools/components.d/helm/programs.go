// SPDX-License-Identifier: Apache-2.0

// Package programs names what may be built, so that `go mod tidy` keeps their modules.
package programs

import (
	_ "helm.sh/helm/v3/cmd/helm"
)
