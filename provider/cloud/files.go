package cloud

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/url"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// mediaLimits are the maximum sizes of files in bytes, by kind.
// https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media#supported-media-types
var mediaLimits = map[provider.MediaKind]int64{
	provider.Image:    5 << 20,
	provider.Video:    16 << 20,
	provider.Audio:    16 << 20,
	provider.Document: 100 << 20,
	provider.Sticker:  500 << 10, // animated; otherwise 100 KiB
}

// mediaTypes are the MIME types that the network shows. It accepts documents of
// other types without a guarantee.
var mediaTypes = map[provider.MediaKind][]string{
	provider.Image:   {"image/jpeg", "image/png"},
	provider.Video:   {"video/mp4", "video/3gpp"},
	provider.Audio:   {"audio/aac", "audio/amr", "audio/mpeg", "audio/mp4", "audio/ogg"},
	provider.Sticker: {"image/webp"},
}

// maxFetched limits the size of a file to download. No larger file can be
// received.
const maxFetched = 100 << 20

// Upload is a file that the network stores for 30 days. Only the number that
// uploaded it can send it.
type Upload struct {
	Kind provider.MediaKind // the kind to send it as
	Name string
	MIME string    // "audio/ogg; codecs=opus"
	Size int64     // bytes; 0: not known
	Body io.Reader // read once to its end
}

// Upload streams a file to the network, and returns its id for a [Media]. It
// returns a [*provider.Invalid] if the file breaks a limit, and a
// [*provider.Temporary] if a retry with a new Body may succeed.
//
// See https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media#upload-media
func (c *Client) Upload(ctx context.Context, u Upload) (id string, err error) {
	if err := u.validate(); err != nil {
		return "", err
	}
	var out struct {
		ID graph.ID `json:"id"`
	}
	err = c.graph.Upload(ctx, c.phone+"/media", map[string]string{"messaging_product": product, "type": u.MIME},
		graph.File{Name: first(u.Name, string(u.Kind)), MimeType: u.MIME, Size: u.Size, MaxBytes: mediaLimits[u.Kind], Body: u.Body}, &out)
	switch {
	case errors.Is(err, graph.ErrTooLong):
		return "", graph.TooLarge(u.Kind, mediaLimits[u.Kind])
	case err != nil:
		return "", c.failed(ctx, "uploading a file", err)
	case out.ID == "":
		return "", &provider.Temporary{Err: errors.New("cloud: the answer to an upload has no file id")}
	}
	return string(out.ID), nil
}

func (u Upload) validate() error {
	r := &graph.Rules{}
	limit, known := mediaLimits[u.Kind]
	r.Must(known, "message.type", "must be a kind of file")
	checkType(r, u.Kind, u.MIME)
	if known && u.Size > limit {
		return graph.TooLarge(u.Kind, mediaLimits[u.Kind])
	}
	return r.Result()
}

// checkType checks a MIME type against those of the kind.
func checkType(r *graph.Rules, kind provider.MediaKind, declared string) {
	const field = "message.mimeType"
	name, parameters, err := mime.ParseMediaType(declared)
	if err != nil {
		r.Fail(field, "must be a MIME type")
		return
	}
	allowed := mediaTypes[kind]
	if len(allowed) > 0 && !slices.Contains(allowed, name) {
		r.Fail(field, "of type %s must be one of %s", kind, strings.Join(allowed, ", "))
	}
	if name == "audio/ogg" && kind == provider.Audio {
		r.Must(strings.EqualFold(parameters["codecs"], "opus"), field, "must be audio/ogg; codecs=opus: of Ogg only Opus is played")
	}
}

// MediaInfo is where a file can be downloaded for five minutes, and its
// properties.
type MediaInfo struct {
	ID     string
	URL    string
	MIME   string
	SHA256 []byte // nil: not known
	Size   int64
}

