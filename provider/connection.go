package provider

import (
	"context"
	"time"
)

// Connector is a Provider whose references have a connection that only one
// process at a time may open. Open is called only by the process that has
// leased the reference, with [Reference.Leased]. A reference that is paired is
// opened again after a restart without a request. [*Connection] events report
// the state of the connection.
type Connector interface {
	// Forget deletes what the provider stores of a reference that was logged
	// out or deleted, such as its keys. It is called while no session is open.
	Forget(ctx context.Context, ref ReferenceID) error
}

// Linker is a Session of a [Connector] that a person links to an account with a
// phone.
type Linker interface {
	// Link starts to pair a reference that is not paired, and starts again if
	// it is called again. It reports what to show in [*Connection] events: a
	// code to scan, or with a phone number a code to type on that phone. A
	// paired reference is connected if it is not. Link does not wait for the
	// network.
	Link(ctx context.Context, phone string) error
	// Unlink ends the pairing at the network. If it fails, the owner of the
	// phone can end it.
	Unlink(ctx context.Context) error
}

// ConnectionState is the state of a connection.
type ConnectionState string

// The states of a connection.
const (
	Connecting   ConnectionState = "connecting"   // for the first time since the session was opened
	Pairing      ConnectionState = "pairing"      // waits for a person to use QR or Code
	Connected    ConnectionState = "connected"    //
	Reconnecting ConnectionState = "reconnecting" // the connection was lost, and the provider reconnects
	LoggedOut    ConnectionState = "logged_out"   // the pairing has ended
	Disconnected ConnectionState = "disconnected" // until Until, or until the session is opened again
)

// Connection is the state of a reference's connection from now on. Each
// replaces the one before.
type Connection struct {
	State   ConnectionState
	At      time.Time
	QR      string          // while pairing: the text of the code to scan, or ""
	Code    string          // while pairing: the code to type on the phone, or ""
	Passkey *PasskeyRequest // while pairing: what the network asks the owner for, or nil
	Expires time.Time       // of QR, Code or Passkey
	Account *Account        // with [Connected]: the account that the reference speaks for
	Reason  ConnectionCode  // why it is not connected or is restricted; "": nothing is wrong
	Detail  string          // the reason as a sentence
	Until   time.Time       // when the problem ends by itself; zero: not known
}

// ConnectionCode is why a reference is not connected. Users see it.
type ConnectionCode string

// Reasons why a reference is not connected.
const (
	PasskeyRequired ConnectionCode = "passkey_required"    // the account requires a passkey to link a device
	Banned          ConnectionCode = "banned"              // until a time, or permanently
	ClientOutdated  ConnectionCode = "client_outdated"     // the network requires a newer version of this program
	Replaced        ConnectionCode = "replaced"            // another program has connected with the same keys
	RemovedOnPhone  ConnectionCode = "logged_out_on_phone" // the owner unlinked the device
	ReachoutLimited ConnectionCode = "reachout_limited"    // connected, but may not write to new contacts
	Deaf            ConnectionCode = "deaf"                // the connection was open but carried no data
	BadCredentials  ConnectionCode = "credentials"         //
	NoNetwork       ConnectionCode = "network"             // the network cannot be reached
	UnknownReason   ConnectionCode = "unknown"             //
)

func (*Connection) event() {}
