-- +goose Up
-- what dead letters are replayed from, and what became of replays
ALTER TABLE messaging_dead_letter ADD COLUMN letter_id TEXT NOT NULL DEFAULT ''; -- for users
ALTER TABLE messaging_dead_letter ADD COLUMN network_id TEXT NOT NULL DEFAULT '';
ALTER TABLE messaging_dead_letter ADD COLUMN group_id TEXT NOT NULL DEFAULT '';
ALTER TABLE messaging_dead_letter ADD COLUMN part TEXT NOT NULL DEFAULT ''; -- of the callback, around the item; '': not known
ALTER TABLE messaging_dead_letter ADD COLUMN replays INTEGER NOT NULL DEFAULT 0;
ALTER TABLE messaging_dead_letter ADD COLUMN replayed_us BIGINT NOT NULL DEFAULT 0;
UPDATE messaging_dead_letter SET letter_id = substr(lpad(to_hex(created_us / 1000), 12, '0'), 1, 8) || '-' || substr(lpad(to_hex(created_us / 1000), 12, '0'), 9, 4)
	|| '-7' || substr(md5(CAST(random() AS TEXT)), 1, 3) || '-8' || substr(md5(CAST(random() AS TEXT)), 1, 3) || '-' || substr(md5(CAST(random() AS TEXT)), 1, 12);
CREATE UNIQUE INDEX messaging_dead_letter_letter ON messaging_dead_letter (letter_id);
CREATE INDEX messaging_dead_letter_list ON messaging_dead_letter (reference, id);
