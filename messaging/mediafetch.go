package messaging

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
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	// fetchTimeout bounds one attempt to fetch a file.
	fetchTimeout = 10 * time.Minute
	// fetchTTL is how long a file that does not come is asked for.
	fetchTTL = 24 * time.Hour
	// maxFetchAttempts is how often a file that is not the promised one is fetched:
	// the network may have mixed it up, or told it too early.
	maxFetchAttempts = 3
	// maxFetchSize is the longest file that is taken.
	maxFetchSize = 100 << 20
	// maxConcurrentFetches is how many files of one reference are fetched at once by a node.
	maxConcurrentFetches = 8
)

// fetched is what an attempt to fetch a file found out.
type fetched struct {
	id     string
	seq    int64
	source store.FileSource
	file   *media.File
	lost   *Failure // for good

	channels int // of Opus in Ogg that the account sends by its address
}

// handleFile makes one attempt to fetch a file. It is stored under an id that
// stays, so that a repeat replaces what a killed process has left.
func (s *Service) handleFile(ctx context.Context, it queue.Job) queue.Outcome {
	done := queue.Outcome{Job: it, Result: queue.Done}
	f, err := s.file(ctx, it.Subject)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return done // deleted meanwhile
	case err != nil:
		return s.refetch(ctx, it, err)
	case f.Gone || !f.Waiting:
		return done
	}
	out := fetched{id: f.ID, seq: f.Message}
	if err := json.Unmarshal([]byte(f.Detail), &out.source); err != nil {
		return s.refetch(ctx, it, err)
	}
	saved, err := s.fetch(ctx, f, &out.source)
	if err == nil && out.source.Link {
		out.channels, err = s.opusChannels(ctx, saved.ID, saved.Type)
	}
	if err != nil {
		if out.lost = s.givenUp(it, err, out.source.Link); out.lost == nil {
			return s.refetch(ctx, it, err)
		}
	} else {
		out.file = &saved
		if now, err := s.file(ctx, f.ID); errors.Is(err, sql.ErrNoRows) || err == nil && now.Gone { // deleted while it came
			if err := s.removeFile(ctx, f.ID); err != nil {
				return s.refetch(ctx, it, err)
			}
			return done
		}
	}
	done.Data = out
	return done
}

// refetch tries again later. The files behind it are not kept waiting.
func (s *Service) refetch(ctx context.Context, it queue.Job, err error) queue.Outcome {
	if ctx.Err() == nil {
		s.opts.Logger.WarnContext(ctx, "fetching a file", slog.Any("error", err))
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
func (s *Service) givenUp(it queue.Job, err error, link bool) *Failure {
	var rejected *provider.Rejected
	var large *media.TooLarge
	var mismatch *media.Mismatch
	switch {
	case errors.As(err, &rejected) && link:
		return &Failure{Code: store.CodeMediaUnavailable, Message: "There is no copy of the file: " + rejected.Message, Advice: rejected.Advice}
	case errors.As(err, &rejected):
		return &Failure{Code: store.CodeMediaUnavailable, Message: "The network does not have the file: " + rejected.Message, Advice: rejected.Advice}
	case errors.As(err, &large):
		return &Failure{Code: store.CodeMediaTooLarge, Message: fmt.Sprintf("The file has more than %d bytes.", large.Max)}
	case errors.Is(err, media.ErrEmpty):
		return &Failure{Code: store.CodeMediaMismatch, Message: "The file is empty."}
	case errors.As(err, &mismatch) && mismatch.Field == "type":
		return &Failure{Code: store.CodeMediaMismatch, Message: "The file is not of the type that was promised."}
	case errors.As(err, &mismatch), errors.Is(err, provider.ErrMismatch):
		if it.Attempt+1 >= maxFetchAttempts {
			return &Failure{Code: store.CodeMediaMismatch, Message: "The file is not the one that was promised: its digest differs."}
		}
	case !it.Since.IsZero() && time.Since(it.Since) > fetchTTL:
		return &Failure{Code: store.CodeMediaUnavailable, Message: "The file could not be fetched within a day."}
	}
	return nil
}

// fetch copies a file from where it is into the library.
func (s *Service) fetch(ctx context.Context, f *fileRow, source *store.FileSource) (media.File, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	from, err := s.open(ctx, f, source)
	if err != nil {
		return media.File{}, err
	}
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = w.CloseWithError(recovered(func() error { return from(ctx, w) })) // nil ends the file
	}()
	saved, err := s.opts.Media.Save(ctx, r, media.Upload{ID: f.ID, Max: maxFetchSize, SHA256: source.SHA256, Type: source.MIME})
	cancel()
	_ = r.CloseWithError(io.ErrClosedPipe)
	<-done
	return saved, err
}

// recovered runs the code of a provider where nobody would recover.
func recovered(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return fn()
}

// open finds who has a file: the library itself, the network, or whoever
// serves its address.
func (s *Service) open(ctx context.Context, f *fileRow, source *store.FileSource) (func(context.Context, io.Writer) error, error) {
	if source.Stored != "" {
		return func(ctx context.Context, w io.Writer) error { return s.copyStored(ctx, f.Account, source.Stored, w) }, nil
	}
	if source.Link {
		return func(ctx context.Context, w io.Writer) error { return s.download(ctx, source.URL, w) }, nil
	}
	ref := &store.Reference{}
	if err := s.db.GetContext(ctx, ref, `SELECT `+store.ReferenceColumns+` FROM messaging_reference WHERE id = $1`, f.Reference); err != nil {
		return nil, fmt.Errorf("loading reference %d: %w", f.Reference, err)
	}
	sess, err := s.sessions.get(ctx, s, ref)
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
		return nil, &provider.Rejected{Message: "this kind of line hands out no files"}
	}
	return func(ctx context.Context, w io.Writer) error { return s.download(ctx, source.URL, w) }, nil
}

// copyStored copies a file of the library that belongs to the account.
func (s *Service) copyStored(ctx context.Context, account, id string, w io.Writer) error {
	f, err := s.file(ctx, id)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (f.Account != account || f.Gone || f.Waiting) {
		return &provider.Rejected{Message: "there is no such file"}
	}
	if err != nil {
		return err
	}
	obj, err := s.opts.Media.Open(ctx, id)
	if errors.Is(err, media.ErrNotFound) {
		return &provider.Rejected{Message: "there is no such file"}
	}
	if err != nil {
		return err
	}
	defer obj.Close() //nolint:errcheck // only read
	_, err = io.Copy(w, obj)
	return err
}

// download copies what an address serves, unless that is private.
func (s *Service) download(ctx context.Context, address string, w io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err == nil {
		err = s.guard.CheckURL(address) // what a resolver may or may not take for an address
	}
	switch {
	case errors.Is(err, guard.ErrRefused):
		return &provider.Rejected{Message: "its address is private"}
	case err != nil:
		return &provider.Rejected{Message: "its address is none"}
	}
	res, err := s.web.Do(req)
	if errors.Is(err, guard.ErrRefused) {
		return &provider.Rejected{Message: "its address is private"}
	}
	if err != nil {
		return fmt.Errorf("downloading: %w", errors.Unwrap(err)) // without the address, which may be a secret
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusNotFound, res.StatusCode == http.StatusGone:
		return &provider.Rejected{Message: "its address leads nowhere"}
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
		return &provider.Rejected{Message: "its address leads nowhere"}
	}
	return nil
}
