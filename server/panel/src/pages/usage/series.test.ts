import { expect, test } from 'vitest'
import { bars, csv, type Row, sums } from './series'

function row(day: string, model: string, tokens: number, cost: number): Row {
  return { key: `${day}|${model}`, keys: { day, model }, calls: 1, errors: 0, inputTokens: tokens, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0, cost, unpricedCalls: 0 }
}

const rows = [row('2026-07-02', 'small', 10, 1), row('2026-07-01', 'large', 5, 9), row('2026-07-01', 'small', 10, 1)]

test('rows of a key are added up, the greatest of what is shown first', () => {
  expect(sums(rows, 'model', 'cost').map((sum) => [sum.key, sum.cost, sum.calls])).toEqual([['large', 9, 1], ['small', 2, 2]])
  expect(sums(rows, 'model', 'tokens').map((sum) => sum.key)).toEqual(['small', 'large'])
  expect(rows.map((one) => one.cost)).toEqual([1, 9, 1])
})

test('bars are in the order of time, and what has no colour of its own shares the last', () => {
  expect(bars(rows, 'day', 'model', 'cost', sums(rows, 'model', 'cost')).map((bar) => [bar.at, bar.total])).toEqual([['2026-07-01', 10], ['2026-07-02', 1]])
  const many = Array.from({ length: 9 }, (_, n) => row('2026-07-01', `m${n}`, 1, 9 - n))
  const [bar] = bars(many, 'day', 'model', 'cost', sums(many, 'model', 'cost'))
  expect(bar?.parts.map((part) => part.value)).toEqual([9, 8, 7, 6, 5, 10])
})

test('no cell of the table is a formula, and quotes are kept', () => {
  const [, line] = csv([row('2026-07-01', '=1+"a",2', 3, 4)], ['day', 'model']).split('\r\n')
  expect(line).toBe('2026-07-01,"\'=1+""a"",2",1,0,3,0,0,0,4,0')
})
