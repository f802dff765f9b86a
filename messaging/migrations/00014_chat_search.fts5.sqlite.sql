-- +goose Up
-- Chats are found by parts of their names, of three characters and more, without reading
-- them all. What is erased of a name is erased from the index.
CREATE VIEW messaging_chat_names AS
	SELECT id, label || char(10) || title || char(10) || name || char(10) || username || char(10) || chat_id AS names FROM messaging_chat;
CREATE VIRTUAL TABLE messaging_chat_search USING fts5 (names, content='messaging_chat_names', content_rowid='id', tokenize='trigram', columnsize=0);
INSERT INTO messaging_chat_search (messaging_chat_search, rank) VALUES ('secure-delete', 1);
INSERT INTO messaging_chat_search (messaging_chat_search) VALUES ('rebuild');
-- +goose StatementBegin
CREATE TRIGGER messaging_chat_search_insert AFTER INSERT ON messaging_chat BEGIN
	INSERT INTO messaging_chat_search (rowid, names) SELECT id, names FROM messaging_chat_names WHERE id = new.id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER messaging_chat_search_delete AFTER DELETE ON messaging_chat BEGIN
	INSERT INTO messaging_chat_search (messaging_chat_search, rowid, names)
		VALUES ('delete', old.id, old.label || char(10) || old.title || char(10) || old.name || char(10) || old.username || char(10) || old.chat_id);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER messaging_chat_search_update AFTER UPDATE OF label, title, name, username, chat_id ON messaging_chat
	WHEN (old.label, old.title, old.name, old.username, old.chat_id) <> (new.label, new.title, new.name, new.username, new.chat_id) BEGIN
	INSERT INTO messaging_chat_search (messaging_chat_search, rowid, names)
		VALUES ('delete', old.id, old.label || char(10) || old.title || char(10) || old.name || char(10) || old.username || char(10) || old.chat_id);
	INSERT INTO messaging_chat_search (rowid, names) SELECT id, names FROM messaging_chat_names WHERE id = new.id;
END;
-- +goose StatementEnd
