package server_test

import (
	"fmt"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// unreadable is a callback with a message that has no id, and is not read for that.
func unreadable(number, words string) string {
	return fmt.Sprintf(`{"object":"whatsapp_business_account","entry":[{"id":"%s99","changes":[{"field":"messages","value":{
		"messaging_product":"whatsapp","metadata":{"phone_number_id":%q},"contacts":[{"profile":{"name":"Sheena"},"wa_id":%q}],
		"messages":[{"from":%[3]q,"timestamp":"1749416383","type":"text","text":{"body":%[4]q}}]}}]}]}`, number, number, contact, words)
}

// letters are the dead letters of a reference, newest first.
func (c client) letters(t *testing.T, ref int) (out []map[string]any) {
	t.Helper()
	for _, it := range c.call(t, "GET", fmt.Sprintf("/reference/%d/dead-letters", ref), "").json(200)["items"].([]any) {
		out = append(out, it.(map[string]any))
	}
	return out
}

// TestDeadLetters lists, shows, replays and deletes what could not be read. An upgrade
// that can read it is played by giving the message an id.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := working(t, setupOn(t, db, nil))
		ana, ben := f.as(t, "ana"), f.as(t, "ben")
		number := cloudNumber("810")
		ref := ana.reference(t, reference(number))
		list := fmt.Sprintf("/reference/%d/dead-letters", ref)
		ana.call(t, "GET", list, "").is(200, `{"items":[],"next":null}`)
		ana.call(t, "POST", list+"/replay", `{}`).is(200, `{"replayed":0,"failed":0,"next":null}`)
		for i := range 3 {
			require.Equal(t, 200, f.post(t, unreadable("810", fmt.Sprint("word ", i)), number.AppSecret).Code)
		}
		all := ana.letters(t, ref)
		require.Len(t, all, 3)
		path := func(i int) string { return fmt.Sprint(list, "/", all[i]["id"]) }
		body := fmt.Sprintf(`{"from":%q,"timestamp":"1749416383","type":"text","text":{"body":"word 2"}}`, contact)
		shown := fmt.Sprintf(`"id":"<uuid>","reason":"a message without an id","size":%d,"replayable":true,"receivedAt":"<now>"`, len(body))
		ana.call(t, "GET", list+"?limit=1", "").is(200, `{"items":[{`+shown+`,"replays":0,"replayedAt":null}],"next":"<any>"}`)
		ana.call(t, "GET", path(0), "").is(200, fmt.Sprintf(`{%s,"replays":0,"replayedAt":null,"body":%q}`, shown, body))

		ana.call(t, "POST", path(0)+"/replay", "").is(200, `{"replayed":false,"reason":"a message without an id"}`)
		ana.call(t, "GET", path(0), "").is(200, fmt.Sprintf(`{%s,"replays":1,"replayedAt":"<now>","body":%q}`, shown, body))
		upgrade := func(i int) {
			_, err := db.ExecContext(t.Context(), `UPDATE messaging_dead_letter SET part = replace(part, '"timestamp"', $1) WHERE letter_id = $2`,
				fmt.Sprintf(`"id":"wamid.%d","timestamp"`, i), all[i]["id"])
			require.NoError(t, err)
		}
		upgrade(0)
		for method, p := range map[string]string{"GET": path(0), "DELETE": path(0), "POST": path(0) + "/replay"} {
			ben.call(t, method, p, "").problem(404, "not_found")
		}
		ben.call(t, "GET", list, "").problem(404, "not_found")
		ben.call(t, "POST", list+"/replay", `{}`).problem(404, "not_found")
		ana.call(t, "POST", path(0)+"/replay", "").is(200, `{"replayed":true,"reason":null}`)
		ana.call(t, "POST", path(0)+"/replay", "").problem(404, "not_found")
		ana.call(t, "GET", path(0), "").problem(404, "not_found")
		require.Equal(t, []string{"word 2"}, ana.texts(t, ref))

		upgrade(1)
		page := ana.call(t, "POST", list+"/replay", `{"limit":1}`).json(200)
		require.Equal(t, []any{0.0, 1.0}, []any{page["replayed"], page["failed"]})
		ana.call(t, "POST", list+"/replay", fmt.Sprintf(`{"cursor":%q}`, page["next"])).is(200, `{"replayed":1,"failed":0,"next":null}`)
		require.Equal(t, []string{"word 2", "word 1"}, ana.texts(t, ref))
		_, err := db.ExecContext(t.Context(), `UPDATE messaging_dead_letter SET part = ''`)
		require.NoError(t, err)
		ana.call(t, "POST", path(2)+"/replay", "").problem(422, "unsupported")
		ana.call(t, "DELETE", path(2), "").is(200, `{"success":true}`)
		ana.call(t, "DELETE", path(2), "").problem(404, "not_found")
		require.Empty(t, ana.letters(t, ref))
		require.Equal(t, []string{
			"callback.replay map[replayed:false]", "callback.replay map[replayed:true]", "callback.replay map[deadLetters:1]",
			"callback.replay map[deadLetters:1]", "callback.delete map[]",
		}, ana.newest(t, fmt.Sprintf("reference=%d&objectType=callback", ref)))
		require.NotContains(t, f.log.String(), "word 2")
	})
}
