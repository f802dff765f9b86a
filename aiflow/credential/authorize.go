package credential

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Authorize adds a credential of an account to a request. The errors [ErrNotFound],
// [ErrHost] and [ErrPlain] do not reveal the secret; the request is then unchanged.
func (s *Service) Authorize(ctx context.Context, account, id string, r *http.Request) error {
	c, err := s.For(account).row(ctx, id)
	if err != nil {
		return err
	}
	if !mayVisit(hostsOf(c.Hosts), r.URL) {
		return ErrHost
	}
	if r.URL.Scheme != "https" && !s.guard.Lists(r.URL) {
		return ErrPlain
	}
	secret, err := s.open(c)
	if err != nil {
		return err
	}
	switch c.Kind {
	case Bearer:
		r.Header.Set("Authorization", "Bearer "+secret)
	case Basic:
		r.SetBasicAuth(c.Username, secret)
	case Header:
		r.Header.Set(c.Field, secret)
	case Query:
		addQuery(r.URL, c.Field, secret)
	}
	return nil
}

// addQuery sets a parameter. It leaves other parameters as they were written.
func addQuery(u *url.URL, name, value string) {
	if q := u.Query(); q.Has(name) {
		q.Set(name, value)
		u.RawQuery = q.Encode()
		return
	}
	pair := url.Values{name: {value}}.Encode()
	if u.RawQuery != "" {
		pair = u.RawQuery + "&" + pair
	}
	u.RawQuery = pair
}

// sealedAs binds a secret to its row: a sealed value that is copied to another row
// cannot be opened.
func sealedAs(id string) string { return "credential_secret:" + id + ":secret" }

func (s *Service) open(r row) (string, error) {
	if s.keys == nil {
		return "", errors.New("credential: the credential is sealed, and Options.Secrets is empty")
	}
	secret, err := s.keys.Open(sealedAs(r.ID), r.Secret)
	if err != nil {
		return "", fmt.Errorf("opening credential %s: %w", r.ID, err)
	}
	return string(secret), nil
}

// reseal seals all values that a retired secret has sealed with the first secret,
// so that the retired one can be dropped. It returns an error if a value cannot be
// opened.
func (s *Service) reseal(ctx context.Context) error {
	if s.keys == nil {
		return nil
	}
	var rows []row
	if err := s.db.SelectContext(ctx, &rows, `SELECT `+columns+` FROM credential_secret WHERE secret NOT LIKE $1`, s.keys.Prefix()+"%"); err != nil {
		return fmt.Errorf("looking for what is sealed under a retired secret: %w", err)
	}
	for _, r := range rows {
		secret, err := s.open(r)
		if err != nil {
			return err
		}
		err = s.db.Write(ctx, func(tx *database.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE credential_secret SET secret = $1 WHERE id = $2`, s.keys.Seal(sealedAs(r.ID), []byte(secret)), r.ID)
			return err
		})
		if err != nil {
			return fmt.Errorf("sealing credential %s again: %w", r.ID, err)
		}
	}
	return nil
}
