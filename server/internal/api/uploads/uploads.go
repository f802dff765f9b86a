package uploads

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humamux"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

const (
	mediaPath = "/media"
	// formRoom is what a form may need beside its file.
	formRoom = 64 << 10
)

// API keeps files that are to be sent.
type API struct {
	Messaging *messaging.Service
}

// Register adds the operations of the resource.
func (a *API) Register(api *httpapi.API) {
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Messaging_SaveMedia", On: httpapi.At("body.reference"), Method: http.MethodPost, Path: mediaPath, Status: http.StatusCreated,
		Summary: "Upload a file, to send it by its id",
		About:   "A multipart form with `file`, of at most 100 MiB, and `reference`.",
		Errors: []int{
			http.StatusBadRequest, http.StatusNotFound, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge,
			http.StatusUnsupportedMediaType,
		},
	}, auth.ChatsSend, a.saveMedia)
}

// Describe adds to the document what huma cannot know.
func Describe(doc *huma.OpenAPI) {
	doc.Paths[mediaPath].Post.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"multipart/form-data": {Schema: &huma.Schema{
			Type: huma.TypeObject, Required: []string{"file", "reference"},
			Properties: map[string]*huma.Schema{
				"file":      {Type: huma.TypeString, ContentEncoding: "binary", Description: "The file. Its part may have a file name and a type."},
				"reference": {Type: huma.TypeInteger, Format: "int64", Minimum: new(float64(1)), Description: "Id of the reference."},
			},
		}},
	}}
}

// form is a multipart request, which is read as it comes.
type form struct {
	c  huma.Context
	by httpapi.Call // set when the caller is limited to references
}

// Narrow has the reference of the form replaced when it is read.
func (f *form) Narrow(c httpapi.Call) { f.by = c }

// Resolve keeps the request.
func (f *form) Resolve(c huma.Context) []error {
	f.c = c
	return nil
}

func (a *API) saveMedia(ctx context.Context, c httpapi.Call, in *form) (*httpapi.Reply[messaging.Media], error) {
	r, w := humamux.Unwrap(in.c)
	m, err := readForm(ctx, w, r, upload{account: a.Messaging.For(c.Account), by: in.by})
	return &httpapi.Reply[messaging.Media]{Body: m}, err
}

// ReadForm keeps the file of a form with the part `file`, and possibly others, for a
// reference of an account.
func ReadForm(w http.ResponseWriter, r *http.Request, account *messaging.Account, ref provider.ReferenceID, others ...string) (messaging.Media, error) {
	return readForm(r.Context(), w, r, upload{account: account, reference: ref, others: others})
}

// readForm reads a form into up.
func readForm(ctx context.Context, w http.ResponseWriter, r *http.Request, up upload) (messaging.Media, error) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" || params["boundary"] == "" {
		return messaging.Media{}, httpapi.NewProblem(httpapi.CodeUnsupportedMedia, "the body must be multipart/form-data")
	}
	up.parts = multipart.NewReader(http.MaxBytesReader(w, r.Body, messaging.MaxMedia+formRoom), params["boundary"])
	defer up.close()
	m, err := up.read(ctx)
	return m, formProblem(err)
}

// upload reads the parts of a form, in any order.
type upload struct {
	account *messaging.Account
	by      httpapi.Call
	others  []string // names of parts that are not read
	parts   *multipart.Reader

	reference provider.ReferenceID
	saved     *messaging.Media
	early     *os.File // a file that came before its reference
	name      string
	mime      string
}

func (u *upload) read(ctx context.Context) (messaging.Media, error) {
	for {
		part, err := u.parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return messaging.Media{}, &formError{err}
		}
		if err := u.take(ctx, part); err != nil {
			return messaging.Media{}, err
		}
	}
	switch {
	case u.reference == 0:
		return messaging.Media{}, httpapi.Invalid("body.reference", "is required")
	case u.early != nil:
		if _, err := u.early.Seek(0, io.SeekStart); err != nil {
			return messaging.Media{}, fmt.Errorf("reading a file again: %w", err)
		}
		if err := u.save(ctx, u.early); err != nil {
			return messaging.Media{}, err
		}
	case u.saved == nil:
		return messaging.Media{}, httpapi.Invalid("body.file", "is required")
	}
	return *u.saved, nil
}

