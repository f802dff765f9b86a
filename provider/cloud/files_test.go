package cloud_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

const opus = "audio/ogg; codecs=opus"

func TestSendingFiles(t *testing.T) {
	t.Parallel()
	fake, _, session := setup(t, graphtest.Options{})
	data := strings.Repeat("voice", 1000)
	receipt, err := session.Send(t.Context(), provider.Outbound{ID: "own-1", To: ana, ReplyTo: "wamid.Q", Content: provider.Media{
		Kind: provider.Audio, Voice: true, FileName: "a \"note\"\r\n.ogg", Open: opening(data),
		File: provider.File{MIME: opus, Size: int64(len(data))},
	}})
	require.NoError(t, err)
	shown := fake.Shown("")
	require.Len(t, shown, 1)
	require.Equal(t, receipt.MessageID, shown[0].ID)
	files := fake.Files.All()
	require.Len(t, files, 1)
	require.Equal(t, graphtest.File{ID: shown[0].FileID, Owner: referenceID, Name: "a _note___.ogg", MIME: opus, Data: []byte(data)}, files[0])
	require.JSONEq(t, `{"messaging_product":"whatsapp","recipient_type":"individual","to":"16505551234","type":"audio",
		"audio":{"id":"`+files[0].ID+`","voice":true},"context":{"message_id":"wamid.Q"},"biz_opaque_callback_data":"own-1"}`, string(shown[0].Body))

	// The network's own id and an address need no upload.
	for _, content := range []provider.Media{
		{Kind: provider.Document, ID: files[0].ID, FileName: "x.pdf", Caption: "Here"},
		{Kind: provider.Image, URL: "https://files.example/a.png", FileName: "not sent", Caption: "There"},
	} {
		_, err = session.Send(t.Context(), provider.Outbound{To: ana, Content: content})
		require.NoError(t, err)
	}
	require.Len(t, fake.Files.All(), 1)
	shown = fake.Shown("")
	require.JSONEq(t, `{"messaging_product":"whatsapp","recipient_type":"individual","to":"16505551234","type":"image",
		"image":{"link":"https://files.example/a.png","caption":"There"}}`, string(shown[2].Body))
}

// TestUploadFailures: whatever becomes of an upload, no message was sent.
func TestUploadFailures(t *testing.T) {
	t.Parallel()
	fake, _, session := setup(t, graphtest.Options{})
	send := func(open func(context.Context) (io.ReadCloser, error)) error {
		_, err := session.Send(t.Context(), provider.Outbound{To: ana, Content: provider.Media{
			Kind: provider.Image, Open: open, File: provider.File{MIME: "image/png"},
		}})
		return err
	}
	var temporary *provider.Temporary
	fake.Fail(graphtest.Fault{Path: "/media", Cut: true})
	require.ErrorAs(t, send(opening("x")), &temporary)
	fake.Fail(graphtest.Fault{Path: "/media", Status: 502, Body: "<html>"})
	require.ErrorAs(t, send(opening("x")), &temporary)
	gone := errors.New("no such file")
	require.ErrorIs(t, send(func(context.Context) (io.ReadCloser, error) { return nil, gone }), gone)
	broken := func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader("half"), &failing{gone})), nil
	}
	require.ErrorIs(t, send(broken), gone)

	fake.Fail(graphtest.Fault{Path: "/media", Code: 100, Message: "Param file must be a file"})
	var rejected *provider.Rejected
	require.ErrorAs(t, send(opening("x")), &rejected)
	fake.Fail(graphtest.Fault{Path: "/media", Code: 80007})
	var limited *provider.RateLimited
	require.ErrorAs(t, send(opening("x")), &limited)
	require.Empty(t, fake.Shown(""))
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

