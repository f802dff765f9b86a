package attachment

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/span"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	// FetchTimeout bounds one attempt to fetch a file.
	FetchTimeout = 10 * time.Minute
	// fetchTTL is how long a file that does not come is asked for.
	fetchTTL = 24 * time.Hour
	// maxFetchAttempts is how often a file that is not the promised one is fetched:
	// the network may have mixed it up, or told it too early.
	maxFetchAttempts = 3
	// MaxSize is the longest file that is taken.
	MaxSize = 100 << 20
	// MaxConcurrent is how many files of one reference are fetched at once by a node.
	MaxConcurrent = 8
)

// fetched is what an attempt to fetch a file found out.
type fetched struct {
	id     string
	seq    int64
	source store.FileSource
	file   *media.File
	lost   *payload.Failure // for good

	channels int // of Opus in Ogg that the account sends by its address
}

// Handle makes one attempt to fetch a file.
func (fs *Files) Handle(ctx context.Context, it queue.Job) queue.Outcome {
	ctx, fetching := span.Begin(ctx, fs.Trace, "messaging.fetch")
	out := fs.handle(ctx, it)
	if fetching == nil {
		return out
	}
	f, is := out.Data.(fetched)
	fetching.Set(slog.String("reference", it.Subscriber))
	fetching.Set(slog.Int("attempt", it.Attempt+1))
	if f.lost != nil {
		fetching.Set(slog.String("code", f.lost.Code))
	}
	fetching.End(out.Result != queue.Done || is && f.lost != nil)
	return out
}

// handle makes one attempt to fetch a file. It is stored under an id that
// stays, so that a repeat replaces what a killed process has left.
func (fs *Files) handle(ctx context.Context, it queue.Job) queue.Outcome {
	done := queue.Outcome{Job: it, Result: queue.Done}
	f, err := fs.file(ctx, it.Subject)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return done // deleted meanwhile
	case err != nil:
		return fs.refetch(ctx, it, err)
	case f.Gone || !f.Waiting:
		return done
	}
	out := fetched{id: f.ID, seq: f.Message}
	if err := json.Unmarshal([]byte(f.Detail), &out.source); err != nil {
		return fs.refetch(ctx, it, err)
	}
	saved, err := fs.fetch(ctx, f, &out.source)
	if err == nil && out.source.Link {
		out.channels, err = fs.opusChannels(ctx, saved.ID, saved.Type)
	}
	if err != nil {
		if out.lost = fs.givenUp(it, err, out.source.Link); out.lost == nil {
			return fs.refetch(ctx, it, err)
		}
	} else {
		out.file = &saved
		if now, err := fs.file(ctx, f.ID); errors.Is(err, sql.ErrNoRows) || err == nil && now.Gone { // deleted while it came
			if err := fs.removeFile(ctx, f.ID); err != nil {
				return fs.refetch(ctx, it, err)
			}
			return done
		}
	}
	done.Data = out
	return done
}

// refetch tries again later. The files behind it are not kept waiting.
func (fs *Files) refetch(ctx context.Context, it queue.Job, err error) queue.Outcome {
	if ctx.Err() == nil {
		fs.Logger.WarnContext(ctx, "fetching a file", slog.Any("error", err))
	}
	var temporary *provider.Temporary
	var limited *provider.RateLimited
	after := time.Duration(0)
	switch {
	case errors.As(err, &temporary):
		after = temporary.After
	case errors.As(err, &limited):
		after = limited.After
	}
	return queue.Outcome{Job: it, Result: queue.Park, After: refusal.RetryDelay(it.Attempt, after)}
}

// givenUp says why a file will not be had; nil: another attempt may bring it.
func (fs *Files) givenUp(it queue.Job, err error, link bool) *payload.Failure {
	var rejected *provider.Rejected
	var large *media.TooLarge
	var mismatch *media.Mismatch
	switch {
	case errors.As(err, &rejected) && link:
		return &payload.Failure{Code: store.CodeMediaUnavailable, Message: "There is no copy of the file: " + rejected.Message, Advice: rejected.Advice}
	case errors.As(err, &rejected):
		return &payload.Failure{Code: store.CodeMediaUnavailable, Message: "The network does not have the file: " + rejected.Message, Advice: rejected.Advice}
	case errors.As(err, &large):
		return &payload.Failure{Code: store.CodeMediaTooLarge, Message: fmt.Sprintf("The file is larger than %d bytes.", large.Max)}
	case errors.Is(err, media.ErrEmpty):
		return &payload.Failure{Code: store.CodeMediaMismatch, Message: "The file is empty."}
	case errors.As(err, &mismatch) && mismatch.Field == "type":
		return &payload.Failure{Code: store.CodeMediaMismatch, Message: "The file is not of the type that the network announced."}
	case errors.As(err, &mismatch), errors.Is(err, provider.ErrMismatch):
		if it.Attempt+1 >= maxFetchAttempts {
			return &payload.Failure{Code: store.CodeMediaMismatch, Message: "The file is not the announced one: its digest differs."}
		}
	case !it.Since.IsZero() && time.Since(it.Since) > fetchTTL:
		return &payload.Failure{Code: store.CodeMediaUnavailable, Message: "The file could not be fetched within a day."}
	}
	return nil
}

