-- +goose Up
-- what dead letters are replayed from, and what became of replays
ALTER TABLE messaging_dead_letter ADD COLUMN letter_id TEXT NOT NULL DEFAULT ''; -- for users
ALTER TABLE messaging_dead_letter ADD COLUMN network_id TEXT NOT NULL DEFAULT '';
ALTER TABLE messaging_dead_letter ADD COLUMN group_id TEXT NOT NULL DEFAULT '';
ALTER TABLE messaging_dead_letter ADD COLUMN part TEXT NOT NULL DEFAULT ''; -- of the callback, around the item; '': not known
ALTER TABLE messaging_dead_letter ADD COLUMN replays INTEGER NOT NULL DEFAULT 0;
ALTER TABLE messaging_dead_letter ADD COLUMN replayed_us BIGINT NOT NULL DEFAULT 0;
UPDATE messaging_dead_letter SET letter_id = substr(printf('%012x', created_us / 1000), 1, 8) || '-' || substr(printf('%012x', created_us / 1000), 9, 4)
	|| '-7' || substr(lower(hex(randomblob(2))), 1, 3) || '-8' || substr(lower(hex(randomblob(2))), 1, 3) || '-' || lower(hex(randomblob(6)));
CREATE UNIQUE INDEX messaging_dead_letter_letter ON messaging_dead_letter (letter_id);
CREATE INDEX messaging_dead_letter_list ON messaging_dead_letter (reference, id);
