package web

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jmoiron/sqlx"
	"go.mau.fi/util/dbutil"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/store/sqlstore/upgrades"
	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// devices keeps the keys of all lines.
type devices struct {
	db  *database.DB
	log *slog.Logger
}

// inner is whatsmeow's own store, as one line may use it.
func (d *devices) inner(ref provider.Reference) *sqlstore.Container {
	dialect := "sqlite3"
	if d.db.Dialect == database.Postgres {
		dialect = "postgres"
	}
	wrapped, err := dbutil.NewWithDB(d.db.DB.DB, dialect)
	if err != nil {
		panic(err) // it knows both dialects
	}
	wrapped.UpgradeTable, wrapped.VersionTable = upgrades.Table, "whatsmeow_version"
	wrapped.LoggingDB.UnderlyingExecable = &guarded{d.db.DB.DB, d.db, ref}
	return sqlstore.NewWithWrappedDB(wrapped, wire{d.log, "Store"})
}

// load returns the device of a line, nil when it is not paired.
func (d *devices) load(ctx context.Context, ref provider.Reference) (*store.Device, error) {
	var id string
	err := d.db.GetContext(ctx, &id, `SELECT jid FROM web_device WHERE reference = $1`, ref.ID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading which device a line has: %w", err)
	}
	j, err := types.ParseJID(id)
	if err != nil {
		return nil, fmt.Errorf("reading which device a line has: %w", err)
	}
	inner := d.inner(ref)
	dev, err := inner.GetDevice(ctx, j)
	if err != nil {
		return nil, fmt.Errorf("reading the keys of a device: %w", err)
	}
	if dev != nil {
		d.adopt(dev, inner, ref)
	}
	return dev, nil
}

// fresh returns a device that is not paired.
func (d *devices) fresh(ref provider.Reference) *store.Device {
	inner := d.inner(ref)
	dev := inner.NewDevice()
	d.adopt(dev, inner, ref)
	return dev
}

// adopt makes a device keep what must not be shared in the line's own part of
// the store. whatsmeow puts its own there when it loads a device, and when it
// first saves one.
func (d *devices) adopt(dev *store.Device, inner *sqlstore.Container, ref provider.Reference) {
	dev.LIDs = &lids{db: d.db, ref: ref}
	dev.Container = &container{d, inner, ref}
	if !dev.Initialized {
		return // it has no stores yet
	}
	g := &guarded{d.db.DB.DB, d.db, ref}
	dev.EventBuffer = &buffer{dev.EventBuffer, g}
	dev.Sessions = &sessions{dev.Sessions, g}
}

// forget deletes the device of a line.
func (d *devices) forget(ctx context.Context, ref provider.ReferenceID) error {
	dev, err := d.load(ctx, provider.Reference{ID: ref})
	if err != nil {
		return err
	}
	if dev != nil {
		if err := d.inner(provider.Reference{ID: ref}).DeleteDevice(ctx, dev); err != nil {
			return fmt.Errorf("deleting the keys of a device: %w", err)
		}
	}
	return d.db.Write(ctx, func(tx *sqlx.Tx) error {
		for _, table := range []string{"web_device", "web_lid", "web_history"} {
			if _, err := tx.Exec(`DELETE FROM `+table+` WHERE reference = $1`, ref); err != nil {
				return fmt.Errorf("forgetting a device: %w", err)
			}
		}
		return nil
	})
}

// container keeps the device of one line.
type container struct {
	d     *devices
	inner *sqlstore.Container
	ref   provider.Reference
}

// PutDevice stores a device. Which line it belongs to is stored first: keys
// that no line knew would be lost.
func (c *container) PutDevice(ctx context.Context, dev *store.Device) error {
	if !held(c.ref) {
		return errLost
	}
	if dev.ID != nil {
		err := c.d.db.Write(ctx, func(tx *sqlx.Tx) error {
			_, err := tx.Exec(`INSERT INTO web_device (reference, jid) VALUES ($1, $2)
				ON CONFLICT (reference) DO UPDATE SET jid = excluded.jid`, c.ref.ID, dev.ID.String())
			return err
		})
		if err != nil {
			return fmt.Errorf("noting which device a line has: %w", err)
		}
	}
	err := c.inner.PutDevice(ctx, dev)
	if _, ours := dev.LIDs.(*lids); !ours {
		c.d.adopt(dev, c.inner, c.ref)
	}
	return err
}

// DeleteDevice deletes the line's device.
func (c *container) DeleteDevice(ctx context.Context, dev *store.Device) error {
	if dev.ID == nil {
		return nil
	}
	if !held(c.ref) {
		return errLost
	}
	return c.d.forget(ctx, c.ref.ID)
}
