package messenger_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/messenger"
)

// making makes a typed call.
type making func(ctx context.Context, c *messenger.Client) error

// sending makes a call that sends.
func sending(m messenger.Message) making {
	return func(ctx context.Context, c *messenger.Client) error { _, err := c.Send(ctx, m); return err }
}

func acting(a messenger.Action) making {
	return func(ctx context.Context, c *messenger.Client) error {
		return c.Act(ctx, messenger.Recipient{ID: "5678"}, a, "")
	}
}

// text is a message of words.
func text(words, to string, kind messenger.MessagingType) messenger.Message {
	return messenger.Message{To: messenger.Recipient{ID: to}, Type: kind, Body: messenger.Body{Text: words}}
}

// attached is a message with an attachment.
func attached(to, kind string, payload any) making {
	m := text("", to, messenger.Update)
	m.Body.Attachment = &messenger.Attachment{Type: kind, Payload: payload}
	return sending(m)
}

// requests are the calls whose bodies the shared fixtures have.
func requests() map[string]making {
	tagged, quick := text("Simple Message", "12345", messenger.Tagged), text("Are you happy?", "12345", messenger.Update)
	tagged.Tag = messenger.TagHumanAgent
	for _, word := range []string{"Yes", "No"} {
		quick.Body.QuickReplies = append(quick.Body.QuickReplies, messenger.QuickReply{ContentType: "text", Title: word, Payload: word})
	}
	reply, persona := text("hello", "5678", messenger.Response), text("hello", "5678", messenger.Response)
	reply.ReplyTo, persona.Persona = "m_1fTq8oLumEyIp3Q2MR-aY7IfLZDamVrALniheU", "2222146701193608"
	token, comment := text("Simple Message", "", messenger.Update), text("Thanks for your comment", "", "")
	token.To.Token, comment.To.CommentID = "345678", "901097836652708_903438993085259"
	return map[string]making{
		"req_text_update": sending(text("Simple Message", "12345", messenger.Update)), "req_text_response": sending(text("Simple Message", "12345", messenger.Response)),
		"req_text_human_agent_tag": sending(tagged), "req_text_notification_token": sending(token), "req_private_reply_comment": sending(comment),
		"req_quick_replies": sending(quick), "req_reply_to": sending(reply), "req_persona": sending(persona),
		"req_typing_on": acting(messenger.TypingOn), "req_typing_off": acting(messenger.TypingOff), "req_mark_seen": acting(messenger.MarkSeen),
		"req_image_url_reusable":  attached("12345", "image", messenger.File{URL: "https://foo.bar/image.jpg", Reusable: true}),
		"req_file_url_reusable":   attached("12345", "file", messenger.File{URL: "https://foo.bar/document.pdf", Reusable: true}),
		"req_image_attachment_id": attached("5678", "image", messenger.File{ID: "5566"}),
		"req_button_template": attached("5678", "template", messenger.ButtonTemplate{Text: "Cool", Buttons: []messenger.Button{
			{Type: "web_url", URL: "https://example.com", Title: "Open"},
			{Type: "postback", Title: "Start", Payload: "START"},
			{Type: "phone_number", Title: "Call", Payload: "+16505551234"},
		}}),
		"req_generic_template": attached("5678", "template", messenger.GenericTemplate{Elements: []messenger.Element{{
			Title: "Welcome to Our Marketplace!", Subtitle: "Fresh fruits and vegetables.", ImageURL: "https://example.com/hat.png",
			Tap:     &messenger.Button{Type: "web_url", URL: "https://example.com/view", Height: "tall"},
			Buttons: []messenger.Button{{Type: "postback", Title: "Start Chatting", Payload: "DEVELOPER_DEFINED_PAYLOAD"}},
		}}}),
		"req_persona_create": func(ctx context.Context, c *messenger.Client) error {
			_, err := c.CreatePersona(ctx, messenger.Persona{Name: "kpman", Picture: "https://i.imgur.com/zV6uy4T.jpg"})
			return err
		},
		"req_attachment_upload_by_url": func(ctx context.Context, c *messenger.Client) error {
			_, err := c.UploadLink(ctx, provider.Image, "http://www.yoururl.com/image.jpg")
			return err
		},
		"req_pass_thread_control": func(ctx context.Context, c *messenger.Client) error {
			return c.PassThread(ctx, messenger.Recipient{ID: "5678"}, "123456789", "free formed text for another app")
		},
	}
}

