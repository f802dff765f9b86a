package flow_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// asked returns the value that a question reads from a message; nil if it does not
// understand it.
func asked(t testing.TB, config map[string]any, contact, message map[string]any) any {
	t.Helper()
	config["saveTo"], config["retries"] = "answer", 0
	raw := marshal(t, map[string]any{
		"format": flow.Format, "kind": "flow", "slug": "ask", "name": "ask", "start": "T",
		"settings":  map[string]any{"timezone": "Europe/Berlin"},
		"variables": map[string]any{"answer": map[string]any{"type": "any"}},
		"nodes": map[string]any{
			"T": map[string]any{"type": "trigger", "config": map[string]any{"on": []any{map[string]any{"kind": "any_message"}}}, "next": map[string]any{"out": "Q"}},
			"Q": map[string]any{"type": "question", "config": config},
		},
	})
	p := conversation{Document: json.RawMessage(raw)}.compile(t)
	w := goldenWorld(contact)
	turn, err := p.Step(nil, flow.Begin{}, w)
	require.NoError(t, err)
	turn, err = p.Step(turn.State, flow.Reply{Message: message}, w)
	require.NoError(t, err)
	if turn.Trace[0].Output != "out" {
		require.Equal(t, "invalid", turn.Trace[0].Output)
		return nil
	}
	return turn.State.Frames[0].Vars["answer"]
}

// Each line is a text of a contact and its value; nil: not understood.
func TestAnswers(t *testing.T) {
	t.Parallel()
	type said map[string]any
	for _, test := range []struct {
		name   string
		config map[string]any
		locale string
		said   said
	}{
		{"text", map[string]any{"expect": "text", "min": 2, "max": 5}, "", said{" ab ": "ab", "a": nil, "äöüäöü": nil, "äöüäö": "äöüäö", " ": nil}},
		{"integer", map[string]any{"expect": "integer"}, "", said{
			"36": 36, "I am 36.": 36, "-5": -5, "٣٦": 36, "3.5": nil, "1,234": 1234, "1 234": 1234, "two": nil, "1 or 2": nil, "12345678901234567890": nil,
			"9007199254740993": 9007199254740993, "3.0": 3, "room-5": 5,
		}},
		{"number", map[string]any{"expect": "number"}, "en", said{
			"3.5": 3.5, "3,5": 3.5, "1,234.5": 1234.5, "1.234,5": 1234.5, "1,234": 1234, "1.234": 1.234, "1,234,567": 1234567, "1'000.5": 1000.5,
			"$12.99": 12.99, "0,5": 0.5, "0.001": 0.001, "1,23,4": nil, "−2.5": -2.5, "१२": 12, "7%": 7, "": nil,
		}},
		{"number of a locale", map[string]any{"expect": "number"}, "de-DE", said{"1.234": 1234, "1,234": 1.234, "3.5": 3.5, "0.123": 0.123}},
		{"range", map[string]any{"expect": "number", "min": 1, "max": 120}, "", said{"0": nil, "1": 1, "120": 120, "120.5": nil}},
		{"phone", map[string]any{"expect": "phone"}, "", said{
			"+44 20 7946 0018": "+442079460018", "0151 12345678": "+4915112345678", "0044 20 7946 0018": "+442079460018", "call me": nil, "12": nil, "+٤٩١٥١١٢٣٤٥٦٧٨": "+4915112345678",
		}},
		{"email", map[string]any{"expect": "email"}, "", said{
			"ada@example.com": "ada@example.com", "It is Ada@EXAMPLE.com.": "Ada@example.com", "ada@example": nil, "a@b.cd and c@d.ef": nil, "@b.cd": nil, "<ada@example.com>": "ada@example.com",
		}},
		{"url", map[string]any{"expect": "url"}, "", said{
			"https://example.com/a?b=c": "https://example.com/a?b=c", "example.com": "https://example.com", "ftp://example.com": nil, "hello": nil, "a b.com": nil, "javascript:alert(1)": nil, "https://user@evil.com": nil,
		}},
		{"date", map[string]any{"expect": "date"}, "", said{
			"2026-11-21": "2026-11-21", "21.11.2026": "2026-11-21", "21/11/26": "2026-11-21", "5 May 2026": "2026-05-05", "May 5th, 2026": "2026-05-05", "1.1.85": "1985-01-01",
			"tomorrow": "2026-03-03", "Heute": "2026-03-02", "30.2.2026": nil, "2026-13-01": nil, "soon": nil, "mañana": "2026-03-03",
		}},
		{"date of the United States", map[string]any{"expect": "date"}, "en-US", said{"11/21/2026": "2026-11-21", "21.11.2026": "2026-11-21", "21/11/2026": nil}},
		{"date range", map[string]any{"expect": "date", "min": "{{ formatDate(now, 'YYYY-MM-DD') }}"}, "", said{"2026-03-01": nil, "2026-03-02": "2026-03-02"}},
		{"time", map[string]any{"expect": "time"}, "", said{
			"9:30": "09:30:00", "9.30": "09:30:00", "14h30": "14:30:00", "9 am": "09:00:00", "12:15 pm": "12:15:00", "12 am": "00:00:00", "9 Uhr": "09:00:00", "25:00": nil, "9": nil, "13 pm": nil, "9:61": nil, "23:59:59": "23:59:59",
		}},
		{"datetime", map[string]any{"expect": "datetime"}, "", said{
			"2026-07-01 14:00": "2026-07-01T14:00:00+02:00", "1.7.2026 at 2 pm": "2026-07-01T14:00:00+02:00", "9:30 tomorrow": "2026-03-03T09:30:00+01:00",
			"2026-07-01T14:00:00Z": "2026-07-01T14:00:00Z", "5 May 2026 um 14:00": "2026-05-05T14:00:00+02:00", "tomorrow": nil, "May 5, 2026, 9 am": "2026-05-05T09:00:00+02:00",
		}},
		{"boolean", map[string]any{"expect": "boolean"}, "", said{"Yes!": true, "ja": true, "sí": true, "НЕТ": false, "👍": true, "no.": false, "perhaps": nil, "न": nil, "नहीं": false, "はい": true}},
		{"choice", map[string]any{"expect": "choice", "choices": []any{
			map[string]any{"id": "red", "title": "Red wine", "synonyms": []any{"rouge"}}, map[string]any{"id": "white", "title": "Weißwein"}, map[string]any{"id": "rose", "title": "Rosé"},
		}}, "", said{
			"red wine": "red", "RED": "red", " rouge! ": "red", "weisswein": "white", "rose": "rose", "2": "white", "4": nil, "Red win": "red", "rde wine": "red", "beer": nil, "": nil, "re": nil,
		}},
		{"strict choice", map[string]any{"expect": "choice", "fuzzy": 1, "choices": []any{map[string]any{"id": "a", "title": "Größe"}, map[string]any{"id": "b", "title": "Farbe"}}}, "", said{"GRÖSSE": "a", "grosse": "a", "grose": nil}},
		{"even choice", map[string]any{"expect": "choice", "choices": []any{map[string]any{"id": "a", "title": "plan a"}, map[string]any{"id": "b", "title": "plan b"}}}, "", said{"plan": nil, "plan b": "b"}},
		{"validate", map[string]any{"expect": "text", "validate": "answer startsWith 'A'"}, "", said{"Ada": "Ada", "Bob": nil}},
		{"validate that fails", map[string]any{"expect": "text", "validate": "1 / (len(answer) - 3) > 0"}, "", said{"Ada": nil, "Lovelace": "Lovelace"}},
		{"any", map[string]any{"expect": "any"}, "", said{"x": "x"}},
		{"location", map[string]any{"expect": "location"}, "", said{"Berlin": nil}},
		{"image", map[string]any{"expect": "image"}, "", said{"a picture": nil}},
		{"file", map[string]any{"expect": "file"}, "", said{"a file": nil}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			contact := map[string]any{"phone": "4915112345678", "language": test.locale}
			for words, want := range test.said {
				require.Equal(t, want, asked(t, test.config, contact, map[string]any{"type": "text", "text": words}), "%q", words)
			}
		})
	}
}

