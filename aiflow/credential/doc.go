// Package credential stores the tokens, passwords and keys with which flows and
// their tools authenticate to other systems. A secret is written once and never
// shown again. A flow names a credential by its id, and the secret is added to a
// request immediately before it is sent.
//
//	s, err := credential.New(ctx, db, &credential.Options{Secrets: secrets})
//	c, err := s.For("acme").Create(ctx, credential.NewCredential{Name: "Shop", Kind: credential.Bearer, Secret: token})
//	err = s.Authorize(ctx, "acme", c.ID, request)
//
// A credential may be bound to hosts, so that the author of a flow cannot send it
// elsewhere. It is sent in clear text only to hosts in [Options].Allow.
//
// The table credential_secret has sealed secrets (AES-256-GCM, under keys that HKDF
// derives from Options.Secrets). [ErrHost] and [ErrPlain] tell why a credential is
// not sent. [*Invalid] names the field that is refused. None of them reveals the
// secret.
//
// The package does not know flows: a credential can always be deleted, so that a
// leaked one can be revoked at once. Flows that name it fail from then on.
package credential
