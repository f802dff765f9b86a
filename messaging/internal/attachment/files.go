package attachment

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/internal/span"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/wait"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/provider"
)

// Files are the files of messages. Its fields are set before first use.
type Files struct {
	Store   *store.Store
	Library *media.Library // nil: no files are kept
	Guard   *guard.Guard
	Waits   *wait.Waiters
	Logger  *slog.Logger
	Trace   span.Hook
	// Session returns the open session of a reference.
	Session func(ctx context.Context, row *store.Reference) (provider.Session, error)

	web *http.Client // reaches nothing private
}

// New returns f, ready for use.
func New(f Files) *Files {
	f.web = f.Guard.Client()
	f.web.CheckRedirect = checkRedirect
	return &f
}
