package graph

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"time"
)

// transferTimeout limits an upload or download whose context has no deadline.
const transferTimeout = 10 * time.Minute

// File is a file to upload.
type File struct {
	Name     string
	MimeType string
	Size     int64  // 0: not known; the file is sent in chunks
	MaxBytes int64  // maximum size of Body; 0: no limit
	Field    string // the name of the form field; "": file
	Body     io.Reader
}

// Upload posts a form with fields and the file to path and decodes the answer
// into out. It streams the file. Its errors are those of [Client.Get], and
// [ErrTooLong]. An upload may be repeated with a new Body.
func (c *Client) Upload(ctx context.Context, path string, fields map[string]string, f File, out any) error {
	var head bytes.Buffer
	form := multipart.NewWriter(&head)
	for name, value := range fields {
		if err := form.WriteField(name, value); err != nil {
			return &unsent{fmt.Errorf("encoding a form: %w", err)}
		}
	}
	part := textproto.MIMEHeader{}
	part.Set("Content-Disposition", fmt.Sprintf(`form-data; name="%s"; filename="%s"`, cmp.Or(f.Field, "file"), plain(f.Name)))
	part.Set("Content-Type", plain(f.MimeType))
	if _, err := form.CreatePart(part); err != nil {
		return &unsent{fmt.Errorf("encoding a form: %w", err)}
	}
	tail := strings.NewReader("\r\n--" + form.Boundary() + "--\r\n")
	r := &request{
		method: http.MethodPost, path: path, timeout: transferTimeout,
		contentType: form.FormDataContentType(),
	}
	if f.Size > 0 {
		r.size = int64(head.Len()) + f.Size + tail.Size()
	}
	file := &bounded{from: f.Body, left: f.MaxBytes, endless: f.MaxBytes == 0}
	r.body = io.MultiReader(&head, file, tail)
	err := c.call(ctx, r, out)
	if file.over {
		return ErrTooLong
	}
	return err
}

// bounded returns an error from a body that is larger than allowed.
type bounded struct {
	from    io.Reader
	left    int64
	endless bool
	over    bool
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 && !b.endless {
		b.over = true
		return 0, ErrTooLong
	}
	return n, err
}

// plain returns s without characters that a header's quoted string cannot have.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '"' || r == '\\' {
			return '_'
		}
		return r
	}, s)
}
