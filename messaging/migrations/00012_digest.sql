-- +goose Up
-- What the file in the library should contain, to notice damage: SHA-256 in hexadecimal;
-- '': it was stored before this column was there.
ALTER TABLE messaging_media ADD COLUMN sha256 TEXT NOT NULL DEFAULT '';
