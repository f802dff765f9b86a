import { describe, expect, test } from 'vitest'
import { blank, moved, read, readNumber, shapeOf, withMember, write } from './schema'

describe('values and their texts', () => {
  test.each([42, -1.5, true, null, 'words', '42', 'true', '{"a": 1}', '"quoted"', ' ', '', { a: [1, '2'] }, [], '12345678901234567890'])('%j comes back from its text', (value) => {
    expect(write(read(write(value)))).toBe(write(value))
    if (value !== '') expect(read(write(value))).toEqual(value)
  })
  test('what is no JSON is a text', () => expect(read('{"half": ')).toBe('{"half": '))
  test('a number too large for a number stays as it was typed', () => {
    expect(read('12345678901234567890')).toBe('12345678901234567890')
    expect(readNumber('12345678901234567890')).toBe('12345678901234567890')
  })
  test.each([
    ['', undefined],
    [' 7 ', 7],
    ['-0.5', -0.5],
    ['1e3', 1000],
    ['seven', 'seven'],
    ['{{ vars.n }}', '{{ vars.n }}'],
  ])('as a number, %j is %j', (text, value) => expect(readNumber(text)).toBe(value))
})

test('what is needed is there from the beginning, but for what must be chosen', () => {
  const schema = {
    type: 'object',
    required: ['on', 'text', 'n', 'kind', 'inner', 'list'],
    properties: {
      on: { type: 'boolean' },
      text: { type: 'string' },
      n: { type: 'integer' },
      kind: { enum: ['a', 'b'] },
      inner: { type: 'object', required: ['deep'], properties: { deep: { type: 'boolean', default: true } } },
      list: { type: 'array', items: { type: 'string' } },
      other: { type: 'string' },
    },
  }
  expect(blank(schema)).toEqual({ on: false, text: '', inner: { deep: true }, list: [] })
})

test.each([
  [{ type: 'string' }, 'text'],
  [{ type: 'string', maxLength: 65536 }, 'long'],
  [{ type: 'string', 'x-max': 32768 }, 'long'],
  [{ type: 'string', enum: ['a'] }, 'choice'],
  [{ type: 'array', items: { enum: ['a'] } }, 'choices'],
  [{ type: 'array', items: { type: 'object' } }, 'list'],
  [{ type: 'array' }, 'json'],
  [{ type: 'object' }, 'json'],
  [{ type: 'object', properties: {} }, 'json'],
  [{ type: 'object', additionalProperties: { type: 'string' } }, 'map'],
  [{ type: ['string', 'integer'] }, 'json'],
  [{}, 'json'],
])('%j is asked for as %s', (schema, shape) => expect(shapeOf(schema)).toBe(shape))

test('members keep their order, and go when they are undefined', () => {
  expect(Object.keys(withMember({ a: 1, b: 2 }, 'a', 3))).toEqual(['a', 'b'])
  expect(withMember({ a: 1, b: 2 }, 'a', undefined)).toEqual({ b: 2 })
  expect(withMember('no object', 'a', 1)).toEqual({ a: 1 })
})

test('items are moved', () => {
  expect(moved(['a', 'b', 'c'], 0, 2)).toEqual(['b', 'c', 'a'])
  expect(moved(['a', 'b', 'c'], 2, 1)).toEqual(['a', 'c', 'b'])
})
