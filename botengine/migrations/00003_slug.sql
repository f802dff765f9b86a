-- +goose Up
-- a slug is of one bot of a reference: other references may have a bot of the same document
DROP INDEX botengine_bot_slug;
CREATE UNIQUE INDEX botengine_bot_slug ON botengine_bot (account, reference, slug) WHERE slug <> '';
