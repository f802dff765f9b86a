// Package credential keeps the secrets with which flows and their tools prove
// to others who they are: tokens, passwords and keys of an account. They are
// written once and never shown again; who uses one names it by its id, and the
// secret is added to a request just before it leaves.
//
//	s, err := credential.New(ctx, db, &credential.Options{Secrets: secrets})
//	c, err := s.For("acme").Create(ctx, credential.NewCredential{Name: "Shop", Kind: credential.Bearer, Secret: token})
//	err = s.Authorize(ctx, "acme", c.ID, request)
//
// A credential may be bound to hosts, so that the author of a flow cannot
// have it sent elsewhere. It leaves in clear text for no host but those that
// [Options].Allow names.
//
// The table credential_secret keeps secrets sealed (AES-256-GCM, under keys that
// HKDF derives from Options.Secrets). [ErrHost] and [ErrPlain] say why a
// credential is not sent, [*Invalid] which field of one is refused; none of them
// shows the secret.
//
// It knows no flow: to delete a credential is always possible, so that one
// that has leaked ends at once, and what names it fails from then on.
package credential
