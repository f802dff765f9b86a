//go:build unix

package main_test

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

const public = "https://chat.example.com"

// outside leads what is sent to the public address to a server on this machine.
type outside struct{ host string }

func (o *outside) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", o.host
	return http.DefaultTransport.RoundTrip(r)
}

// TestReferenceGuides runs the lines of the guides to Meta's networks, from nothing to
// the first message, against a fake of Meta.
func TestReferenceGuides(t *testing.T) {
	t.Parallel()
	const token, secret, verify = "EAAG-a-token", "0123456789abcdef0123456789abcdef", "a phrase of yours"
	write := func(t *testing.T, g *graphtest.Server) error {
		t.Helper()
		_, err := g.Write(t.Context(), graphtest.Inbound{From: "16505551234", Text: "Hello"})
		return err
	}
	for name, kind := range map[string]struct {
		page   string
		block  string // that makes the reference
		flags  []string
		number string
		chat   string
		write  func(t *testing.T, g *graphtest.Server) error
	}{
		"cloud":             {"cloud.md", "reference", nil, "106540352242922", "16505551234", write},
		"cloud, two values": {"cloud.md", "two", []string{"--meta-app-secret", secret, "--meta-verify-token", verify}, "106540352242922", "16505551234", write},
		"messenger": {"messenger.md", "reference", nil, "102290129340398", "5552000000000009@messenger", func(t *testing.T, g *graphtest.Server) error {
			t.Helper()
			_, err := g.Pages.Write(t.Context(), graphtest.PageInbound{From: "5552000000000009", Text: "Hello"})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := kind.page
			first := testkit.ReadGuide(t, "../../../docs/getting-started.md")
			guide := testkit.ReadGuide(t, "../../../docs/"+page)
			way := &outside{}
			o := graphtest.Options{Callback: public + "/webhooks/provider", HTTPClient: &http.Client{Transport: way}}
			if page == "cloud.md" {
				o.Numbers = []graphtest.Number{{
					PhoneNumberID: "106540352242922", BusinessAccountID: "102290129340398", AccessToken: token, AppSecret: secret, VerifyToken: verify,
				}}
			} else {
				o.Pages = []graphtest.Page{{ID: "102290129340398", AccessToken: token, AppSecret: secret, VerifyToken: verify}}
			}
			g := graphtest.Start(&o)
			t.Cleanup(g.Close)
			n := launch(t, append(kind.flags, "--data", t.TempDir(), "--graph-url", g.URL)...)
			way.host = n.host
			sh := startShell(t)
			sh.Run(t, replace(t, "localhost:3000", n.host)(first["account"]))
			run := func(name string) string {
				t.Helper()
				lines := replace(t, "curl -sS "+public, "curl -sS http://"+n.host)(guide[name])
				return strings.Join(sh.Run(t, strings.NewReplacer("EAAG…", token, "0123…", secret).Replace(lines)+"echo\n"), "\n")
			}

			require.Contains(t, run(kind.block), `"id":1,`)
			require.NoError(t, g.Handshake(t.Context(), kind.number))
			require.Contains(t, run("session"), `"state":"CONNECTED"`)
			if guide["callback"] != "" {
				require.Contains(t, run("callback"), `"success":true`)
			}
			requireFields(t, "../../../docs/"+page, g.Requests())
			require.NoError(t, kind.write(t, g))
			chats := sh.Run(t, `api "`+n.host+`/chats/list?reference=1"`)
			require.Contains(t, chats[0], `"`+kind.chat+`"`, "the first message is there")
			n.terminate(t)
		})
	}
}

// requireFields holds the fields that a page was subscribed to against those
// that the guide lists for the dashboard.
func requireFields(t *testing.T, page string, requests []graphtest.Request) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	for _, r := range requests {
		u, err := url.Parse(r.Path)
		require.NoError(t, err)
		if fields := u.Query().Get("subscribed_fields"); fields != "" {
			for field := range strings.SplitSeq(fields, ",") {
				require.Contains(t, string(text), "`"+field+"`")
			}
		}
	}
}

// TestWebGuide makes the reference of the guide to WhatsApp Web. TestPair runs its
// command.
func TestWebGuide(t *testing.T) {
	t.Parallel()
	first := testkit.ReadGuide(t, "../../../docs/getting-started.md")
	guide := testkit.ReadGuide(t, "../../../docs/whatsapp-web.md")
	require.Equal(t, "trunkline pair --server "+public+` --reference 1 --token "$TOKEN"`+"\n", guide["pair"])
	n := launch(t, "--data", t.TempDir())
	sh := startShell(t)
	sh.Run(t, replace(t, "localhost:3000", n.host)(first["account"]))
	made := sh.Run(t, replace(t, public, "http://"+n.host)(guide["reference"])+"echo\n")
	require.Contains(t, made[0], `"id":1,`)
	require.Contains(t, made[0], `"type":"provider-web"`)
	n.terminate(t)
}
