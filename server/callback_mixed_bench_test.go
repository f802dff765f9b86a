package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server"
)

// BenchmarkCallbackMixed is [BenchmarkCallback] with what a shop's number gets
// in life. Of eight callbacks three are texts, one is a quoted answer, one an
// image, one a message of the account's phone, and two are the statuses of that.
// The images are fetched from the network meanwhile, on the same machine.
func BenchmarkCallbackMixed(b *testing.B) {
	durably(b, func(b *testing.B, url string) {
		const phone = "106540352242924"
		net := graphtest.Start(&graphtest.Options{Numbers: []graphtest.Number{{PhoneNumberID: phone, BusinessAccountID: "102290129340398", AccessToken: "token", AppSecret: benchSecret}}})
		b.Cleanup(net.Close)
		image := net.Files.Put("", "image/png", picture(b, 40, 30))
		s := benchServer(b, url, keeping(b), func(c *server.Config) { c.GraphURL = net.URL })
		benchReference(b, s, phone)
		for _, t := range []target{{"insert", phone, floorHandler(floorTable(b, url))}, {"trunkline", phone, s}} {
			b.Run(t.name, func(b *testing.B) {
				p := newPoster(b, t)
				posts := make([]signed, b.N)
				for i := range posts {
					posts[i] = sign(mixed(phone, image, i))
				}
				messageID.Add(int64(b.N))
				cpu := testkit.CPUTime(b)
				b.ResetTimer()
				p.backlog(b, posts)
				b.StopTimer()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
				b.ReportMetric(float64((testkit.CPUTime(b)-cpu).Nanoseconds())/1e3/float64(b.N), "cpu-µs/msg")
			})
		}
	})
}

// mixed is the body of the i-th callback.
func mixed(phone, image string, i int) []byte {
	id := messageID.Load() + int64(i)
	contact := fmt.Sprintf("1650555%04d", id/8%chats)
	head := fmt.Sprintf(`"id":"wamid.mixed%d","timestamp":"%d"`, id, time.Now().Unix())
	said := func(what string) string {
		return fmt.Sprintf(`"contacts":[{"profile":{"name":"Sheena Nelson"},"wa_id":%q}],"messages":[{"from":%q,%s,%s}]`, contact, contact, head, what)
	}
	field := "messages"
	var value string
	switch i % 8 {
	default:
		value = said(`"type":"text","text":{"body":"Does it come in another color?"}`)
	case 3:
		value = said(fmt.Sprintf(`"type":"text","text":{"body":"That one"},"context":{"id":"wamid.mixed%d","from":"15550783881"}`, id-1))
	case 4:
		value = said(fmt.Sprintf(`"type":"image","image":{"id":%q,"mime_type":"image/png","caption":"Like this"}`, image))
	case 5:
		field = "smb_message_echoes"
		value = fmt.Sprintf(`"message_echoes":[{"from":"15550783881","to":%q,%s,"type":"text","text":{"body":"We have it in blue"}}]`, contact, head)
	case 6, 7:
		status := []string{"delivered", "read"}[i%2]
		value = fmt.Sprintf(`"statuses":[{"id":"wamid.mixed%d","status":%q,"timestamp":"%d","recipient_id":%q}]`, id-int64(i%8-5), status, time.Now().Unix(), contact)
	}
	return fmt.Appendf(nil, `{"object":"whatsapp_business_account","entry":[{"id":"102290129340398","changes":[{"value":{"messaging_product":"whatsapp",`+
		`"metadata":{"display_phone_number":"15550783881","phone_number_id":%q},%s},"field":%q}]}]}`, phone, value, field)
}
