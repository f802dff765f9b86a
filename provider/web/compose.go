package web

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/trunklinehq/trunkline/provider"
)

// compose returns the network's form of a message.
func (s *sender) compose(ctx context.Context, c *whatsmeow.Client, to types.JID, out provider.Outbound) (*waE2E.Message, error) {
	about, err := s.quote(ctx, c, to, out)
	if err != nil {
		return nil, err
	}
	switch x := out.Content.(type) {
	case provider.Text:
		return text(x, about), nil
	case provider.Media:
		return s.composeMedia(ctx, c, x, about)
	case provider.Location:
		return &waE2E.Message{LocationMessage: &waE2E.LocationMessage{
			DegreesLatitude: &x.Latitude, DegreesLongitude: &x.Longitude, Name: optional(x.Name), Address: optional(x.Address), ContextInfo: about,
		}}, nil
	case provider.Contacts:
		return contacts(x, about), nil
	case provider.Poll:
		return composePoll(ctx, c, to, out.ID, x, about)
	case provider.Vote:
		return s.composeVote(ctx, c, to, x, out.About)
	case provider.Reaction:
		sender, err := s.senders.sender(ctx, c, to, x.MessageID, out.About)
		switch {
		case err != nil:
			return nil, err
		case sender.IsEmpty():
			return nil, &provider.Rejected{Code: "forgotten", Message: "The sender of the message in this group is not known any more."}
		}
		return c.BuildReaction(to, sender, x.MessageID, x.Emoji), nil
	case provider.Edit:
		return c.BuildEdit(to, x.MessageID, &waE2E.Message{Conversation: &x.Text}), nil
	case provider.Revoke:
		return c.BuildRevoke(to, types.EmptyJID, x.MessageID), nil
	case nil:
		return nil, &provider.Unsupported{What: "a message without content"}
	}
	return nil, &provider.Unsupported{What: "content of type " + out.Content.Type()}
}

// quote returns the reference to the message that out replies to, or nil.
func (s *sender) quote(ctx context.Context, c *whatsmeow.Client, to types.JID, out provider.Outbound) (*waE2E.ContextInfo, error) {
	if out.ReplyTo == "" {
		return nil, nil
	}
	sender, err := s.senders.sender(ctx, c, to, out.ReplyTo, out.About)
	if err != nil {
		return nil, err
	}
	quoted := ""
	if out.About != nil {
		quoted = out.About.Text
	}
	q := &waE2E.ContextInfo{StanzaID: &out.ReplyTo, QuotedMessage: &waE2E.Message{Conversation: &quoted}}
	if !sender.IsEmpty() {
		q.Participant = proto.String(sender.String())
	}
	return q, nil
}

func text(x provider.Text, about *waE2E.ContextInfo) *waE2E.Message {
	if about == nil && len(x.Mentions) == 0 && !x.PreviewURL {
		return &waE2E.Message{Conversation: &x.Text}
	}
	for _, m := range x.Mentions {
		if about == nil {
			about = &waE2E.ContextInfo{}
		}
		about.MentionedJID = append(about.MentionedJID, m)
	}
	return &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: &x.Text, ContextInfo: about}}
}

// contacts returns the message of one or more contact cards.
func contacts(x provider.Contacts, about *waE2E.ContextInfo) *waE2E.Message {
	cards := make([]*waE2E.ContactMessage, len(x.Contacts))
	for i, c := range x.Contacts {
		cards[i] = &waE2E.ContactMessage{DisplayName: proto.String(c.Name.Formatted), Vcard: proto.String(vcard(c))}
	}
	if len(cards) == 1 {
		cards[0].ContextInfo = about
		return &waE2E.Message{ContactMessage: cards[0]}
	}
	return &waE2E.Message{ContactsArrayMessage: &waE2E.ContactsArrayMessage{
		DisplayName: proto.String(fmt.Sprintf("%d contacts", len(cards))), Contacts: cards, ContextInfo: about,
	}}
}

