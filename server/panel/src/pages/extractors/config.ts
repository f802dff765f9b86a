import type { Schemas } from '../../api/client'

export type Extractor = Schemas['ExtractorView']
export type Kind = Extractor['kind']
export type Evaluation = Schemas['EvaluationView']

/** Test is a text and what must be found in it; without values: nothing. */
export interface Test {
  text: string
  locale?: string
  region?: string
  now?: string
  values?: Record<string, unknown>
}

/** Config is what a kind looks for. Members that a form does not know stay as they are. */
export interface Config {
  tests?: Test[]
  [member: string]: unknown
}

export interface Intent {
  name: string
  examples: string[]
}

export interface Word {
  value: string
  synonyms?: string[]
}

export const kinds = ['regex', 'entity', 'intent', 'ai'] as const
export const groupTypes = ['string', 'number', 'date', 'phone', 'email'] as const
export const entityTypes = ['email', 'url', 'phone', 'number', 'ordinal', 'money', 'percentage', 'date', 'time', 'duration', 'boolean', 'quantity', 'document'] as const

/** begin is what a new extractor looks for until it is told. */
export function begin(kind: Kind, model: string): Config {
  switch (kind) {
    case 'regex':
      return { pattern: '#(?P<order>\\d+)', groups: { order: 'number' } }
    case 'entity':
      return { types: ['email', 'phone', 'date'] }
    case 'intent':
      return {
        intents: [
          { name: 'price', examples: ['how much is it', 'what does it cost', 'price please'] },
          { name: 'hours', examples: ['when are you open', 'opening hours', 'are you open today'] },
        ],
      }
    case 'ai':
      return { model, instructions: '', schema: { type: 'object', properties: { product: { type: 'string', description: 'What somebody wants to buy' } } } }
  }
}

export const list = <T>(value: unknown): T[] => (Array.isArray(value) ? (value as T[]) : [])
export const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** without takes members away that say nothing, as the server wants them absent. */
export function put(config: Config, part: Record<string, unknown>): Config {
  const next: Config = { ...config, ...part }
  for (const name of Object.keys(part)) if (next[name] === undefined || next[name] === '') delete next[name]
  return next
}

/** groupsOf are the names of the groups of a pattern, as RE2 writes them. */
export function groupsOf(pattern: string): string[] {
  return [...new Set([...pattern.matchAll(/\(\?P?<([A-Za-z_]\w*)>/g)].map((found) => found[1] ?? ''))]
}

/** writeWords is a dictionary as text: a word a line, others for it behind it, parted by |. */
export function writeWords(words: Word[]): string {
  const safe = (word: string) => word.replace(/[\\|]/g, '\\$&').replace(/\s*\n\s*/g, ' ')
  return words.map((word) => [word.value, ...(word.synonyms ?? [])].map(safe).join(' | ')).join('\n')
}

export function readWords(typed: string): Word[] {
  return typed.split('\n').flatMap((line) => {
    const [value = '', ...synonyms] = [...line.matchAll(/(?:\\.|[^|\\]|\\$)+/g)].map((found) => found[0].replace(/\\(.)/g, '$1').trim()).filter(Boolean)
    return value ? [{ value, ...(synonyms.length ? { synonyms } : {}) }] : []
  })
}

/** readLines are the lines of a text that say something, each once. */
export const readLines = (typed: string): string[] => [...new Set(typed.split('\n').map((line) => line.trim()).filter(Boolean))]

/** FormProps are those of the form of each kind. */
export interface FormProps {
  config: Config
  change: (next: Config) => void
  /** What is wrong with a member, or with something in it. */
  wrong: (member: string) => string | undefined
}
