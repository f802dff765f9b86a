package main_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// hidden lets a contact with a hidden number (LID) write, also in a group, and
// answers by every id in its events. Another contact has a phone number with the
// digits of the LID, and must get nothing.
func (r *webEnv) hidden(t *testing.T, l *webReference) {
	t.Helper()
	eve := r.fake.AddPhone(&webtest.PhoneOptions{Name: "Eve", Hidden: true})
	lid := eve.LID().User
	stranger := r.fake.AddPhone(&webtest.PhoneOptions{Name: "Stranger", Number: lid})
	printed := 0
	reaches := func(chatID string) {
		t.Helper()
		printed++
		words := fmt.Sprintf("answer %d", printed)
		r.answer(t, chatID, fmt.Sprintf(`{"type":"text","text":%q}`, words))
		_, err := eve.AwaitText(within(t), words)
		require.NoError(t, err, chatID)
	}
	refused := func() {
		t.Helper()
		for _, digits := range []string{lid, "+" + lid} {
			p := r.call(t, 422, "POST", "/chats/send", fmt.Sprintf(`{"reference":%d,"chatId":%q,"message":{"type":"text","text":"no"}}`, r.ref, digits))
			require.Equal(t, "chatId.ambiguous", p["code"])
			e := p["errors"].([]any)[0].(map[string]any)
			require.Equal(t, "body.chatId", e["location"])
			require.Contains(t, e["message"], lid+"@", "it names the right id")
		}
	}

	chat := eve.Groups().Create(webtest.GroupOptions{Subject: "Strangers", Members: []*webtest.Phone{l.owner}})
	id, err := eve.SendText(within(t), chat, "Hello all")
	require.NoError(t, err)
	participant := r.recordsOf(t, r.sink.received, id)["participant"].(map[string]any)
	require.Equal(t, lid+"@lid", participant["chatId"])
	refused()
	reaches(participant["remoteJid"].(string))
	reaches(participant["chatId"].(string))

	id, err = eve.SendText(within(t), l.owner.LID(), "Guess who")
	require.NoError(t, err)
	hidden := r.recorded(t, lid, id)
	require.Equal(t, lid+"@lid", hidden["chatId"])
	require.Equal(t, lid+"::single", hidden["remoteJid"])
	refused()
	reaches(hidden["chatId"].(string))
	reaches(hidden["remoteJid"].(string))

	eve.Reveal()
	id, err = eve.SendText(within(t), l.owner.LID(), "It is me")
	require.NoError(t, err)
	known := r.recorded(t, number(eve), id)
	for _, id := range []any{known["chatId"], known["remoteJid"], hidden["chatId"], hidden["remoteJid"], number(eve)} {
		reaches(id.(string))
	}
	require.Empty(t, stranger.Messages())
}
