package cloud_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph/template"
)

// members are those of one item of an answer, as the shared expectations name
// them.
type members map[string]any

// reading makes the typed call that gets an answer and says what it read.
type reading func(ctx context.Context, c *cloud.Client) ([]members, error)

// readings by what is expected, the method, and the end of the path.
func readings() map[string]reading {
	sent := func(s cloud.Sent, err error) ([]members, error) {
		return []members{{"kind": "send_result", "id": s.MessageID, "status": s.Status, "to": s.Input, "wa_id": s.WaID, "user_id": s.UserID}}, err
	}
	number := func(n cloud.Number) members {
		return members{
			"kind": "phone_number", "id": n.ID, "text": n.VerifiedName, "status": n.Status,
			"phone": n.Display, "quality": n.Quality, "throughput": n.Throughput,
		}
	}
	oneNumber := func(ctx context.Context, c *cloud.Client) ([]members, error) {
		n, err := c.Number(ctx)
		return []members{number(n)}, err
	}
	profile := func(ctx context.Context, c *cloud.Client) ([]members, error) {
		p, err := c.Profile(ctx)
		return []members{{"kind": "profile", "text": p.About, "email": p.Email, "vertical": p.Vertical, "websites": p.Websites}}, err
	}
	return map[string]reading{
		"send_result POST messages": func(ctx context.Context, c *cloud.Client) ([]members, error) {
			return sent(c.Send(ctx, cloud.Message{To: us, Body: cloud.Text{Text: "x"}}))
		},
		"send_result POST marketing_messages": func(ctx context.Context, c *cloud.Client) ([]members, error) {
			body := cloud.TemplateMessage{Name: "x", Language: template.Language{Code: "en"}}
			return sent(c.SendMarketing(ctx, cloud.Message{To: us, Body: body}, cloud.Marketing{}))
		},
		"success POST messages": func(ctx context.Context, c *cloud.Client) ([]members, error) {
			return []members{{"kind": "success", "status": "true"}}, c.MarkRead(ctx, "x", false)
		},
		"media POST media": func(ctx context.Context, c *cloud.Client) ([]members, error) {
			id, err := c.Upload(ctx, cloud.Upload{Kind: provider.Image, MIME: "image/png", Body: strings.NewReader("x")})
			return []members{{"kind": "media", "id": id}}, err
		},
		"media GET {media-id}": func(ctx context.Context, c *cloud.Client) ([]members, error) {
			m, err := c.MediaInfo(ctx, "1")
			return []members{{"kind": "media", "id": m.ID, "mime_type": m.MIME, "file_size": m.Size, "url": m.URL, "sha256": hex.EncodeToString(m.SHA256)}}, err
		},
		"template GET message_templates": func(ctx context.Context, c *cloud.Client) ([]members, error) {
			list, next, err := c.Templates(ctx, "")
			var out []members
			for _, t := range list {
				out = append(out, templateMembers(t))
			}
			return append(out, paging(next)), err
		},
		"template GET {template-id}": func(ctx context.Context, c *cloud.Client) ([]members, error) {
			t, err := c.Template(ctx, "1")
			return []members{templateMembers(t)}, err
		},
		"template POST message_templates": func(ctx context.Context, c *cloud.Client) ([]members, error) {
			raw, err := template.Definition(template.ComponentDefinition{Type: "BODY", Text: "x"})
			if err != nil {
				return nil, err
			}
			t, err := c.CreateTemplate(ctx, provider.TemplateDefinition{Name: "x", Language: "en", Category: "MARKETING", Components: raw})
			return []members{{"kind": "template", "id": t.ID, "status": t.ProviderStatus, "category": t.Category}}, err
		},
		"subscribed_app GET subscribed_apps": func(ctx context.Context, c *cloud.Client) ([]members, error) {
			apps, err := c.Apps(ctx)
			var out []members
			for _, a := range apps {
				out = append(out, members{"kind": "subscribed_app", "id": a.ID, "name": a.Name, "override_callback_uri": a.CallbackURL})
			}
			return out, err
		},
		"webhook_configuration GET {phone-number-id}": func(ctx context.Context, c *cloud.Client) ([]members, error) {
			b, err := c.Callbacks(ctx)
			return []members{{
				"kind": "webhook_configuration", "id": b.NumberID,
				"phone_number": b.Number, "whatsapp_business_account": b.Account, "application": b.App,
			}}, err
		},
		"phone_number GET {phone-number-id}": oneNumber,
		"phone_number GET phone_numbers": func(ctx context.Context, c *cloud.Client) ([]members, error) {
			list, next, err := c.Numbers(ctx, "")
			var out []members
			for _, n := range list {
				out = append(out, number(n))
			}
			return append(out, paging(next)), err
		},
		"profile GET whatsapp_business_profile": profile,
	}
}

