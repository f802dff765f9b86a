import { expect, test } from 'vitest'
import { groupsOf, put, readLines, readWords, writeWords } from './config'
import { fieldsOf, schemaOf } from './schema'

test('a dictionary is written and read as text', () => {
  const words = [{ value: 'large', synonyms: ['big', 'x|l', 'back\\slash'] }, { value: 'small' }]
  expect(writeWords(words)).toBe('large | big | x\\|l | back\\\\slash\nsmall')
  expect(readWords(writeWords(words))).toEqual(words)
  expect(readWords('\n  | a |b\n\n c\\')).toEqual([{ value: 'a', synonyms: ['b'] }, { value: 'c\\' }])
})

test('groups of a pattern, lines of a paste, members that say nothing', () => {
  expect(groupsOf('#(?P<order>\\d+)(?:x)(?<year>\\d{4})|(?P<order>\\w)')).toEqual(['order', 'year'])
  expect(readLines(' a \n\nb\r\na')).toEqual(['a', 'b'])
  expect(put({ locale: 'pt', types: [] }, { locale: '', region: 'BR' })).toEqual({ types: [], region: 'BR' })
})

test('fields are a schema, and back', () => {
  const schema = { type: 'object', properties: { product: { type: 'string', description: 'What' }, sizes: { type: 'array', items: { type: 'string' } } }, required: ['product'] }
  expect(schemaOf(fieldsOf(schema) ?? [])).toEqual(schema)
  expect(fieldsOf({ type: 'object', properties: { a: { type: 'object' } } })).toBeNull()
  expect(fieldsOf({ type: 'object', properties: { a: { type: 'string', enum: ['x'] } } })).toBeNull()
  expect(fieldsOf('no schema')).toBeNull()
})
