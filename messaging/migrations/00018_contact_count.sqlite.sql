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

-- +goose StatementBegin
CREATE TRIGGER messaging_contact_count_delete AFTER DELETE ON messaging_chat WHEN NOT old.is_group BEGIN
	UPDATE messaging_contact_count SET n = n - 1 WHERE reference = old.reference AND counted >= old.id;
END;
-- +goose StatementEnd
