package cloud

import (
	"context"
	"slices"
)

// Subscribe asks for the business account's events, which come to all apps
// that did. A callback address of its own must pass the handshake at once.
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

// ensureSubscribed subscribes the app as it was before: without that no
// callback comes, whatever the app's dashboard says.
func (s *session) ensureSubscribed(ctx context.Context) error {
	overridden, err := s.overridden(ctx)
	if err != nil || overridden {
		return err
	}
	return s.subscribe(ctx, s.callback, false)
}

// subscribe asks for the events. A plain subscription ends the address of an
// earlier one, and comes before the first that has one.
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

// overridden says whether the network still has the address that this reference was
// subscribed with. An address of another app's proves nothing.
func (s *session) overridden(ctx context.Context) (bool, error) {
	if s.callback == "" {
		return false, nil
	}
	apps, err := s.Apps(ctx)
	return slices.ContainsFunc(apps, func(a App) bool { return a.CallbackURL == s.callback }), err
}