// Answers that consist of more than a text.
func TestAnswersOfOtherKinds(t *testing.T) {
	t.Parallel()
	at := map[string]any{"latitude": 52.5, "longitude": 13}
	photo := map[string]any{"id": "med-1", "mimetype": "image/png"}
	for _, test := range []struct {
		expect  string
		message map[string]any
		want    any
	}{
		{"location", map[string]any{"type": "location", "location": at}, at},
		{"location", map[string]any{"type": "location", "location": map[string]any{"latitude": 1}}, nil},
		{"image", map[string]any{"type": "image", "media": photo, "text": "me"}, photo},
		{"image", map[string]any{"type": "document", "media": photo}, nil},
		{"file", map[string]any{"type": "document", "media": photo}, photo},
		{"text", map[string]any{"type": "image", "media": photo, "text": "caption"}, "caption"},
		{"text", map[string]any{"type": "text", "text": "", "reply": map[string]any{"id": "x", "title": "Yes, please"}}, "Yes, please"},
		{"boolean", map[string]any{"reply": map[string]any{"id": "no", "title": "Not today"}}, false},
		{"phone", map[string]any{"type": "contacts", "contacts": []any{map[string]any{"phones": []any{map[string]any{"phone": "+49 151 12345678"}}}}}, "+4915112345678"},
		{"any", map[string]any{"type": "image", "media": photo}, map[string]any{"type": "image", "media": photo}},
		{"number", map[string]any{}, nil},
		{"any", nil, nil},
	} {
		require.Equal(t, test.want, asked(t, map[string]any{"expect": test.expect}, nil, test.message), "%s %v", test.expect, test.message)
	}
}