// client is one whose network answers everything alike.
func client(t *testing.T, answer string, seen func(r *http.Request)) *messenger.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen(r)
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	c, err := messenger.New(&messenger.Options{GraphURL: server.URL}).Client(settings())
	require.NoError(t, err)
	return c
}

// TestSharedRequests makes each call of the fixtures and compares the method,
// the end of the path and the body.
func TestSharedRequests(t *testing.T) {
	t.Parallel()
	all := requests()
	found := fixtures(t, "request")
	require.Len(t, all, len(found))
	for _, x := range found {
		var want json.RawMessage
		load(t, x.Name, &want)
		var got json.RawMessage
		c := client(t, `{"message_id":"m","attachment_id":"1","id":"1","success":true}`, func(r *http.Request) {
			require.Equal(t, x.Method+" "+path.Base(x.Path), r.Method+" "+path.Base(r.URL.Path))
			require.NoError(t, json.NewDecoder(r.Body).Decode(&got))
		})
		require.NoError(t, all[x.Name](t.Context(), c), x.Name)
		require.JSONEq(t, string(want), string(got), x.Name)
	}
	t.Logf("%d requests", len(found))
}

// TestSharedResponses reads each answer of the fixtures by the call that gets
// it.
func TestSharedResponses(t *testing.T) {
	t.Parallel()
	found := fixtures(t, "response")
	for _, x := range found {
		var body json.RawMessage
		var want []expectation
		load(t, x.Name, &body)
		load(t, x.Name+".expect", &want)
		got := response(t, client(t, string(body), func(*http.Request) {}), want[0]["kind"].(string), path.Base(x.Path))
		for name, value := range got {
			if value == "" {
				require.Empty(t, want[0][name], "%s: %s", x.Name, name)
				continue
			}
			wanted, _ := json.Marshal(want[0][name])
			read, _ := json.Marshal(value)
			require.JSONEq(t, string(wanted), string(read), "%s: %s", x.Name, name)
		}
		for _, name := range strict {
			require.True(t, want[0][name] == nil || got[name] != nil || name == "kind", "%s: %s", x.Name, name)
		}
	}
	t.Logf("%d responses", len(found))
	require.Len(t, found, 10)
}

// response makes the call that gets an answer and says what it read.
func response(t *testing.T, c *messenger.Client, kind, edge string) expectation {
	t.Helper()
	ctx, to := t.Context(), messenger.Recipient{ID: "1"}
	var got expectation
	var err error
	switch {
	case kind == "send_result":
		var s messenger.Sent
		s, err = c.Send(ctx, text("x", "1", ""))
		got = expectation{"id": s.MessageID, "to": s.RecipientID, "attachment_id": s.AttachmentID}
	case kind == "sender_action_result":
		err = c.Act(ctx, to, messenger.TypingOn, "")
	case kind == "media":
		var id string
		id, err = c.Upload(ctx, messenger.Upload{Kind: provider.Image, MIME: "image/png", Body: strings.NewReader("x")})
		got = expectation{"id": id}
	case kind == "persona" && edge == "personas":
		var id string
		id, err = c.CreatePersona(ctx, messenger.Persona{Name: "x"})
		got = expectation{"id": id}
	case kind == "persona":
		var p messenger.Persona
		p, err = c.Persona(ctx, "1")
		got = expectation{"id": p.ID, "name": p.Name}
	case kind == "profile":
		var p messenger.Profile
		p, err = c.Profile(ctx, "1")
		got = expectation{"first_name": p.FirstName, "last_name": p.LastName, "profile_pic": p.Picture, "locale": p.Locale}
	case kind == "success":
		err = c.TakeThread(ctx, to, "")
		got = expectation{"status": "true"}
	case kind == "subscribed_app":
		var apps []messenger.App
		apps, err = c.Apps(ctx)
		got = expectation{"id": apps[0].ID, "name": apps[0].Name, "fields": apps[0].Fields}
	default:
		require.Failf(t, "no call", "%s %s", kind, edge)
	}
	require.NoError(t, err)
	return got
}
