package graph

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"time"
)

// transferTimeout bounds an upload or download whose context has no deadline.
const transferTimeout = 10 * time.Minute

// File is a file to upload.
type File struct {
	Name     string
	MimeType string
	Size     int64 // bytes; 0: not known, then it goes out in chunks
	Body     io.Reader
}

// Upload posts a form with fields and the file to path and decodes the answer
// into out. The file is passed on as it is read. Its errors are those of
// [Client.Get]; an upload may be repeated with a new Body.
func (c *Client) Upload(ctx context.Context, path string, fields map[string]string, f File, out any) error {
	var head bytes.Buffer
	form := multipart.NewWriter(&head)
	for name, value := range fields {
		if err := form.WriteField(name, value); err != nil {
			return &unsent{fmt.Errorf("encoding a form: %w", err)}
		}
	}
	part := textproto.MIMEHeader{}
	part.Set("Content-Disposition", fmt.Sprintf(`form-data; name="file"; filename="%s"`, plain(f.Name)))
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
	r.body = io.MultiReader(&head, f.Body, tail)
	return c.call(ctx, r, out)
}

// plain makes s fit for a header's quoted string.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '"' || r == '\\' {
			return '_'
		}
		return r
	}, s)
}