// MediaInfo looks up a file. If the file does not exist or belongs to another
// number, it returns a [*provider.Rejected].
func (c *Client) MediaInfo(ctx context.Context, id string) (MediaInfo, error) {
	if !plainID(id) {
		return MediaInfo{}, &provider.Rejected{Message: "the id of the file is invalid"}
	}
	var out struct {
		ID     graph.ID    `json:"id"`
		URL    string      `json:"url"`
		MIME   string      `json:"mime_type"`
		SHA256 string      `json:"sha256"`
		Size   scalarCount `json:"file_size"`
	}
	if err := c.graph.Get(ctx, id, url.Values{"phone_number_id": {c.phone}}, &out); err != nil {
		return MediaInfo{}, c.failed(ctx, "asking for a file", err)
	}
	sum, _ := hex.DecodeString(out.SHA256)
	return MediaInfo{string(out.ID), out.URL, out.MIME, sum, int64(out.Size)}, nil
}

// plainID reports whether an id is safe in a path.
func plainID(id string) bool {
	return id != "" && !strings.ContainsFunc(id, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' && r != '-'
	})
}

// scalarCount is a number, or a string that contains one.
type scalarCount int64

// UnmarshalJSON decodes anything else as 0.
func (n *scalarCount) UnmarshalJSON(raw []byte) error {
	_, _ = fmt.Sscan(strings.Trim(string(raw), `"`), (*int64)(n))
	return nil
}

// DeleteMedia deletes a file that was uploaded.
func (c *Client) DeleteMedia(ctx context.Context, id string) error {
	if !plainID(id) {
		return &provider.Rejected{Message: "the id of the file is invalid"}
	}
	var done graph.Confirmation
	if err := c.graph.Delete(ctx, id, url.Values{"phone_number_id": {c.phone}}, &done); err != nil {
		return c.failed(ctx, "deleting a file", err)
	}
	return done.Check("deleting a file")
}

// Download copies a file to w and returns its properties. It resumes after an
// interruption, and asks for a new address when the old one has expired. If the
// digest differs, it returns a [*provider.Temporary]. After an error, w may
// have received a part.
func (c *Client) Download(ctx context.Context, id string, w io.Writer) (MediaInfo, error) {
	return c.download(ctx, id, nil, w)
}

// download is [Client.Download] of a file with a known hash, or nil.
func (c *Client) download(ctx context.Context, id string, promised []byte, w io.Writer) (MediaInfo, error) {
	var info MediaInfo
	source := func(ctx context.Context) (string, error) {
		var err error
		info, err = c.MediaInfo(ctx, id)
		return info.URL, err
	}
	hash := sha256.New()
	n, err := c.graph.Download(ctx, source, maxFetched, io.MultiWriter(hash, w))
	if err != nil {
		return info, downloadError(err)
	}
	sum := hash.Sum(nil)
	if differs(sum, promised) || differs(sum, info.SHA256) {
		return info, &provider.Temporary{Err: fmt.Errorf("cloud: downloading a file: %w", provider.ErrMismatch)}
	}
	info.SHA256, info.Size = sum, n
	return info, nil
}

// differs reports whether a hash differs from the announced one, if there is
// one.
func differs(sum, promised []byte) bool { return len(promised) > 0 && !bytes.Equal(sum, promised) }

// downloadError returns an error of [Client.MediaInfo] as it is, and converts
// others.
func downloadError(err error) error {
	var rejected *provider.Rejected
	var temporary *provider.Temporary
	var auth *provider.AuthExpired
	var limited *provider.RateLimited
	switch {
	case errors.As(err, &rejected), errors.As(err, &temporary), errors.As(err, &auth), errors.As(err, &limited):
		return err
	case errors.Is(err, graph.ErrTooLong):
		return &provider.Rejected{Code: "too_long", Message: "the file is longer than the network allows"}
	case errors.Is(err, graph.ErrPrivate):
		return &provider.Rejected{Message: "the address of the file is private"}
	}
	return fmt.Errorf("cloud: downloading a file: %w", graph.CallError(err))
}
