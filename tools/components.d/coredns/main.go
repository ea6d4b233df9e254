// SPDX-License-Identifier: Apache-2.0

// CoreDNS with the few plugins that the test bed's cluster needs: the whole program would pull in
// the clients of several clouds.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"

	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/log"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/template"
)

func main() {
	// The order in which plugins see a query.
	dnsserver.Directives = []string{"bind", "ready", "log", "errors", "kubernetes", "template"}
	coremain.Run()
}
