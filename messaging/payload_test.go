package messaging_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// payloadTypes are the types with the members of the interface that they have
// beside the common ones.
var payloadTypes = map[string][]string{
	"text":     {"text"},
	"image":    {"mimetype", "fileLength", "height", "width", "jpegThumbnail", "caption", "fileUrl"},
	"video":    {"mimetype", "fileLength", "seconds", "height", "width", "jpegThumbnail", "caption", "fileUrl"},
	"document": {"mimetype", "title", "fileLength", "pageCount", "jpegThumbnail", "fileName", "caption", "fileUrl"},
	"audio":    {"mimetype", "fileLength", "seconds", "waveform", "fileUrl"},
}

var commonMembers = []string{
	"reference", "ref", "remoteJid", "chatId", "mine", "id", "pushName", "verifiedBizName", "messageTimestamp", "type", "status",
}

func payloadHead() messaging.Head {
	return messaging.Head{
		Reference: 1, Ref: 1, RemoteJID: "16505551234::single", ChatID: "16505551234", ID: "m1", PushName: "Ana", VerifiedBizName: "Ana Ltd",
		MessageTimestamp: messaging.UnixTime{Time: epoch}, Status: "DELIVERED",
	}
}

// sendHead is that of a message that was sent with a client id.
func sendHead(status string) messaging.Head {
	h := payloadHead()
	h.Mine, h.ID, h.RequestID, h.ClientID, h.Status = true, "wamid.1", "out-1", "order-1001", status
	return h
}

// attachment has every member; the types take their share.
var attachment = messaging.Attachment{
	Title: "Prices", FileLength: 9007199254740993, Seconds: 12, PageCount: 3, Height: 600, Width: 800,
	JPEGThumbnail: "/9j/2Q==", Waveform: "AAEC", FileName: "prices.pdf", Caption: "Look <here> & there", FileURL: "files/a/b/prices.pdf",
}

var mimeTypes = map[string]string{
	"image": "image/jpeg", "video": "video/mp4", "document": "application/pdf", "audio": "audio/ogg; codecs=opus",
}

// TestPayloadOfEachType compares payloads of the five types with golden files:
// with all that can be known, and with nothing.
func TestPayloadOfEachType(t *testing.T) {
	t.Parallel()
	for kind, members := range payloadTypes {
		known := messaging.MessagePayload{Head: payloadHead(), Body: messaging.Body{Type: kind, Text: "Hello", Attachment: attachment}}
		known.MimeType = mimeTypes[kind]
		unknown := messaging.MessagePayload{Head: payloadHead(), Body: messaging.Body{Type: kind}}
		unknown.PushName, unknown.VerifiedBizName, unknown.MessageTimestamp = "", "", messaging.UnixTime{Time: time.Unix(0, 0)}
		if kind != messaging.TypeText {
			unknown.Error = &messaging.Failure{Code: "media_pending", Message: "The file was not fetched in time."}
		}
		for name, p := range map[string]messaging.MessagePayload{kind: known, kind + "-unknown": unknown} {
			raw := encoded(t, p)
			golden(t, "payload-"+name+".json", raw)
			want := slices.Concat(commonMembers, members)
			if p.Error != nil {
				want = append(want, "error")
			}
			require.ElementsMatch(t, want, memberNames(t, raw), name)
			require.NotContains(t, string(raw), "null", name)
		}
	}
	_, err := json.Marshal(messaging.MessagePayload{Body: messaging.Body{Type: "sticker"}})
	require.ErrorContains(t, err, `"sticker"`)
}

// TestPayloadExtras compares what is only there when it applies.
func TestPayloadExtras(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]messaging.Body{
		"sticker": {Type: "image", Extras: messaging.Extras{Sticker: true}},
		"contacts": {Extras: messaging.Extras{Contacts: []provider.Card{{
			Name: provider.CardName{Formatted: "Ana Silva"}, Phones: []provider.CardPhone{{Phone: "+1 650 555 1234", WaID: "16505551234", Type: "CELL"}},
			Org: &provider.CardOrg{Company: "Ana Ltd"},
		}}}},
		"order": {Extras: messaging.Extras{Order: &provider.Order{
			CatalogID: "7", Items: []provider.OrderItem{{ProductID: "p1", Quantity: "2", Price: "30.10", Currency: "EUR"}},
		}}},
		"poll":    {Extras: messaging.Extras{Poll: &messaging.Poll{Question: "Which?", Options: []string{"A", "B"}}}},
		"vote":    {Extras: messaging.Extras{Poll: &messaging.Poll{Question: "Which?", Options: []string{"A", "B"}, MessageID: "m0", Selected: []string{"B"}}}},
		"form":    {Extras: messaging.Extras{Form: &messaging.Form{Name: "flow", Data: json.RawMessage(`{"b":1,"a":[2]}`)}}},
		"edited":  {Text: "better", Extras: messaging.Extras{Edited: &messaging.MessageRef{MessageID: "m0"}}},
		"revoked": {Text: "This message was deleted", Extras: messaging.Extras{Revoked: &messaging.MessageRef{MessageID: "m0"}}},
		"template": {Text: "Hello Ana", Extras: messaging.Extras{Template: &messaging.SentTemplate{
			Name: "order_ready", Language: provider.TemplateLanguage{Code: "en"},
			Components: []json.RawMessage{json.RawMessage(`{"type":"body","parameters":[{"type":"text","text":"Ana"}]}`)},
		}}},
		"extracted": {Text: "for 12 March", Extras: messaging.Extras{Extracted: map[string]json.RawMessage{
			"day": json.RawMessage(`"2026-03-12"`), "amount": json.RawMessage(`{"amount":5,"currency":"EUR"}`),
		}}},
	} {
		golden(t, "payload-extra-"+name+".json", encoded(t, messaging.MessagePayload{Head: payloadHead(), Body: b}))
	}
}

