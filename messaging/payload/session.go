package payload

// State is how a session stands.
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
