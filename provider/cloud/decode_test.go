package cloud_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
)

// decodable are requests, as programs write them.
var decodable = []string{
	`{"messaging_product":"whatsapp","to":"16505551234","text":{"body":"Hi","preview_url":false}}`,
	`{"messaging_product":"whatsapp","recipient_type":"group","to":"120363","type":"text","text":{"body":"Hi","preview_url":true}}`,
	`{"messaging_product":"whatsapp","recipient":"US.1A2b","type":"text","text":{"body":"Hi","preview_url":false},"context":{"message_id":"wamid.1"},"biz_opaque_callback_data":"order 1"}`,
	`{"messaging_product":"whatsapp","to":"+16505551234","type":"document","document":{"id":"1","caption":"Bill","filename":"bill.pdf"}}`,
	`{"messaging_product":"whatsapp","to":"16505551234","type":"audio","audio":{"link":"https://example.org/a.ogg","voice":true}}`,
	`{"messaging_product":"whatsapp","to":"16505551234","type":"location","location":{"latitude":1.5,"longitude":-2,"name":"Here","address":"There"}}`,
	`{"messaging_product":"whatsapp","to":"16505551234","type":"reaction","reaction":{"message_id":"wamid.1","emoji":""}}`,
	`{"messaging_product":"whatsapp","to":"16505551234","type":"contacts","contacts":[{"name":{"formatted_name":"Ana","first_name":"Ana"},"org":{"company":"Ltd"}}]}`,
	`{"messaging_product":"whatsapp","to":"16505551234","type":"template","template":{"name":"hi","language":{"code":"en_US","policy":"deterministic"},"components":[{"type":"body","parameters":[]}]}}`,
	`{"messaging_product":"whatsapp","to":"16505551234","type":"interactive","interactive":{"type":"button","body":{"text":"Pick"},"action":{"buttons":[{"type":"reply","reply":{"id":"a","title":"A"}}]}}}`,
}

// TestDecodeRequest reads requests and writes them again.
func TestDecodeRequest(t *testing.T) {
	t.Parallel()
	for _, body := range decodable {
		rewritten(t, body, []byte(body))
	}
	files, err := filepath.Glob(filepath.Join(testkit.Shared(t), "spec", "meta", "fixtures", "cloud", "req_*.json"))
	require.NoError(t, err)
	n := 0
	for _, file := range files {
		body, err := os.ReadFile(file)
		require.NoError(t, err)
		var to struct{ To, Recipient string }
		require.NoError(t, json.Unmarshal(body, &to))
		if to.To+to.Recipient == "" || strings.Contains(file, "marketing") { // another endpoint
			continue
		}
		n++
		rewritten(t, filepath.Base(file), body)
	}
	require.Greater(t, n, 30)
}

func rewritten(t *testing.T, name string, body []byte) {
	t.Helper()
	req, err := cloud.DecodeRequest(body)
	require.NoError(t, err, name)
	again, err := cloud.Composed(req)
	require.NoError(t, err, name)
	require.Equal(t, explicit(t, body), explicit(t, again), name)
}

// TestDecodeRequest_Invalid names each field.
func TestDecodeRequest_Invalid(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][]string{
		`"text"`: {"body"},
		`{}`:     {"messaging_product", "to", "text"},
		`{"messaging_product":"sms","to":["1"],"type":"video","video":{"id":"1","link":"2"}}`:                           {"messaging_product", "to", "video"},
		`{"messaging_product":"whatsapp","to":"1","type":"location","location":{"latitude":"x"}}`:                       {"location.latitude", "location.longitude"},
		`{"messaging_product":"whatsapp","to":"1","type":"contacts","contacts":[` + strings.Repeat(`{},`, 257) + `{}]}`: {"contacts"},
		`{"messaging_product":"whatsapp","status":"delivered"}`:                                                         {"status", "message_id"},
		`{"messaging_product":"whatsapp","to":"1","type":"template","template":{"name":"x","language":"en_US"}}`:        {"template.language.code"},
	} {
		_, err := cloud.DecodeRequest([]byte(body))
		require.Equal(t, want, fieldsOf(err), body)
	}
	req, err := cloud.DecodeRequest([]byte(`{"messaging_product":"whatsapp","status":"read","message_id":"wamid.1","typing_indicator":{"type":"text"}}`))
	require.NoError(t, err)
	require.Equal(t, cloud.Request{Read: "wamid.1", Typing: true}, req)
}

// fieldsOf returns the fields that are invalid.
func fieldsOf(err error) (fields []string) {
	one := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		one = joined.Unwrap()
	}
	for _, e := range one {
		if bad, ok := errors.AsType[*provider.Invalid](e); ok {
			fields = append(fields, bad.Field)
		}
	}
	return fields
}

// TestPortable turns interactive messages into what every network has.
func TestPortable(t *testing.T) {
	t.Parallel()
	const menu = `{"type":"list","header":{"type":"text","text":"Top"},"body":{"text":"Pick"},"footer":{"text":"End"},
		"action":{"button":"Open","sections":[{"title":"All","rows":[{"id":"a","title":"A","description":"first"}]}]}}`
	for in, want := range map[string]provider.Content{
		menu: provider.List{Text: "Top\n\nPick\n\nEnd", Button: "Open", Sections: []provider.Section{{
			Title: "All", Rows: []provider.Choice{{ID: "a", Title: "A", Description: "first"}},
		}}},
		`{"type":"button","body":{"text":"Pick"},"action":{"buttons":[{"type":"reply","reply":{"id":"a","title":"A"}}]}}`: provider.Buttons{
			Text: "Pick", Buttons: []provider.Choice{{ID: "a", Title: "A"}},
		},
		`{"type":"cta_url","body":{"text":"See"},"action":{"parameters":{"display_text":"Open","url":"https://example.org"}}}`: provider.Text{
			Text: "See\n\nOpen: https://example.org",
		},
		`{"type":"button","header":{"type":"image","image":{"id":"1"}},"body":{"text":"Pick"},"action":{"buttons":[]}}`: nil,
		`{"type":"flow","body":{"text":"Fill in"}}`: nil,
	} {
		c := provider.Interactive{Interactive: json.RawMessage(in)}
		if want == nil {
			want = c
		}
		require.Equal(t, want, cloud.Portable(c), in)
	}
	require.Equal(t, provider.Text{Text: "Hi"}, cloud.Portable(provider.Text{Text: "Hi"}))
}

// FuzzDecodeRequest accepts any bytes: what is decoded has content, or names a message.
func FuzzDecodeRequest(f *testing.F) {
	for _, body := range decodable {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		req, err := cloud.DecodeRequest(body)
		if err != nil {
			require.NotEmpty(t, fieldsOf(err))
			return
		}
		require.True(t, req.Read != "" || req.Content != nil && req.To != "", "%s", body)
		if req.Content != nil {
			cloud.Portable(req.Content)
			_, _ = cloud.Composed(req) // the network's limits are checked elsewhere
		}
	})
}
