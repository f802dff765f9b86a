package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// is compares the data of an event with what is wanted.
func (e event) is(t *testing.T, want string) map[string]any {
	t.Helper()
	var got, w any
	require.NoError(t, json.Unmarshal([]byte(e.Data), &got), e.Data)
	require.NoError(t, json.Unmarshal([]byte(want), &w), want)
	alike(t, "$", w, got, e.Data)
	return got.(map[string]any)
}

// any waits for the next event that is none of a session or a chat.
func (s *stream) any(t *testing.T) event {
	t.Helper()
	for {
		select {
		case e, ok := <-s.events:
			require.True(t, ok, "the stream has ended")
			if e.Kind != "session" && e.Kind != "chat" {
				return e
			}
		case <-time.After(eventually):
			require.Fail(t, "nothing came")
		}
	}
}

// TestDeliveriesOnTheStream shows every attempt, after what it is about.
func TestDeliveriesOnTheStream(t *testing.T) {
	t.Parallel()
	onDatabases(t, local, func(t *testing.T, f fixture) {
		base := listening(t, f)
		ana, ben := f.as(t, "ana"), f.as(t, "ben")
		ref, other := ana.sandbox(t), ana.sandbox(t)
		h := ana.hook(t, ref, 409)
		all := ana.follow(t, base, "").ready(t)
		one := ana.follow(t, base, fmt.Sprintf("?reference=%d", other)).ready(t)
		his := ben.follow(t, base, "").ready(t)
		in := ana.write(t, ref, "ana", "Hello")
		message := all.next(t, "message")

		const state = `{"reference":%d,"endpointId":%q,"deliveryId":"<uuid>","event":"message","chatId":"ana@sandbox","messageId":%q,"state":%q,"statusCode":%d,"attempt":%d,"at":"<now>"}`
		first := all.next(t, "delivery")
		id := first.is(t, fmt.Sprintf(state, ref, h.id, in, "pending", 409, 1))["deliveryId"]
		h.answer(200)
		seen, second := []event{first}, all.next(t, "delivery")
		for strings.Contains(second.Data, `"statusCode":409`) { // it was tried again before the answer changed
			seen, second = append(seen, second), all.next(t, "delivery")
		}
		seen = append(seen, second)
		require.Equal(t, id, second.is(t, fmt.Sprintf(state, ref, h.id, in, "delivered", 200, len(seen)))["deliveryId"])
		require.Equal(t, id, ana.deliveries(t, ref, "&state=delivered", 1)[0]["id"])

		again := ana.follow(t, base, "?after="+message.ID)
		for _, attempt := range seen {
			require.Equal(t, attempt, again.next(t, "delivery"), "they are kept, in their order")
		}

		ana.call(t, "POST", "/references/hookconf/"+h.id+"/test", "").json(200)
		all.next(t, "delivery").is(t, fmt.Sprintf(`{"reference":%d,"endpointId":%q,"deliveryId":"<uuid>","event":"message","chatId":null,"messageId":"<≈test->","state":"delivered","statusCode":200,"attempt":1,"at":"<now>"}`, ref, h.id))
		h.Close()
		ana.write(t, ref, "ana", "Bye")
		require.Nil(t, all.next(t, "delivery").is(t, fmt.Sprintf(`{"reference":%d,"endpointId":%q,"deliveryId":"<uuid>","event":"message","chatId":"ana@sandbox","messageId":"<text>","state":"pending","statusCode":null,"attempt":1,"at":"<now>"}`, ref, h.id))["statusCode"])

		ana.write(t, other, "ana", "elsewhere")
		hisRef := ben.sandbox(t)
		ben.write(t, hisRef, "ana", "his own")
		require.Equal(t, "message", one.any(t).Kind, "those of another reference are not among them")
		require.Equal(t, "message", his.any(t).Kind, "another account's are not among them")
	})
}