func TestUploadLimits(t *testing.T) {
	t.Parallel()
	fake, p, _ := setup(t, graphtest.Options{})
	c, err := p.Client(settings())
	require.NoError(t, err)
	var invalid *provider.Invalid
	for field, uploads := range map[string][]cloud.Upload{
		"message.mimeType": {
			{Kind: provider.Image, MIME: "image/webp"},
			{Kind: provider.Image, MIME: ""},
			{Kind: provider.Image, MIME: "image/svg+xml"},
			{Kind: provider.Sticker, MIME: "image/png"},
			{Kind: provider.Video, MIME: "video/webm"},
			{Kind: provider.Audio, MIME: "audio/ogg"},
			{Kind: provider.Audio, MIME: "audio/ogg; codecs=vorbis"},
			{Kind: provider.Audio, MIME: "audio/wav"},
		},
		"message.mediaId": {
			{Kind: provider.Image, MIME: "image/png", Size: 5<<20 + 1},
			{Kind: provider.Image, MIME: "image/png", Body: &endless{left: 6 << 20}},
			{Kind: provider.Sticker, MIME: "image/webp", Size: 501 << 10},
			{Kind: provider.Document, MIME: "application/pdf", Size: 100<<20 + 1},
		},
		"message.type": {{Kind: "poll", MIME: "image/png"}},
	} {
		for _, u := range uploads {
			_, err := c.Upload(t.Context(), u)
			require.ErrorAs(t, err, &invalid, "%+v", u)
			require.Equal(t, field, invalid.Field)
		}
	}
	require.Empty(t, fake.Files.All())
	_, err = c.Upload(t.Context(), cloud.Upload{Kind: provider.Document, MIME: "application/zip", Body: strings.NewReader("PK")})
	require.NoError(t, err, "documents may be of any type")
}

// endless are zeros without an end that matters.
type endless struct{ left int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), e.left)
	clear(p[:n])
	e.left -= n
	return int(n), nil
}

// TestFilesAreStreamed: neither way holds a file of 64 MiB.
func TestFilesAreStreamed(t *testing.T) { //nolint:paralleltest // it measures the heap of all
	const size = 64 << 20
	var base string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, `{"id":"1"}`)
		case strings.HasSuffix(r.URL.Path, "/file"):
			_, _ = io.Copy(w, &endless{left: size})
		default:
			_, _ = io.WriteString(w, `{"id":"1","url":"`+base+`/file","mime_type":"video/mp4"}`)
		}
	}))
	t.Cleanup(server.Close)
	base = server.URL
	c, err := cloud.New(&cloud.Options{GraphURL: server.URL}).Client(settings())
	require.NoError(t, err)
	before := allocated()
	_, err = c.Upload(t.Context(), cloud.Upload{Kind: provider.Document, MIME: "application/pdf", Size: size, Body: &endless{left: size}})
	require.NoError(t, err)
	info, err := c.Download(t.Context(), "1", io.Discard)
	require.NoError(t, err)
	require.Equal(t, int64(size), info.Size)
	require.Less(t, allocated()-before, uint64(size/4), "bytes allocated in all, for both ways and the server")
}