// take reads one part.
func (u *upload) take(ctx context.Context, part *multipart.Part) error {
	switch part.FormName() {
	case "reference":
		raw, err := io.ReadAll(io.LimitReader(part, 32))
		if err != nil {
			return &formError{err}
		}
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil || n < 1 || u.reference != 0 {
			return httpapi.Invalid("body.reference", "must be given once, as the id of a reference")
		}
		u.reference = provider.ReferenceID(u.by.Within(n))
		return nil
	case "file":
		if u.saved != nil || u.early != nil {
			return httpapi.Invalid("body.file", "is given twice")
		}
		u.name, u.mime = part.FileName(), part.Header.Get("Content-Type")
		if u.reference != 0 {
			return u.save(ctx, part)
		}
		return u.keepEarly(part)
	}
	if slices.Contains(u.others, part.FormName()) {
		return nil
	}
	known := "file and reference"
	if u.others != nil {
		known = "file, " + strings.Join(u.others, ", ")
	}
	return httpapi.Invalid("body", "has a part other than "+known)
}

// keepEarly keeps a file until it is known for which reference it is.
func (u *upload) keepEarly(part io.Reader) (err error) {
	if u.early, err = os.CreateTemp("", "trunkline-upload-*"); err != nil {
		return fmt.Errorf("keeping a file for a moment: %w", err)
	}
	n, err := io.Copy(u.early, &formReader{io.LimitReader(part, messaging.MaxMedia+1)})
	if n > messaging.MaxMedia {
		return &media.TooLarge{Max: messaging.MaxMedia}
	}
	return err
}

func (u *upload) save(ctx context.Context, from io.Reader) error {
	m, err := u.account.SaveMedia(ctx, u.reference, messaging.NewMedia{Name: u.name, Type: u.mime, Body: &formReader{from}})
	u.saved = &m
	return err
}

func (u *upload) close() {
	if u.early != nil {
		_ = u.early.Close()
		_ = os.Remove(u.early.Name())
	}
}

// formError is the error of a request's body: the client's, not ours.
type formError struct{ err error }

func (e *formError) Error() string { return "reading a form: " + e.err.Error() }
func (e *formError) Unwrap() error { return e.err }

// formReader marks the errors of a body.
type formReader struct{ from io.Reader }

func (f *formReader) Read(p []byte) (int, error) {
	n, err := f.from.Read(p)
	if err != nil && err != io.EOF { // a wrapped one is a body cut short
		err = &formError{err}
	}
	return n, err
}

// formProblem translates what can be wrong with an uploaded file.
func formProblem(err error) error {
	var large *media.TooLarge
	var over *http.MaxBytesError
	var other *media.Mismatch
	var bad *formError
	switch {
	case errors.As(err, &large), errors.As(err, &over):
		return httpapi.NewProblem(httpapi.CodePayloadTooLarge, "the file is larger than "+httpapi.FormatSize(messaging.MaxMedia))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return httpapi.NewProblem(httpapi.CodeRequestTimeout, "the body arrived too slowly: send the request again")
	case errors.As(err, &bad):
		p := httpapi.NewProblem(httpapi.CodeValidation, "the form is incomplete: its last part is cut off")
		p.Status, p.Title = http.StatusBadRequest, http.StatusText(http.StatusBadRequest)
		return p
	case errors.Is(err, media.ErrEmpty):
		return httpapi.Invalid("body.file", "must not be empty")
	case errors.As(err, &other):
		return httpapi.Invalid("body.file", "has another type than its part declares")
	case errors.Is(err, media.ErrFull):
		return httpapi.NewProblem(httpapi.CodeUnavailable, "there is no space for the file now: try again later")
	}
	return err
}
