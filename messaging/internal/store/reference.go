package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Reference is a reference as its table has it.
type Reference struct {
	ID           provider.ReferenceID `db:"id"`
	Account      string               `db:"account"`
	Name         string               `db:"name"`
	Kind         provider.Kind        `db:"kind"`
	Settings     string               `db:"settings"`
	Callback     string               `db:"callback_url"`
	Revision     int64                `db:"revision"`
	State        payload.State        `db:"state"`
	Proved       bool                 `db:"proved"`
	SignedUS     int64                `db:"signed_us"` // neverSigned: its secret has signed no callback
	RemoteID     string               `db:"remote_id"`
	RemoteName   string               `db:"remote_name"`
	RemoteBiz    string               `db:"remote_biz"`
	ConnectedUS  int64                `db:"connected_us"`
	InboundUS    int64                `db:"inbound_us"`
	AckUS        int64                `db:"ack_us"`
	ProbeUS      int64                `db:"probe_us"`
	ErrorCode    string               `db:"error_code"`
	ErrorMessage string               `db:"error_message"`
	ErrorUS      int64                `db:"error_us"`
	ErrorRetryUS int64                `db:"error_retry_us"`
	QR           string               `db:"qr"`
	PairingCode  string               `db:"pairing_code"`
	PairingUS    int64                `db:"pairing_until_us"`
	Passkey      string               `db:"passkey"` // as JSON; "": none is asked for
	Node         string               `db:"node"`
	CreatedUS    int64                `db:"created_us"`
	UpdatedUS    int64                `db:"updated_us"`
}

// ReferenceColumns are the columns of [Reference].
const ReferenceColumns = `id, account, name, kind, settings, callback_url, revision, state, proved, signed_us, remote_id, remote_name, remote_biz, connected_us,
	inbound_us, ack_us, probe_us, error_code, error_message, error_us, error_retry_us, qr, pairing_code, pairing_until_us, passkey, node,
	created_us, updated_us`

// Deleted says whether the reference is being deleted: its account
// is another then.
func (r *Reference) Deleted() bool { return strings.HasPrefix(r.Account, DeletedPrefix) }

// Info is what batches need to know of the reference.
func (r *Reference) Info(p provider.Provider) ReferenceInfo {
	can := p.Capabilities()
	return ReferenceInfo{ID: r.ID, Account: r.Account, Kind: r.Kind, Window: can.Window, Names: can.Names}
}

// IsNumber says whether news of a phone number can be about r: a reference whose
// network calls it by another number is not meant. "" means all.
func (r *Reference) IsNumber(phone string) bool {
	own := strings.Map(func(c rune) rune {
		if c < '0' || c > '9' {
			return -1
		}
		return c
	}, r.RemoteName)
	return phone == "" || own == "" || own == phone
}

// DeletedPrefix begins the account of a reference that is being deleted: nothing
// that is asked for an account finds it there.
const DeletedPrefix = "deleted:"

// ReferenceByID reads a reference of any account.
func ReferenceByID(ctx context.Context, q database.Reader, id provider.ReferenceID) (*Reference, error) {
	row := &Reference{}
	err := q.GetContext(ctx, row, `SELECT `+ReferenceColumns+` FROM messaging_reference WHERE id = $1`, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payload.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("reading a reference: %w", err)
	}
	return row, nil
}

// ReferenceOf reads a reference of an account, or fails with
// [payload.ErrNotFound].
func ReferenceOf(ctx context.Context, q database.Reader, account string, id provider.ReferenceID) (*Reference, error) {
	row := &Reference{}
	err := q.GetContext(ctx, row, `SELECT `+ReferenceColumns+` FROM messaging_reference WHERE id = $1 AND account = $2`, id, account)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payload.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("reading a reference: %w", err)
	}
	return row, nil
}

// LockReference locks and reads the session of a reference.
func LockReference(ctx context.Context, u *Batch, id provider.ReferenceID) (*Reference, error) {
	forUpdate := ""
	if u.Store.DB.Dialect == database.Postgres {
		forUpdate = " FOR UPDATE"
	}
	r := &Reference{}
	err := u.Tx.GetContext(ctx, r, `SELECT `+ReferenceColumns+` FROM messaging_reference WHERE id = $1`+forUpdate, id)
	if err != nil {
		return nil, fmt.Errorf("reading a session: %w", err)
	}
	return r, nil
}

// NeverSigned is the time of a secret's first callback when there was none:
// after all others.
const NeverSigned = math.MaxInt64
