package messaging

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// effective are a reference's own settings and, where it has none, those for
// all references of its kind. They are never stored: the operator may change
// them between two starts.
func effective(p provider.Provider, own provider.Settings) provider.Settings {
	if d, ok := p.(provider.Defaulter); ok {
		return own.With(d.Defaults())
	}
	return own
}

// completeTimeout is how long a network is asked for settings that a reference
// lacks.
const completeTimeout = 10 * time.Second

// complete asks the network for settings that a reference lacks, and stores
// them. When the network does not tell, the reference stays as it is and
// [provider.Inspector] says what is missing.
func (s *Service) complete(ctx context.Context, row *store.Reference) *store.Reference {
	out, err := s.completed(ctx, row)
	if err != nil {
		s.opts.Logger.WarnContext(ctx, "the network does not tell the settings that a reference lacks",
			slog.Int64("reference", int64(row.ID)), slog.Any("error", err))
		return row
	}
	return out
}

func (s *Service) completed(ctx context.Context, row *store.Reference) (*store.Reference, error) {
	p, err := s.kind(row.Kind)
	if err != nil {
		return nil, err
	}
	asked, ok := p.(provider.Completer)
	if !ok {
		return row, nil
	}
	own, err := s.openSettings(p, row)
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, completeTimeout)
	defer cancel()
	found, err := asked.Complete(within, effective(p, own))
	if err != nil || len(found) == 0 {
		return row, err
	}
	settings, err := checkSettings(p, own.With(found))
	if err != nil {
		return nil, errors.New("the network told what cannot be a setting")
	}
	var out *store.Reference
	err = s.db.InTx(ctx, func(tx *sqlx.Tx) (err error) {
		u := s.store.Begin(tx)
		if out, err = store.LockReference(ctx, u, row.ID); err != nil || out.Revision != row.Revision {
			return err // somebody has changed the settings meanwhile
		}
		if err := s.writeSettings(ctx, tx, p, out, settings); err != nil {
			return err
		}
		out.Proved = true // a token that lists the number may read it
		out.ProbeUS = database.Micros(s.now())
		return writeSession(ctx, tx, out)
	})
	if err != nil {
		return nil, err
	}
	s.referencesChanged()
	return out, nil
}

// inspect reports what a reference cannot do with its settings.
func inspect(p provider.Provider, own provider.Settings, r *store.Reference) []HealthReport {
	i, ok := p.(provider.Inspector)
	if !ok {
		return nil
	}
	var out []HealthReport
	for _, a := range healthIssues(i.Inspect(effective(p, own)), r.UpdatedUS) {
		out = append(out, HealthReport{a.Kind, levelNames[a.Level], a.Message, payload.TimeOf(a.AtUS)})
	}
	return out
}
