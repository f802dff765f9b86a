package cloud

import (
	"context"
	"io"
	"time"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

type session struct {
	*Client
	graph.Closing
	verify   string // the token of the callback address
	callback string // the account's own address that it was subscribed with, or ""
}

var (
	_ provider.Checker    = (*session)(nil)
	_ provider.Subscriber = (*session)(nil)
	_ provider.Reader     = (*session)(nil)
	_ provider.Typist     = (*session)(nil)

	_ provider.MediaFetcher    = (*session)(nil)
	_ provider.MediaUploader   = (*session)(nil)
	_ provider.TemplateManager = (*session)(nil)
)

// Send posts one message. If it has a file to upload, it uploads the file
// first.
func (s *session) Send(ctx context.Context, out provider.Outbound) (provider.Receipt, error) {
	if err := s.Alive(); err != nil {
		return provider.Receipt{}, err
	}
	body, err := compose(out.Content)
	if err != nil {
		return provider.Receipt{}, err
	}
	m := Message{ReplyTo: out.ReplyTo, CallbackData: out.ID, Body: body}
	if err := m.address(out.To); err != nil {
		return provider.Receipt{}, err
	}
	if err := m.Validate(); err != nil {
		return provider.Receipt{}, err
	}
	if err := s.limiter.contact(ctx, s.phone, first(m.To, m.Recipient)); err != nil {
		return provider.Receipt{}, err
	}
	if m.Body, err = s.uploaded(ctx, body, out.Content); err != nil {
		return provider.Receipt{}, err
	}
	sent, err := s.post(ctx, "messages", m.envelope())
	if err != nil {
		return provider.Receipt{}, err
	}
	return provider.Receipt{MessageID: sent.MessageID, To: sent.contact()}, nil
}

// uploaded uploads the file of the body and sets its id. An upload may be
// repeated, so a failure is never ambiguous.
func (s *session) uploaded(ctx context.Context, body Body, content provider.Content) (Body, error) {
	m, is := body.(Media)
	if !is || m.ID != pending {
		return body, nil
	}
	var err error
	m.ID, err = s.handOver(ctx, content.(provider.Media))
	return m, err
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

func (s Sent) contact() *provider.Address {
	to := person(s.UserID, s.WaID)
	if to.ChatID == "" {
		return nil
	}
	return &to
}

// MarkRead marks the message, and those before it, as read.
func (s *session) MarkRead(ctx context.Context, _ provider.Address, messageID string) error {
	if err := s.Alive(); err != nil {
		return err
	}
	return s.Client.MarkRead(ctx, messageID, false)
}

// Typing shows that the account is typing. It also marks the contact's latest
// message as read: the network cannot do one without the other.
func (s *session) Typing(ctx context.Context, _ provider.Address, latestID string) error {
	if err := s.Alive(); err != nil {
		return err
	}
	return s.Client.MarkRead(ctx, latestID, true)
}

// Fetch downloads the file of a received message.
func (s *session) Fetch(ctx context.Context, m provider.Media, w io.Writer) (provider.File, error) {
	if err := s.Alive(); err != nil {
		return provider.File{}, err
	}
	info, err := s.download(ctx, m.ID, m.SHA256, w)
	file := m.File
	file.MIME = first(info.MIME, file.MIME)
	file.Size, file.SHA256 = info.Size, info.SHA256
	return file, err
}

// uploadTTL is how long the network stores a file, minus a day.
// https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media#upload-media
const uploadTTL = 29 * 24 * time.Hour

// UploadMedia uploads a file.
func (s *session) UploadMedia(ctx context.Context, m provider.Media) (id string, until time.Time, err error) {
	if err := s.Alive(); err != nil {
		return "", until, err
	}
	until = s.limiter.now().Add(uploadTTL)
	id, err = s.handOver(ctx, m)
	return id, until, err
}

// CreateTemplate is [Client.CreateTemplate].
func (s *session) CreateTemplate(ctx context.Context, t provider.TemplateDefinition) (provider.TemplateInfo, error) {
	if err := s.Alive(); err != nil {
		return provider.TemplateInfo{}, err
	}
	return s.Client.CreateTemplate(ctx, t)
}

// Templates is [Client.Templates].
func (s *session) Templates(ctx context.Context, cursor string) ([]provider.TemplateInfo, string, error) {
	if err := s.Alive(); err != nil {
		return nil, "", err
	}
	return s.Client.Templates(ctx, cursor)
}

// DeleteTemplate is [Client.DeleteTemplate].
func (s *session) DeleteTemplate(ctx context.Context, name, language string) error {
	if err := s.Alive(); err != nil {
		return err
	}
	return s.Client.DeleteTemplate(ctx, name, language)
}
