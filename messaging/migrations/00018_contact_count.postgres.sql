-- +goose Up
-- The number of contacts of a reference among its chats up to one of them. Later chats
-- are counted on demand, so that who makes a chat does nothing for it. A reference
-- without a row has counted none.
CREATE TABLE messaging_contact_count (
	reference BIGINT PRIMARY KEY REFERENCES messaging_reference (id) ON DELETE CASCADE,
	counted BIGINT NOT NULL, -- messaging_chat.id
	n BIGINT NOT NULL
);
DROP INDEX messaging_chat_contact;
CREATE INDEX messaging_chat_contact ON messaging_chat (reference, id) WHERE NOT is_group;

-- The rows are locked before they are read: who counts may be about to count a chat that
-- is deleted here.
-- +goose StatementBegin
CREATE FUNCTION messaging_contact_count_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	PERFORM 1 FROM messaging_contact_count WHERE reference IN (SELECT reference FROM gone) ORDER BY reference FOR UPDATE;
	UPDATE messaging_contact_count AS k SET n = k.n - less.n FROM (
		SELECT gone.reference, count(*) AS n FROM gone JOIN messaging_contact_count AS x ON x.reference = gone.reference
		WHERE NOT gone.is_group AND gone.id <= x.counted GROUP BY gone.reference
	) AS less WHERE k.reference = less.reference;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER messaging_contact_count_delete AFTER DELETE ON messaging_chat
	REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION messaging_contact_count_delete();
