package server_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// TestGroups makes, shows, changes and leaves a group of simulated contacts.
func TestGroups(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		group := func(id any, subject, participants, more string) string {
			return fmt.Sprintf(`{"chatId":%q,"reference":%d,"subject":%q,"description":"","participants":[%s],"createdAt":"<now>",%s}`, id, ref, subject, participants, more)
		}
		const open = `"admin":true,"inviteLink":"<≈https://>","left":false,"refused":[]`
		maria, ben := `{"chatId":"maria@sandbox","phone":null,"name":"","admin":false}`, `{"chatId":"ben@sandbox","phone":null,"name":"","admin":false}`
		made := ana.call(t, "POST", "/chats/group", fmt.Sprintf(`{"reference":%d,"subject":"Friends","participants":["maria","ben"]}`, ref)).
			is(201, group("<≈@g.us>", "Friends", maria+","+ben, open))
		id := made["chatId"].(string)
		show := fmt.Sprintf("/chats/group?reference=%d&chatId=%s", ref, id)
		ana.call(t, "GET", show, "").is(200, group(id, "Friends", maria+","+ben, open))

		edit := func(members string) answer {
			return ana.call(t, "PATCH", "/chats/group", fmt.Sprintf(`{"reference":%d,"chatId":%q%s}`, ref, id, members))
		}
		edit(`,"subject":"Foes","remove":["ben","carl"],"promote":["maria"],"resetInvite":true`).is(200, group(id, "Foes",
			`{"chatId":"maria@sandbox","phone":null,"name":"","admin":true}`, `"admin":true,"inviteLink":"<≈https://>","left":false,
			"refused":[{"chatId":"carl@sandbox","error":{"code":"not_a_participant","message":"is not in the group"}}]`))
		m := ana.call(t, "POST", "/chats/send", sendBody(ref, id, `{"type":"text","text":"Hello all"}`)).json(200)["message"].(map[string]any)
		require.Equal(t, "DELIVERED", m["status"])
		write := fmt.Sprintf("/sandbox/%d/messages", ref)
		ana.call(t, "POST", write, fmt.Sprintf(`{"from":"maria","group":%q,"type":"text","text":"hi"}`, id)).json(201)
		for _, place := range []string{`"from":"` + id + `"`, `"from":"maria","group":"ben"`} {
			ana.call(t, "POST", write, `{`+place+`,"type":"text","text":"hi"}`).problem(422, "validation")
		}
		chats := ana.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d", ref), "").json(200)["items"].([]any)
		require.Equal(t, []any{"group", "Foes", 1.0}, []any{chats[0].(map[string]any)["kind"], chats[0].(map[string]any)["name"], chats[0].(map[string]any)["unread"]})

		for name, c := range map[string]struct{ members, location string }{
			"nothing":   {"", "body.subject"},
			"a subject": {`,"subject":"  "`, "body.subject"},
			"a person":  {`,"add":["a b"]`, "body.add[0]"},
			"a chat":    {`,"leave":true,"chatId":"maria"`, "body.chatId"},
		} {
			require.Equal(t, c.location, edit(c.members).problem(422, "validation").Errors[0].Location, name)
		}
		require.Equal(t, true, edit(`,"leave":true`).json(200)["left"])
		p := ana.call(t, "GET", show, "").problem(502, "provider_error")
		require.Contains(t, p.Detail, "not_in_group")
		ana.call(t, "GET", fmt.Sprintf("/chats/group?reference=%d&chatId=nowhere@g.us", ref), "").problem(404, "not_found")
		f.as(t, "eve").call(t, "GET", show, "").problem(404, "not_found")
	})
}

// TestCloudGroups writes to a group, and hears of what becomes of that.
func TestCloudGroups(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{Statuses: []string{"sent", "delivered"}, Window: true}, func(t *testing.T, ana client, ref int, g *graphtest.Server) {
		const group = "Y2FwaV9ncm91cDox"
		_, err := g.Write(t.Context(), graphtest.Inbound{From: contact, Name: "Ben", Group: group, Text: "Hello all"})
		require.NoError(t, err)
		chat := group + "@g.us"
		m := ana.call(t, "POST", "/chats/send", sendBody(ref, chat, `{"type":"text","text":"Hello Ben"}`)).json(200)["message"].(map[string]any)
		require.Equal(t, group+"::group", m["remoteJid"])
		shown, err := g.WaitShown(t.Context(), group, 1)
		require.NoError(t, err)
		require.True(t, shown[0].Group)
		messages := fmt.Sprintf("/chats/messages?reference=%d&chatId=%s", ref, chat)
		ana.until(t, func() bool {
			items := ana.call(t, "GET", messages, "").json(200)["items"].([]any)
			return len(items) == 2 && items[0].(map[string]any)["status"] == "DELIVERED"
		})
		ana.call(t, "GET", fmt.Sprintf("/chats/group?reference=%d&chatId=%s", ref, chat), "").problem(422, "unsupported")
	})
}
