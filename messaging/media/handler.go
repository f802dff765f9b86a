package media

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/gabriel-vasile/mimetype"
)

// ServeHTTP serves the file of a link, completely or in ranges, for GET and HEAD.
// The request's path must begin with "/files/": strip what precedes it.
// [Options].NotFound answers invalid links and links of deleted files. If the store
// fails the answer is a 503.
func (l *Library) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, name, ok := l.follow(r.URL.Path)
	if !ok || r.Method != http.MethodGet && r.Method != http.MethodHead {
		l.opts.NotFound.ServeHTTP(w, r)
		return
	}
	obj, err := l.openToServe(r, id)
	if errors.Is(err, ErrNotFound) {
		l.opts.NotFound.ServeHTTP(w, r)
		return
	}
	if err != nil {
		l.unavailable(w, r, err)
		return
	}
	defer obj.Close() //nolint:errcheck // it was only read
	head := make([]byte, headSize)
	n, err := io.ReadFull(obj, head)
	if err == nil || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		_, err = obj.Seek(0, io.SeekStart)
	}
	if err != nil {
		l.unavailable(w, r, err)
		return
	}
	describe(w.Header(), id, name, obj.Size(), head[:n])
	http.ServeContent(w, r, "", time.Time{}, &logged{obj, func(err error) {
		l.opts.Logger.ErrorContext(r.Context(), "a media file is cut off, since it is damaged", "file", id, "error", err)
	}})
}

// openToServe opens the file of a request.
func (l *Library) openToServe(r *http.Request, id string) (Object, error) {
	if digest := l.digest.Load(); digest != nil {
		return l.OpenVerified(r.Context(), id, *digest)
	}
	return l.Open(r.Context(), id)
}

// logged reports damage, which net/http keeps to itself.
type logged struct {
	io.ReadSeeker
	damaged func(error)
}

func (o *logged) Read(p []byte) (int, error) {
	n, err := o.ReadSeeker.Read(p)
	if errors.Is(err, ErrDamaged) {
		o.damaged(err)
	}
	return n, err
}

// describe sets the headers of a file.
func describe(h http.Header, id, name string, size int64, head []byte) {
	served, inline := shown(plain(mimetype.Detect(head)))
	disposition := "attachment"
	if inline {
		disposition = "inline"
	}
	h.Set("Content-Type", served)
	h.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": name}))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	// The link is the permission: other sites may embed the file.
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	// Only the browser may cache it, and must revalidate it, so that a deletion
	// takes effect.
	h.Set("Cache-Control", "private, no-cache")
	h.Set("ETag", strconv.Quote(id+"-"+strconv.FormatInt(size, 36)))
}

// unavailable answers when the store fails.
func (l *Library) unavailable(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil {
		l.opts.Logger.ErrorContext(r.Context(), "a media file cannot be read", "error", err)
	}
	w.Header().Set("Retry-After", "5")
	http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
}
