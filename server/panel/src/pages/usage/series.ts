import type { Schemas } from '../../api/client'

export type Row = Schemas['UsageRow']
export const measures = ['cost', 'tokens', 'calls'] as const
export type Measure = (typeof measures)[number]

/** measure is what a row counts; tokens are those of input and output. */
export function measure(row: Omit<Row, 'key' | 'keys'>, what: Measure): number {
  if (what === 'tokens') return row.inputTokens + row.outputTokens
  return row[what]
}

export interface Sum extends Omit<Row, 'keys'> {
  /** Place of its colour; what has none of its own shares the last. */
  colour: number
}

/** Colours there are for the parts of a bar. */
export const colours = 6

/** sums adds the rows of each key up, the greatest first. */
export function sums(rows: Row[], by: string, what: Measure): Sum[] {
  const found = new Map<string, Sum>()
  for (const row of rows) {
    const key = row.keys[by] ?? ''
    const sum = found.get(key)
    if (!sum) {
      found.set(key, { ...row, key, colour: 0 })
      continue
    }
    for (const name of ['calls', 'errors', 'inputTokens', 'cachedInputTokens', 'outputTokens', 'reasoningTokens', 'cost', 'unpricedCalls'] as const) sum[name] += row[name]
  }
  const sorted = [...found.values()].sort((a, b) => measure(b, what) - measure(a, what) || b.calls - a.calls)
  return sorted.map((sum, at) => ({ ...sum, colour: Math.min(at, colours - 1) }))
}

export interface Bar {
  at: string
  total: number
  parts: { colour: number; value: number }[]
}

/** bars are the rows by time; each bar is made of what its keys have. */
export function bars(rows: Row[], unit: string, by: string, what: Measure, order: Sum[]): Bar[] {
  const colour = new Map(order.map((sum) => [sum.key, sum.colour]))
  const found = new Map<string, Bar>()
  for (const row of rows) {
    const at = row.keys[unit] ?? ''
    const bar = found.get(at) ?? { at, total: 0, parts: Array.from({ length: colours }, (_, n) => ({ colour: n, value: 0 })) }
    const value = measure(row, what)
    const part = bar.parts[colour.get(row.keys[by] ?? '') ?? 0]
    if (part) part.value += value
    bar.total += value
    found.set(at, bar)
  }
  return [...found.values()].sort((a, b) => (a.at < b.at ? -1 : 1))
}

/** csv writes rows as a table that spreadsheets read; no cell of it is taken for a formula. */
export function csv(rows: Row[], groups: string[]): string {
  const names = ['calls', 'errors', 'inputTokens', 'cachedInputTokens', 'outputTokens', 'reasoningTokens', 'cost', 'unpricedCalls'] as const
  const cell = (value: string | number) => {
    const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value)
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  const head = [...groups, ...names.map((name) => (name === 'cost' ? 'costMicroUsd' : name))]
  const lines = rows.map((row) => [...groups.map((group) => row.keys[group] ?? ''), ...names.map((name) => row[name])])
  return [head, ...lines].map((line) => line.map(cell).join(',')).join('\r\n') + '\r\n'
}
