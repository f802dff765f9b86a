-- +goose Up
-- Chats are found by parts of their names without reading them all, if the extension
-- pg_trgm can be created. Otherwise a search reads all chats of the reference.
-- +goose StatementBegin
DO $$ BEGIN
	CREATE EXTENSION IF NOT EXISTS pg_trgm;
	CREATE INDEX messaging_chat_search ON messaging_chat
		USING gin (lower(label || E'\n' || title || E'\n' || name || E'\n' || username || E'\n' || chat_id) gin_trgm_ops);
EXCEPTION WHEN insufficient_privilege OR feature_not_supported OR undefined_file OR undefined_object OR invalid_schema_name THEN
	RAISE NOTICE 'chats are searched without an index: %', SQLERRM;
END $$;
-- +goose StatementEnd
