import { expect, test } from 'vitest'
import described from '../../../../../../aiflow/flow/testdata/palette.json'
import { read } from './flow'
import { complete, offers, seen, wordAt } from './suggest'
import type { NodeType } from './types'

const types = new Map((described.nodes as unknown as NodeType[]).map((type) => [type.type, type]))

test('values are what is declared, what nodes write, arguments, and what loops call their items', () => {
  const flow = read({
    variables: { b: {} },
    args: { net: {} },
    nodes: {
      one: { type: 'question', config: { saveTo: 'a' } },
      two: { type: 'set', config: { assign: [{ var: 'cart.items[0]' }] } },
      three: { type: 'loop', config: { item: 'row' } },
    },
  })
  expect(seen(flow, types).slice(0, 6)).toEqual(['vars.a', 'vars.b', 'vars.cart', 'args.net', 'row', 'index'])
})

test('a name is offered where one is typed', () => {
  expect(wordAt('Hello va', 8, true)).toBeUndefined()
  expect(wordAt('Hello {{ va', 11, true)).toEqual({ from: 9, to: 11, word: 'va' })
  expect(wordAt('{{', 2, true)).toEqual({ from: 2, to: 2, word: '' })
  expect(wordAt('{{ a }} b', 9, true)).toBeUndefined()
  expect(wordAt('vars.a > co', 11, false)).toEqual({ from: 9, to: 11, word: 'co' })
  expect(wordAt('', 0, false)).toBeUndefined()
  expect(offers(['vars.a', 'contact.name', 'vars.b'], 'va')).toEqual(['vars.a', 'vars.b'])
  expect(offers(['vars.a', 'contact.name'], 'name')).toEqual(['contact.name'])
})

test('what is taken closes its braces once', () => {
  const typed = { from: 5, to: 7, word: 'va' }
  expect(complete('Hi {{va', typed, 'vars.a', true)).toEqual({ text: 'Hi {{ vars.a }}', at: 15 })
  expect(complete('Hi {{va }}!', typed, 'vars.a', true)).toEqual({ text: 'Hi {{ vars.a }}!', at: 12 })
  expect(complete('not va', { from: 4, to: 6, word: 'va' }, 'vars.a', false)).toEqual({ text: 'not vars.a', at: 10 })
})
