package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// TestTypesOverCloud sends what the Cloud API has, as text what it lacks, and
// nothing of what would lose its meaning.
func TestTypesOverCloud(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{}, func(t *testing.T, ana client, ref int, g *graphtest.Server) {
		in, err := g.Write(t.Context(), graphtest.Inbound{From: contact, Text: "Hello"})
		require.NoError(t, err)
		for i, c := range []struct{ message, kind string }{
			{`{"type":"contacts","contacts":[{"name":{"formattedName":"Ben","firstName":"Ben"},"phones":[{"phone":"+351 21"}]}]}`, "contacts"},
			{`{"type":"interactive","interactive":{"type":"location_request_message","body":{"text":"Where?"},"action":{"name":"send_location"}}}`, "interactive"},
			{fmt.Sprintf(`{"type":"reaction","messageId":%q,"emoji":"👍"}`, in), "reaction"},
			{`{"type":"location","latitude":1,"longitude":2}`, "location"},
		} {
			ana.call(t, "POST", "/chats/send", sendBody(ref, contact, c.message)).json(200)
			shown, err := g.WaitShown(t.Context(), contact, i+1)
			require.NoError(t, err)
			require.Equal(t, c.kind, shown[i].Type)
		}
		before := len(g.Shown(contact))
		for _, message := range []string{
			fmt.Sprintf(`{"type":"edit","messageId":%q,"text":"x"}`, in), fmt.Sprintf(`{"type":"revoke","messageId":%q}`, in),
		} {
			ana.call(t, "POST", "/chats/send", sendBody(ref, contact, message)).problem(422, "unsupported")
			check := ana.call(t, "POST", "/chats/send?dryRun=1", sendBody(ref, contact, message)).json(200)
			require.Equal(t, "unsupported", check["reason"])
		}
		require.Len(t, g.Shown(contact), before)

		// A poll goes out as text; its answer is understood.
		poll := sendBody(ref, contact, `{"type":"poll","question":"Which day?","options":["Monday","Tuesday"]}`)
		require.Equal(t, "text", ana.call(t, "POST", "/chats/send?dryRun=1", poll).json(200)["sentAs"])
		m := ana.call(t, "POST", "/chats/send", poll).json(200)["message"].(map[string]any)
		require.Equal(t, "text", m["sentAs"])
		require.Equal(t, "Which day?\n1. Monday\n2. Tuesday", g.Shown(contact)[before].Text)
		_, err = g.Write(t.Context(), graphtest.Inbound{From: contact, Text: "2"})
		require.NoError(t, err)
		last := ana.last(t, ref)
		require.Equal(t, "2", last["text"])
		require.Equal(t, map[string]any{"id": "Tuesday", "title": "Tuesday"}, last["reply"])
	})
}

// TestTyping shows the contact that an answer is being written.
func TestTyping(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{}, func(t *testing.T, ana client, ref int, g *graphtest.Server) {
		in, err := g.Write(t.Context(), graphtest.Inbound{From: contact, Text: "Hello"})
		require.NoError(t, err)
		typing := func() (n int) {
			for _, r := range g.Requests() {
				if strings.Contains(string(r.Body), "typing_indicator") && strings.Contains(string(r.Body), in) {
					n++
				}
			}
			return n
		}
		body := fmt.Sprintf(`{"reference":%d,"chatId":%q,"typing":true}`, ref, contact)
		ana.call(t, "POST", "/chats/read", body).is(200, `{"success":true,"unread":0}`)
		require.NoError(t, g.WaitRead(t.Context(), in))
		require.Equal(t, 1, typing())
		ana.call(t, "POST", "/chats/read", body).is(200, `{"success":true,"unread":0}`)
		ana.until(t, func() bool { return typing() == 2 }, "although nothing is unread")

		shop := ana.sandbox(t) // which has no such thing
		ana.write(t, shop, "ana", "Hello")
		ana.call(t, "POST", "/chats/read", fmt.Sprintf(`{"reference":%d,"chatId":"ana","typing":true}`, shop)).is(200, `{"success":true,"unread":0}`)
	})
}

// TestFreeEntryPoint writes to a contact whom an advertisement brought: the
// window is open for as long as the network says of the account's answer.
func TestFreeEntryPoint(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{}, func(t *testing.T, ana client, ref int, g *graphtest.Server) {
		now := time.Now()
		_, err := g.Write(t.Context(), graphtest.Inbound{
			From: contact, Text: "Hello", At: now.Add(-30 * time.Hour),
			Referral: map[string]any{"source_type": "ad", "source_id": "1", "source_url": "https://fb.me/1", "headline": "Shop"},
		})
		require.NoError(t, err)
		text := sendBody(ref, contact, `{"type":"text","text":"Hi"}`)
		ana.call(t, "POST", "/chats/send", text).problem(409, "window_closed")
		m := ana.call(t, "POST", "/chats/send", sendBody(ref, contact, `{"type":"template","template":{"name":"welcome","language":{"code":"en_US"}}}`)).json(200)
		end := now.Add(42 * time.Hour).Unix()
		require.NoError(t, g.PostChange(t.Context(), "900", "messages", map[string]any{"statuses": []any{map[string]any{
			"id": m["message"].(map[string]any)["id"], "status": "sent", "timestamp": fmt.Sprint(now.Unix()), "recipient_id": contact,
			"conversation": map[string]any{"id": "c", "expiration_timestamp": fmt.Sprint(end), "origin": map[string]any{"type": "referral_conversion"}},
		}}}))
		check := ana.call(t, "POST", "/chats/send?dryRun=1", text).json(200)
		require.Equal(t, true, check["allowed"])
		require.EqualValues(t, end, check["windowExpiresAt"])
		ana.call(t, "POST", "/chats/send", text).json(200)
	})
}
