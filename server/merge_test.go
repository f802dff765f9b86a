package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// TestMergedChatsKeepTheirOrder has a contact write under a user id, then under a
// phone, and then under both, which makes two chats one, while an endpoint is
// down and another is not.
func TestMergedChatsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{}, func(t *testing.T, ana client, ref int, g *graphtest.Server) {
		in := startIntegrator(t)
		in.listen(t, ana, ref, "/up", `["message"]`)
		down := startIntegrator(t)
		to, err := url.Parse(down.url)
		require.NoError(t, err)
		var up atomic.Bool
		pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
		late := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !up.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			pass.ServeHTTP(w, r)
		}))
		defer late.Close()
		ep := ana.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":%q,"events":["message"]}`, ref, late.URL+"/down")).json(201)
		down.secrets = append(down.secrets, ep["secret"].(string))

		write := func(in graphtest.Inbound) {
			_, err := g.Write(t.Context(), in)
			require.NoError(t, err)
		}
		for n := range 5 {
			write(graphtest.Inbound{UserID: "US.7", Text: fmt.Sprint("M", n)})
		}
		write(graphtest.Inbound{From: contact, Text: "by phone"})
		write(graphtest.Inbound{From: contact, UserID: "US.7", Text: "M5"})
		write(graphtest.Inbound{From: contact, Text: "M6"})
		write(graphtest.Inbound{UserID: "US.7", Text: "M7"})
		texts := func(ds []delivered) (out []string, seqs []int) {
			for _, d := range ds {
				text := d.json(t)["text"].(string)
				if text != "by phone" {
					out, seqs = append(out, text), append(seqs, atoi(t, d.header.Get("X-Trunkline-Sequence")))
				}
			}
			return out, seqs
		}
		want := []string{"M0", "M1", "M2", "M3", "M4", "M5", "M6", "M7"}
		got, seqs := texts(in.wait(t, 9))
		require.Equal(t, want, got)
		require.True(t, slices.IsSorted(seqs), "%v", seqs)
		up.Store(true)
		got, seqs = texts(down.wait(t, 9))
		require.Equal(t, want, got)
		require.True(t, slices.IsSorted(seqs), "%v", seqs)
	})
}
