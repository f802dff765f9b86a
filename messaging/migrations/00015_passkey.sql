-- +goose Up
-- What the network asks the owner of an account for while the reference is linked, as JSON;
-- '': nothing. It ends with pairing_until_us.
ALTER TABLE messaging_reference ADD COLUMN passkey TEXT NOT NULL DEFAULT '';