// vcard encodes a card as vCard 3.0 (RFC 2426), which phones read.
func vcard(c provider.Card) string {
	if c.VCard != "" {
		return c.VCard
	}
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			b.WriteString(name + ":" + escape.Replace(value) + "\r\n")
		}
	}
	b.WriteString("BEGIN:VCARD\r\nVERSION:3.0\r\n")
	b.WriteString("N:" + escape.Replace(c.Name.Last) + ";" + escape.Replace(c.Name.First) + ";" + escape.Replace(c.Name.Middle) + ";;\r\n")
	line("FN", c.Name.Formatted)
	for _, p := range c.Phones {
		name := "TEL"
		if p.Type != "" {
			name += ";type=" + word(p.Type)
		}
		if p.WaID != "" {
			name += ";waid=" + word(p.WaID)
		}
		line(name, p.Phone)
	}
	for _, e := range c.Emails {
		line("EMAIL", e.Email)
	}
	for _, u := range c.URLs {
		line("URL", u.URL)
	}
	if c.Org != nil {
		b.WriteString("ORG:" + escape.Replace(c.Org.Company) + ";" + escape.Replace(c.Org.Department) + "\r\n")
	}
	line("BDAY", c.Birthday)
	b.WriteString("END:VCARD\r\n")
	return b.String()
}

// word returns the letters and digits of s, which are allowed in a parameter.
func word(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

var escape = strings.NewReplacer("\\", "\\\\", ",", "\\,", ";", "\\;", "\r\n", "\\n", "\n", "\\n", "\r", "\\n")

// composeMedia encrypts and uploads a file, and returns the message with its key.
func (s *sender) composeMedia(ctx context.Context, c *whatsmeow.Client, m provider.Media, about *waE2E.ContextInfo) (*waE2E.Message, error) {
	if m.Open == nil {
		return nil, &provider.Unsupported{What: "a file by link"}
	}
	r, err := m.Open(ctx)
	if err != nil {
		return nil, &provider.Temporary{Err: err}
	}
	defer r.Close()
	up, err := c.UploadReader(ctx, r, nil, mediaTypes[m.Kind])
	if err != nil {
		return nil, &provider.Temporary{Err: fmt.Errorf("uploading a file: %w", err)}
	}
	return fileMessage(m, up, about), nil
}

// fileMessage returns the message of an uploaded file.
func fileMessage(m provider.Media, up whatsmeow.UploadResponse, about *waE2E.ContextInfo) *waE2E.Message {
	width, height, seconds := number(m.Width), number(m.Height), number(m.Seconds)
	switch m.Kind {
	case provider.Image:
		return &waE2E.Message{ImageMessage: &waE2E.ImageMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileEncSHA256: up.FileEncSHA256, FileSHA256: up.FileSHA256,
			FileLength: &up.FileLength, Mimetype: &m.MIME, Caption: optional(m.Caption), Width: width, Height: height,
			JPEGThumbnail: m.Thumbnail, ContextInfo: about,
		}}
	case provider.Video:
		return &waE2E.Message{VideoMessage: &waE2E.VideoMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileEncSHA256: up.FileEncSHA256, FileSHA256: up.FileSHA256,
			FileLength: &up.FileLength, Mimetype: &m.MIME, Caption: optional(m.Caption), Width: width, Height: height, Seconds: seconds,
			JPEGThumbnail: m.Thumbnail, ContextInfo: about,
		}}
	case provider.Audio:
		return &waE2E.Message{AudioMessage: &waE2E.AudioMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileEncSHA256: up.FileEncSHA256, FileSHA256: up.FileSHA256,
			FileLength: &up.FileLength, Mimetype: &m.MIME, Seconds: seconds, PTT: &m.Voice, Waveform: m.Waveform, ContextInfo: about,
		}}
	case provider.Sticker:
		return &waE2E.Message{StickerMessage: &waE2E.StickerMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileEncSHA256: up.FileEncSHA256, FileSHA256: up.FileSHA256,
			FileLength: &up.FileLength, Mimetype: &m.MIME, Width: width, Height: height, IsAnimated: &m.Animated, ContextInfo: about,
		}}
	}
	title := m.Title
	title = cmp.Or(title, m.FileName)
	return &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{
		URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileEncSHA256: up.FileEncSHA256, FileSHA256: up.FileSHA256,
		FileLength: &up.FileLength, Mimetype: &m.MIME, Caption: optional(m.Caption), FileName: &m.FileName, Title: &title,
		PageCount: number(m.Pages), JPEGThumbnail: m.Thumbnail, ContextInfo: about,
	}}
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func number(n int) *uint32 {
	if n <= 0 {
		return nil
	}
	return proto.Uint32(uint32(n))
}
