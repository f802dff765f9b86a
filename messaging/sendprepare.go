package messaging

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/attachment"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/template"
	"github.com/trunklinehq/trunkline/provider"
)

// preparedMessage is a send that passed every check that needs no transaction.
type preparedMessage struct {
	req      SendRequest
	row      *store.Reference
	line     store.ReferenceInfo
	provider provider.Provider
	addr     provider.Address
	chat     int64              // 0: there is none yet
	content  provider.Content   // what will be sent
	file     *attachment.Stored // that goes with it; nil: none, or one that lies elsewhere
	template *template.Row      // that it fills in; nil: none, or there is no copy
	windowUS int64
	ownID    string // ours of this message
	request  string // ours of the message that the send answers with
}

// chooseID chooses our id of a message.
func (s *Service) chooseID(d *preparedMessage) string {
	if s.sender.Repeatable(d.row) {
		return d.provider.(provider.Identifier).NewMessageID()
	}
	return "out-" + store.NewID()
}

func (a *Account) prepare(ctx context.Context, req SendRequest) (preparedMessage, error) {
	return a.prepareIn(ctx, a.s.db, req)
}

// prepareIn checks a send. On an [*Error] the prepared message holds what was found.
func (a *Account) prepareIn(ctx context.Context, q sqlx.QueryerContext, req SendRequest) (preparedMessage, error) {
	row, err := a.row(ctx, q, req.Reference)
	if err != nil {
		return preparedMessage{}, err
	}
	p, err := a.s.store.Provider(row.Kind)
	if err != nil {
		return preparedMessage{}, err
	}
	if req.Content == nil {
		return preparedMessage{}, &Invalid{Field: "message", Message: "is required"}
	}
	if err := render.CheckContent(req.Content); err != nil {
		return preparedMessage{}, err
	}
	if err := checkClientID(req.ClientID); err != nil {
		return preparedMessage{}, err
	}
	req.ReplyTo, req.Tag = store.Sanitize(req.ReplyTo), store.Sanitize(req.Tag)
	if req.Actor == "" {
		req.Actor = ActorAPI
	}
	d := preparedMessage{req: req, row: row, line: row.Info(p), provider: p, content: req.Content}
	if d.addr, err = a.s.recipients.Address(ctx, q, row.ID, p, req.ChatID); err != nil {
		return d, err
	}
	if c, err := a.s.store.ChatByAddress(ctx, q, row.ID, d.addr); err == nil {
		d.windowUS, d.chat = c.WindowUS, c.ID
	} else if !errors.Is(err, ErrNotFound) {
		return d, err
	}
	if err := d.chooseType(); err != nil {
		return d, err
	}
	if err := d.checkTag(); err != nil {
		return d, err
	}
	if m, is := d.content.(provider.Media); is && m.StoredID != "" {
		limit := p.Capabilities().Media[m.Type()]
		if d.file, m, err = a.s.attachments.Attach(ctx, q, d.line.Account, d.req.FilesOf, m, limit); err != nil {
			return d, err
		}
		d.content, d.req.Content = m, m
	}
	if err := validateContent(p, d.content); err != nil {
		return d, err
	}
	if err := a.s.fillTemplate(ctx, q, &d); err != nil {
		return d, err
	}
	return d, d.checkOpen(a.s)
}

// chooseType says as text what the reference lacks, where that keeps the meaning.
func (d *preparedMessage) chooseType() error {
	if slices.Contains(d.provider.Capabilities().Send, d.content.Type()) {
		return nil
	}
	text, ok := render.ToText(d.content)
	if !ok {
		return &Error{Code: CodeUnsupported, Message: fmt.Sprintf("A %s line cannot send the type %s.", d.row.Kind, d.content.Type())}
	}
	d.content = text
	return nil
}

// fillTemplate holds a template message against our copy of the template.
func (s *Service) fillTemplate(ctx context.Context, q sqlx.QueryerContext, d *preparedMessage) error {
	t, ok := d.content.(provider.Template)
	if !ok {
		return nil
	}
	var err error
	d.template, err = s.templates.Find(ctx, q, d.row, t.Template)
	if errors.Is(err, template.ErrNoCopy) {
		return nil
	}
	return err
}

// checkOpen refuses what the state of the reference or of the window does not allow.
func (d *preparedMessage) checkOpen(s *Service) error {
	if err := refusal.CheckUsable(d.row); err != nil {
		return err
	}
	if closed := d.line.Window > 0 && d.windowUS < database.Micros(s.now()); closed && d.req.Content.Type() != "template" && !d.tagged(s.now()) {
		return &Error{Code: CodeWindowClosed, Message: d.wayOut()}
	}
	return nil
}

// body is what the record says of the message.
func (d *preparedMessage) body() Body {
	body := render.PlainText(d.req.Content)
	if t, ok := d.content.(provider.Template); ok && d.template != nil {
		if text := d.template.Preview(t.Template).Plain(); text != "" {
			body.Text = text
		}
	}
	if d.file != nil {
		d.file.Into(&body)
	}
	return body
}

// validateContent asks the network's own limits, where the provider knows them.
func validateContent(p provider.Provider, c provider.Content) error {
	v, ok := p.(provider.Validator)
	if !ok {
		return nil
	}
	err := v.Validate(c)
	if broken := refusal.BrokenRules(err); broken != nil {
		return broken
	}
	if err != nil {
		return &Error{Code: CodeUnsupported, Message: refusal.Failure(err).Text()}
	}
	return nil
}
