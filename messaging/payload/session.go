package payload

import "github.com/trunklinehq/trunkline/provider"

// State is the state of a session.
type State string

// The states of a session.
const (
	StateStopped      State = "STOPPED"
	StateStarting     State = "STARTING"
	StatePairing      State = "PAIRING"
	StateConnected    State = "CONNECTED"
	StateReconnecting State = "RECONNECTING"
	StateLoggedOut    State = "LOGGED_OUT"
	StateFailed       State = "FAILED"
)

// SessionError is why a session is not connected.
type SessionError struct {
	Code    string    `json:"code" enum:"passkey_required,banned,client_outdated,replaced,logged_out_on_phone,reachout_limited,deaf,credentials,network,unknown"`
	Message string    `json:"message"`
	At      UnixTime  `json:"at"`
	RetryAt *UnixTime `json:"retryAt"`
}

// Session is the connection of a reference with its network.
type Session struct {
	Reference   provider.ReferenceID `json:"reference"`
	State       State                `json:"state" enum:"STOPPED,STARTING,PAIRING,CONNECTED,RECONNECTING,LOGGED_OUT,FAILED"`
	QR          *QR                  `json:"qr"`
	PairingCode *string              `json:"pairingCode"`
	Account     *SessionAccount      `json:"account" doc:"The connected account, as the network reports it."`
	ConnectedAt *UnixTime            `json:"connectedAt"`
	Health      Health               `json:"health"`
	LastError   *SessionError        `json:"lastError"`
	Node        *string              `json:"node"`
	Passkey     *Passkey             `json:"passkey,omitempty" doc:"What the network asks the owner of the account for before it links the reference. Absent if it does not."`
}

// QR is a code to be scanned.
type QR struct {
	Code      string   `json:"code"`
	Image     string   `json:"image" doc:"A data: URL of a PNG."`
	ExpiresAt UnixTime `json:"expiresAt"`
}

// Passkey is what a network asks the owner of an account for.
type Passkey struct {
	Options   *provider.PasskeyOptions `json:"options" doc:"To be signed with the owner's passkey: the PublicKeyCredentialRequestOptionsJSON of WebAuthn. null once it is signed."`
	Code      *string                  `json:"code" doc:"A code to compare with the one on the phone; null if there is none." example:"ABCD-1234"`
	ExpiresAt UnixTime                 `json:"expiresAt"`
}

// SessionAccount is who a reference speaks for.
type SessionAccount struct {
	ID              string `json:"id"`
	Name            string `json:"name"`
	VerifiedBizName string `json:"verifiedBizName"`
}

// Health says when a reference last showed signs of life.
type Health struct {
	LastInboundAt *UnixTime `json:"lastInboundAt"`
	LastAckAt     *UnixTime `json:"lastAckAt"`
	LastProbeAt   *UnixTime `json:"lastProbeAt"`
	// Reports of the network are there when a session is asked for by itself;
	// those that follow from the settings always.
	Reports []HealthReport `json:"reports,omitempty" nullable:"false" doc:"Problems that follow from the reference's settings, for example callbacks.unverified. A request for this one session also returns the network's latest reports about the reference: quality, limits, account and credentials."`
}

// HealthReport is the latest that a network said of one side of a reference's
// health: its quality and limits, the account above it, its credentials.
type HealthReport struct {
	Kind    string   `json:"kind" example:"phone_number" doc:"The network's name of the subject."`
	Level   string   `json:"level" enum:"news,good,warning,stopped"`
	Message string   `json:"message" example:"GREEN: CONNECTED, STANDARD: limit TIER_10K" doc:"The network's own text."`
	At      UnixTime `json:"at"`
}
