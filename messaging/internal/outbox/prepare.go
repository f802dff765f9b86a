package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/attachment"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/template"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// prepared is a message that passed every check that needs no transaction.
type prepared struct {
	req      Request
	row      *store.Reference
	ref      store.ReferenceInfo
	provider provider.Provider
	addr     provider.Address
	chat     int64              // 0: there is none yet
	locked   *store.Chat        // the chat that a batch has locked already; nil: none
	content  provider.Content   // what will be sent
	file     *attachment.Stored // that goes with it; nil: none, or one that lies elsewhere
	template *template.Row      // that it fills in; nil: none, or there is no copy
	windowUS int64
	ownID    string // ours of this message
	request  string // ours of the message that the send answers with
	reply    bool   // see [Writer.Reply]
}

// chooseID returns a new id for a message.
func (w *Writer) chooseID(d *prepared) string {
	if w.Sender.Repeatable(d.row) {
		return d.provider.(provider.Identifier).NewMessageID()
	}
	return "out-" + store.NewID()
}

// prepare checks a request of an account. u is the batch that it is for, or nil. With a
// [payload.Error] it returns what it has found so far.
func (w *Writer) prepare(ctx context.Context, q database.Reader, u *store.Batch, account string, req Request) (prepared, error) {
	var row *store.Reference
	var p provider.Provider
	var err error
	if u == nil {
		row, p, err = w.Store.Opened(ctx, q, account, req.Reference)
	} else {
		row, p, err = store.ReferenceIn(ctx, u, account, req.Reference)
	}
	if err != nil {
		return prepared{}, err
	}
	if req.Content == nil {
		return prepared{}, &payload.Invalid{Field: "message", Message: "is required"}
	}
	if err := render.CheckContent(req.Content); err != nil {
		return prepared{}, err
	}
	if err := CheckClientID(req.ClientID); err != nil {
		return prepared{}, err
	}
	req.ReplyTo, req.Tag = text.Sanitize(req.ReplyTo), text.Sanitize(req.Tag)
	if req.Actor == "" {
		req.Actor = payload.ActorAPI
	}
	d := prepared{req: req, row: row, ref: row.Info(p), provider: p, content: req.Content}
	if err := w.findChat(ctx, q, u, &d); err != nil {
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
		if d.file, m, err = w.Files.Attach(ctx, q, d.ref.Account, d.req.FilesOf, m, limit); err != nil {
			return d, err
		}
		d.content, d.req.Content = m, m
	}
	if err := ValidateContent(p, d.content); err != nil {
		return d, err
	}
	if err := w.fillTemplate(ctx, q, &d); err != nil {
		return d, err
	}
	return d, d.checkOpen(w.Store.Now())
}

// findChat finds the chat that a message is for, if there is one.
func (w *Writer) findChat(ctx context.Context, q database.Reader, u *store.Batch, d *prepared) (err error) {
	if u != nil {
		d.locked = store.LockedByID(u, d.row.ID, d.req.ChatID)
	}
	if c := d.locked; c != nil {
		d.addr, d.windowUS, d.chat = c.Address(), c.WindowUS, c.ID
		return nil
	}
	if d.addr, err = w.Recipients.Address(ctx, q, d.row.ID, d.provider, d.req.ChatID); err != nil {
		return err
	}
	c, err := w.Store.ChatByAddress(ctx, q, d.row.ID, d.addr)
	if errors.Is(err, payload.ErrNotFound) {
		return nil
	}
	if err == nil {
		d.windowUS, d.chat = c.WindowUS, c.ID
	}
	return err
}

// chooseType makes text of a type that the reference cannot send, where text
// keeps the meaning.
func (d *prepared) chooseType() error {
	if slices.Contains(d.provider.Capabilities().Send, d.content.Type()) {
		return nil
	}
	text, ok := render.ToText(d.content)
	if !ok {
		return &payload.Error{Code: payload.CodeUnsupported, Message: fmt.Sprintf("A reference of type %s cannot send messages of type %s.", d.row.Kind, d.content.Type())}
	}
	d.content = text
	return nil
}

// fillTemplate checks a template message against our copy of the template.
func (w *Writer) fillTemplate(ctx context.Context, q database.Reader, d *prepared) error {
	t, ok := d.content.(provider.Template)
	if !ok {
		return nil
	}
	var err error
	d.template, err = w.Templates.Find(ctx, q, d.row, t.Template)
	if errors.Is(err, template.ErrNoCopy) {
		return nil
	}
	return err
}

// checkOpen refuses a message that the state of the reference or of the window does not allow.
func (d *prepared) checkOpen(now time.Time) error {
	if err := refusal.CheckUsable(d.row); err != nil {
		return err
	}
	if closed := d.ref.Window > 0 && d.windowUS < database.Micros(now); closed && d.req.Content.Type() != "template" && !d.tagged(now) {
		return &payload.Error{Code: payload.CodeWindowClosed, Message: d.wayOut()}
	}
	return nil
}

// body is what the record says of the message.
func (d *prepared) body() payload.Body {
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

// ValidateContent checks content against the limits of the network, where the
// provider knows them.
func ValidateContent(p provider.Provider, c provider.Content) error {
	v, ok := p.(provider.Validator)
	if !ok {
		return nil
	}
	err := v.Validate(c)
	if broken := refusal.BrokenRules(err); broken != nil {
		return broken
	}
	if err != nil {
		return &payload.Error{Code: payload.CodeUnsupported, Message: refusal.Failure(err).Text()}
	}
	return nil
}
