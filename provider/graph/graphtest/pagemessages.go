package graphtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// pageSent is the body of the messages endpoint of a page. Other members are
// refused.
type pageSent struct {
	Recipient map[string]string `json:"recipient"`
	Type      string            `json:"messaging_type"`
	Tag       string            `json:"tag"`
	Persona   string            `json:"persona_id"`
	Action    string            `json:"sender_action"`
	ReplyTo   struct {
		ID string `json:"mid"`
	} `json:"reply_to"`
	Message *pageBody `json:"message"`
}

type pageBody struct {
	Text       string `json:"text"`
	Metadata   string `json:"metadata"`
	Attachment *struct {
		Type    string      `json:"type"`
		Payload pagePayload `json:"payload"`
	} `json:"attachment"`
	QuickReplies []struct {
		Type    string `json:"content_type"`
		Title   string `json:"title"`
		Payload string `json:"payload"`
		Image   string `json:"image_url"`
	} `json:"quick_replies"`
}

type pagePayload struct {
	URL      string            `json:"url"`
	ID       string            `json:"attachment_id"`
	Reusable bool              `json:"is_reusable"`
	Template string            `json:"template_type"`
	Text     string            `json:"text"`
	Elements []json.RawMessage `json:"elements"`
	Buttons  []json.RawMessage `json:"buttons"`
}

// newPersonID returns an id like those of people and personas.
func newPersonID() string {
	n, err := rand.Int(rand.Reader, big.NewInt(9e15))
	if err != nil {
		panic(err) // never fails
	}
	return n.Add(n, big.NewInt(1e15)).String()
}

func newMid() string { return "m_" + random(48) }

func (ps *Pages) message(p Page, body []byte) *reply {
	var in pageSent
	if err := strict(body, &in); err != nil {
		return refuse(100, "(#100) Invalid parameter: %v", err)
	}
	to := in.Recipient["id"]
	switch {
	case len(in.Recipient) != 1:
		return refuse(100, "(#100) The parameter recipient is required")
	case in.Action != "" && in.Message != nil:
		return refuse(100, "(#100) A sender action stands alone")
	case in.Action != "":
		return ps.action(p, &in)
	case in.Message == nil:
		return refuse(100, "(#100) The parameter message is required")
	case in.Tag != "" && !slices.Contains([]string{"HUMAN_AGENT", "CUSTOMER_FEEDBACK"}, in.Tag), (in.Tag != "") != (in.Type == "MESSAGE_TAG"):
		return refuse(100, "(#100) Invalid parameter: tag")
	}
	if refused := ps.content(p, in.Message); refused != nil {
		return refused
	}
	if refused := ps.permits(p, &in, to); refused != nil {
		return refused
	}
	return ps.take(p, &in, to, body)
}

func (ps *Pages) action(p Page, in *pageSent) *reply {
	to := in.Recipient["id"]
	switch in.Action {
	case "mark_seen":
		ps.fake.record(func() {
			for id, m := range ps.fake.taken {
				if m.Owner == p.ID && m.From == to {
					ps.fake.read[id] = true
				}
			}
		})
	case "typing_on", "typing_off":
	default:
		return refuse(100, "(#100) Param sender_action must be one of {MARK_SEEN, TYPING_OFF, TYPING_ON}")
	}
	return ok(map[string]string{"recipient_id": to})
}

// content checks the content of a message.
func (ps *Pages) content(p Page, m *pageBody) *reply {
	switch {
	case (m.Text == "") == (m.Attachment == nil):
		return refuse(100, "(#100) Message must have a text or an attachment")
	case utf8.RuneCountInString(m.Text) > 2000:
		return refuse(100, "(#100) Length of param message[text] must be less than or equal to 2000")
	case len(m.Metadata) >= 1000:
		return refuse(100, "(#100) Length of param message[metadata] must be less than 1000")
	case len(m.QuickReplies) > 13:
		return refuse(100, "(#100) Too many quick replies")
	}
	for _, q := range m.QuickReplies {
		if q.Type == "text" && (q.Title == "" || utf8.RuneCountInString(q.Title) > 20 || q.Payload == "") {
			return refuse(100, "(#100) Length of param quick_replies[title] must be between 1 and 20")
		}
	}
	if m.Attachment == nil {
		return nil
	}
	switch a := m.Attachment.Payload; {
	case m.Attachment.Type == "template":
		if a.Template == "" || a.Template == "generic" && (len(a.Elements) < 1 || len(a.Elements) > 10) || a.Template == "button" && a.Text == "" {
			return refuse(100, "(#100) Param message[attachment][payload] is not a template")
		}
	case !slices.Contains([]string{"image", "video", "audio", "file"}, m.Attachment.Type):
		return refuse(100, "(#100) Param message[attachment][type] must be one of {IMAGE, VIDEO, AUDIO, FILE, TEMPLATE}")
	case a.ID != "":
		ps.fake.mu.Lock()
		defer ps.fake.mu.Unlock()
		if stored := ps.fake.Files.kept[a.ID]; stored == nil || stored.Owner != p.ID {
			return &reply{status: http.StatusBadRequest, fail: &failure{code: 100, subcode: 2018074, message: "(#100) Attachment ID is invalid"}}
		}
	case a.URL == "":
		return refuse(100, "(#100) The parameter url is required")
	}
	return nil
}

