-- +goose Up
-- Words that are erased are erased from the index.
CREATE VIRTUAL TABLE messaging_search_words USING fts5 (words, content='messaging_search', content_rowid='message',
	tokenize="ascii tokenchars '.@#~-'", detail='none', columnsize=0);
INSERT INTO messaging_search_words (messaging_search_words, rank) VALUES ('secure-delete', 1);
-- +goose StatementBegin
CREATE TRIGGER messaging_search_words_insert AFTER INSERT ON messaging_search BEGIN
	INSERT INTO messaging_search_words (rowid, words) VALUES (new.message, new.words);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER messaging_search_words_delete AFTER DELETE ON messaging_search BEGIN
	INSERT INTO messaging_search_words (messaging_search_words, rowid, words) VALUES ('delete', old.message, old.words);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER messaging_search_words_update AFTER UPDATE OF words ON messaging_search BEGIN
	INSERT INTO messaging_search_words (messaging_search_words, rowid, words) VALUES ('delete', old.message, old.words);
	INSERT INTO messaging_search_words (rowid, words) VALUES (new.message, new.words);
END;
-- +goose StatementEnd
