-- +goose Up
CREATE INDEX messaging_search_words ON messaging_search USING gin (array_to_tsvector(string_to_array(btrim(words), ' ')));
