package usage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	refreshInterval = 24 * time.Hour
	pollInterval    = 10 * time.Minute // for a table that another node has fetched
	fetchTimeout    = time.Minute
	maxSource       = 16 << 20
)

// source is a file or URL with prices.
type source struct {
	name string // as it was configured: the key of the copy
	url  bool
}

// sourceRow is a row of usage_table.
type sourceRow struct {
	Source  string
	ETag    string `db:"etag"`
	Checked int64  `db:"checked_us"`
	Version string
	Items   string
}

// openPrices loads the prices that need no network: the built-in table, a file, or
// the stored copy of a URL.
func (l *Ledger) openPrices(ctx context.Context) error {
	l.prices.Store(&tables{builtInTable()})
	name := l.opts.Prices
	if name == "" {
		return nil
	}
	l.source = &source{name: name, url: strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")}
	if l.source.url {
		_, err := l.loadCopy(ctx)
		return err
	}
	b, err := readFile(name)
	if err != nil {
		return err
	}
	items, err := ParsePrices(b)
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	l.use(versionOf(b), items)
	return nil
}

// use gives prices precedence over the built-in ones.
func (l *Ledger) use(version string, items []Price) {
	l.prices.Store(&tables{newTable(sourceFile, version, items), builtInTable()})
}

// given returns the prices of the source; nil: none yet.
func (l *Ledger) given() *table {
	if t := (*l.prices.Load())[0]; t.source == sourceFile {
		return t
	}
	return nil
}

// Refresh reads the source of prices again, whatever its age. It refuses the table,
// and keeps the current prices, if the table is invalid, if a price has changed
// more than tenfold, or if more than a fifth of the models are missing.
func (l *Ledger) Refresh(ctx context.Context) error {
	if l.source == nil {
		return nil
	}
	if !l.source.url {
		b, err := readFile(l.source.name)
		if err != nil {
			return err
		}
		return l.usePrices(b)
	}
	row, err := l.loadCopy(ctx)
	if err != nil {
		return err
	}
	b, etag, err := l.fetch(ctx, row.ETag)
	if err != nil {
		return err
	}
	if b != nil {
		if err := l.usePrices(b); err != nil {
			return err
		}
		row.ETag, row.Version, row.Items = etag, l.given().version, string(b)
	}
	return l.storeCopy(ctx, row)
}

// usePrices uses a table unless it is implausible.
func (l *Ledger) usePrices(b []byte) error {
	items, err := ParsePrices(b)
	if err != nil {
		return fmt.Errorf("reading prices: %w", err)
	}
	next := newTable(sourceFile, versionOf(b), items)
	if before := l.given(); before != nil {
		err = before.suspect(next, true)
	} else { // the built-in ones show whether the unit is right
		err = builtInTable().suspect(next, false)
	}
	if err != nil {
		return err
	}
	l.use(next.version, items)
	return nil
}

// suspect returns why next is implausible as the successor of t.
func (t *table) suspect(next *table, shrinks bool) error {
	if shrinks && 5*len(next.prices) < 4*len(t.prices) {
		return fmt.Errorf("the prices are refused: of %d models %d are left", len(t.prices), len(next.prices))
	}
	for key, p := range next.prices {
		before := t.prices[key]
		if before == nil || before.SameAs != "" || p.SameAs != "" {
			continue
		}
		if leaps(before.Input, p.Input) || leaps(before.Output, p.Output) {
			return fmt.Errorf("the prices are refused: those of %s/%s have moved more than tenfold", key.provider, key.model)
		}
	}
	return nil
}

// leaps reports whether a price has changed more than tenfold. A price may change
// from zero, but not to zero.
func leaps(before, after Rate) bool {
	return before > 0 && (after > 10*before || 10*after < before)
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name) //nolint:gosec // the operator chose it
	if err != nil {
		return nil, fmt.Errorf("reading prices: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	return readAll(f)
}

func readAll(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxSource+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading prices: %w", err)
	case len(b) > maxSource:
		return nil, fmt.Errorf("reading prices: they have more than %d MiB", maxSource>>20)
	}
	return b, nil
}

// fetch fetches the source; nil: it has not changed.
func (l *Ledger) fetch(ctx context.Context, etag string) ([]byte, string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.source.name, http.NoBody)
	if err != nil {
		return nil, "", errors.New("fetching prices: the URL is malformed") // the error may quote a password
	}
	if etag != "" && l.given() != nil {
		req.Header.Set("If-None-Match", etag)
	}
	res, err := l.opts.Client.Do(req)
	if err != nil {
		return nil, "", fmt.Errorf("fetching prices: %w", bare(err))
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusNotModified:
		return nil, etag, nil
	case http.StatusOK:
	default:
		return nil, "", fmt.Errorf("fetching prices: the server answers %d", res.StatusCode)
	}
	b, err := readAll(res.Body)
	return b, truncate(res.Header.Get("ETag"), 200), err
}

