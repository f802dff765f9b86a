package knowledge

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/apierr"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Limits of files and projects.
const (
	MaxFile    = 10 << 20  // bytes of a file
	MaxProject = 100 << 20 // bytes of all files of a project
	maxFiles   = 1000      // of a project
)

// ErrNotFound reports a file or a project that does not exist, or belongs to
// another account.
var ErrNotFound = apierr.New("knowledge", apierr.NotFound, "there is no such project or file")

// Invalid reports a value that breaks a rule. It has the Field, a path in the
// request, and the Message, to be read after the field; never the value, which
// may be a secret.
//
// Fields are name, type, data, limit and cursor.
type Invalid = apierr.Invalid

// ErrUnsupported reports a type of file from which no text can be extracted.
var ErrUnsupported = apierr.New("knowledge", apierr.Unsupported,
	"text cannot be extracted from this type of file: use text, Markdown, CSV, JSON or HTML")

// TooLarge reports that a file, its text including repeated headings, or all files
// of its project have too many bytes.
type TooLarge struct {
	What  string // "file", "text" or "project"
	Limit int64  // bytes
}

func (e *TooLarge) Error() string {
	return fmt.Sprintf("knowledge: the %s is larger than %d bytes", e.What, e.Limit)
}

// Texts are texts to embed.
type Texts struct {
	Account, Project string
	Flow, Run        string // that searches; "": a file is being stored
	Texts            []string
}

// Options configures a [Service].
type Options struct {
	// Embed returns the embeddings of texts: see [llm.Embedder]. Errors are logged,
	// and passages are then found only by their words. nil: there are no
	// embeddings.
	//
	// [llm.Embedder]: https://pkg.go.dev/github.com/trunklinehq/trunkline/aiflow/llm#Embedder
	Embed func(ctx context.Context, t Texts) ([][]float32, error)
	// Admit can refuse a file of an account. It is called before anything is stored
	// or sent to a model. nil: no file is refused.
	Admit  func(ctx context.Context, account string, bytes int64) error
	Logger *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
}

// Service stores and searches files. It is safe for concurrent use.
type Service struct {
	db   *database.DB
	opts Options
}

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the tables of this package. Those of package aiflow
// must exist. [New] does it, too.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	return database.Migrate(ctx, db, "knowledge", migrations)
}

// New returns a Service over db. It creates or upgrades its tables.
func New(ctx context.Context, db *sqlx.DB, opts *Options) (*Service, error) {
	s := &Service{}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.Logger = cmp.Or(s.opts.Logger, slog.Default())
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	var err error
	if s.db, err = database.Prepare(ctx, db, "knowledge", Migrate); err != nil {
		return nil, err
	}
	return s, nil
}

// Account is the part of a [Service] that belongs to one account. It finds nothing
// that belongs to another account.
type Account struct {
	s  *Service
	id string
}

// For returns the service for one account.
func (s *Service) For(account string) *Account { return &Account{s: s, id: account} }
