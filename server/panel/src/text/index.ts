import { useSyncExternalStore } from 'react'
import { en } from './en'
import type { FirstTexts, PageTexts } from './texts'

/** Key names a text of the catalogue. */
export type Key = keyof FirstTexts | keyof PageTexts
type Catalogue = Partial<Record<Key, string>>

export const languages = { en: 'English', pt: 'Português', es: 'Español' } as const
export type Language = keyof typeof languages

const firsts: Record<Language, () => Promise<FirstTexts>> = {
  en: () => Promise.resolve(en),
  pt: () => import('./pt').then((m) => m.pt),
  es: () => import('./es').then((m) => m.es),
}

const rests: Record<Language, () => Promise<PageTexts>> = {
  en: () => import('./en.pages').then((m) => m.en),
  pt: () => import('./pt.pages').then((m) => m.pt),
  es: () => import('./es.pages').then((m) => m.es),
}

const stored = 'trunkline.language'
let current: Language = 'en'
const read: Record<Language, Catalogue> = { en, pt: {}, es: {} }
let whole = false
const watchers = new Set<() => void>()

/** preferred is the language that was chosen, else the browser's first that we have. */
export function preferred(): Language {
  const wanted = [localStorage.getItem(stored), ...navigator.languages]
  for (const name of wanted) {
    const base = (name ?? '').slice(0, 2)
    if (base in languages) return base as Language
  }
  return 'en'
}

async function load(language: Language) {
  const first = await firsts[language]()
  const rest = whole ? await rests[language]() : undefined
  read[language] = { ...first, ...rest }
}

/** readPages reads the texts of all pages but the first. */
export async function readPages() {
  whole = true
  await load(current)
}

/** speak changes the language of the panel. */
export async function speak(language: Language, keep = false) {
  await load(language)
  current = language
  document.documentElement.lang = language
  if (keep) localStorage.setItem(stored, language)
  watchers.forEach((tell) => tell())
}

/** useLanguage is the language of the panel; who uses it is drawn anew when it changes. */
export function useLanguage(): Language {
  return useSyncExternalStore(
    (tell) => {
      watchers.add(tell)
      return () => watchers.delete(tell)
    },
    () => current,
  )
}

/** t is a text; {name} in it is replaced. */
export function t(key: Key, values?: Record<string, string | number>): string {
  const text = read[current][key] ?? read.en[key] ?? key
  if (!values) return text
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole))
}

const forms = new Map<string, Intl.DateTimeFormat>()

/** form is a way to write times; making one takes long, so they are kept. */
function form(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = current + JSON.stringify(options)
  const known = forms.get(key) ?? new Intl.DateTimeFormat(current, options)
  forms.set(key, known)
  return known
}

/** day writes the day of UNIX seconds in full. */
export function day(at: number): string {
  return form({ dateStyle: 'full' }).format(at * 1000)
}

/** time writes UNIX seconds, or an ISO time, in the reader's words. */
export function time(at: number | string | null | undefined, style: 'short' | 'long' = 'short'): string {
  if (at === null || at === undefined) return '–'
  const date = new Date(typeof at === 'number' ? at * 1000 : at)
  const today = date.toDateString() === new Date().toDateString()
  const options: Intl.DateTimeFormatOptions =
    style === 'long' ? { dateStyle: 'medium', timeStyle: 'medium' } : today ? { timeStyle: 'short' } : { dateStyle: 'short', timeStyle: 'short' }
  return form(options).format(date)
}

/** number writes a number in the reader's words. */
export function number(n: number, options?: Intl.NumberFormatOptions): string {
  return new Intl.NumberFormat(current, options).format(n)
}
