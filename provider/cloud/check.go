package cloud

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/trunklinehq/trunkline/provider"
)

// expiresSoon is how long before its end a token's owner is warned.
const expiresSoon = 7 * 24 * time.Hour

// Check reads the phone number, which proves that the token may, subscribes
// the app to the account's events, and asks for the health of both. What the
// network does not tell of that costs nothing.
func (s *session) Check(ctx context.Context) (provider.Account, error) {
	if err := s.alive(); err != nil {
		return provider.Account{}, err
	}
	n, err := s.Number(ctx)
	if err != nil {
		return provider.Account{}, err
	}
	if n.ID != s.phone {
		return provider.Account{}, &provider.Rejected{Message: "the network answered for another phone number than " + s.phone}
	}
	if err := s.ensureSubscribed(ctx); err != nil {
		return provider.Account{}, err
	}
	account := provider.Account{ID: s.phone, Name: n.Display, VerifiedBizName: n.VerifiedName}
	account.Health = append(account.Health, s.numberHealth(ctx, n))
	if h, told := s.tokenHealth(ctx); told {
		account.Health = append(account.Health, h)
	}
	return account, nil
}

// numberHealth asks for more of the number and adapts the rate of sends.
func (s *session) numberHealth(ctx context.Context, n Number) provider.Health {
	more, err := s.number(ctx, healthFields)
	if err != nil {
		s.log.WarnContext(ctx, "the number's health is not known", slog.Any("error", err))
	} else {
		s.pace.learn(s.phone, more)
		more.Quality = first(n.Quality, more.Quality)
	}
	h := health("phone_number", more)
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

// tokenHealth asks how long the token lives; told is false when the network
// does not say.
func (s *session) tokenHealth(ctx context.Context) (h provider.Health, told bool) {
	t, err := s.Token(ctx)
	if err != nil {
		s.log.WarnContext(ctx, "the life of the access token is not known", slog.Any("error", err))
		return provider.Health{}, false
	}
	h = health("access_token", t)
	h.State, h.Level = "VALID", provider.HealthGood
	switch {
	case !t.Valid:
		h.State, h.Level, h.Code = "INVALID", provider.HealthStopped, provider.HealthCredentials
	case !t.Expires.IsZero():
		h.Detail = "ends " + t.Expires.UTC().Format(time.RFC3339)
		if t.Expires.Sub(s.pace.now()) < expiresSoon {
			h.State, h.Level, h.Code = "EXPIRES", provider.HealthWarning, provider.HealthCredentials
		}
	}
	return h, true
}

// health has no time: it is what was so when it was asked for.
func health(kind string, what any) provider.Health {
	body, _ := json.Marshal(what) // plain values
	return provider.Health{Raw: provider.Raw{ID: kind, Kind: kind, Body: body}}
}
