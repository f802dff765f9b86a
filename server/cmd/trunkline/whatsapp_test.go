//go:build !noweb

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// TestTestNetwork accepts a fake WhatsApp Web only if other machines cannot reach
// the server, and logs it.
func TestTestNetwork(t *testing.T) {
	t.Parallel()
	fake := webtest.Start(nil)
	t.Cleanup(fake.Close)
	env := fake.Environ()
	without := func(name string) []string {
		var rest []string
		for _, kv := range env {
			if !strings.HasPrefix(kv, name+"=") {
				rest = append(rest, kv)
			}
		}
		return rest
	}
	for name, c := range map[string]struct {
		env, args []string
		says      string
	}{
		"no address":      {without(testAddr), nil, testAddr + ": must be HOST:PORT"},
		"no certificate":  {without(testCA), nil, testCA + ": must be a certificate as PEM"},
		"no key":          {without(testRootKey), nil, testRootKey + ": must be 32 bytes in hexadecimal"},
		"short key":       {append(without(testRootKey), testRootKey+"=00ff"), nil, testRootKey + ": must be 32 bytes in hexadecimal"},
		"bad certificate": {append(without(testCA), testCA+"=x"), nil, testCA + ": must be a certificate as PEM"},
		"bad speed":       {append(slices.Clone(env), testSpeed+"=0"), nil, testSpeed + ": must be a whole number from 1 to 1000"},
		"far network":     {append(without(testAddr), testAddr+"=192.0.2.1:443"), nil, testAddr + ": is for tests: it and --addr must be loopback addresses"},
		"open server":     {env, []string{"--addr", ":0"}, testAddr + ": is for tests: it and --addr must be loopback addresses"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, refused(t, c.env, append([]string{"--data", t.TempDir()}, c.args...)...), c.says)
		})
	}
	p, _ := start(t, env, "--data", t.TempDir())
	p.terminate(t)
	require.Equal(t, 1, strings.Count(p.stderr.String(), "WhatsApp Web references connect to a fake network for tests"))
}
