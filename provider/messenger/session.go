package messenger

import (
	"context"
	"time"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

type session struct {
	*Client
	graph.Closing
	now func() time.Time
}

var (
	_ provider.Checker       = (*session)(nil)
	_ provider.Subscriber    = (*session)(nil)
	_ provider.Reader        = (*session)(nil)
	_ provider.Typist        = (*session)(nil)
	_ provider.MediaUploader = (*session)(nil)
	_ provider.Namer         = (*session)(nil)
)

// to returns the contact of a chat.
func (s *session) to(chat provider.Address) (Recipient, error) {
	if err := s.Alive(); err != nil {
		return Recipient{}, err
	}
	if person(chat.PSID).ChatID == "" {
		return Recipient{}, &provider.BadRecipient{Message: "the contact has no page-scoped id"}
	}
	return Recipient{ID: chat.PSID}, nil
}

// Send posts one message. If it has a file to upload, it uploads the file
// first. The network returns out.ID in the echo.
func (s *session) Send(ctx context.Context, out provider.Outbound) (provider.Receipt, error) {
	to, err := s.to(out.To)
	if err != nil {
		return provider.Receipt{}, err
	}
	m := Message{To: to, Type: Update, Tag: out.Tag, ReplyTo: out.ReplyTo}
	switch {
	case out.Tag != "":
		m.Type = Tagged
	case out.ReplyTo != "":
		m.Type = Response
	}
	if m.Body, err = compose(out.Content); err != nil {
		return provider.Receipt{}, err
	}
	m.Body.Metadata = out.ID
	if err := m.Validate(); err != nil {
		return provider.Receipt{}, err
	}
	if err := s.uploaded(ctx, &m.Body, out.Content); err != nil {
		return provider.Receipt{}, err
	}
	sent, err := s.Client.Send(ctx, m)
	if err != nil {
		return provider.Receipt{}, err
	}
	return provider.Receipt{MessageID: sent.MessageID}, nil
}

// uploaded uploads the file of the body and sets its id. An upload may be
// repeated, so a failure is never ambiguous.
func (s *session) uploaded(ctx context.Context, body *Body, content provider.Content) error {
	if body.Attachment == nil || body.Attachment.Payload != any(File{ID: pending}) {
		return nil
	}
	id, err := s.handOver(ctx, content.(provider.Media))
	body.Attachment.Payload = File{ID: id}
	return err
}

// handOver uploads a file and returns its id.
func (s *session) handOver(ctx context.Context, file provider.Media) (string, error) {
	from, err := graph.OpenFile(ctx, file)
	if err != nil {
		return "", err
	}
	defer from.Close()
	return s.Upload(ctx, Upload{Kind: file.Kind, Name: file.FileName, MIME: file.MIME, Size: file.Size, Body: from})
}

// uploadTTL is how long an uploaded file is sent by its id. The network
// documents no limit. A file that it does not have any more is uploaded again.
const uploadTTL = 30 * 24 * time.Hour

// UploadMedia uploads a file.
func (s *session) UploadMedia(ctx context.Context, m provider.Media) (id string, until time.Time, err error) {
	if err := s.Alive(); err != nil {
		return "", until, err
	}
	until = s.now().Add(uploadTTL)
	id, err = s.handOver(ctx, m)
	return id, until, err
}

// MarkRead marks all messages as seen.
func (s *session) MarkRead(ctx context.Context, chat provider.Address, _ string) error {
	to, err := s.to(chat)
	if err != nil {
		return err
	}
	return s.Act(ctx, to, MarkSeen, "")
}

// Typing shows that the page is typing, after it marked the messages as seen.
func (s *session) Typing(ctx context.Context, chat provider.Address, latestID string) error {
	if err := s.MarkRead(ctx, chat, latestID); err != nil {
		return err
	}
	return s.Act(ctx, Recipient{ID: chat.PSID}, TypingOn, "")
}

// Name reads the contact's profile. People who never wrote to the page have
// none.
func (s *session) Name(ctx context.Context, contact provider.Address) (provider.Contact, error) {
	to, err := s.to(contact)
	if err != nil {
		return provider.Contact{}, err
	}
	p, err := s.Profile(ctx, to.ID)
	return provider.Contact{Address: contact, Name: p.Name()}, err
}
