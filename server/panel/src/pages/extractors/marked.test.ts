import { expect, test } from 'vitest'
import { type Match, segmentsOf } from './marked'

const bytes = (text: string) => new TextEncoder().encode(text).length

/** of is a match of words in a text, placed as the server places it. */
function of(text: string, name: string, words: string): Match {
  const start = bytes(text.slice(0, text.indexOf(words)))
  return { name, type: 'string', value: words, text: words, start, end: start + bytes(words), confidence: 1 }
}

const shown = (text: string, matches: Match[]) => segmentsOf(text, matches).map((part) => [part.text, part.matches.map((match) => match.name).join()])

test('places count bytes', () => {
  const text = 'Olá 👩‍🚀, é o pedido nº 17 – às 10 h'
  expect(shown(text, [of(text, 'order', '17'), of(text, 'time', '10 h')])).toEqual([
    ['Olá 👩‍🚀, é o pedido nº ', ''],
    ['17', 'order'],
    [' – às ', ''],
    ['10 h', 'time'],
  ])
})

test('matches may overlap, and have the same place', () => {
  const text = 'ção a b c'
  expect(shown(text, [of(text, 'one', 'a b'), of(text, 'two', 'b c'), of(text, 'all', text)])).toEqual([
    ['ção ', 'all'],
    ['a ', 'one,all'],
    ['b', 'one,two,all'],
    [' c', 'two,all'],
  ])
})

test('a text without matches is whole, and places beyond it do not matter', () => {
  expect(shown('plain', [])).toEqual([['plain', '']])
  expect(shown('', [])).toEqual([])
  expect(shown('é', [{ ...of('é', 'x', 'é'), start: 1, end: 99 }])).toEqual([['é', 'x']])
})
