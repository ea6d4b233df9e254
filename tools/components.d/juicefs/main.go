// SPDX-License-Identifier: Apache-2.0

// JuiceFS with one more verb: `juicefs set-keys META-URL` writes the keys of the environment
// (ACCESS_KEY, SECRET_KEY, SESSION_TOKEN) into a volume. It is JuiceFS's own `config`, which tries
// keys before it writes them, but takes them from its command line alone, where everybody sees
// them.
package main

import (
	"os"
	"slices"

	"github.com/juicedata/juicefs/cmd"
	"github.com/juicedata/juicefs/pkg/utils"
)

const verb = "set-keys"

var flags = []struct{ name, variable string }{
	{"--access-key", "ACCESS_KEY"},
	{"--secret-key", "SECRET_KEY"},
	{"--session-token", "SESSION_TOKEN"},
}

func arguments(given []string) []string {
	at := slices.Index(given, verb)
	if at < 1 {
		return given
	}
	made := append(slices.Clone(given[:at]), "config", "--yes")
	for _, flag := range flags {
		if value := os.Getenv(flag.variable); value != "" {
			made = append(made, flag.name+"="+value)
		}
	}
	return append(made, given[at+1:]...)
}

func main() {
	if err := cmd.Main(arguments(os.Args)); err != nil {
		utils.GetLogger("juicefs").Fatal(err)
	}
}
