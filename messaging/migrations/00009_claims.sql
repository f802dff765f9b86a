-- +goose Up
-- When the secret of a reference first signed a callback; the greatest number: it has signed none.
ALTER TABLE messaging_reference ADD COLUMN signed_us BIGINT NOT NULL DEFAULT 9223372036854775807;
UPDATE messaging_reference SET signed_us = connected_us WHERE connected_us > 0;

-- In the order in which the claims of an id are tried.
DROP INDEX messaging_reference_line;
DROP INDEX messaging_reference_group;
CREATE INDEX messaging_reference_line ON messaging_reference (line_key, kind, proved DESC, signed_us, id DESC) WHERE line_key <> '';
CREATE INDEX messaging_reference_group ON messaging_reference (group_key, kind, proved DESC, signed_us, id DESC) WHERE group_key <> '';
