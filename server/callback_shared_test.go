package server_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/trunklinehq/trunkline/provider/graph/graphtest"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// shared reads one of the larger fixtures.
func shared(t *testing.T, name string, into any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testkit.Shared(t), "spec", "meta", "fixtures", name))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, into))
}

func TestSharedHandshakes(t *testing.T) {
	t.Parallel()
	var vectors []struct {
		Name, Query, Body string
		VerifyToken       string `json:"verify_token"`
		Status            int
	}
	shared(t, "verify_vectors.json", &vectors)
	require.NotEmpty(t, vectors)
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			f := setup(t, nil)
			number := cloudNumber("807")
			if number.VerifyToken = v.VerifyToken; v.VerifyToken != "" {
				f.as(t, "ana").reference(t, reference(number))
			}
			a := f.do(t, "GET", "/webhooks/provider?"+v.Query, "")
			require.Equal(t, v.Status, a.Code)
			if v.Status == 200 {
				require.Equal(t, v.Body, a.Body.String())
			}
		})
	}
}

// TestSharedSignatures posts exact bytes with their signatures. What is for no
// number has nobody here who could check its signature.
func TestSharedSignatures(t *testing.T) {
	t.Parallel()
	var vectors []struct {
		Name, Note  string
		AppSecret   string `json:"app_secret"`
		HeaderName  string `json:"header_name"`
		HeaderValue string `json:"header_value"`
		BodyBase64  string `json:"body_base64"`
		Valid       bool
	}
	shared(t, "signature_vectors.json", &vectors)
	checked := 0
	for _, v := range vectors {
		body, err := base64.StdEncoding.DecodeString(v.BodyBase64)
		require.NoError(t, err)
		var envelope struct {
			Object string
			Entry  []struct{ ID string }
		}
		if json.Unmarshal(body, &envelope) != nil || len(envelope.Entry) == 0 {
			continue
		}
		number, page := sharedNumber(), messengerPage()
		number.AppSecret, page.AppSecret, page.ID = v.AppSecret, v.AppSecret, envelope.Entry[0].ID
		own := reference(number)
		if envelope.Object == "page" {
			own = pageReference(page)
		}
		checked++
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			f := setup(t, nil)
			if v.AppSecret != "" {
				f.as(t, "ana").reference(t, own)
			}
			want := map[bool]int{true: 200, false: 401}[v.Valid]
			require.Equal(t, want, f.do(t, "POST", "/webhooks/provider", string(body), v.HeaderName, v.HeaderValue).Code, v.Note)
		})
	}
	require.Greater(t, checked, 5)
}

// TestSharedCallbacks posts every callback of the shared fixtures: none is
// refused, and texts arrive.
func TestSharedCallbacks(t *testing.T) {
	t.Parallel()
	var index []struct{ Name, Platform, Kind string }
	shared(t, "index.json", &index)
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		texts := 0
		for _, x := range index {
			if x.Platform != "cloud" || x.Kind != "webhook" {
				continue
			}
			body, err := os.ReadFile(filepath.Join(testkit.Shared(t), "spec", "meta", "fixtures", "cloud", x.Name+".json"))
			require.NoError(t, err)
			number := sharedNumber()
			ana.ownerOf(t, body, &number.PhoneNumberID, &number.BusinessAccountID)
			ref := ana.reference(t, reference(number))
			a := f.post(t, string(body), number.AppSecret)
			require.Equal(t, 200, a.Code, "%s: %s", x.Name, a.Body.String())
			texts += ana.arrived(t, ref, filepath.Join("cloud", x.Name))
			ana.erase(t, fmt.Sprintf("/reference/%d", ref))
		}
		require.Greater(t, texts, 8)
		f.log.hasNoErrors(t)
	})
}

// TestSharedPageCallbacks posts every callback of a page: none is refused,
// texts arrive, and what is of Instagram is passed over.
func TestSharedPageCallbacks(t *testing.T) {
	t.Parallel()
	var index []struct{ Name, Platform, Kind string }
	shared(t, "index.json", &index)
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		texts := 0
		for _, x := range index {
			if x.Platform != "messenger" || x.Kind != "webhook" {
				continue
			}
			body, err := os.ReadFile(filepath.Join(testkit.Shared(t), "spec", "meta", "fixtures", "messenger", x.Name+".json"))
			require.NoError(t, err)
			var b struct {
				Object string
				Entry  []struct{ ID any }
			}
			d := json.NewDecoder(bytes.NewReader(body))
			d.UseNumber() // ids are strings, or numbers
			require.NoError(t, d.Decode(&b))
			page := messengerPage()
			page.ID = fmt.Sprint(b.Entry[0].ID)
			ref := ana.reference(t, pageReference(page))
			a := f.post(t, string(body), page.AppSecret)
			require.Equal(t, 200, a.Code, "%s: %s", x.Name, a.Body.String())
			if b.Object == "page" {
				texts += ana.arrived(t, ref, filepath.Join("messenger", x.Name))
			}
			ana.erase(t, fmt.Sprintf("/reference/%d", ref))
		}
		require.Greater(t, texts, 8)
		f.log.hasNoErrors(t)
	})
}

// ownerOf reads for which number a callback is.
func (c client) ownerOf(t *testing.T, body []byte, number, account *string) {
	t.Helper()
	var b struct {
		Entry []struct {
			ID      string
			Changes []struct {
				Value struct {
					Metadata struct {
						ID string `json:"phone_number_id"`
					}
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(body, &b))
	*account = b.Entry[0].ID
	for _, ch := range b.Entry[0].Changes {
		if ch.Value.Metadata.ID != "" {
			*number = ch.Value.Metadata.ID
		}
	}
}

// arrived counts the texts of a callback, each of which has to be shown.
func (c client) arrived(t *testing.T, ref int, name string) int {
	t.Helper()
	var want []struct{ Kind, ID, Type, Text string }
	shared(t, name+".expect.json", &want)
	got := map[string]string{}
	for _, ch := range c.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d&limit=200", ref), "").json(200)["items"].([]any) {
		id := ch.(map[string]any)["id"].(string)
		a := c.call(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=%s", ref, url.QueryEscape(id)), "")
		for _, m := range a.json(200)["items"].([]any) {
			text, _ := m.(map[string]any)["text"].(string) // files have none
			got[m.(map[string]any)["id"].(string)] = text
		}
	}
	n := 0
	for _, w := range want {
		if w.Kind == "message" && w.Type == "text" {
			n++
			require.Equal(t, w.Text, got[w.ID], name)
		}
	}
	return n
}

func sharedNumber() (l graphtest.Number) {
	l = cloudNumber("106540352242922")
	l.BusinessAccountID = "102290129340398"
	return l
}
