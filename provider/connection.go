package provider

import (
	"context"
	"time"
)

// Connector is a Provider whose references are connections that one process at a
// time may have. Open is called only by the process that has leased the reference, with
// [Reference.Leased], and a reference that has been paired is opened again after a
// restart without a request. The state of the connection is reported
// by [*Connection] events.
type Connector interface {
	// Forget deletes what the provider keeps of a reference that was logged out or
	// deleted, such as its keys. It is called while no session is open.
	Forget(ctx context.Context, ref ReferenceID) error
}

// Linker is a Session of a [Connector]: a reference that a person links to an
// account with a phone.
type Linker interface {
	// Link begins to pair a reference that is not paired, again if it has begun
	// before, and reports what to show in [*Connection] events: a code to scan,
	// or with a phone number a code to be typed on that phone. A reference that is
	// paired is connected, if it is not. Link does not wait for the network.
	Link(ctx context.Context, phone string) error
	// Unlink ends the pairing on the side of the network. An error leaves it
	// to the owner of the phone.
	Unlink(ctx context.Context) error
}

// ConnectionState is the state of a connection.
type ConnectionState string

// The states of a connection.
const (
	Connecting   ConnectionState = "connecting"   // for the first time since the session was opened
	Pairing      ConnectionState = "pairing"      // waits for a person: shows QR or Code
	Connected    ConnectionState = "connected"    //
	Reconnecting ConnectionState = "reconnecting" // was lost, and comes back by itself
	LoggedOut    ConnectionState = "logged_out"   // the pairing is over, on whichever side it was ended
	Disconnected ConnectionState = "disconnected" // for good, or until Until: nothing comes back before the session is opened again
)

// Connection is the state of a reference's connection from now on. Each takes the
// place of the one before.
type Connection struct {
	State   ConnectionState
	At      time.Time
	QR      string         // while pairing: the text of the code to scan, or ""
	Code    string         // while pairing: the code to type on the phone, or ""
	Expires time.Time      // of QR or Code
	Account *Account       // with [Connected]: the account that the reference speaks for
	Reason  ConnectionCode // why it is not connected, or is with restrictions; "": nothing is wrong
	Detail  string         // the reason in a sentence
	Until   time.Time      // when what is wrong ends by itself; zero: not said
}

// ConnectionCode is why a reference is not connected, in the words that users read.
type ConnectionCode string

// Why a reference may be not connected.
const (
	PasskeyRequired ConnectionCode = "passkey_required"    // the account asks for a passkey when a device is linked
	Banned          ConnectionCode = "banned"              // for a while, or for good
	ClientOutdated  ConnectionCode = "client_outdated"     // the network takes only newer versions of this program
	Replaced        ConnectionCode = "replaced"            // another program has connected with the same keys
	RemovedOnPhone  ConnectionCode = "logged_out_on_phone" // the owner unlinked the device
	ReachoutLimited ConnectionCode = "reachout_limited"    // connected, but may not write to strangers
	Deaf            ConnectionCode = "deaf"                // the connection stood and carried nothing
	BadCredentials  ConnectionCode = "credentials"         //
	NoNetwork       ConnectionCode = "network"             // out of reach
	UnknownReason   ConnectionCode = "unknown"             //
)

func (*Connection) event() {}
