package settings

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/session"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Effective are a reference's own settings and, where it has none, those for
// all references of its kind. They are never stored: the operator may change
// them between two starts.
func Effective(p provider.Provider, own provider.Settings) provider.Settings {
	if d, ok := p.(provider.Defaulter); ok {
		return own.With(d.Defaults())
	}
	return own
}

// completeTimeout is how long a network is asked for settings that a reference
// lacks.
const completeTimeout = 10 * time.Second

// Complete asks the network for settings that a reference lacks, and stores
// them. When the network does not tell, the reference stays as it is and
// [provider.Inspector] says what is missing.
func (b *Box) Complete(ctx context.Context, row *store.Reference) *store.Reference {
	out, err := b.completed(ctx, row)
	if err != nil {
		b.Logger.WarnContext(ctx, "the network does not tell the settings that a reference lacks",
			slog.Int64("reference", int64(row.ID)), slog.Any("error", err))
		return row
	}
	return out
}

func (b *Box) completed(ctx context.Context, row *store.Reference) (*store.Reference, error) {
	p, err := b.Store.Provider(row.Kind)
	if err != nil {
		return nil, err
	}
	asked, ok := p.(provider.Completer)
	if !ok {
		return row, nil
	}
	own, err := b.Open(p, row)
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, completeTimeout)
	defer cancel()
	found, err := asked.Complete(within, Effective(p, own))
	if err != nil || len(found) == 0 {
		return row, err
	}
	settings, err := Check(p, own.With(found))
	if err != nil {
		return nil, errors.New("the network told what cannot be a setting")
	}
	var out *store.Reference
	err = b.Store.DB.InTx(ctx, func(tx *database.Tx) (err error) {
		u := b.Store.Begin(tx)
		if out, err = store.LockReference(ctx, u, row.ID); err != nil || out.Revision != row.Revision {
			return err // the settings were changed meanwhile
		}
		if err := b.Write(ctx, tx, p, out, settings); err != nil {
			return err
		}
		out.Proved = true // a token that lists the number may read it
		out.ProbeUS = database.Micros(b.Store.Now())
		return session.Write(ctx, tx, out)
	})
	if err != nil {
		return nil, err
	}
	b.Changed()
	return out, nil
}

// Inspect reports what a reference cannot do with its settings.
func Inspect(p provider.Provider, own provider.Settings, r *store.Reference) []payload.HealthReport {
	i, ok := p.(provider.Inspector)
	if !ok {
		return nil
	}
	var out []payload.HealthReport
	for _, a := range session.Issues(i.Inspect(Effective(p, own)), r.UpdatedUS) {
		out = append(out, a.Report())
	}
	return out
}
