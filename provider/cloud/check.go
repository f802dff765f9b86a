package cloud

import (
	"context"
	"log/slog"
	"slices"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// Check reads the phone number, which proves the token's permission, subscribes
// the app to the account's events, and reads the health of both. Health that
// the network does not report is left out.
func (s *session) Check(ctx context.Context) (provider.Account, error) {
	if err := s.Alive(); err != nil {
		return provider.Account{}, err
	}
	n, err := s.Number(ctx)
	if err != nil {
		return provider.Account{}, err
	}
	if n.ID != s.phone {
		return provider.Account{}, &provider.Rejected{Message: "the network answered for another phone number than " + s.phone}
	}
	if s.waba != "" { // otherwise there is no account to subscribe to, which Inspect reports
		if err := s.ensureSubscribed(ctx); err != nil {
			return provider.Account{}, err
		}
	}
	account := provider.Account{ID: s.phone, Name: n.Display, VerifiedBizName: n.VerifiedName}
	account.Health = append(account.Health, s.numberHealth(ctx, n))
	if h, reported := s.graph.TokenHealth(ctx, s.log); reported {
		account.Health = append(account.Health, h)
	}
	return account, nil
}

// numberHealth reads the health of the number, and adapts the rate of sends.
func (s *session) numberHealth(ctx context.Context, n Number) provider.Health {
	more, err := s.number(ctx, healthFields)
	if err != nil {
		s.log.WarnContext(ctx, "the number's health is not known", slog.Any("error", err))
	} else {
		s.limiter.learn(s.phone, more)
		more.Quality = first(n.Quality, more.Quality)
	}
	h := graph.Health("phone_number", more)
	h.Phone = number(n.Display)
	h.State, h.Limit = n.Quality, more.Limit
	h.Detail = listed([]string{more.Status, more.Throughput, more.CanSend})
	switch {
	case more.CanSend == "BLOCKED":
		h.Level, h.Code = provider.HealthStopped, provider.HealthBanned
	case more.CanSend == "LIMITED", n.Quality == "RED", more.Status != "" && more.Status != "CONNECTED":
		h.Level, h.Code = provider.HealthWarning, provider.HealthLimited
	case n.Quality == "GREEN":
		h.Level = provider.HealthGood
	}
	return h
}

// Subscribe subscribes the app to the business account's events, which all
// subscribed apps get. The network verifies a callback address of its own at
// once.
func (s *session) Subscribe(ctx context.Context, callbackURL string) error {
	if err := s.Alive(); err != nil {
		return err
	}
	overridden, err := s.overridden(ctx)
	if err != nil {
		return err
	}
	return s.subscribe(ctx, callbackURL, overridden)
}

// ensureSubscribed repeats the subscription of the app. Without it the network
// posts no callbacks, whatever the app's dashboard shows.
func (s *session) ensureSubscribed(ctx context.Context) error {
	overridden, err := s.overridden(ctx)
	if err != nil || overridden {
		return err
	}
	return s.subscribe(ctx, s.callback, false)
}

// subscribe subscribes to the events. A plain subscription removes the address
// of an earlier one, so it has to come first.
func (s *session) subscribe(ctx context.Context, callbackURL string, overridden bool) error {
	if callbackURL == "" || !overridden {
		if err := s.Client.Subscribe(ctx, "", ""); err != nil {
			return err
		}
	}
	if callbackURL == "" {
		return nil
	}
	return s.Client.Subscribe(ctx, callbackURL, s.verify)
}

// overridden reports whether the network still has the address that this
// reference was subscribed with. The address may be another app's.
func (s *session) overridden(ctx context.Context) (bool, error) {
	if s.callback == "" {
		return false, nil
	}
	apps, err := s.Apps(ctx)
	return slices.ContainsFunc(apps, func(a App) bool { return a.CallbackURL == s.callback }), err
}
