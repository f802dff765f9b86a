// Package webtest is a fake WhatsApp Web server for tests, with scripted phones.
// An unmodified whatsmeow pairs with it, logs in, and exchanges messages. The
// messages are encrypted as on the real network: each phone has its own Signal
// keys.
//
// The server implements what whatsmeow uses: the Noise handshake and frames,
// pairing by QR, by code and with a passkey, login and the ways to lose it,
// pre-keys, messages to people and groups, receipts, retries, media, history, app
// state, calls and presence. Where the behaviour of the real server is not known, it does the
// minimum that a client needs. It does not ban clients by itself.
//
// The server delivers nodes that a device has not acknowledged again when the
// device reconnects. It records acknowledgements, so that a test can check that a
// message was stored before it was acknowledged.
//
//	fake := webtest.Start(nil)
//	defer fake.Close()
//	fake.Attach(client) // a *whatsmeow.Client
//	owner, ana := fake.AddPhone(nil), fake.AddPhone(&webtest.PhoneOptions{Name: "Ana"})
//	device, err := owner.Scan(ctx, qr)
//	id, err := ana.SendText(ctx, owner.LID(), "Hello")
//	err = device.AwaitAck(ctx, id)
//	answer, err := ana.Await(ctx, nil)
//
// The key that whatsmeow trusts is a global variable. After a call of [Start] or
// [Trust], the process can no longer reach the real network. All servers of a
// process share the key. [Server.Environ] points a program in another process at
// the server.
package webtest
