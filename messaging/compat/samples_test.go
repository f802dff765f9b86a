package compat_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/messaging/compat"
)

// sample is a payload as another project writes it, and the event of ours that
// means the same.
type sample struct {
	Like string `json:"like"`
	Body any    `json:"body"`
}

// words are members whose values a receiver decides by.
var words = []string{"event", "type", "state", "status", "ackName", "ack", "messageType", "statusReason", "Type", "MediaType", "Edit", "fromMe", "IsFromMe", "IsGroup"}

// TestSamples holds our bodies against samples of the projects' own: whatever
// is there is here, too, in the same type.
func TestSamples(t *testing.T) {
	t.Parallel()
	byName := map[string]happened{}
	for _, h := range append(messages(), others()...) {
		byName[h.name] = h
	}
	files, err := filepath.Glob(filepath.Join("testdata", "samples", "*.json"))
	require.NoError(t, err)
	seen := map[string]int{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		format, _, _ := strings.Cut(name, "-")
		seen[format]++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			var theirs sample
			require.NoError(t, json.Unmarshal(raw, &theirs))
			h, ok := byName[theirs.Like]
			require.True(t, ok, "there is no event %q", theirs.Like)
			body, err := compat.Find(format).Body(h.event(t))
			require.NoError(t, err)
			var ours any
			require.NoError(t, json.Unmarshal(body, &ours))
			require.Empty(t, missing("", theirs.Body, ours))
		})
	}
	for _, f := range compat.Formats() {
		if f.Name == "cloud" {
			continue // see TestCloudIsRead
		}
		require.Greater(t, seen[f.Name], 15, f.Name)
	}
}

// sameWords are members whose value is in the sample by chance.
var sameWords = map[string]bool{"data.status": true} // of a message just sent: theirs is PENDING, ours is only told when the network has taken it

// missing lists what is in theirs and not, or otherwise, in ours.
func missing(path string, theirs, ours any) []string {
	var out []string
	switch theirs := theirs.(type) {
	case map[string]any:
		o, ok := ours.(map[string]any)
		if !ok {
			return []string{path + " is no object"}
		}
		for name, v := range theirs {
			at := strings.TrimPrefix(path+"."+name, ".")
			value, there := o[name]
			switch {
			case free(at):
			case !there:
				out = append(out, at+" is missing")
			default:
				out = append(out, missing(at, v, value)...)
			}
		}
	case []any:
		o, ok := ours.([]any)
		switch {
		case !ok:
			return []string{path + " is no array"}
		case len(theirs) > 0 && len(o) == 0:
			return []string{path + " is empty"}
		case len(theirs) > 0:
			return missing(path+"[]", theirs[0], o[0])
		}
	case nil:
		return nil // theirs may be empty
	default:
		if fmt.Sprintf("%T", theirs) != fmt.Sprintf("%T", ours) {
			return []string{fmt.Sprintf("%s is a %T, not a %T", path, ours, theirs)}
		}
		name := path[strings.LastIndexAny(path, ".]")+1:]
		if slices.Contains(words, name) && !sameWords[path] && theirs != ours {
			return []string{fmt.Sprintf("%s is %v, not %v", path, ours, theirs)}
		}
	}
	return out
}

// free are members whose inside is the sender's own.
func free(path string) bool {
	return strings.HasSuffix(path, "._data") || path == "metadata" || path == "payload.ack" // which the sample has as 1, for a message that came
}

// TestWuzapiIsWhatsmeow reads what the format says of messages, receipts and
// calls into the types that wuzapi writes.
func TestWuzapiIsWhatsmeow(t *testing.T) {
	t.Parallel()
	f := compat.Find("wuzapi")
	for _, h := range append(messages(), others()...) {
		ev := h.event(t)
		if !f.Has(ev.Type, ev.Payload) {
			continue
		}
		body, err := f.Body(ev)
		require.NoError(t, err)
		var w struct {
			Type  string
			Event json.RawMessage
		}
		require.NoError(t, json.Unmarshal(body, &w))
		into := map[string]any{
			"Message": &events.Message{}, "ReadReceipt": &events.Receipt{}, "CallOffer": &events.CallOffer{}, "CallAccept": &events.CallAccept{},
			"CallTerminate": &events.CallTerminate{}, "ConnectFailure": &events.ConnectFailure{}, "LoggedOut": &events.LoggedOut{},
		}[w.Type]
		if into == nil {
			continue
		}
		raw := w.Event
		if strings.Contains(string(raw), `"Response"`) {
			continue // an interface there, which their own JSON cannot be read into either
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		require.NoError(t, d.Decode(into), "%s: %s", h.name, raw)
		if m, ok := into.(*events.Message); ok {
			require.Equal(t, "3EB0C767D26A1D8C", m.Info.ID)
			require.NotNil(t, m.Message)
			require.Equal(t, strings.Contains(h.name, "group"), m.Info.IsGroup, h.name)
		}
	}
}
