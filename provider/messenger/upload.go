package messenger

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// Upload is a file for the network to store. Only the page that uploaded it can
// send it.
type Upload struct {
	Kind provider.MediaKind // the kind to send it as
	Name string
	MIME string
	Size int64     // bytes; 0: not known
	Body io.Reader // read once to its end
}

// Upload streams a file to the network, and returns its id for a [File]. It
// returns a [*provider.Invalid] if the file breaks a limit, and a
// [*provider.Temporary] if a retry with a new Body may succeed.
//
// See https://developers.facebook.com/docs/messenger-platform/reference/attachment-upload-api
func (c *Client) Upload(ctx context.Context, u Upload) (id string, err error) {
	kind := mediaTypes[u.Kind]
	limit := mediaLimits[u.Kind]
	switch {
	case kind == "":
		return "", &provider.Invalid{Field: "message.type", Message: "must be a kind of file"}
	case u.Size > limit:
		return "", graph.TooLarge(u.Kind, limit)
	}
	message, err := json.Marshal(Body{Attachment: &Attachment{kind, File{Reusable: true}}})
	if err != nil {
		return "", fmt.Errorf("messenger: encoding an upload: %w", err)
	}
	name := u.Name
	name = cmp.Or(name, kind)
	var a answer
	err = c.graph.Upload(ctx, c.page+"/message_attachments", map[string]string{"message": string(message)},
		graph.File{Field: "filedata", Name: name, MimeType: u.MIME, Size: u.Size, MaxBytes: limit, Body: u.Body}, &a)
	if errors.Is(err, graph.ErrTooLong) {
		return "", graph.TooLarge(u.Kind, limit)
	}
	return c.uploadedAs(ctx, a, err)
}

// UploadLink makes the network download and store a file.
func (c *Client) UploadLink(ctx context.Context, kind provider.MediaKind, link string) (id string, err error) {
	body := struct {
		Message Body `json:"message"`
	}{Body{Attachment: &Attachment{mediaTypes[kind], File{URL: link, Reusable: true}}}}
	r := &graph.Rules{}
	r.Must(mediaTypes[kind] != "", "message.type", "must be a kind of file")
	body.Message.check(r)
	if err := r.Result(); err != nil {
		return "", err
	}
	var a answer
	err = c.graph.Post(ctx, c.page+"/message_attachments", body, &a)
	return c.uploadedAs(ctx, a, err)
}

func (c *Client) uploadedAs(ctx context.Context, a answer, err error) (string, error) {
	switch {
	case err != nil:
		return "", c.failed(ctx, "uploading a file", err)
	case a.AttachmentID == "":
		return "", &provider.Temporary{Err: errors.New("messenger: the answer to an upload has no file id")}
	}
	return string(a.AttachmentID), nil
}
