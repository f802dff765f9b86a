import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { en } from './en'
import { en as pages } from './en.pages'
import { es } from './es'
import { es as esPages } from './es.pages'
import { pt } from './pt'
import { pt as ptPages } from './pt.pages'

const source = join(import.meta.dirname, '..')

/** files are what the first page is made of. */
function files(): string[] {
  const of = (folder: string) => readdirSync(join(source, folder)).map((name) => join(folder, name))
  return ['app.tsx', 'session.tsx', ...of('shell'), ...of('pages/home'), 'ui/parts.tsx', 'ui/dialog.tsx', 'ui/boundary.tsx', 'ui/act.ts', 'ui/state.tsx']
}

test('the first page needs the texts of no other', () => {
  for (const file of files()) {
    for (const [, key] of readFileSync(join(source, file), 'utf8').matchAll(/\bt\(['`]([\w.]+)/g)) expect(Object.keys(pages), `${file}: ${key}`).not.toContain(key)
  }
})

test('every language puts the same values into a text', () => {
  const values = (text: string) => [...text.matchAll(/\{\w+\}/g)].map((found) => found[0]).sort()
  for (const [known, ...others] of [
    [en, pt, es],
    [pages, ptPages, esPages],
  ] as const) {
    for (const other of others) {
      for (const [key, text] of Object.entries(known)) expect(values((other as Record<string, string>)[key] ?? ''), key).toEqual(values(text))
    }
  }
})
