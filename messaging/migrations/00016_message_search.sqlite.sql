-- +goose Up
-- the words of messages: see package search
CREATE TABLE messaging_search (
	message INTEGER PRIMARY KEY, -- messaging_message.seq
	source BIGINT NOT NULL, -- the message with the text: the same, or its last edit
	reference BIGINT NOT NULL,
	at_us BIGINT NOT NULL,
	words TEXT NOT NULL -- each between spaces
);
CREATE INDEX messaging_search_at ON messaging_search (reference, at_us);

-- what was stored before is indexed in the background: there is a row until that is done
CREATE TABLE messaging_search_backlog (last BIGINT PRIMARY KEY); -- messaging_message.seq
INSERT INTO messaging_search_backlog (last) SELECT 0 WHERE EXISTS (SELECT 1 FROM messaging_message);

-- +goose StatementBegin
CREATE TRIGGER messaging_search_delete AFTER DELETE ON messaging_message BEGIN
	DELETE FROM messaging_search WHERE message = old.seq;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER messaging_search_move AFTER UPDATE OF chat ON messaging_message WHEN old.chat <> new.chat BEGIN
	UPDATE messaging_search SET words = replace(words, '.#' || old.chat || ' ', '.#' || new.chat || ' ') WHERE message = new.seq;
END;
-- +goose StatementEnd