// permits refuses a message outside of the window.
func (ps *Pages) permits(p Page, in *pageSent, to string) *reply {
	if !ps.fake.opts.Window || to == "" {
		return nil
	}
	ps.fake.mu.Lock()
	defer ps.fake.mu.Unlock()
	open := 24 * time.Hour
	if in.Tag != "" {
		open = 7 * 24 * time.Hour
	}
	if ps.fake.opts.Now().Sub(ps.fake.wrote[p.ID+"/"+to]) < open {
		return nil
	}
	return &reply{status: http.StatusBadRequest, fail: &failure{code: 10, subcode: 2018278, message: "(#10) This message is sent outside of allowed window."}}
}

// take accepts a message and posts its echo and receipts.
func (ps *Pages) take(p Page, in *pageSent, to string, body []byte) *reply {
	m := Message{
		ID: newMid(), Owner: p.ID, To: to, Type: "text", Text: in.Message.Text, CallbackData: in.Message.Metadata,
		ReplyTo: in.ReplyTo.ID, Body: body, At: ps.fake.opts.Now().Truncate(time.Millisecond),
	}
	if a := in.Message.Attachment; a != nil {
		m.Type, m.FileID, m.FileLink, m.Template, m.Text = a.Type, a.Payload.ID, a.Payload.URL, a.Payload.Template, a.Payload.Text
	}
	ps.fake.record(func() {
		ps.fake.shown = append(ps.fake.shown, m)
		ps.fake.taken[m.ID] = m
	})
	ps.follow(p, m, in.Message)
	out := map[string]any{"message_id": m.ID}
	put(out, "recipient_id", to)
	return ok(out)
}

// follow posts the automatic events, the echo first.
func (ps *Pages) follow(p Page, m Message, body *pageBody) {
	if !ps.fake.opts.Echoes && len(ps.fake.opts.Statuses) == 0 || m.To == "" {
		return
	}
	ps.fake.post.queue(func(ctx context.Context) {
		if ps.fake.opts.Echoes {
			echo := map[string]any{"mid": m.ID, "is_echo": true, "app_id": json.Number(p.app())}
			put(echo, "text", body.Text)
			put(echo, "metadata", body.Metadata)
			if a := body.Attachment; a != nil {
				echo["attachments"] = []any{map[string]any{"type": a.Type, "payload": map[string]any{"url": cmp.Or(a.Payload.URL, "https://cdn.example/"+a.Payload.ID)}}}
			}
			if ps.PostItem(ctx, p.ID, map[string]any{"sender": person(p.ID), "recipient": person(m.To), "timestamp": m.At.UnixMilli(), "message": echo}) != nil {
				return // the server was closed
			}
		}
		for _, status := range ps.fake.opts.Statuses {
			if ps.Watermark(ctx, m.ID, status) != nil {
				return
			}
		}
	})
}

// upload stores a file, from a form or from a link.
func (ps *Pages) upload(p Page, c *call) *reply {
	var message string
	var f File
	if strings.HasPrefix(c.contentType, "multipart/") {
		fields, form, refused := readForm(c.contentType, c.body, "filedata")
		if refused != nil {
			return refused
		}
		message, f = fields["message"], form
	} else {
		var in struct {
			Message json.RawMessage `json:"message"`
		}
		if err := strict(c.body, &in); err != nil {
			return refuse(100, "(#100) Invalid parameter: %v", err)
		}
		message = string(in.Message)
	}
	var body pageBody
	if err := strict([]byte(message), &body); err != nil || body.Attachment == nil || !body.Attachment.Payload.Reusable {
		return refuse(100, "(#100) The parameter message is required, with an attachment that is reusable")
	}
	if f.Data == nil && body.Attachment.Payload.URL == "" {
		return &reply{status: http.StatusBadRequest, fail: &failure{code: 100, subcode: 2018047, message: "(#100) Upload attachment failure."}}
	}
	f.Owner, f.Name = p.ID, cmp.Or(f.Name, body.Attachment.Payload.URL)
	return ok(map[string]string{"attachment_id": ps.fake.Files.keep(f)})
}