// allocated are the bytes that were ever allocated.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestFetching: what is cut continues, what expired is asked for again, and what
// arrives is what was promised or an error.
func TestFetching(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte("0123456789"), 20_000)
	sum := sha256.Sum256(data)
	for name, c := range map[string]struct {
		fault    graphtest.FileFault
		promised []byte
		want     string              // the type of the error, or ""
		requests int                 // to the API and for the file
		midway   graphtest.FileFault // once the first bytes have arrived, where fault cuts
	}{
		"whole":                    {promised: sum[:], requests: 2},
		"cut":                      {fault: graphtest.FileFault{Cuts: []int{50_000, 1, 70_000}}, promised: sum[:], requests: 5},
		"cut, without ranges":      {fault: graphtest.FileFault{Cuts: []int{50_000, 120_000}, NoRanges: true}, requests: 4},
		"cut at the last byte":     {fault: graphtest.FileFault{Cuts: []int{len(data)}}, requests: 2},
		"address expired":          {fault: graphtest.FileFault{Expired: 2}, requests: 6},
		"expired in the middle":    {fault: graphtest.FileFault{Cuts: []int{50_000}}, midway: graphtest.FileFault{Expired: 1}, requests: 5},
		"server in trouble":        {fault: graphtest.FileFault{Status: []int{503, 429}}, requests: 4},
		"410":                      {fault: graphtest.FileFault{Status: []int{410}}, requests: 4},
		"address always expired":   {fault: graphtest.FileFault{Expired: 100}, want: "*provider.Rejected", requests: 8},
		"server always in trouble": {fault: graphtest.FileFault{Status: []int{503, 503, 503, 503, 503, 503}}, want: "*provider.Temporary", requests: 6},
		"wrong hash told":          {fault: graphtest.FileFault{WrongHash: true}, want: "*provider.Temporary", requests: 2},
		"another file than sent":   {promised: make([]byte, 32), want: "*provider.Temporary", requests: 2},
		"gone":                     {fault: graphtest.FileFault{Gone: true}, want: "*provider.Rejected", requests: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, _, session := setup(t, graphtest.Options{})
			id := fake.Files.Put("", "image/jpeg", data)
			fake.Files.Corrupt(id, c.fault)
			var got bytes.Buffer
			to := io.Writer(&got)
			if c.midway.Expired > 0 {
				to = &spoiling{Buffer: &got, then: func() { fake.Files.Corrupt(id, c.midway) }}
			}
			m := provider.Media{Kind: provider.Image, ID: id, File: provider.File{SHA256: c.promised, Animated: true}}
			file, err := session.(provider.MediaFetcher).Fetch(t.Context(), m, to)
			require.Len(t, fake.Requests(), c.requests)
			if c.want != "" {
				require.Equal(t, c.want, kindOf(err), "%v", err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, data, got.Bytes())
			require.Equal(t, provider.File{MIME: "image/jpeg", Size: int64(len(data)), SHA256: sum[:], Animated: true}, file)
		})
	}
}

// spoiling does something once the first bytes have arrived.
type spoiling struct {
	*bytes.Buffer
	then func()
}

func (s *spoiling) Write(p []byte) (int, error) {
	if s.then != nil {
		s.then()
		s.then = nil
	}
	return s.Buffer.Write(p)
}

// kindOf is the provider error inside err.
func kindOf(err error) string {
	var rejected *provider.Rejected
	var temporary *provider.Temporary
	var auth *provider.AuthExpired
	switch {
	case errors.As(err, &rejected):
		return "*provider.Rejected"
	case errors.As(err, &temporary):
		return "*provider.Temporary"
	case errors.As(err, &auth):
		return "*provider.AuthExpired"
	}
	return ""
}

func TestFetchingNothing(t *testing.T) {
	t.Parallel()
	fake, _, session := setup(t, graphtest.Options{})
	for _, id := range []string{"", "../x", "1/2", "1?x", "a b"} {
		_, err := session.(provider.MediaFetcher).Fetch(t.Context(), provider.Media{Kind: provider.Image, ID: id}, io.Discard)
		var rejected *provider.Rejected
		require.ErrorAs(t, err, &rejected, id)
	}
	require.Empty(t, fake.Requests())

	full := errors.New("the disk is full")
	id := fake.Files.Put("", "image/jpeg", []byte("data"))
	_, err := session.(provider.MediaFetcher).Fetch(t.Context(), provider.Media{ID: id}, &refusing{full})
	require.ErrorIs(t, err, full)
	require.Len(t, fake.Requests(), 2, "what the caller's own disk refuses is not tried again")

	c, err := client(fake)
	require.NoError(t, err)
	require.NoError(t, c.DeleteMedia(t.Context(), id))
	_, err = c.MediaInfo(t.Context(), id)
	var rejected *provider.Rejected
	require.ErrorAs(t, err, &rejected)
}

type refusing struct{ err error }

func (r *refusing) Write([]byte) (int, error) { return 0, r.err }

func client(fake *graphtest.Server) (*cloud.Client, error) {
	return cloud.New(&cloud.Options{GraphURL: fake.URL}).Client(settings())
}
