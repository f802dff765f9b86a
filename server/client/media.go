package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strconv"
)

// SaveMedia: Keep a file, to be sent by its id. name and kind, "image/png",
// say what it is; "" has the server look. At most 100 MiB, which are held in
// memory. Sent again it keeps another file. Needs the permission chats.send.
// It is POST /media.
func (s *Messaging) SaveMedia(ctx context.Context, reference int64, name, kind string, file io.Reader) (*Media, error) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	if err := form.WriteField("reference", strconv.FormatInt(reference, 10)); err != nil {
		return nil, fmt.Errorf("client: writing a form: %w", err)
	}
	head := textproto.MIMEHeader{"Content-Disposition": {multipart.FileContentDisposition("file", name)}}
	if kind != "" {
		head.Set("Content-Type", kind)
	}
	part, err := form.CreatePart(head)
	if err != nil {
		return nil, fmt.Errorf("client: writing a form: %w", err)
	}
	if _, err := io.Copy(part, file); err != nil {
		return nil, fmt.Errorf("client: reading a file: %w", err)
	}
	if err := form.Close(); err != nil {
		return nil, fmt.Errorf("client: writing a form: %w", err)
	}
	r := request{id: "Messaging_SaveMedia", method: http.MethodPost, path: "/media", raw: b.Bytes()}
	r.inHeader("Content-Type", form.FormDataContentType())
	return answer[Media](ctx, s.c, &r)
}