func templateMembers(t provider.TemplateInfo) members {
	return members{
		"kind": "template", "id": t.ID, "status": t.ProviderStatus, "name": t.Name,
		"language": t.Language, "category": t.Category, "components": componentTypes(t.Components),
	}
}

// paging has the cursor of the next page, where there is one. The others we
// do not keep.
func paging(next string) members {
	p := members{"kind": "paging", "next": next != ""}
	if next != "" {
		p["after"] = next
	}
	return p
}

func componentTypes(components []json.RawMessage) []string {
	var types []string
	for _, raw := range components {
		var c template.ComponentDefinition
		if json.Unmarshal(raw, &c) == nil {
			types = append(types, c.Type)
		}
	}
	return types
}

func TestSharedResponses(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(testkit.Shared(t), "spec", "meta", "fixtures")
	var index []struct{ Name, Platform, Kind, Method, Path string }
	load(t, filepath.Join(folder, "index.json"), &index)
	all, n := readings(), 0
	for _, x := range index {
		if x.Platform != "cloud" || x.Kind != "response" {
			continue
		}
		body, err := os.ReadFile(filepath.Join(folder, "cloud", x.Name+".json"))
		require.NoError(t, err)
		var want []members
		load(t, filepath.Join(folder, "cloud", x.Name+".expect.json"), &want)
		n++
		path, _, _ := strings.Cut(filepath.Base(x.Path), "?")
		read, known := all[want[0]["kind"].(string)+" "+x.Method+" "+path]
		t.Run(x.Name, func(t *testing.T) {
			t.Parallel()
			if !known { // no answer of a call, but a part of one
				roundTrip(t, body, want)
				return
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }))
			t.Cleanup(server.Close)
			c, err := cloud.New(&cloud.Options{GraphURL: server.URL}).Client(settings())
			require.NoError(t, err)
			got, err := read(t.Context(), c)
			require.NoError(t, err)
			require.Len(t, got, len(want))
			for i := range want {
				want[i].compare(t, got[i])
			}
		})
	}
	t.Logf("%d responses", n)
	require.GreaterOrEqual(t, n, 20)
}

// compare holds what was read against what is expected: all that the call
// keeps, and nothing that is not expected.
func (want members) compare(t *testing.T, got members) {
	t.Helper()
	for name, value := range got {
		if empty(value) {
			value = nil
		}
		require.JSONEq(t, jsonText(want[name]), jsonText(value), name)
	}
	for _, strict := range []string{"kind", "id", "from", "type", "text", "timestamp", "status"} {
		require.True(t, want[strict] == nil || got[strict] != nil, "%s is missing", strict)
	}
}

func empty(v any) bool {
	raw := jsonText(v)
	return raw == `""` || raw == `0` || raw == `null`
}

// roundTrip reads components and writes them as they were.
func roundTrip(t *testing.T, body []byte, want []members) {
	t.Helper()
	var components []json.RawMessage
	require.NoError(t, json.Unmarshal(body, &components))
	require.JSONEq(t, jsonText(want[0]["components"]), jsonText(componentTypes(components)))
	for _, raw := range components {
		var c template.ComponentDefinition
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		require.NoError(t, d.Decode(&c))
		require.JSONEq(t, string(raw), jsonText(c))
	}
}
