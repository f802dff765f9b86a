package provider

import (
	"context"
	"time"
)

// Connector is a Provider whose lines are connections that one process at a
// time may have. Open is called only by the process that holds the line, with
// [Reference.Held], and a line that has been paired is opened again after a
// restart without anybody asking for it. How the connection stands is reported
// by [*Connection] events.
type Connector interface {
	// Forget deletes what the provider keeps of a line that was logged out or
	// deleted, such as its keys. It is called while no session is open.
	Forget(ctx context.Context, ref ReferenceID) error
}

// Linker is a Session of a [Connector]: a line that a person links to an
// account with a phone.
type Linker interface {
	// Link begins to pair a line that is not paired, anew if it has begun
	// before, and reports what to show in [*Connection] events: a code to scan,
	// or with a phone number a code to be typed on that phone. A line that is
	// paired is connected, if it is not. Link does not wait for the network.
	Link(ctx context.Context, phone string) error
	// Unlink ends the pairing on the side of the network. An error leaves it
	// to the owner of the phone.
	Unlink(ctx context.Context) error
}

// ConnectionState is how a connection stands.
type ConnectionState string

// The states of a connection.
const (
	Connecting   ConnectionState = "connecting"   // for the first time since the session was opened
	Pairing      ConnectionState = "pairing"      // waits for a person: shows QR or Code
	Connected    ConnectionState = "connected"    //
	Reconnecting ConnectionState = "reconnecting" // was lost, and comes back by itself
	LoggedOut    ConnectionState = "logged_out"   // the pairing is over, on whichever side it was ended
	Disconnected ConnectionState = "disconnected" // for good, or until Until: nothing comes back before the session is opened anew
)

// Connection is how a line's connection stands from now on. Each takes the
// place of the one before.
type Connection struct {
	State   ConnectionState
	At      time.Time
	QR      string         // while pairing: the text of the code to scan, or ""
	Code    string         // while pairing: the code to type on the phone, or ""
	Expires time.Time      // of QR or Code
	Account *Account       // with [Connected]: who the line speaks for
	Reason  ConnectionCode // why it is not connected, or is with restrictions; "": nothing is wrong
	Detail  string         // the reason in a sentence
	Until   time.Time      // when what is wrong ends by itself; zero: not said
}

// ConnectionCode is why a line is not connected, in the words that users read.
type ConnectionCode string

// Why a line may be not connected.
const (
	PasskeyRequired ConnectionCode = "passkey_required"    // the account asks for a passkey when a device is linked
	Banned          ConnectionCode = "banned"              // for a while, or for good
	ClientOutdated  ConnectionCode = "client_outdated"     // the network takes only newer versions of this program
	Replaced        ConnectionCode = "replaced"            // another program has connected with the same keys
	RemovedOnPhone  ConnectionCode = "logged_out_on_phone" // the owner took the line back
	ReachoutLimited ConnectionCode = "reachout_limited"    // connected, but may not write to strangers
	Deaf            ConnectionCode = "deaf"                // the connection stood and carried nothing
	BadCredentials  ConnectionCode = "credentials"         //
	NoNetwork       ConnectionCode = "network"             // out of reach
	UnknownReason   ConnectionCode = "unknown"             //
)

func (*Connection) event() {}