// bare returns an error of a client without the URL, which may contain a password.
func bare(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// loadCopy uses the stored copy of the source, if it is newer.
func (l *Ledger) loadCopy(ctx context.Context) (sourceRow, error) {
	row := sourceRow{Source: l.source.name}
	err := l.db.GetContext(ctx, &row, `SELECT source, etag, checked_us, version, items FROM usage_table WHERE source = $1`, keyOf(l.source.name))
	if errors.Is(err, sql.ErrNoRows) {
		return row, nil
	}
	if err != nil {
		return row, fmt.Errorf("reading kept prices: %w", err)
	}
	if t := l.given(); t != nil && t.version == row.Version {
		return row, nil
	}
	items, err := ParsePrices([]byte(row.Items))
	if err != nil {
		return row, fmt.Errorf("reading kept prices: %w", err)
	}
	l.use(row.Version, items)
	return row, nil
}

func (l *Ledger) storeCopy(ctx context.Context, row sourceRow) error {
	row.Source, row.Checked = keyOf(l.source.name), database.Micros(l.opts.Now())
	err := l.db.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.NamedExecContext(context.WithoutCancel(ctx), `INSERT INTO usage_table (source, etag, checked_us, version, items)
			VALUES (:source, :etag, :checked_us, :version, :items) ON CONFLICT (source) DO UPDATE SET
			etag = excluded.etag, checked_us = excluded.checked_us, version = excluded.version, items = excluded.items`, row)
		return err
	})
	if err != nil {
		return fmt.Errorf("keeping prices: %w", err)
	}
	return nil
}

// keyOf returns a key for a source that hides the URL, which may contain a
// password.
func keyOf(name string) string { return versionOf([]byte(name)) }

// Run refreshes prices, deletes ended windows of budgets and rolls calls up until ctx
// ends. Any number of processes may run it.
func (l *Ledger) Run(ctx context.Context) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	var read time.Time // a file, last
	for {
		if err := l.refreshDue(ctx, &read); err != nil && ctx.Err() == nil {
			l.opts.Logger.WarnContext(ctx, "prices of models could not be read again: the last good ones stay", slog.Any("error", err))
		}
		if err := l.forgetSpent(ctx); err != nil && ctx.Err() == nil {
			l.opts.Logger.WarnContext(ctx, "forgetting what budgets have counted failed", slog.Any("error", err))
		}
		if err := l.RollUp(ctx); err != nil && ctx.Err() == nil {
			l.opts.Logger.WarnContext(ctx, "rolling calls of models up failed: reports read the calls", slog.Any("error", err))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// refreshDue refreshes prices once a day, across all nodes of a database.
func (l *Ledger) refreshDue(ctx context.Context, read *time.Time) error {
	if l.source == nil {
		return nil
	}
	if l.source.url {
		row, err := l.loadCopy(ctx)
		if err != nil {
			return err
		}
		*read = database.Time(row.Checked)
	} else if read.IsZero() {
		*read = l.opts.Now() // New has read it
	}
	if l.opts.Now().Sub(*read) < refreshInterval {
		return nil
	}
	if !l.source.url {
		*read = l.opts.Now()
	}
	return l.Refresh(ctx)
}
