package store

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// Provider returns the provider of a kind of references.
func (s *Store) Provider(k provider.Kind) (provider.Provider, error) {
	p, ok := s.Kinds[k]
	if !ok {
		return nil, fmt.Errorf("messaging: no provider of kind %s is configured", k)
	}
	return p, nil
}

// Opened reads a reference of an account, with its provider.
func (s *Store) Opened(ctx context.Context, q database.Reader, account string, id provider.ReferenceID) (*Reference, provider.Provider, error) {
	row, err := ReferenceOf(ctx, q, account, id)
	if err != nil {
		return nil, nil, err
	}
	p, err := s.Provider(row.Kind)
	return row, p, err
}

// Connects reports whether references of a kind are connections, of which one
// node at a time holds each.
func (s *Store) Connects(k provider.Kind) bool {
	_, ok := s.Kinds[k].(provider.Connector)
	return ok
}

// ReferenceInfo reads what receiving needs to know of a reference of any
// account.
func (s *Store) ReferenceInfo(ctx context.Context, q database.Reader, id provider.ReferenceID) (ReferenceInfo, error) {
	row, err := ReferenceByID(ctx, q, id)
	if err != nil {
		return ReferenceInfo{}, err
	}
	return s.info(row)
}

// info is what is known of a reference, of which row has the id, account and kind.
func (s *Store) info(row *Reference) (ReferenceInfo, error) {
	p, err := s.Provider(row.Kind)
	if err != nil {
		return ReferenceInfo{}, err
	}
	return row.Info(p), nil
}
