package versions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
)

// Version is what a flow was when it was published. It never changes.
type Version struct {
	Version   int64
	Document  json.RawMessage
	Functions []Pinned // what it calls, in the order of their slugs; never nil
	CreatedAt time.Time
}

// Pinned is a function as a published flow calls it.
type Pinned struct {
	Slug     string          `json:"slug"`
	Flow     string          `json:"flow"`
	Version  int64           `json:"version"`
	Document json.RawMessage `json:"document"` // so that it outlives the function
}

type versionRow struct {
	Version             int64
	Document, Functions string
	Created             int64 `db:"created_us"`
}

func (r versionRow) view() Version {
	return Version{Version: r.Version, Document: json.RawMessage(r.Document), Functions: ReadFunctions(r.Functions), CreatedAt: database.Time(r.Created)}
}

// Bytes returns the size of all versions of an account's flows, with the
// functions that they pin.
func (s *Store) Bytes(ctx context.Context, q database.Reader, account string) (n int64, err error) {
	size := `octet_length(v.document)`
	if s.opts.Functions {
		size += ` + octet_length(v.functions)`
	}
	err = q.GetContext(ctx, &n, `SELECT CAST(COALESCE(SUM(`+size+`), 0) AS BIGINT) FROM `+s.opts.Versions+` AS v JOIN `+s.opts.Flows+` AS f
		ON f.id = v.`+s.opts.Key+` WHERE f.account = $1 AND NOT f.removed`, account)
	if err != nil {
		return 0, fmt.Errorf("measuring the versions of an account: %w", err)
	}
	return n, nil
}

// ReadFunctions reads the functions of a version as they are stored; they are
// never nil.
func ReadFunctions(text string) []Pinned {
	pins := []Pinned{}
	if text != "" {
		_ = json.Unmarshal([]byte(text), &pins) // written by this package
	}
	return pins
}

// WriteFunctions writes the functions of a version as they are stored, the
// documents without more escapes than they had: those would make them too large
// to be read again.
func WriteFunctions(pins []Pinned) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(pins)
	return bytes.TrimSpace(b.Bytes()), err
}

// columns are those of a version, each after a prefix.
func (s *Store) columns(prefix string) string {
	columns := prefix + `version, ` + prefix + `document, `
	if s.opts.Functions {
		columns += prefix + `functions, `
	}
	return columns + prefix + `created_us`
}

// Version returns a published version of a flow of an account, or
// Options.NotFound.
func (s *Store) Version(ctx context.Context, q database.Reader, account, id string, version int64) (Version, error) {
	var r versionRow
	if uuid.Validate(id) != nil {
		return Version{}, s.opts.NotFound
	}
	err := q.GetContext(ctx, &r, `SELECT `+s.columns(`v.`)+` FROM `+s.opts.Versions+` v
		JOIN `+s.opts.Flows+` f ON f.id = v.`+s.opts.Key+` WHERE v.`+s.opts.Key+` = $1 AND v.version = $2 AND f.account = $3 AND NOT f.removed`, id, version, account)
	if errors.Is(err, sql.ErrNoRows) {
		return Version{}, s.opts.NotFound
	}
	if err != nil {
		return Version{}, fmt.Errorf("reading a version: %w", err)
	}
	return r.view(), nil
}

// Versions lists what was published of a flow of an account, the oldest first. A
// page holds fewer where documents are large. For a flow that does not exist it
// returns Options.NotFound.
func (s *Store) Versions(ctx context.Context, account, id string, l page.List) (page.Page[Version], error) {
	if _, _, err := l.Parse(); err != nil {
		return page.Page[Version]{}, err
	}
	if err := s.check(ctx, account, id); err != nil {
		return page.Page[Version]{}, err
	}
	which := ` FROM ` + s.opts.Versions + ` WHERE ` + s.opts.Key + ` = $1 AND version > $2 ORDER BY version LIMIT $3`
	weight := `OCTET_LENGTH(document)`
	if s.opts.Functions {
		weight += ` + OCTET_LENGTH(functions)`
	}
	return page.Read(ctx, s.db, l, "versions", func(r versionRow) int64 { return r.Version }, versionRow.view, s.columns(``), weight, which, id)
}

// hash is that of the content of a version.
func (s *Store) hash(e Edition, functions []byte) string {
	if !s.opts.Functions {
		return e.Document.Hash()
	}
	sum := sha256.Sum256(append([]byte(e.Document.Hash()), functions...))
	return hex.EncodeToString(sum[:])
}
