-- +goose Up
-- in which chats the account last showed that it is writing
CREATE TABLE messaging_typing (
	chat BIGINT PRIMARY KEY REFERENCES messaging_chat (id) ON DELETE CASCADE,
	since_us BIGINT NOT NULL,
	last_message BIGINT NOT NULL -- the chat's at that time: the account's next one ends it
);
