package web

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"

	"go.mau.fi/util/dbutil"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/store/sqlstore/upgrades"
	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// devices stores the keys of all references.
type devices struct {
	db  *database.DB
	log *slog.Logger
}

// of returns the database for one reference. It calls fail when a received
// message could not be stored; nil: none is received.
func (d *devices) of(ref provider.Reference, fail func()) *guarded {
	dialect := "sqlite3"
	if d.db.Dialect == database.Postgres {
		dialect = "postgres"
	}
	wrapped, err := dbutil.NewWithDB(d.db.DB.DB, dialect)
	if err != nil {
		panic(err) // dbutil supports both dialects
	}
	wrapped.UpgradeTable, wrapped.VersionTable = upgrades.Table, "whatsmeow_version"
	g := &guarded{DB: d.db.DB.DB, db: d.db, ref: ref, fail: fail, wrapped: wrapped}
	wrapped.LoggingDB.UnderlyingExecable = g
	return g
}

// inner returns whatsmeow's own store.
func (d *devices) inner(g *guarded) *sqlstore.Container {
	return sqlstore.NewWithWrappedDB(g.wrapped, wire{ctx: context.Background(), log: d.log, part: "Store"})
}

// upgrade creates or upgrades whatsmeow's tables.
func upgrade(ctx context.Context, db *database.DB) error {
	d := &devices{db, slog.New(slog.DiscardHandler)}
	return d.inner(d.of(provider.Reference{}, nil)).Upgrade(ctx)
}

// load returns the device of a reference, nil when it is not paired.
func (d *devices) load(ctx context.Context, g *guarded) (*store.Device, error) {
	var id string
	err := d.db.GetContext(ctx, &id, `SELECT jid FROM web_device WHERE reference = $1`, g.ref.ID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the device of a reference: %w", err)
	}
	j, err := types.ParseJID(id)
	if err != nil {
		return nil, fmt.Errorf("parsing the device of a reference: %w", err)
	}
	inner := d.inner(g)
	dev, err := inner.GetDevice(ctx, j)
	if err != nil {
		return nil, fmt.Errorf("reading the keys of a device: %w", err)
	}
	if dev != nil {
		d.adopt(dev, inner, g)
	}
	return dev, nil
}

// fresh returns a device that is not paired.
func (d *devices) fresh(g *guarded) *store.Device {
	inner := d.inner(g)
	dev := inner.NewDevice()
	d.adopt(dev, inner, g)
	return dev
}

// adopt replaces the stores of a device that must be guarded or separate for each
// reference. whatsmeow sets its own stores when it loads a device and when it
// saves a new one.
func (d *devices) adopt(dev *store.Device, inner *sqlstore.Container, g *guarded) {
	dev.LIDs = &lids{g}
	dev.Container = &container{d, inner, g}
	if !dev.Initialized {
		return // it has no stores yet
	}
	dev.EventBuffer = &buffer{dev.EventBuffer, g, dev}
	dev.Sessions = &sessions{dev.Sessions, g}
	dev.AppState = &versions{dev.AppState, g}
	dev.Contacts = &contactNames{dev.Contacts, g}
	dev.MsgSecrets = &messageKeys{dev.MsgSecrets, &lids{g}}
}

// container stores the device of one reference.
type container struct {
	d     *devices
	inner *sqlstore.Container
	g     *guarded
}

// PutDevice stores a device. It first stores which reference the device belongs
// to: keys without a reference would be lost.
func (c *container) PutDevice(ctx context.Context, dev *store.Device) error {
	if !leased(c.g.ref) {
		return errLost
	}
	if dev.ID != nil {
		err := c.d.db.Write(ctx, func(tx *database.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO web_device (reference, jid) VALUES ($1, $2)
				ON CONFLICT (reference) DO UPDATE SET jid = excluded.jid`, c.g.ref.ID, dev.ID.String())
			return err
		})
		if err != nil {
			return fmt.Errorf("storing the device of a reference: %w", err)
		}
	}
	err := c.inner.PutDevice(ctx, dev)
	if _, ours := dev.LIDs.(*lids); !ours {
		c.d.adopt(dev, c.inner, c.g)
	}
	return err
}

// DeleteDevice deletes the device of the reference.
func (c *container) DeleteDevice(ctx context.Context, dev *store.Device) error {
	if dev.ID == nil {
		return nil
	}
	if !leased(c.g.ref) {
		return errLost
	}
	return c.d.forget(ctx, c.g.ref.ID)
}