// TestOtherPayloads compares those that are no messages.
func TestOtherPayloads(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]any{
		"status": messaging.StatusPayload{Head: payloadHead(), At: messaging.UnixTime{Time: epoch}},
		"status-failed": messaging.StatusPayload{
			Head: sendHead("FAIL"), At: messaging.UnixTime{Time: epoch},
			Error: &messaging.Failure{Code: "131026", Message: "Undeliverable", Advice: "Write to another number."},
		},
		"call": messaging.CallPayload{
			Reference: 1, Ref: 1, RemoteJID: "16505551234::single", ChatID: "16505551234", ID: "c1", Status: provider.CallMissed, Video: true,
			MessageTimestamp: messaging.UnixTime{Time: epoch},
		},
		"session": messaging.SessionPayload{Reference: 1, Ref: 1, State: messaging.StateConnected, Timestamp: messaging.UnixTime{Time: epoch}},
		"session-failed": messaging.SessionPayload{
			Reference: 1, Ref: 1, State: messaging.StateFailed, Timestamp: messaging.UnixTime{Time: epoch},
			LastError: &messaging.SessionError{Code: "credentials", Message: "Session has expired", At: messaging.UnixTime{Time: epoch}},
		},
	} {
		golden(t, "payload-"+name+".json", encoded(t, p))
	}
}

// TestPayloadRoundTrip writes payloads and records made at random, reads them
// into one type, and gets the same bytes from what was read.
func TestPayloadRoundTrip(t *testing.T) {
	t.Parallel()
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(uint64(seed), 0))
	for range 20 * testkit.Rounds(10) {
		for kind := range payloadTypes {
			var p messaging.MessagePayload
			var m messaging.Message
			fill(r, reflect.ValueOf(&p).Elem())
			fill(r, reflect.ValueOf(&m).Elem())
			p.Type, m.Type = kind, kind
			var p2 messaging.MessagePayload
			var m2 messaging.Message
			sameAgain(t, p, &p2)
			sameAgain(t, m, &m2)
			require.Equal(t, p.Extras, p2.Extras)
			require.Equal(t, m.Details, m2.Details, "its error is not the attachment's")
		}
	}
}

func sameAgain(t *testing.T, v, again any) {
	t.Helper()
	raw := encoded(t, v)
	require.True(t, json.Valid(raw))
	require.NoError(t, json.Unmarshal(raw, again))
	require.Equal(t, string(raw), string(encoded(t, again)))
	names := memberNames(t, raw)
	slices.Sort(names)
	require.Equal(t, slices.Compact(slices.Clone(names)), names, "a member stands twice")
}

// FuzzPayload reads whatever a receiver may be sent.
func FuzzPayload(f *testing.F) {
	for _, seed := range []string{
		`{"reference":1,"type":"text","text":"Hello","messageTimestamp":1772366400}`,
		`{"type":"audio","fileLength":"12","seconds":3}`, `{"type":"image","fileLength":12,"sticker":true}`,
		`{"type":"image","fileLength":null,"text":null}`, `{"type":"video","fileLength":""}`, `{"type":"sticker"}`,
		`{"TYPE":"text","type":"image","referral":{"a":[1, 2]},"extracted":{"x":null},"order":{"items":[{"price":"7"}]}}`, `[]`, `null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var p, again messaging.MessagePayload
		if json.Unmarshal(raw, &p) != nil {
			return
		}
		first, err := json.Marshal(p)
		if err != nil {
			return // of a type that there is not
		}
		require.NoError(t, json.Unmarshal(first, &again))
		second, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(first), string(second))
	})
}

// encoded is the JSON of a value.
func encoded(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return raw
}

// memberNames are the names of an object's members, as often as they stand.
func memberNames(t *testing.T, raw []byte) []string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	_, err := d.Token()
	require.NoError(t, err)
	var names []string
	for d.More() {
		name, err := d.Token()
		require.NoError(t, err)
		names = append(names, name.(string))
		var skip json.RawMessage
		require.NoError(t, d.Decode(&skip))
	}
	return names
}

// fill gives every field a value by chance, the zero value among them.
func fill(r *rand.Rand, v reflect.Value) {
	switch v.Interface().(type) {
	case messaging.UnixTime:
		v.Set(reflect.ValueOf(messaging.UnixTime{Time: time.Unix(r.Int64N(1<<33), 0).UTC()}))
		return
	case json.RawMessage:
		v.SetBytes([]byte([]string{`{"b":1,"a":[2,null]}`, `"text"`, `1.50`, `[]`}[r.IntN(4)]))
		return
	case json.Number:
		v.SetString(fmt.Sprintf("%d.%02d", r.Int64N(1000), r.IntN(100)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				fill(r, v.Field(i))
			}
		}
	case reflect.Pointer:
		if r.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem())
		}
	case reflect.Slice:
		if n := r.IntN(3); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(r, v.Index(i))
			}
		}
	case reflect.Map:
		if r.IntN(2) == 0 {
			v.Set(reflect.MakeMap(v.Type()))
			value := reflect.New(v.Type().Elem()).Elem()
			fill(r, value)
			v.SetMapIndex(reflect.ValueOf("a<b"), value)
		}
	case reflect.String:
		v.SetString([]string{"", "x", "Olá \"<b>&\"", "\u2028\x00\\", "😀"}[r.IntN(5)])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int64:
		v.SetInt(r.Int64() - r.Int64())
	case reflect.Float64:
		v.SetFloat(r.NormFloat64() * 1e6)
	default:
		panic("fill: " + v.Kind().String())
	}
}