// fetch copies a file from where it is into the library.
func (fs *Files) fetch(ctx context.Context, f *fileRow, source *store.FileSource) (media.File, error) {
	ctx, cancel := context.WithTimeout(ctx, FetchTimeout)
	defer cancel()
	from, err := fs.open(ctx, f, source)
	if err != nil {
		return media.File{}, err
	}
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = w.CloseWithError(refusal.Recovered(func() error { return from(ctx, w) })) // nil ends the file
	}()
	saved, err := fs.Library.Save(ctx, r, media.Upload{ID: f.ID, Max: MaxSize, SHA256: source.SHA256, Type: source.MIME})
	cancel()
	_ = r.CloseWithError(io.ErrClosedPipe)
	<-done
	return saved, err
}

// open finds who has a file: the library itself, the network, or the server that
// serves its address.
func (fs *Files) open(ctx context.Context, f *fileRow, source *store.FileSource) (func(context.Context, io.Writer) error, error) {
	if source.Stored != "" {
		return func(ctx context.Context, w io.Writer) error { return fs.copyStored(ctx, f.Account, source.Stored, w) }, nil
	}
	if source.Link {
		return func(ctx context.Context, w io.Writer) error { return fs.download(ctx, source.URL, w) }, nil
	}
	ref := &store.Reference{}
	if err := fs.Store.DB.GetContext(ctx, ref, `SELECT `+store.ReferenceColumns+` FROM messaging_reference WHERE id = $1`, f.Reference); err != nil {
		return nil, fmt.Errorf("loading reference %d: %w", f.Reference, err)
	}
	sess, err := fs.Session(ctx, ref)
	if err != nil {
		return nil, err
	}
	if fetcher, ok := sess.(provider.MediaFetcher); ok {
		return func(ctx context.Context, w io.Writer) error {
			_, err := fetcher.Fetch(ctx, source.Media(), w)
			return err
		}, nil
	}
	if source.URL == "" {
		return nil, &provider.Rejected{Message: "this type of reference has no files"}
	}
	return func(ctx context.Context, w io.Writer) error { return fs.download(ctx, source.URL, w) }, nil
}

// copyStored copies a file of the library that belongs to the account.
func (fs *Files) copyStored(ctx context.Context, account, id string, w io.Writer) error {
	f, err := fs.file(ctx, id)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (f.Account != account || f.Gone || f.Waiting) {
		return &provider.Rejected{Message: "there is no such file"}
	}
	if err != nil {
		return err
	}
	obj, err := fs.openVerified(ctx, id, f.SHA256)
	if errors.Is(err, media.ErrNotFound) {
		return &provider.Rejected{Message: "there is no such file"}
	}
	if err != nil {
		return err
	}
	defer obj.Close()
	_, err = io.Copy(w, obj)
	if errors.Is(err, media.ErrDamaged) {
		return &provider.Rejected{Message: "it is damaged in the store of this server"}
	}
	return err
}

// download copies what an address serves, unless that is private.
func (fs *Files) download(ctx context.Context, address string, w io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err == nil {
		err = fs.Guard.CheckURL(address) // what a resolver may or may not take for an address
	}
	switch {
	case errors.Is(err, guard.ErrRefused):
		return &provider.Rejected{Message: "its address is private"}
	case err != nil:
		return &provider.Rejected{Message: "its address is not valid"}
	}
	res, err := fs.web.Do(req)
	if errors.Is(err, guard.ErrRefused) {
		return &provider.Rejected{Message: "its address is private"}
	}
	if err != nil {
		return fmt.Errorf("downloading: %w", errors.Unwrap(err)) // without the address, which may be a secret
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusNotFound, res.StatusCode == http.StatusGone:
		return &provider.Rejected{Message: "its address does not exist"}
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("downloading: HTTP status %d", res.StatusCode)
	}
	_, err = io.Copy(w, res.Body)
	return err
}

// maxRedirects is how many redirects lead to a file.
const maxRedirects = 10

// checkRedirect follows a redirect within the web. Each target is guarded when it is
// dialled.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects || req.URL.Scheme != "https" && req.URL.Scheme != "http" {
		return &provider.Rejected{Message: "its address does not exist"}
	}
	return nil
}
