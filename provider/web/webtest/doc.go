// Package webtest is a fake WhatsApp Web server for tests, with scripted
// phones. An unmodified whatsmeow pairs with it, logs in, and exchanges messages
// that are truly encrypted: the phones hold Signal keys of their own.
//
// It speaks what whatsmeow reads and writes: the Noise handshake and frames,
// pairing by QR and by code, login and every way to lose it, pre-keys, messages
// to people and groups, receipts, retries, media, history, app state, calls,
// presence. Where the real server's behaviour is not known it does the least
// that a client needs. It bans no client by itself.
//
// What a device has not acknowledged is delivered to it again when it
// reconnects, and what it did acknowledge is recorded, so that a test can tell
// whether something was stored before it was acknowledged.
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
// The key that whatsmeow trusts is one variable of the process: a process in
// which [Start] or [Trust] was called can no longer reach the real network. All
// servers of one process share that key. A program in another process is
// pointed at the fake by [Server.Environ].
package webtest
