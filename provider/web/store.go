package web

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jmoiron/sqlx"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// devices keeps the keys of all lines.
type devices struct {
	db    *database.DB
	inner *sqlstore.Container
}

func newContainer(d *database.DB, log *slog.Logger) *sqlstore.Container {
	dialect := "sqlite3"
	if d.Dialect == database.Postgres {
		dialect = "postgres"
	}
	return sqlstore.NewWithDB(d.DB.DB, dialect, wire{log, "Store"})
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
	dev, err := d.inner.GetDevice(ctx, j)
	if err != nil {
		return nil, fmt.Errorf("reading the keys of a device: %w", err)
	}
	if dev != nil {
		d.adopt(dev, ref)
	}
	return dev, nil
}

// fresh returns a device that is not paired.
func (d *devices) fresh(ref provider.Reference) *store.Device {
	dev := d.inner.NewDevice()
	d.adopt(dev, ref)
	return dev
}

// adopt makes a device keep what must not be shared in the line's own part of
// the store. whatsmeow puts its own there when it loads a device, and when it
// first saves one.
func (d *devices) adopt(dev *store.Device, ref provider.Reference) {
	dev.LIDs = &lids{db: d.db, ref: ref.ID}
	dev.Container = &container{d, ref}
	if dev.EventBuffer != nil {
		dev.EventBuffer = &buffer{dev.EventBuffer, ref.Held}
	}
}

// forget deletes the device of a line.
func (d *devices) forget(ctx context.Context, ref provider.ReferenceID) error {
	dev, err := d.load(ctx, provider.Reference{ID: ref})
	if err != nil {
		return err
	}
	if dev != nil {
		if err := d.inner.DeleteDevice(ctx, dev); err != nil {
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
	d   *devices
	ref provider.Reference
}

// PutDevice stores a device. Which line it belongs to is stored first: keys
// that no line knew would be lost.
func (c *container) PutDevice(ctx context.Context, dev *store.Device) error {
	if c.ref.Held != nil && !c.ref.Held() {
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
	err := c.d.inner.PutDevice(ctx, dev)
	if _, ours := dev.LIDs.(*lids); !ours {
		c.d.adopt(dev, c.ref)
	}
	return err
}

// DeleteDevice deletes the line's device.
func (c *container) DeleteDevice(ctx context.Context, dev *store.Device) error {
	if dev.ID == nil {
		return nil
	}
	if c.ref.Held != nil && !c.ref.Held() {
		return errLost
	}
	return c.d.forget(ctx, c.ref.ID)
}
